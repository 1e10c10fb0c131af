#ifndef TESTS_UNIT_CLI_PTY_H
#define TESTS_UNIT_CLI_PTY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

/*
 * pty: runs a function in a process on a pseudo terminal, and shows what a terminal of the types
 * vt100 and xterm would display.
 */
enum { PTY_LINES = 100, PTY_COLUMNS = 250 };

struct pty {
	/* fd: the side of the pseudo terminal that shows the output. pid: the shell, a process that
	 * runs fn as its foreground job and continues the job when it stops */
	int fd;
	pid_t pid;
	size_t width, height, line, column;
	/* The screen, one code point a cell */
	unsigned cells[PTY_LINES][PTY_COLUMNS];
	/* Lines that scroll: the first one, and the one after the last */
	size_t top, bottom;
	/* bytes: all bytes so far; colours: number of times that a colour was selected */
	size_t bytes, colours;
	/* escape: unfinished escape sequence; point: unfinished UTF-8 character */
	char escape[64];
	size_t nescape;
	unsigned point, more;
	/* Settings of the terminal before fn */
	struct termios before;
};

/* Starts fn on a terminal of this type (TERM) and locale (LC_ALL). */
void pty_start(struct pty *p, size_t width, size_t height, const char *type, const char *locale,
	       int (*fn)(void *arg), void *arg);
/* Waits until the screen contains text; fails after 20 s, on a busy machine later. pty_without()
 * waits until it does not contain text. */
void pty_await(struct pty *p, const char *text);
void pty_without(struct pty *p, const char *text);
void pty_type(struct pty *p, const char *keys);
void pty_resize(struct pty *p, size_t width, size_t height);
/* Returns the screen as lines; valid until the next call. */
const char *pty_screen(const struct pty *p);
/* Waits until the shell has ended; returns the exit status of fn. Fails if the terminal does not
 * have its settings from before. */
int pty_end(struct pty *p);

#endif
