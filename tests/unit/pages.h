#ifndef TESTS_UNIT_PAGES_H
#define TESTS_UNIT_PAGES_H

#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "tests/unit/testing.h"

/*
 * pages: rows of tables in docs/, for tests that compare a page with the code.
 */

/* Returns the first line of the page that begins with this text, in the arena; fails the test if
 * there is none. path: from the root of the repository. */
static inline const char *pages_row(const char *path, const char *begins, struct arena *a)
{
	char *text = arena_alloc(a, 1 << 18);
	FILE *f = fopen(path, "r");

	if (!f)
		fail_msg("%s cannot be read; run from the root", path);
	text[fread(text, 1, (1 << 18) - 1, f)] = '\0';
	fclose(f);
	for (char *at, *line = strtok_r(text, "\n", &at); line; line = strtok_r(NULL, "\n", &at))
		if (strncmp(line, begins, strlen(begins)) == 0)
			return line;
	fail_msg("%s has no row that begins with: %s", path, begins);
	return "";
}

#endif
