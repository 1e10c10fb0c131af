#ifndef BASE_DATA_EXACT_H
#define BASE_DATA_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"

/*
 * exact: JSON that remains text, read in place and changed member by member. Everything that is not
 * changed stays the same byte for byte: unknown members, their order, and numbers such as 1.50,
 * 1e400 and 18446744073709551615, which a tree of doubles would change.
 *
 * For servers that expect the whole object back and detect no conflicts (BCM). A struct exact
 * points into the text that it was read from, and is valid as long as that text. All functions but
 * exact_read() require text that exact_read() has accepted.
 * Tests: tests/unit/base/data/test_exact.c, tests/fuzz/fuzz_exact.c
 */
struct exact {
	/* Start of the value's text; NULL: no value. */
	const char *at;
	size_t len;
};

/* Accepts a text that is one JSON value (RFC 8259) in valid UTF-8, at most 64 levels deep, followed
 * only by white space. ERR_PROTOCOL names the offending byte. */
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

/* Iterator over the members of an object or the elements of a list, in order; name: the member's
 * name with its quotes. */
struct exact_iter {
	struct exact name, value;
	const char *next_, *end_;
};
bool exact_first(struct exact container, struct exact_iter *it);
bool exact_next(struct exact_iter *it);
#define exact_for_each(it, c)                                                                      \
	for (bool it##_on_ = exact_first(c, &(it)); it##_on_; it##_on_ = exact_next(&(it)))

/* Returns the value of object's member `name`; if several members have that name, the value of the
 * last one. The result is no value (at NULL) if object is not an object or lacks the member. */
struct exact exact_member(struct exact object, const char *name);

/* Returns the contents of a string, decoded; NULL: v is not a string, or contains a NUL or half of
 * a surrogate pair. */
const char *exact_str(struct exact v, struct arena *a);
/* Returns the contents of object's member `name` as exact_str() does. */
const char *exact_str_at(struct exact object, const char *name, struct arena *a);
/* Reads a number without fraction and exponent. False: v is no such number, or the number does not
 * fit into *out. */
bool exact_i64(struct exact v, int64_t *out);
/* True if both texts are equal apart from white space between tokens. */
bool exact_same(struct exact a, struct exact b);

/* Returns the text of object in which member `name` has the value json: replaces the value of an
 * existing member, or adds the member at the end. NULL with ERR_PROTOCOL: object has two members of
 * that name, or is not an object. */
char *exact_with(struct exact object, const char *name, const char *json, struct arena *a,
		 struct err *e) __attribute__((warn_unused_result));
/* Returns the text of object without the member `name`. Errors are those of exact_with(). */
char *exact_without(struct exact object, const char *name, struct arena *a, struct err *e)
	__attribute__((warn_unused_result));
/* Returns s as a JSON string. */
const char *exact_quote(const char *s, struct arena *a);

#endif
