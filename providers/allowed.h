#ifndef PROVIDERS_ALLOWED_H
#define PROVIDERS_ALLOWED_H

#include <stdbool.h>

/*
 * allowed: the programs that a Provider may name. The user who starts drover chooses the programs
 * that run with drover's rights (`drover run --allow-exec`); the user who writes Providers does
 * not.
 *
 * An entry is a program and its first arguments, separated by blanks: "/usr/bin/drover sim
 * port-move". A command is allowed if its first words equal those of an entry; the words after them
 * are free. A program that can run other programs must therefore be entered with the arguments that
 * prevent this. A path that contains a blank must be an entry by itself.
 * Tests: tests/unit/providers/test_allowed.c
 */

/* Returns true if an entry allows the command. Both lists end with NULL; a NULL list is empty. */
bool allowed_runs(const char *const *allowed, const char *const *command);
/* Returns the reason why text is not a valid entry; NULL if it is valid. Refuses relative paths,
 * and interpreters and drover itself without arguments. */
const char *allowed_refuses(const char *text);

#endif
