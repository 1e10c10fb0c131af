#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include "base/buf.h"

/*
 * screen: draws lines of text on a terminal or a pipe.
 *
 * Any user who may write an object can put control characters into its texts. Each control
 * character, and each character that the terminal cannot show, is therefore drawn as '?'. No line
 * is wider than the screen.
 * Tests: tests/unit/cli/test_screen.c, tests/unit/cli/test_top.c, tests/unit/cli/test_status.c
 */
enum screen_look {
	SCREEN_PLAIN,
	SCREEN_BOLD,
	SCREEN_DIM,
	SCREEN_RED,
	SCREEN_YELLOW,
	SCREEN_CYAN,
	SCREEN_GREEN,
	SCREEN_REVERSE
};
/* Returns the escape sequence that selects a look; "" for SCREEN_PLAIN. SCREEN_NORMAL ends any
 * look. */
const char *screen_sequence(enum screen_look look);
#define SCREEN_NORMAL "\033[0m"

/* Where a drawn text appears. The text has no control character and fits on the screen. Lines are
 * drawn from top to bottom, and each from left to right; lines without text are not drawn. */
struct screen_pen {
	void (*put)(size_t line, size_t column, enum screen_look look, const char *text, void *arg);
	void *arg;
};

struct screen {
	/* size of the terminal in characters; 0: no limit, for output to a pipe */
	size_t width, height;
	/* true: the terminal shows UTF-8, and LC_CTYPE is a UTF-8 locale */
	bool unicode;
	struct screen_pen pen;
	/* where the next text is drawn, and the first line that is not drawn. Initially {0, 0,
	 * SIZE_MAX}; the caller may move line and limit. */
	size_t line, column, limit;
};

/* Sets width and height to the size of the terminal on standard output (unknown: 80 x 24), and
 * unicode. Sets LC_CTYPE from the environment. */
void screen_size(struct screen *s);
/* Appends text to the current line, truncated at the width of the screen. Draws nothing below the
 * limit. */
void screen_add(struct screen *s, enum screen_look look, const char *text);
/* Ends the current line. */
void screen_end(struct screen *s);
/* Appends text as screen_add() does, and ends the line. */
void screen_line(struct screen *s, enum screen_look look, const char *text);
/* Returns the number of lines that are still free, with the current one. */
size_t screen_left(const struct screen *s);

/* A pen that appends lines to `out`. colour: write escape sequences. */
struct screen_text {
	struct buf *out;
	bool colour;
	/* where the next text is appended; initially 0 */
	size_t line, column;
};
struct screen_pen screen_text_pen(struct screen_text *t);
/* Ends the last line. */
void screen_text_end(struct screen_text *t);

#endif
