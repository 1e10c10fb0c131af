#ifndef BASE_DATA_EXACT_H
#define BASE_DATA_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"

/*
 * exact: JSON as text, read in place and changed member by member, so that all
 * the rest stays letter for letter what it was: unknown members, their order,
 * 1.50, 1e400 and 18446744073709551615, which no tree of numbers keeps.
 *
 * For servers that want the whole object back and compare nothing (BCM).  A
 * value is a piece of the text that it was read from, and lives as long as that.
 * Only what exact_read() has accepted is looked into.
 * Tests: tests/unit/base/data/test_exact.c, tests/fuzz/fuzz_exact.c
 */
struct exact {
	/* NULL: there is none */
	const char *at;
	size_t len;
};

/* The text is one JSON value (RFC 8259), 64 deep at most, in valid UTF-8, and nothing after it but
 * white space. ERR_PROTOCOL names the byte. */
int exact_read(const char *text, size_t len, struct exact *out, struct err *e)
	__attribute__((warn_unused_result));

enum exact_kind {
	EXACT_NONE,
	EXACT_OBJECT,
	EXACT_LIST,
	EXACT_STRING,
	EXACT_NUMBER,
	EXACT_TRUE,
	EXACT_FALSE,
	EXACT_NULL
};
enum exact_kind exact_kind(struct exact v);

/* The members of an object or list in their order; name: of a member, with its quotes. */
struct exact_iter {
	struct exact name, value;
	const char *next_, *end_;
};
bool exact_first(struct exact container, struct exact_iter *it);
bool exact_next(struct exact_iter *it);
#define exact_for_each(it, c)                                                                      \
	for (bool it##_on_ = exact_first(c, &(it)); it##_on_; it##_on_ = exact_next(&(it)))

/* Of an object; the last one of that name.  Nothing of what is no object. */
struct exact exact_member(struct exact object, const char *name);

/* The text of a string; NULL: it is none, or it holds a NUL. */
const char *exact_str(struct exact v, struct arena *a);
/* exact_str() of a member. */
const char *exact_str_at(struct exact object, const char *name, struct arena *a);
/* A number without fraction and exponent that fits. */
bool exact_i64(struct exact v, int64_t *out);
/* The same text but for white space between tokens. */
bool exact_same(struct exact a, struct exact b);

/* The text of `object` with this member, as JSON text, in place of what it had of that name, or at
 * its end. NULL with ERR_PROTOCOL: there are two of that name, or it is no object. */
char *exact_with(struct exact object, const char *name, const char *json, struct arena *a,
		 struct err *e) __attribute__((warn_unused_result));
/* ... and without it. */
char *exact_without(struct exact object, const char *name, struct arena *a, struct err *e)
	__attribute__((warn_unused_result));
/* JSON text of a string. */
const char *exact_quote(const char *s, struct arena *a);

#endif
