#ifndef PLANNER_ROOM_H
#define PLANNER_ROOM_H

#include "planner/bins.h"

/*
 * room: the bins that are there before anything is opened: serving nodes, less
 * what is bound to them, and claims on their way.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_plan.c
 */
/* For so long after it became ready a claim speaks for its Node where that has a taint that the
 * pool does not promise: agents of the tenant (CNI, CSI) take theirs away once they run. */
#define ROOM_SETTLES_MS ((int64_t)180000)
/* Each node of the world, then each claim. Pods that are bound to it count for the others from then
 * on. by_claim: of the same plan, empty at first. */
void room_open_node(struct planning *p, struct world_host *h, struct map *by_claim);
void room_open_claim(struct planning *p, const struct world_claim *c, const struct map *by_claim);
struct bins *room_of(struct planning *p, struct plan_tenant *t);

#endif
