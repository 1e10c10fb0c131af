#ifndef PLANNER_CAPACITY_TABLE_H
#define PLANNER_CAPACITY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"

/*
 * capacity_table: table of the free capacity of many candidates (bins, or offers of a pool). Finds
 * the first candidate with enough room without checking each. Each candidate has one row of
 * amounts, with one column per resource.
 *
 * The table is a tree with fan-out 8. Each eight candidates are summarized by a row with the
 * maximum of each column. Each eight of these rows are summarized by a further row of maxima, and
 * so on. So groups of candidates that are all too small are skipped in few steps. If one candidate
 * of a group has enough of one column, and a different candidate enough of another column, the
 * group cannot be skipped and each candidate is checked.
 * Tests: tests/unit/planner/test_capacity_table.c
 */
#define CAPACITY_TABLE_NONE SIZE_MAX

/* Requested amount of one resource. column: the resource's column. amount: must be greater than
 * 0. */
struct ask {
	uint32_t column;
	int64_t amount;
};
struct asks {
	const struct ask *v;
	size_t n;
};

struct capacity_table;
struct capacity_table *capacity_table_new(struct arena *a, size_t columns);
/* Allocates memory for n candidates at once; more can be added nevertheless. Call before the first
 * capacity_table_add(). */
void capacity_table_expect(struct capacity_table *r, size_t n);
/* Adds a candidate whose free amounts are `row`. Returns the candidate's index, from 0. */
size_t capacity_table_add(struct capacity_table *r, const int64_t *row);
bool capacity_table_fit(const struct capacity_table *r, size_t at, struct asks asks);
void capacity_table_subtract(struct capacity_table *r, size_t at, struct asks asks);
/* Reverts one capacity_table_subtract() with equal arguments. */
void capacity_table_restore(struct capacity_table *r, size_t at, struct asks asks);
/* Removes all candidates except the first n. */
void capacity_table_truncate(struct capacity_table *r, size_t n);
/* Returns how many times the request fits into a row of free amounts. */
size_t capacity_table_times(const int64_t *row, struct asks asks);
const int64_t *capacity_table_row(const struct capacity_table *r, size_t at);
/* Sets the free amount of column 0 to the minimum, so that no request that includes column 0
 * fits. */
void capacity_table_close(struct capacity_table *r, size_t at);
/* Returns the index of the first candidate, from index `from` on, with room for the request;
 * CAPACITY_TABLE_NONE: none. Adds the number of rows checked to *steps. */
size_t capacity_table_next(const struct capacity_table *r, size_t from, struct asks asks,
			   uint64_t *steps);

#endif
