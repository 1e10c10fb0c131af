#ifndef BASE_DATA_SCAN_H
#define BASE_DATA_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/data/json.h"
#include "base/err.h"
#include "base/own.h"

/*
 * scan: read JSON as its bytes arrive, in one pass, and keep what is wanted of it.
 *
 * Everything is checked as strictly as json_parse() does, also what nobody wants: grammar, UTF-8,
 * escapes, numbers that fit, no name twice in one object, depth 64 (and a NUL byte, which jansson
 * overlooks behind a number). Of what is wanted a jansson tree is made; for the rest nothing is
 * built, so that a Node costs a tenth of what parsing it does, and a foreign object of any shape a
 * bounded amount of memory and time for each chunk that is fed.
 *
 * What is wanted is said by tables, which outlive the scan:
 *
 *   static const struct scan_want meta[] = {
 *   	SCAN_PLAIN("name"),           a string, number, true, false or null; of an object or
 *   	                              array in its place only {} or [] is kept
 *   	SCAN_ALL("labels", 16384),    with all that is in it
 *   	SCAN_END,                     nothing else; SCAN_REST: all else
 *   };
 *   static const struct scan_want pod[] = {
 *   	SCAN_SOME("metadata", meta),  of an object, and of each object in an array: these
 *   	SCAN_EACH("items", item),     an array whose elements are given one by one, and not kept
 *   	SCAN_END,
 *   };
 *
 * Bounds. `most` of a row: once what is kept of that member weighs so much (scan_weight(); 0: no
 * bound), nothing more of it is kept. What there is then weighs at least `most`, so that who reads
 * it can tell. A row within another one that has a bound needs none. More than max_bytes is an
 * error.
 *
 * One loop thread. Errors are ERR_PROTOCOL and tell which element or line, and the byte in it; the
 * first one stays.
 */
struct scan_want {
	/* NULL ends the table */
	const char *name;
	/* NULL: plain */
	const struct scan_want *some;
	size_t most;
	bool each, drop, pick;
	/* 1 to SCAN_NOTES; 0: none */
	unsigned char note;
};
/* a table that wants everything */
extern const struct scan_want scan_all[];

#define SCAN_PLAIN(name_)                                                                          \
	{                                                                                          \
		.name = (name_)                                                                    \
	}
#define SCAN_NOTED(name_, note_)                                                                   \
	{                                                                                          \
		.name = (name_), .note = (note_)                                                   \
	} /* plain; see scan_line */
#define SCAN_ALL(name_, most_)                                                                     \
	{                                                                                          \
		.name = (name_), .some = scan_all, .most = (most_)                                 \
	}
#define SCAN_SOME(name_, some_)                                                                    \
	{                                                                                          \
		.name = (name_), .some = (some_)                                                   \
	}
#define SCAN_SOME_OF(name_, some_, most_)                                                          \
	{                                                                                          \
		.name = (name_), .some = (some_), .most = (most_)                                  \
	}
#define SCAN_DIGEST(name_, some_)                                                                  \
	{                                                                                          \
		.name = (name_), .some = (some_), .pick = true                                     \
	} /* as SCAN_SOME; see scan_digest() */
#define SCAN_EACH(name_, some_)                                                                    \
	{                                                                                          \
		.name = (name_), .some = (some_), .each = true                                     \
	}
#define SCAN_DROP(name_)                                                                           \
	{                                                                                          \
		.name = (name_), .drop = true                                                      \
	}
#define SCAN_REST                                                                                  \
	{                                                                                          \
		.name = NULL, .some = scan_all                                                     \
	}
#define SCAN_END                                                                                   \
	{                                                                                          \
		.name = NULL                                                                       \
	}

/*
 * What a line says, before anything is built of it. digest: scan_digest(). note: the strings of
 * SCAN_NOTED rows, without a NUL behind them; text NULL where there is none, with a len of SIZE_MAX
 * where it would have to be decoded.
 */
#define SCAN_NOTES 4
struct scan_line {
	uint64_t digest;
	struct scan_note {
		const char *text;
		size_t len;
	} note[SCAN_NOTES];
};

struct scan_ops {
	/* A line that lies whole in the chunk that is fed; may be NULL. With .digests alone. True:
	 * on_value need not be told of it. */
	bool (*is_known)(const struct scan_line *line, void *arg);
	/* An element of SCAN_EACH.  The tree is the scan's; -1 with *e set stops the scan. */
	int (*on_each)(json_t *value, void *arg, struct err *e);
	/* A line, or at its last byte the one document. */
	int (*on_value)(json_t *value, void *arg, struct err *e);
};

struct scan_spec {
	const struct scan_want *want;
	/* one document a line, blank lines are ignored; otherwise one document */
	bool lines;
	/* of a line; of an element of SCAN_EACH, and of all beside those elements */
	size_t max_bytes;
	/* as of a row, for a whole document or line (without SCAN_EACH); 0: no bound */
	size_t most;
	/* scan_digest() is wanted */
	bool digests;
	const struct scan_ops *ops;
	void *arg;
};

struct scan;
struct scan *scan_new(const struct scan_spec *spec);
void scan_free(struct scan *s);
DEFINE_OWN(scan)
/* Chunks of any size.  The work for one is in proportion to its bytes. */
int scan_feed(struct scan *s, const char *data, size_t len, struct err *e)
	__attribute__((warn_unused_result));
/* Something of the document or line at hand was left out for its bound, `most`. */
bool scan_left_out(const struct scan *s);
/*
 * Of what is given out at the moment: of all that is kept of it and not noted, under a key of this
 * process; the same for what says the same, whatever its noted members are. Of the member
 * SCAN_DIGEST alone, where there is one.
 */
uint64_t scan_digest(const struct scan *s);
/* End of input: a document that is not complete is an error, a last line that is not is dropped. */
int scan_end(struct scan *s, struct err *e) __attribute__((warn_unused_result));

/* A text that is there as a whole; NULL on error. */
json_t *scan_parse(const char *text, size_t len, const struct scan_want *want, struct err *e);

/* Bytes of the strings in it, names included, and SCAN_VALUE_BYTES for each value, itself included;
 * NULL: as one. */
#define SCAN_VALUE_BYTES 32
size_t scan_weight(const json_t *v);

#endif
