#ifndef WIPE_STATEMENT_H
#define WIPE_STATEMENT_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/data/fields.h"

/*
 * statement: what a wipe says of a part of the machine that is no drive. A record has one statement
 * at most for each part. A record without a statement of a part does not cover it, and names it in
 * notCovered.
 *
 * Everything here comes from the agent: statement_check() is asked before a statement is believed.
 * Tests: tests/unit/wipe/test_statement.c
 */
enum statement_part { STATEMENT_SYSTEM_MEMORY, STATEMENT_PARTS };
/* "SystemMemory", NULL */
extern const char *const statement_part_names[];

enum statement_outcome {
	/* it was not done, or too little of it: message says why */
	STATEMENT_NOT_COVERED,
	/* it was done, and what was read back was not what was written */
	STATEMENT_FAILED,
	STATEMENT_COVERED,
};
/* "NotCovered", "Failed", "Covered", NULL */
extern const char *const statement_outcome_names[];

/* Largest part of the memory that may stay uncovered, because the kernel and the agent use it:
 * 1/STATEMENT_LEFT_SHARE of the total, or STATEMENT_LEFT_BYTES if that is more, but never more than
 * half. */
#define STATEMENT_LEFT_SHARE 16
#define STATEMENT_LEFT_BYTES (INT64_C(256) << 20)
#define STATEMENT_NODES_MAX 64

struct statement_node {
	int64_t node, total_bytes, covered_bytes;
};

struct statement {
	/* enum statement_part, enum statement_outcome */
	int part, outcome;
	/* "Overwritten"; NULL: none */
	const char *technique;
	/* why it is not covered; NULL: it is */
	const char *message;
	int64_t total_bytes, covered_bytes, bad_bytes;
	struct {
		struct statement_node *v;
		size_t n;
	} nodes; /* of NUMA; together they are the bytes above */
};
extern const struct field statement_fields[];

/* Enough of it was written and read back to be called covered. */
bool statement_enough(int64_t total_bytes, int64_t covered_bytes);
/* Can these be true? ERR_PROTOCOL tells what cannot: a part twice, Covered with counts that do not
 * bear it out. */
int statement_check(const struct statement *v, size_t n, struct err *e)
	__attribute__((warn_unused_result));
/* The parts that they cover: bit 1 << enum statement_part of each. */
unsigned statement_covered(const struct statement *v, size_t n);
/* The same of names: parts that must be covered. */
unsigned statement_parts(const struct strings *names);
/* The name of a part in `want` that is not in `covered`; NULL: there is none. */
const char *statement_lacks(unsigned covered, unsigned want);

#endif
