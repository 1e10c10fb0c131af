#ifndef PLANNER_ROOM_H
#define PLANNER_ROOM_H

#include "planner/bins.h"

/*
 * room: the bins that exist before a plan opens claims: serving nodes, less the pods bound to them,
 * and claims in progress.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_plan.c
 */
/* For this time after a claim became ready, the claim is used instead of its Node if the Node has a
 * taint that the pool does not promise: agents of the tenant (CNI, CSI) remove their taints once
 * they run. */
#define ROOM_SETTLES_MS ((int64_t)180000)
/* Opens the bin of a node; its pods then count for topology constraints. Call for each node of the
 * world. by_claim: initially empty; for room_open_claim(). */
void room_open_node(struct planning *p, struct world_host *h, struct map *by_claim);
/* Opens the bin of a claim in progress. Call for each claim of the world, after all nodes. */
void room_open_claim(struct planning *p, const struct world_claim *c, const struct map *by_claim);
/* Returns the tenant's bins. */
struct bins *room_of(struct planning *p, struct plan_tenant *t);

#endif
