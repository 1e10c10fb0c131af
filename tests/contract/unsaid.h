#ifndef TESTS_CONTRACT_UNSAID_H
#define TESTS_CONTRACT_UNSAID_H

#include "base/err.h"

/*
 * unsaid: checks that a password given to a driver appears in no log line of any level and in no
 * error, nor its HTTP Basic encoding. An occurrence fails the test at unsaid_end().
 */
/* Starts the check; both strings are borrowed. */
void unsaid_begin(const char *user, const char *password);
void unsaid_end(void);
/* Checks a text passed to a caller; NULL: none. */
void unsaid_check(const char *text);

#endif
