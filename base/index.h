#ifndef BASE_INDEX_H
#define BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include "base/own.h"

/*
 * index: finds the names that have a given text under a given key, without a scan of all names.
 *
 * Keys are numbers from 0 on; a name may have several texts under one key. Texts and names are
 * copied. Not thread-safe.
 * Tests: tests/unit/base/test_index.c
 */
struct index;

struct index *index_new(unsigned keys);
void index_free(struct index *x);
DEFINE_OWN(index)

struct index_text {
	unsigned key;
	/* NULL or "": the element is ignored. */
	const char *text;
};
/* Sets the texts of name to the n elements of v, replacing all earlier ones; n 0 removes name.
 * Returns true if name had other texts before. */
bool index_put(struct index *x, const char *name, const struct index_text *v, size_t n);

/* Calls fn for each name that has text under key, in order of assignment, until fn returns false.
 * fn must not call index_put(). */
void index_each(const struct index *x, unsigned key, const char *text,
		bool (*fn)(const char *name, void *arg), void *arg);
size_t index_count(const struct index *x, unsigned key, const char *text);

#endif
