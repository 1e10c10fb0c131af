#ifndef TESTS_UNIT_CLI_VERB_H
#define TESTS_UNIT_CLI_VERB_H

/*
 * verb: runs a command of drover in a process of its own, since the command may exit.
 */
/* Output of the last command on both streams */
extern char verb_said[1 << 20];

/* Runs fn as the command `name` and returns its exit status. args: arguments after the name, ending
 * with NULL. input: standard input; NULL: empty. */
int verb_run(const char *name, int (*fn)(int argc, char **argv), const char *input,
	     const char *const *args);
void verb_assert_said(const char *what);

/* verb_errors_begin() starts to record standard error. verb_errors_end() asserts that the recorded
 * text contains `what`; NULL: that it is empty. */
void verb_errors_begin(void);
void verb_errors_end(const char *what);

#endif
