#ifndef PLANNER_CONSOLIDATE_H
#define PLANNER_CONSOLIDATE_H

#include "planner/plan.h"

/*
 * consolidate: which Nodes can be given back because their pods have room on other Nodes of the
 * same tenant.
 *
 * A pure, deterministic function of the world and of now_ms, like plan_make(). A Node is given back
 * only if no machine has to be claimed for its pods.
 *
 * Algorithm: first, waiting pods and the pods of Nodes that accept no more pods get room. Then one
 * Node after the other is tried, in order of least trouble: smallest sum of the eviction costs of
 * its pods (1 each, modified by pod-deletion-cost and priority as in Karpenter), then more GPUs,
 * then more CPUs, then name. Either all its pods get room on other Nodes, or the attempt is rolled
 * back. The pods of a Node that is given back occupy their new room from then on. So all results
 * can be carried out at once, and also any part of them: a Node that receives pods is not given
 * back. Receiving Nodes are chosen in this order: Nodes that stay anyway, then Nodes with the most
 * trouble. So pods fill few Nodes rather than half of many.
 *
 * All constraints that kube-scheduler requires are kept (planner/fit.h, planner/topology.h);
 * preferences are ignored. A Node that is alone in its domain counts for spread until it is gone.
 * Tests: tests/unit/planner/test_consolidate.c, tests/bench/bench_consolidate.c
 */
enum consolidate_verdict {
	/* All its pods have room on other Nodes. */
	CONSOLIDATE_GIVE,
	/* No pods on it. */
	CONSOLIDATE_EMPTY,
	/* One of its pods may not be moved: keep is the reason. */
	CONSOLIDATE_KEPT,
	/* One of its pods belongs to a gang, which would not stay whole. */
	CONSOLIDATE_GANG,
	/* One of its pods fits on no other Node. */
	CONSOLIDATE_NO_ROOM,
	/* Pods of other Nodes, or waiting pods, are to be placed here. */
	CONSOLIDATE_RECEIVES,
	/* The tenant's work units are used up (PLAN_WORK). */
	CONSOLIDATE_OVER
};
struct consolidate_move {
	/* to: a Node of the same tenant. */
	const char *ns, *pod, *to;
};
struct consolidate_node {
	const char *tenant, *node, *claim;
	enum consolidate_verdict verdict;
	/* KEPT, GANG, NO_ROOM: the first pod with that reason. */
	const char *ns, *pod;
	/* KEPT: the reason. */
	enum world_keep keep;
	/* KEPT: until when, Unix ms; 0: no end. */
	int64_t keep_until;
	/* Sum of its pods' eviction costs, in thousandths of a pod. */
	int64_t trouble;
	struct consolidate_move *moves;
	/* GIVE: number of moves. */
	size_t nmoves;
};
/* Serving Nodes of claims of pools with world_pool.underused, in the order in which they were
 * tried. given: how many of them can be given back. */
struct consolidate {
	struct consolidate_node *v;
	size_t n, given;
};
/* Runs in slices, like plan_begin() and plan_step() (planner/plan.h); meanwhile no plan may be made
 * of the world. */
struct consolidate_run;
struct consolidate_run *consolidate_begin(struct world *w, int64_t now_ms, struct arena *a);
/* Returns the result once it is complete; NULL: call again. */
struct consolidate *consolidate_step(struct consolidate_run *r, uint64_t units);
void consolidate_end(struct consolidate_run *r);

#endif
