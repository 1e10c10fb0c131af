#ifndef CLI_NEAR_H
#define CLI_NEAR_H

#include <stddef.h>
#include <stdio.h>

/*
 * near: finds the names that are most like a word that a user typed, for the error "did you mean".
 * Names are compared by edit distance (inserted, deleted, replaced and swapped letters), regardless
 * of case. A name that begins with the word also counts as near.
 */
enum { NEAR_NAMES = 4 };

struct near {
	/* the word that was typed; valid as long as the struct is used */
	const char *word;
	/* the nearest names so far, the nearest first */
	struct {
		const char *name;
		size_t distance;
	} v[NEAR_NAMES];
	size_t n;
};

/* Compares a name with near->word and saves the name if it is among the nearest. The name must stay
 * valid as long as *near is used. */
void near_try(struct near *near, const char *name);
/* Prints "; did you mean A, B or C?", or nothing if no name is near. prefix: text before each
 * name. */
void near_print(const struct near *near, const char *prefix, FILE *out);

#endif
