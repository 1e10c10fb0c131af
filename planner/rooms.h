#ifndef PLANNER_ROOMS_H
#define PLANNER_ROOMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"

/*
 * rooms: table of the free capacity of many candidates (bins, or offers of a pool). Finds the first
 * candidate with enough room without checking each. Each candidate has one row of amounts, with one
 * column per resource.
 *
 * The table is a tree with fan-out 8. Each eight candidates are summarized by a row with the
 * maximum of each column. Each eight of these rows are summarized by a further row of maxima, and
 * so on. So groups of candidates that are all too small are skipped in few steps. If one candidate
 * of a group has enough of one column, and a different candidate enough of another column, the
 * group cannot be skipped and each candidate is checked.
 * Tests: tests/unit/planner/test_rooms.c
 */
#define ROOMS_NONE SIZE_MAX

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

struct rooms;
struct rooms *rooms_new(struct arena *a, size_t columns);
/* Adds a candidate whose free amounts are `row`. Returns the candidate's index, from 0. */
size_t rooms_add(struct rooms *r, const int64_t *row);
bool rooms_fit(const struct rooms *r, size_t at, struct asks asks);
void rooms_take(struct rooms *r, size_t at, struct asks asks);
/* Reverts one rooms_take() with equal arguments. */
void rooms_give(struct rooms *r, size_t at, struct asks asks);
/* Removes all candidates except the first n. */
void rooms_cut(struct rooms *r, size_t n);
/* Returns how many times the request fits into a row of free amounts. */
size_t rooms_times(const int64_t *row, struct asks asks);
const int64_t *rooms_row(const struct rooms *r, size_t at);
/* Sets the free amount of column 0 to the minimum, so that no request that includes column 0
 * fits. */
void rooms_close(struct rooms *r, size_t at);
/* Returns the index of the first candidate, from index `from` on, with room for the request;
 * ROOMS_NONE: none. Adds the number of rows checked to *steps. */
size_t rooms_next(const struct rooms *r, size_t from, struct asks asks, uint64_t *steps);

#endif
