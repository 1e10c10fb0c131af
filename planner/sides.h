#ifndef PLANNER_SIDES_H
#define PLANNER_SIDES_H

#include "planner/groups.h"

/*
 * sides: what pods are to each other, made known before the first of them is placed, in slices.
 * Groups are made only where some pod asks for a place for the sake of others.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_slices.c,
 * tests/unit/planner/test_consolidate.c
 */
struct sides_run {
	enum { SIDES_ASK, SIDES_PLACED, SIDES_OTHERS, SIDES_MEET, SIDES_READY } step;
	bool begun, more;
	struct map_iter it;
	size_t at;
};
/* At most until p->work is so much. side_of: of one of the n pods that are to be placed. False:
 * p->groups is ready. */
bool sides_next(struct sides_run *s, struct planning *p, uint64_t until, size_t n,
		struct world_shape *(*side_of)(const void *run, size_t at), const void *run);

#endif
