#ifndef PLANNER_OPEN_BINS_H
#define PLANNER_OPEN_BINS_H

#include "planner/bins.h"

/*
 * open_bins: the bins (candidate nodes, bins.h) that exist before a plan opens claims: serving
 * nodes, with the room that their bound pods leave, and claims in progress.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_plan.c
 */
/* Time after a claim became ready during which startup taints of its Node are ignored. Agents of
 * the tenant (CNI, CSI) taint a Node that just joined, and remove the taint once they run. During
 * this time, if the Node has a taint that the claim does not set, the claim is used as the bin
 * instead of the Node. */
#define OPEN_BINS_SETTLE_MS ((int64_t)180000)
/* Adds the bin of node h, unless the node's claim is used as the bin instead. If the node accepts
 * no pods, the bin only makes the node's pods count for topology constraints. Call for each node of
 * the world. */
void open_bins_add_node(struct planning *p, struct world_host *h);
/* Adds the bin of the claim if the claim is in progress. Call for each claim of the world, after
 * open_bins_add_node() for all nodes. */
void open_bins_add_claim(struct planning *p, struct world_claimed *held);
/* Returns the tenant's bins, created if missing. */
struct bins *open_bins_of(struct planning *p, struct plan_tenant *t);

#endif
