#ifndef PLANNER_ROOMS_H
#define PLANNER_ROOMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"

/*
 * rooms: table of the free capacity of many candidates (bins, or offers of a pool) by column, to
 * find the first candidate with enough room without checking each.
 *
 * It is a tree with fan-out 8: above each eight candidates is a row with the maximum of each
 * column, above each eight of these rows another one, and so on. Groups of candidates that are all
 * too small are skipped in few steps. If two candidates of a group have enough of one column each
 * and neither has enough of both, both are checked.
 * Tests: tests/unit/planner/test_rooms.c
 */
#define ROOMS_NONE SIZE_MAX

/* Request of one column; amount > 0. */
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
/* Adds a candidate. Returns its index, from 0. */
size_t rooms_add(struct rooms *r, const int64_t *row);
bool rooms_fit(const struct rooms *r, size_t at, struct asks asks);
void rooms_take(struct rooms *r, size_t at, struct asks asks);
/* Reverts rooms_take(). */
void rooms_give(struct rooms *r, size_t at, struct asks asks);
/* Removes all candidates but the first n. */
void rooms_cut(struct rooms *r, size_t n);
/* Returns how many times the request fits into a row. */
size_t rooms_times(const int64_t *row, struct asks asks);
const int64_t *rooms_row(const struct rooms *r, size_t at);
/* Leaves no room for requests that include column 0. */
void rooms_close(struct rooms *r, size_t at);
/* Returns the first candidate from index `from` on with room; ROOMS_NONE: none. *steps grows by the
 * rows checked. */
size_t rooms_next(const struct rooms *r, size_t from, struct asks asks, uint64_t *steps);

#endif
