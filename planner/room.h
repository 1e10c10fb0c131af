#ifndef PLANNER_ROOM_H
#define PLANNER_ROOM_H

#include "planner/bins.h"

/*
 * room: the bins that are there before anything is opened: serving nodes, less
 * what is bound to them, and claims on their way.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_plan.c
 */
/* Each node of the world, then each claim.  by_claim: of the same plan, empty at first. */
void room_open_node(struct planning *p, struct world_host *h, struct map *by_claim);
void room_open_claim(struct planning *p, const struct world_claim *c, const struct map *by_claim);
/* Then each pod that is bound: it counts for the others where it is.  Only with a topology. */
void room_place_bound(struct planning *p, const struct world_one *pod);
/* What its tenant's DaemonSets will take of a new machine, or of one whose node has so much of them. */
void room_take_overhead(const struct planning *p, const struct plan_tenant *t,
			const struct world_load *has, int64_t *room);
struct bins *room_of(struct planning *p, struct plan_tenant *t);

#endif
