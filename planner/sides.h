#ifndef PLANNER_SIDES_H
#define PLANNER_SIDES_H

#include "planner/groups.h"

/*
 * sides: creates the topology profiles of all pods, in slices, before the first pod is placed.
 * Groups are created only if some pod has topology constraints.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_slices.c,
 * tests/unit/planner/test_consolidate.c
 */
struct sides_run {
	enum { SIDES_ASK, SIDES_PLACED, SIDES_OTHERS, SIDES_MEET, SIDES_READY } step;
	bool begun, more;
	struct map_iter it;
	size_t at;
};
/* Works until p->work reaches `until`. side_of: returns the profile of one of the n pods to be
 * placed. False: all is done, and p->groups is ready. */
bool sides_next(struct sides_run *s, struct planning *p, uint64_t until, size_t n,
		struct world_shape *(*side_of)(const void *run, size_t at), const void *run);

#endif
