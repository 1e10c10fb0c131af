#ifndef TESTS_CONTRACT_UNSAID_H
#define TESTS_CONTRACT_UNSAID_H

#include "base/err.h"

/*
 * unsaid: a password that a driver was given stands in no line of the log, at any level, and in no
 * error; nor does what HTTP makes of it (Basic). Whatever says it fails the test at unsaid_end().
 */
/* from now on; both borrowed */
void unsaid_begin(const char *user, const char *password);
void unsaid_end(void);
/* what a caller is told; NULL: nothing */
void unsaid_check(const char *text);

#endif
