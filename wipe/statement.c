#include "wipe/statement.h"

#include <stdbool.h>
#include "base/str.h"

const char *const statement_part_names[] = {"SystemMemory", NULL};
const char *const statement_outcome_names[] = {"NotCovered", "Failed", "Covered", NULL};

static const struct field node_fields[] = {
	FIELD(statement_node, node, "node", FIELD_I64, .min = 0, .max = 65535, .required = true,
	      .doc = "Number of the NUMA node."),
	FIELD(statement_node, total_bytes, "totalBytes", FIELD_I64, .min = 0,
	      .max = INT64_C(1) << 50, .required = true,
	      .doc = "Memory of the NUMA node in bytes."),
	FIELD(statement_node, covered_bytes, "coveredBytes", FIELD_I64, .min = 0,
	      .max = INT64_C(1) << 50, .required = true,
	      .doc = "Number of bytes that were overwritten and read back."),
	FIELDS_END,
};

const struct field statement_fields[] = {
	FIELD(statement, part, "part", FIELD_ENUM, .enums = statement_part_names, .required = true,
	      .doc = "Part of the machine. SystemMemory: its main memory (RAM)."),
	FIELD(statement, outcome, "outcome", FIELD_ENUM, .enums = statement_outcome_names,
	      .required = true,
	      .doc = "Result for spec.statements[].part. Covered: the memory was overwritten, read "
		     "back and zeroed. Failed: the memory did not read back as written. "
		     "NotCovered: no memory, or too little of it, was wiped."),
	FIELD(statement, technique, "technique", FIELD_STR, .max_len = 64,
	      .doc = "Method. Overwritten: each word got a unique value and then zero; both were "
		     "read back."),
	FIELD(statement, message, "message", FIELD_STR, .max_len = 256,
	      .doc = "Why the part is not covered; absent if the part is covered."),
	FIELD(statement, total_bytes, "totalBytes", FIELD_I64, .min = 0, .max = INT64_C(1) << 50,
	      .required = true, .doc = "System memory as reported by the kernel, in bytes."),
	FIELD(statement, covered_bytes, "coveredBytes", FIELD_I64, .min = 0,
	      .max = INT64_C(1) << 50, .required = true,
	      .doc = "Number of bytes that were overwritten and read back. The other bytes of "
		     "totalBytes were not."),
	FIELD(statement, bad_bytes, "badBytes", FIELD_I64, .min = 0, .max = INT64_C(1) << 50,
	      .required = true, .doc = "Number of bytes that read back differently."),
	FIELD_ITEMS(statement, nodes, "nodes", node_fields, .max_items = STATEMENT_NODES_MAX,
		    .doc = "Byte counts of each NUMA node."),
	FIELDS_END,
};

bool statement_enough(int64_t total, int64_t covered)
{
	int64_t may_be_left = total / STATEMENT_LEFT_SHARE;

	if (may_be_left < STATEMENT_LEFT_BYTES)
		may_be_left = STATEMENT_LEFT_BYTES;
	if (may_be_left > total / 2)
		may_be_left = total / 2;
	return total > 0 && covered <= total && total - covered <= may_be_left;
}

static bool nodes_add_up(const struct statement *s)
{
	int64_t total = 0, covered = 0;

	for (size_t i = 0; i < s->nodes.n; i++) {
		const struct statement_node *n = &s->nodes.v[i];

		if (n->covered_bytes > n->total_bytes)
			return false;
		for (size_t k = 0; k < i; k++)
			if (s->nodes.v[k].node == n->node)
				return false;
		total += n->total_bytes; /* Cannot overflow: at most 64 nodes of 2^50 bytes. */
		covered += n->covered_bytes;
	}
	return !s->nodes.n || (total == s->total_bytes && covered == s->covered_bytes);
}

int statement_check(const struct statement *v, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			if (v[k].part == v[i].part)
				return err_set(e, ERR_PROTOCOL, 0, "statements[%zu]: %s twice", i,
					       statement_part_names[v[i].part]);
		if (!nodes_add_up(&v[i]))
			return err_set(e, ERR_PROTOCOL, 0,
				       "statements[%zu]: its nodes do not add up to its totals", i);
		if (v[i].outcome == STATEMENT_COVERED &&
		    (v[i].bad_bytes || !str_eq(v[i].technique, "Overwritten") ||
		     !statement_enough(v[i].total_bytes, v[i].covered_bytes)))
			return err_set(
				e, ERR_PROTOCOL, 0,
				"statements[%zu]: %s is Covered, but its counts do not show that",
				i, statement_part_names[v[i].part]);
	}
	return 0;
}

unsigned statement_covered(const struct statement *v, size_t n)
{
	unsigned bits = 0;

	for (size_t i = 0; i < n; i++)
		if (v[i].outcome == STATEMENT_COVERED)
			bits |= 1u << v[i].part;
	return bits;
}

unsigned statement_parts(const struct strings *names)
{
	unsigned bits = 0;

	for (size_t i = 0; i < names->n; i++)
		for (unsigned k = 0; k < STATEMENT_PARTS; k++)
			if (str_eq(names->v[i], statement_part_names[k]))
				bits |= 1u << k;
	return bits;
}

const char *statement_lacks(unsigned covered, unsigned want)
{
	for (unsigned k = 0; k < STATEMENT_PARTS; k++)
		if (want & ~covered & 1u << k)
			return statement_part_names[k];
	return NULL;
}
