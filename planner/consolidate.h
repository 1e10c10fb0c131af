#ifndef PLANNER_CONSOLIDATE_H
#define PLANNER_CONSOLIDATE_H

#include "planner/plan.h"

/*
 * consolidate: determines which Nodes can be given back, because their pods have room on other
 * Nodes of the same tenant.
 *
 * The result is a pure, deterministic function of the world and of now_ms, like that of
 * plan_make(). A Node is given back only if no machine has to be claimed for its pods.
 *
 * Algorithm: first, waiting pods and the pods of Nodes that accept no pods get room. Then one Node
 * after the other is tried, in order of increasing trouble. The trouble of a Node is the sum of the
 * eviction costs of its pods: 1 per pod, modified by pod-deletion-cost and priority as in
 * Karpenter. Nodes with equal trouble are tried in this order: more GPUs first, then more CPUs,
 * then by name.
 *
 * An attempt succeeds if all pods of the Node get room on other Nodes; otherwise it is rolled back.
 * After a success the pods occupy their new room in all later attempts, and a Node that receives
 * pods is not given back. So all results together, or any part of them, can be carried out at once.
 * Receiving Nodes are chosen in this order: Nodes that stay anyway, then Nodes with the most
 * trouble. So a few Nodes are filled, and the others become empty.
 *
 * All constraints that kube-scheduler requires are respected (planner/fit.h, planner/topology.h);
 * preferences are ignored. In a topology spread, the domain of a Node counts until that Node is
 * deleted, even if the Node is the only one of its domain.
 * Tests: tests/unit/planner/test_consolidate.c, tests/bench/bench_consolidate.c
 */
enum consolidate_verdict {
	/* The Node can be given back: all its pods have room on other Nodes. */
	CONSOLIDATE_GIVE,
	/* The Node has no pods that would have to move. */
	CONSOLIDATE_EMPTY,
	/* A pod of the Node may not be moved, for the reason in consolidate_node.keep. */
	CONSOLIDATE_KEPT,
	/* A pod of the Node belongs to a gang. Moving one pod would interrupt the whole gang. */
	CONSOLIDATE_GANG,
	/* A pod of the Node fits on no other Node. */
	CONSOLIDATE_NO_ROOM,
	/* The Node stays, because pods of other Nodes or waiting pods are to be placed on it. */
	CONSOLIDATE_RECEIVES,
	/* The attempt was not finished, because the tenant's work units are used up (PLAN_WORK). */
	CONSOLIDATE_OVER
};
struct consolidate_move {
	/* Namespace and name of the pod to be moved; to: the Node of the same tenant that receives
	 * the pod. */
	const char *ns, *pod, *to;
};
struct consolidate_node {
	const char *tenant, *node, *claim;
	enum consolidate_verdict verdict;
	/* For verdicts KEPT, GANG and NO_ROOM: namespace and name of the first pod to which the
	 * verdict applies. */
	const char *ns, *pod;
	/* For verdict KEPT: why the pod may not be moved. */
	enum world_keep keep;
	/* For verdict KEPT: Unix ms until which keep applies; 0: no end. */
	int64_t keep_until;
	/* Sum of the eviction costs of the Node's pods, in thousandths of a pod. */
	int64_t trouble;
	struct consolidate_move *moves;
	/* For verdict GIVE: number of moves, one for each pod of the Node. */
	size_t nmoves;
};
/* Results, one for each serving Node whose pool has world_pool.underused, in the order in which the
 * Nodes were tried. given: number of Nodes that can be given back. */
struct consolidate {
	struct consolidate_node *v;
	size_t n, given;
};
/* State of a consolidation in slices, like plan_begin() and plan_step() (planner/plan.h). From
 * consolidate_begin() to consolidate_end() no plan may be made of the world. */
struct consolidate_run;
struct consolidate_run *consolidate_begin(struct world *w, int64_t now_ms, struct arena *a);
/* Does about `units` work units (units of computing time, plan.h). Returns the result once it is
 * complete; NULL: call again. */
struct consolidate *consolidate_step(struct consolidate_run *r, uint64_t units);
void consolidate_end(struct consolidate_run *r);

#endif
