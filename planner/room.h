#ifndef PLANNER_ROOM_H
#define PLANNER_ROOM_H

#include "planner/bins.h"

/*
 * room: the bins that are there before anything is opened: serving nodes, less
 * what is bound to them, and claims on their way.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_plan.c
 */
void room_open(struct planning *p, const struct world_list *nodes, const struct world_list *claims);
/* Then each pod that is bound: it counts for the others where it is.  Only with a topology. */
void room_place_bound(struct planning *p, const struct world_one *pod);
struct bins *room_of(struct planning *p, struct plan_tenant *t);

#endif
