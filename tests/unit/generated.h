#ifndef TESTS_UNIT_GENERATED_H
#define TESTS_UNIT_GENERATED_H

/*
 * generated: compares a file of the repository with the text that the program's tables give.
 */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/str.h"

/* True if the environment asks for generated files to be written: DROVER_REGENERATE=1. */
static inline bool generated_writes(void)
{
	return str_eq(getenv("DROVER_REGENERATE"), "1");
}

/* Compares the file with the generated text, or writes the file if DROVER_REGENERATE=1. The current
 * directory must be the root of the tree. */
static inline void assert_generated(const char *path, const struct buf *want)
{
	static char text[4 * 1024 * 1024];
	FILE *f;
	size_t n;

	assert_false(want->over);
	if (generated_writes()) {
		f = fopen(path, "w");
		assert_non_null(f);
		assert_int_equal(fwrite(want->data, 1, want->len, f), want->len);
		assert_int_equal(fclose(f), 0);
		return;
	}
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s: cannot be read", path);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	if (n != want->len || memcmp(text, want->data, n) != 0)
		fail_msg("%s is not what the tables say: run this test with DROVER_REGENERATE=1",
			 path);
}

#endif
