#ifndef CLI_CALLER_H
#define CLI_CALLER_H

#include "base/arena.h"
#include "cli/client.h"

/*
 * caller: the user as whom the command line is logged in, for decisions that record who made them.
 * Tests: tests/unit/cli/test_verbs.c
 */

/* Returns the user name of the caller as the API server reports it, in the arena; NULL with *e. */
const char *cli_caller(struct cli_client *c, struct arena *a, struct err *e);

#endif
