#ifndef BASE_DATA_SCAN_H
#define BASE_DATA_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/data/json.h"
#include "base/err.h"
#include "base/own.h"

/*
 * scan: parses JSON as its bytes arrive, in one pass, and builds only the wanted values.
 *
 * The whole text is checked as strictly as by json_parse(), unwanted values included: grammar,
 * UTF-8, escapes, numbers that fit, no duplicate names in an object, depth 64. In addition a NUL
 * byte behind a number is refused, which jansson accepts. The wanted values become a jansson tree;
 * nothing is allocated for the rest. So a Node costs a tenth of a complete parse, and a foreign
 * object of any shape costs bounded memory and time for each chunk.
 *
 * Tables, which must outlive the scan, describe the wanted values:
 *
 *   static const struct scan_want meta[] = {
 *         SCAN_PLAIN("name"),           a string, number, true, false or null; of an object or
 *                                       array only {} or [] is built
 *         SCAN_ALL("labels", 16384),    the member with its whole contents
 *         SCAN_END,                     nothing else; SCAN_REST: everything else
 *   };
 *   static const struct scan_want pod[] = {
 *         SCAN_SOME("metadata", meta),  these members of an object, or of each object in an array
 *         SCAN_EACH("items", item),     an array whose elements go to on_each() and are
 *                                       not retained
 *         SCAN_END,
 *   };
 *
 * Limits: the member `most` of a row limits how much of a value is built. Once the weight of the
 * value (scan_weight()) reaches `most`, nothing more of it is built; so a result that weighs at
 * least `most` may be incomplete. 0 means no limit. A row inside a limited value needs no limit of
 * its own. More than max_bytes of input is an error.
 *
 * All functions run on the loop thread. Errors are ERR_PROTOCOL and name the element or line and
 * the byte in it. After an error every call fails with the same error.
 */
struct scan_want {
	/* Name of the member; NULL ends the table. */
	const char *name;
	/* Table of the value's own members; NULL: a plain value (a scalar). */
	const struct scan_want *some;
	size_t most;
	bool each, drop, pick;
	/* Number of the note (entry of scan_line.note) in which the member's string is reported, 1
	 * to SCAN_NOTES; 0: none. */
	unsigned char note;
};
/* A table that wants every member. */
extern const struct scan_want scan_all[];

#define SCAN_PLAIN(name_)                                                                          \
	{                                                                                          \
		.name = (name_)                                                                    \
	}
#define SCAN_NOTED(name_, note_)                                                                   \
	{                                                                                          \
		.name = (name_), .note = (note_)                                                   \
	} /* SCAN_NOTED: a plain value whose string is reported in scan_line.note. */
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
/* SCAN_DIGEST: like SCAN_SOME, but scan_digest() then covers only this member of the line. */
#define SCAN_DIGEST(name_, some_)                                                                  \
	{                                                                                          \
		.name = (name_), .some = (some_), .pick = true                                     \
	}
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
 * What is known of a line before anything is built from it. digest: result of scan_digest().
 * note[i]: string of the SCAN_NOTED row with note i + 1, not NUL-terminated. In a note, text NULL
 * means that the member is absent (len 0), or that its string contains escapes and is not decoded
 * here (len SIZE_MAX).
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
	/* Called for a line that is complete within one chunk, before anything is built from it;
	 * may be NULL. Without spec.digests, line->digest means nothing. True: the line is not
	 * built and on_value() is not called. */
	bool (*is_known)(const struct scan_line *line, void *arg);
	/* Called for each element of a SCAN_EACH array. The scan owns value. -1 with *e set stops
	 * the scan. */
	int (*on_each)(json_t *value, void *arg, struct err *e);
	/* Called for each line, or, for a single document, once at its last byte. Otherwise like
	 * on_each(). */
	int (*on_value)(json_t *value, void *arg, struct err *e);
};

struct scan_spec {
	const struct scan_want *want;
	/* True: one document per line, blank lines are ignored. False: a single document. */
	bool lines;
	/* Maximum number of bytes of a line or document. With SCAN_EACH: of each element, and of
	 * everything outside the elements together. */
	size_t max_bytes;
	/* Limit on the weight of a whole document or line, like scan_want.most (not with
	 * SCAN_EACH); 0 means no limit. */
	size_t most;
	/* True: compute digests for scan_digest(). */
	bool digests;
	const struct scan_ops *ops;
	void *arg;
};

struct scan;
struct scan *scan_new(const struct scan_spec *spec);
void scan_free(struct scan *s);
DEFINE_OWN(scan)
/* Parses a chunk of any size. The work is proportional to the chunk's size. */
int scan_feed(struct scan *s, const char *data, size_t len, struct err *e)
	__attribute__((warn_unused_result));
/* True if the current document or line was not built completely because of spec.most. */
bool scan_left_out(const struct scan *s);
/*
 * Returns the digest of the value that is being passed to a callback. The digest covers everything
 * that was built except members of SCAN_NOTED rows: values that differ only in those have equal
 * digests. If the table has a SCAN_DIGEST row, the digest covers the member of that row alone. The
 * digest depends on a random key of this process. Requires spec.digests.
 */
uint64_t scan_digest(const struct scan *s);
/* Ends the input: an incomplete document is an error, an incomplete last line is dropped. */
int scan_end(struct scan *s, struct err *e) __attribute__((warn_unused_result));

/* Parses a complete text and returns a new reference to its wanted values; NULL with *e on
 * error. */
json_t *scan_parse(const char *text, size_t len, const struct scan_want *want, struct err *e);

/* Returns the weight of a tree, an estimate of its size: the bytes of its strings, names included,
 * plus SCAN_VALUE_BYTES for each value, the top one included. NULL weighs as much as one value. */
#define SCAN_VALUE_BYTES 32
size_t scan_weight(const json_t *v);

#endif
