#ifndef TESTS_UNIT_CLI_VERB_H
#define TESTS_UNIT_CLI_VERB_H

/*
 * verb: runs a command of the command line in a process of its own, since it may exit.
 */
/* Output of the last command on both streams. */
extern char verb_said[1 << 20];

/* Runs the command and returns its exit status. args: arguments after its name, ending with NULL.
 * input: standard input; NULL: empty. */
int verb_run(const char *name, int (*fn)(int argc, char **argv), const char *input,
	     const char *const *args);
void verb_assert_said(const char *what);

/* Everything written to standard error between the two calls is checked: it must contain `what`;
 * NULL: nothing may be written. */
void verb_errors_begin(void);
void verb_errors_end(const char *what);

#endif
