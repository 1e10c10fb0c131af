#ifndef WIPE_STATEMENT_H
#define WIPE_STATEMENT_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/data/fields.h"

/*
 * statement: result of a wipe for a part of the machine that is not a drive. A record has at most
 * one statement per part. If a record has no statement on a part, the record does not cover the
 * part and names it in notCovered.
 *
 * The contents come from the agent: call statement_check() before trusting a statement.
 * Tests: tests/unit/wipe/test_statement.c
 */
enum statement_part { STATEMENT_SYSTEM_MEMORY, STATEMENT_PARTS };
/* Names of enum statement_part: "SystemMemory", NULL. */
extern const char *const statement_part_names[];

enum statement_outcome {
	/* The part was not overwritten, or too little of the part was overwritten: message has the
	 * cause. */
	STATEMENT_NOT_COVERED,
	/* The part was overwritten, but the data read back differed from the data written. */
	STATEMENT_FAILED,
	STATEMENT_COVERED,
};
/* Names of enum statement_outcome: "NotCovered", "Failed", "Covered", NULL. */
extern const char *const statement_outcome_names[];

/* Limit of the memory that may stay uncovered because the kernel and the agent use it:
 * 1/STATEMENT_LEFT_SHARE of the total, or STATEMENT_LEFT_BYTES if that is more, but never more than
 * half of the total. */
#define STATEMENT_LEFT_SHARE 16
#define STATEMENT_LEFT_BYTES (INT64_C(256) << 20)
#define STATEMENT_NODES_MAX 64

struct statement_node {
	int64_t node, total_bytes, covered_bytes;
};

struct statement {
	/* The part, enum statement_part, and the result for it, enum statement_outcome. */
	int part, outcome;
	/* "Overwritten"; NULL: nothing was done. */
	const char *technique;
	/* Why the part is not covered; NULL: it is covered. */
	const char *message;
	int64_t total_bytes, covered_bytes, bad_bytes;
	/* NUMA nodes. total_bytes, covered_bytes and bad_bytes of the statement are the sums over
	 * the nodes. */
	struct {
		struct statement_node *v;
		size_t n;
	} nodes;
};
extern const struct field statement_fields[];

/* True if the memory counts as covered. covered_bytes: bytes of which the contents were written and
 * read back; total_bytes: size of the memory. */
bool statement_enough(int64_t total_bytes, int64_t covered_bytes);
/* Checks that the n statements can be true. ERR_PROTOCOL names what cannot be true: two statements
 * on one part, or Covered with counts that contradict it. */
int statement_check(const struct statement *v, size_t n, struct err *e)
	__attribute__((warn_unused_result));
/* Returns the parts that the n statements cover: bit 1 << enum statement_part for each. */
unsigned statement_covered(const struct statement *v, size_t n);
/* Returns a bit 1 << enum statement_part for each name in *names. */
unsigned statement_parts(const struct strings *names);
/* Returns the name of a part whose bit is set in `want` and not in `covered`; NULL: none. */
const char *statement_lacks(unsigned covered, unsigned want);

#endif
