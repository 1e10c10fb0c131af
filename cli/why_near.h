#ifndef CLI_WHY_NEAR_H
#define CLI_WHY_NEAR_H

#include "cli/client.h"

/*
 * why_near: names like one that does not exist, for the errors of `drover why`.
 * Tests: tests/unit/cli/test_why.c
 */

/* Prints on standard error the existing objects whose names are most like the target, in the form
 * that explain_ask() expects; of a pod, its tenant, or the waiting pods of its tenant. Prints
 * nothing if no name is near, or the objects cannot be read. */
void why_near(struct cli_client *c, const char *target);

/* Returns "; did you mean TYPE?" for an unknown type (len bytes), or "" if no type is near. The
 * caller frees the result. */
char *why_near_type(const char *type, size_t len);

#endif
