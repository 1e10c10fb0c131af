#ifndef TESTS_UNIT_CLI_PROGRAM_H
#define TESTS_UNIT_CLI_PROGRAM_H

#include <stddef.h>
#include <sys/types.h>
#include "base/data/json.h"

/*
 * program: a verb of the command line that stays, in a process of its own, on real sockets of the
 * loopback; and a client that asks it.  It dies with the test.
 */
struct program {
	/* 0: none, or it has ended */
	pid_t pid;
	int out;
	/* on both streams, so far */
	char said[1 << 16];
	size_t len;
};

/* An address of the loopback that no other test program uses: no port is ever taken. */
const char *program_address(void);

/* args end with NULL and begin after the name. */
void program_start(struct program *p, const char *name, int (*fn)(int argc, char **argv),
		   const char *const *args);
/* For fn: becomes that program (drover, drover-agent) of this variant; comes back only on
 * failure. */
int program_exec(const char *name, char **argv);
/* Wait until it has said this; what follows there, up to the end of the line. NULL: it ended
 * without. */
const char *program_hear(struct program *p, const char *what);
/* Like it, but it is an error when it ends. */
const char *program_await(struct program *p, const char *what);
/* Send a signal (0: none) and wait for the end; gives the exit status. */
int program_end(struct program *p, int signum);

/* One call over HTTP; gives the status, 0: there was no answer, and the text says why. */
struct program_call {
	const char *url, *ca_pem, *bearer, *method, *path, *body;
	/* basic */
	const char *user, *password;
};
int program_ask(const struct program_call *c);
/* The body of the last answer, and the same as JSON (NULL: it is none). */
extern char program_text[1 << 20];
/* gives */
json_t *program_json(void);
/* Ask until the status is this one. */
void program_ask_until(const struct program_call *c, int status);

/* A file's text; malloc'd. */
char *program_file(const char *folder, const char *name);
/* A folder that program_folder_done() removes with everything in it. */
const char *program_folder(char out[static 64]);
void program_folder_done(const char *folder);

#endif
