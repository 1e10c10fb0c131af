#ifndef TESTS_UNIT_CLI_PROGRAM_H
#define TESTS_UNIT_CLI_PROGRAM_H

#include <stddef.h>
#include <sys/types.h>
#include "base/data/json.h"

/*
 * program: a long-running command of the command line in a process of its own, on real sockets of
 * the loopback interface; and a client for it. The process is killed when the test ends.
 */
struct program {
	/* 0: not started, or ended. */
	pid_t pid;
	int out;
	/* Output on both streams, so far. */
	char said[1 << 16];
	size_t len;
};

/* Returns a loopback address that no other test program uses, so that no port is ever in use. */
const char *program_address(void);

/* args: arguments after the program name, ending with NULL. */
void program_start(struct program *p, const char *name, int (*fn)(int argc, char **argv),
		   const char *const *args);
/* For use as fn: replaces the process by this program (drover, drover-agent) of the same build
 * variant. Returns only on failure. */
int program_exec(const char *name, char **argv);
/* Waits until the program prints `what`; returns the rest of that line. NULL: the program ended
 * without it. */
const char *program_hear(struct program *p, const char *what);
/* As program_hear(), but fails the test if the program ends. */
const char *program_await(struct program *p, const char *what);
/* Sends a signal (0: none) and waits for the end; returns the exit status. */
int program_end(struct program *p, int signum);

/* One HTTP call, for program_ask(), which returns the status. 0: no answer, and program_text
 * contains the error. */
struct program_call {
	const char *url, *ca_pem, *bearer, *method, *path, *body;
	/* Basic authentication; NULL: none. */
	const char *user, *password;
};
int program_ask(const struct program_call *c);
/* Body of the last answer. */
extern char program_text[1 << 20];
/* Returns the last answer as JSON, which the caller owns; NULL: not JSON. */
json_t *program_json(void);
/* Repeats the call until the status is this one. */
void program_ask_until(const struct program_call *c, int status);

/* Returns the content of a file; the caller frees it. */
char *program_file(const char *folder, const char *name);
/* Creates a temporary directory, which program_folder_done() deletes with its content. */
const char *program_folder(char out[static 64]);
void program_folder_done(const char *folder);

#endif
