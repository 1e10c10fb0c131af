#ifndef TESTS_UNIT_CLI_VERB_H
#define TESTS_UNIT_CLI_VERB_H

/*
 * verb: run a verb of the command line in a process of its own, since it may exit.
 */
/* What the last one wrote to both streams. */
extern char verb_said[1 << 20];

/* args end with NULL and begin after the name. input: on standard input; NULL: nothing. Gives its
 * exit status. */
int verb_run(const char *name, int (*fn)(int argc, char **argv), const char *input,
	     const char *const *args);
void verb_assert_said(const char *what);

/* What is written to standard error from here until the second, which asserts that this is in it;
 * NULL: nothing is. */
void verb_errors_begin(void);
void verb_errors_end(const char *what);

#endif
