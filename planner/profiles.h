#ifndef PLANNER_PROFILES_H
#define PLANNER_PROFILES_H

#include "planner/groups.h"

/*
 * profiles: creates the topology profiles (groups.h) of all pods, in slices, before the first
 * pod is placed. p->groups is created only if some pod has topology constraints.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_slices.c,
 * tests/unit/planner/test_consolidate.c
 */
struct profiles_run {
	enum { PROFILES_ASK, PROFILES_BOUND, PROFILES_PLACED, PROFILES_MEET, PROFILES_READY } step;
	bool begun, more;
	/* True: the profiles of all pods are created. False: only of those pods that the tenant's
	 * work units suffice for (groups_wait()). Set by the caller. */
	bool all;
	struct map_iter it;
	size_t at;
};
/* Creates topology profiles until p->work reaches `until`. False: all profiles are complete, and
 * p->groups is ready (NULL if no pod has topology constraints). profile_of(): returns the topology
 * profile (as a world_shape) of pod number `at` of the n pods that are to be placed, in the order
 * in which they are placed. */
bool profiles_next(struct profiles_run *s, struct planning *p, uint64_t until, size_t n,
		   struct world_shape *(*profile_of)(const void *run, size_t at), const void *run);

#endif
