#ifndef TESTS_UNIT_CLI_PROGRAM_H
#define TESTS_UNIT_CLI_PROGRAM_H

#include <stddef.h>
#include <sys/types.h>
#include "base/data/json.h"

/*
 * program: runs a long-running command of drover in a process of its own, on real sockets of the
 * loopback interface, and has a client for it. The process is killed when the test ends.
 */
struct program {
	/* Process ID; 0: not started, or ended */
	pid_t pid;
	int out;
	/* Output of the process on both streams, so far */
	char said[1 << 16];
	size_t len;
};

/* Returns a loopback address that no other test program uses, so that no port is ever in use. */
const char *program_address(void);

/* Starts fn in a new process under this name. args: arguments after the program name, ending with
 * NULL. */
void program_start(struct program *p, const char *name, int (*fn)(int argc, char **argv),
		   const char *const *args);
/* Writes the path of the program `name` (drover, drover-agent) of the same build variant to out;
 * returns out. */
#define PROGRAM_PATH 4096
const char *program_path(const char *name, char out[static PROGRAM_PATH]);
/* Replaces the process by that program; meant for an fn of program_start(). Returns only on
 * failure. */
int program_exec(const char *name, char **argv);
/* Waits until the program prints `what`; returns the rest of that line. NULL: the program ended
 * without printing it. */
const char *program_hear(struct program *p, const char *what);
/* Waits as program_hear() does, but fails the test if the program ends. */
const char *program_await(struct program *p, const char *what);
/* Sends a signal (0: none) to the program and waits for its end; returns its exit status. */
int program_end(struct program *p, int signum);

/* One HTTP call. program_ask() sends it and returns the HTTP status; 0: no answer came, and
 * program_text contains the error. */
struct program_call {
	const char *url, *ca_pem, *bearer, *method, *path, *body;
	/* Login for Basic authentication; NULL: none */
	const char *user, *password;
};
int program_ask(const struct program_call *c);
/* Body of the last answer */
extern char program_text[1 << 20];
/* Returns the body of the last answer as JSON, which the caller owns; NULL: not JSON. */
json_t *program_json(void);
/* Repeats the call until the HTTP status is `status`. */
void program_ask_until(const struct program_call *c, int status);

/* Returns the content of folder/name; the caller frees it. */
char *program_file(const char *folder, const char *name);
/* Creates a temporary directory and returns its path; program_folder_done() deletes the directory
 * with its content. */
const char *program_folder(char out[static 64]);
void program_folder_done(const char *folder);

#endif
