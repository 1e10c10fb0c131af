#ifndef PLANNER_ROOMS_H
#define PLANNER_ROOMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"

/*
 * rooms: how much room each of many places has, in the order in which they are tried, so that the
 * first with enough is found without a look at each.
 *
 * Over each eight places stands a row with the most that one of them has of each column, over each
 * eight of these another one, and so on: what is too small for a request is passed over in a few
 * steps. Two places may have enough of one column each and neither of both; then both are looked
 * at.
 * Tests: tests/unit/planner/test_rooms.c
 */
#define ROOMS_NONE SIZE_MAX

/* of one column; more than 0 */
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
/* its number, from 0 */
size_t rooms_add(struct rooms *r, const int64_t *row);
bool rooms_fit(const struct rooms *r, size_t at, struct asks asks);
void rooms_take(struct rooms *r, size_t at, struct asks asks);
/* What was taken, and places that were added: as if it had never been. */
void rooms_give(struct rooms *r, size_t at, struct asks asks);
/* to so many places */
void rooms_cut(struct rooms *r, size_t n);
/* How many that ask so have room in such a row together. */
size_t rooms_times(const int64_t *row, struct asks asks);
const int64_t *rooms_row(const struct rooms *r, size_t at);
/* Nothing goes there any more that asks for any of column 0. */
void rooms_close(struct rooms *r, size_t at);
/* The first from there on with room; ROOMS_NONE.  steps grows by what was looked at. */
size_t rooms_next(const struct rooms *r, size_t from, struct asks asks, uint64_t *steps);

#endif
