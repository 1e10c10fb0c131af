#ifndef BASE_INDEX_H
#define BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include "base/own.h"

/*
 * index: which names have this text under that key? For what would otherwise be a look at
 * everything that has a name.
 *
 * Keys are numbers from 0 on; a name may have several texts under one key. Texts and names are
 * copied. Not for several threads.
 * Tests: tests/unit/base/test_index.c
 */
struct index;

struct index *index_new(unsigned keys);
void index_free(struct index *x);
DEFINE_OWN(index)

struct index_text {
	unsigned key;
	/* NULL, "": none */
	const char *text;
};
/* These are all that the name has by now; n 0: it is gone. */
void index_put(struct index *x, const char *name, const struct index_text *v, size_t n);

/* In the order in which they came to have it, until fn says false.  fn may not put. */
void index_each(const struct index *x, unsigned key, const char *text,
		bool (*fn)(const char *name, void *arg), void *arg);
size_t index_count(const struct index *x, unsigned key, const char *text);

#endif
