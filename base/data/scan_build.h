#ifndef BASE_DATA_SCAN_BUILD_H
#define BASE_DATA_SCAN_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/data/json.h"
#include "base/data/scan.h"
#include "base/data/scan_names.h"
#include "base/data/scan_token.h"

/*
 * scan_build: builds the wanted values of a JSON text, for scan.c.
 *
 * scan.c checks the text and reports its names, scalars and brackets here, in order. This module
 * decides from the table of rows (struct scan_want) how each value is handled, builds the wanted
 * values within their limits, and computes their digest. It checks no syntax: the caller must
 * report only what is allowed at that position.
 *
 * Inside a value that is not built, no name is looked up and nothing is allocated.
 */

/* How a value is handled. Known before the value's first byte, from its name and the table of its
 * object. */
struct scan_handling {
	/* True: the value is built. */
	bool keep;
	/* True: the value is an array whose elements are passed to a callback. */
	bool each;
	/* True: the digest covers this value alone (SCAN_DIGEST). */
	bool pick;
	/* Number of the note (struct scan_want) in which the value's string is reported; 0:
	 * none. */
	unsigned char note;
	/* Table of the value's members or elements; NULL: none is wanted. */
	const struct scan_want *some;
	/* Limit on the value's weight; 0 means no limit. */
	size_t most;
};

/* An open object or array. */
struct scan_frame {
	/* The object or array being built; NULL: it is not built, or this is a dry run. */
	json_t *node;
	const struct scan_want *some;
	/* Names of the object, maintained by scan.c. Zero after scan_build_open(). */
	struct scan_object object;
	uint64_t digest;
	bool array, each, kept, pick, note;
};

struct scan_build {
	/* Stack of the open objects and arrays; the last one is the innermost. */
	struct scan_frame *frames;
	size_t depth, frames_cap;
	/* How the current value, or the next one, is handled. */
	struct scan_handling handling;
	/* Name of the current value, if it is built as a member of an object. */
	struct buf name;

	/* Values that were built: the document or line, and the current element of a SCAN_EACH
	 * array. The caller takes them and sets the member to NULL. */
	json_t *root, *element;
	bool in_element;
	/* Depth of the stack at which the value for the next callback begins. */
	size_t base;
	/* budget: depth of the container that has a limit `most`; 0 means none. left: weight that
	 * may still be built inside that container. */
	size_t left, budget;
	/* True if something was not built because of a limit. */
	bool left_out;
	/* True: a dry run, in which only the digest is computed and nothing is built. Set by the
	 * caller. */
	bool dry;
	/* True: digests are computed. */
	bool digests;
	/* Digest so far of the current document, line or element. */
	uint64_t digest;
	/* Digest of the member with the SCAN_DIGEST row; 0: no such member so far. */
	uint64_t picked;
};

void scan_build_init(struct scan_build *b, bool digests);
void scan_build_done(struct scan_build *b);
/* Begins a document or line. want and most: as in struct scan_spec. */
void scan_build_start(struct scan_build *b, const struct scan_want *want, size_t most);

/* Returns the innermost open object or array. At least one must be open. */
static inline struct scan_frame *scan_build_top(const struct scan_build *b)
{
	return &b->frames[b->depth - 1];
}
/* True if the next value is an element that is passed to a callback of its own. */
static inline bool scan_build_at_element(const struct scan_build *b)
{
	return b->depth && scan_build_top(b)->each && !b->in_element;
}
void scan_build_element_begins(struct scan_build *b);
void scan_build_element_ends(struct scan_build *b);
/* True if the value that ended is a whole element, document or line. */
static inline bool scan_build_at_base(const struct scan_build *b)
{
	return b->depth == b->base;
}

/* Reports a member's name, decoded, and decides how its value is handled. */
void scan_build_name(struct scan_build *b, const char *text, size_t len);
/* Reports that a comma in an array was read: decides how the next element is handled. */
void scan_build_next(struct scan_build *b);
/* Reports that a value begins. It is not built if the limit is reached. */
void scan_build_value_begins(struct scan_build *b);
/* Report a scalar. text: the decoded string, or the number or literal as it is in the JSON text. v:
 * true, false or null; all three are static objects of jansson. */
void scan_build_string(struct scan_build *b, const char *text, size_t len);
void scan_build_number(struct scan_build *b, const char *text, size_t len,
		       const struct scan_number *n);
void scan_build_word(struct scan_build *b, const char *text, size_t len, json_t *v);
/* Opens an object or array and returns its frame, valid until the next one is opened. */
struct scan_frame *scan_build_open(struct scan_build *b, bool array);
/* Closes the innermost object or array. */
void scan_build_close(struct scan_build *b);
/* Returns the digest as described at scan_digest(). */
uint64_t scan_build_digest(const struct scan_build *b);

#endif
