#ifndef PROVIDERS_ALLOWED_H
#define PROVIDERS_ALLOWED_H

#include <stdbool.h>

/*
 * allowed: decides which programs a Provider may name. The user who starts drover chooses the
 * programs that run with drover's rights (`drover run --allow-exec`). The user who writes Providers
 * does not choose them.
 *
 * An entry is a program and its first arguments, separated by blanks: "/usr/bin/drover sim
 * port-move". A command is allowed if its first words equal those of an entry; the words after them
 * are free. A program that can run other programs must therefore be entered with the arguments that
 * prevent this. If the path of a program contains a blank, the entry consists of the path alone.
 * Tests: tests/unit/providers/test_allowed.c
 */

/* True if an entry of the list `allowed` allows the command. Both lists end with NULL; a NULL list
 * is empty. */
bool allowed_runs(const char *const *allowed, const char *const *command);
/* Returns the reason why text is not a valid entry; NULL if it is valid. Invalid entries are
 * relative paths, interpreters without arguments, and drover itself without arguments. */
const char *allowed_refuses(const char *text);

#endif
