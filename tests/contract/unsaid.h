#ifndef TESTS_CONTRACT_UNSAID_H
#define TESTS_CONTRACT_UNSAID_H

#include "base/err.h"

/*
 * unsaid: checks that a password given to a driver appears in no log line of any level and in no
 * error, neither as it is nor in its HTTP Basic encoding. If it appears, unsaid_end() fails the
 * test.
 */
/* Starts the check. Both strings must be valid until unsaid_end(). */
void unsaid_begin(const char *user, const char *password);
void unsaid_end(void);
/* Checks a text that a caller received; NULL: no text. */
void unsaid_check(const char *text);

#endif
