#ifndef PLANNER_CONSOLIDATE_H
#define PLANNER_CONSOLIDATE_H

#include "planner/plan.h"

/*
 * consolidate: which Nodes could be given back because the pods on them have room on others of
 * their tenant.
 *
 * A pure, deterministic function of the world and of now, as plan_make() is. Machines are finite: a
 * Node goes only when no machine has to be claimed for it.
 *
 * Pods that wait, and those of Nodes that take no more pods, have their room first. Then one Node
 * after the other is tried, the one first that is least trouble: the smallest sum of what its pods
 * say it costs to end them (1 each, their pod-deletion-cost and priority counted as Karpenter
 * counts them), of equals the one with more GPUs, then CPUs, then by name. All its pods get places
 * on other Nodes, or it stays and nothing shows that it was tried. What goes makes its pods take
 * room for good, so all that is given can go at once, and any part of it: who gets pods does not
 * go. Pods go to Nodes that stay anyway first, then to those that are the most trouble, so that few
 * Nodes are full rather than many half full.
 *
 * All that kube-scheduler requires of a place holds there (planner/fit.h, planner/topology.h);
 * preferences are not looked at. A Node whose domain it is alone counts for spread until it is
 * gone.
 * Tests: tests/unit/planner/test_consolidate.c, tests/bench/bench_consolidate.c
 */
enum consolidate_verdict {
	/* all its pods have room elsewhere */
	CONSOLIDATE_GIVE,
	/* there is none on it */
	CONSOLIDATE_EMPTY,
	/* one of them may not be moved: keep says why */
	CONSOLIDATE_KEPT,
	/* one of them is of a gang, which would not be whole */
	CONSOLIDATE_GANG,
	/* one of them fits nowhere else */
	CONSOLIDATE_NO_ROOM,
	/* pods of others, or that wait, are to come here */
	CONSOLIDATE_RECEIVES,
	/* its tenant's work is spent (PLAN_WORK) */
	CONSOLIDATE_OVER
};
struct consolidate_move {
	/* to: a Node of the same tenant */
	const char *ns, *pod, *to;
};
struct consolidate_node {
	const char *tenant, *node, *claim;
	enum consolidate_verdict verdict;
	/* KEPT, GANG, NO_ROOM: the first such */
	const char *ns, *pod;
	/* KEPT */
	enum world_keep keep;
	/* KEPT: Unix ms; 0: for good */
	int64_t keep_until;
	/* thousandths of a pod */
	int64_t trouble;
	struct consolidate_move *moves;
	/* GIVE */
	size_t nmoves;
};
/* Nodes that serve, of claims of pools that say so (world_pool.underused), in the order in which
 * they were tried. */
struct consolidate {
	struct consolidate_node *v;
	size_t n, given;
};
/* In slices, as plan_begin() and its like (planner/plan.h): no plan is made of the world
 * meanwhile. */
struct consolidate_run;
struct consolidate_run *consolidate_begin(struct world *w, int64_t now_ms, struct arena *a);
/* NULL: not yet. */
struct consolidate *consolidate_step(struct consolidate_run *r, uint64_t units);
void consolidate_end(struct consolidate_run *r);

#endif
