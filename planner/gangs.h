#ifndef PLANNER_GANGS_H
#define PLANNER_GANGS_H

#include "planner/queue.h"

/*
 * gangs: gang scheduling, for pods that are only useful together.
 *
 * Pods of the gang that have a node, or for which a claim in progress was made, count as placed.
 * The pods that the gang lacks to its size are placed in one transaction (planner/gang_try.h), at
 * the queue position of its first pod. If they cannot all be placed, nothing is opened, and the
 * reason of each pod reports how many could be.
 *
 * A gang of which fewer pods exist than its size waits for the others, with two exceptions, because
 * pods that ended are not created again: a gang that has begun (a pod has a node), and a gang with
 * a pod that succeeded. Pods beyond the gang's size are served one by one, like any other pod.
 * Tests: tests/unit/planner/test_gangs.c, tests/unit/planner/test_oracle.c
 */
struct plan_gang {
	const struct world_gang *it;
	struct plan_tenant *tenant;
	/* Its waiting pods in queue order, including those with a queued.seat. */
	struct queued **v;
	size_t n, cap;
	size_t begun, seated;
	/* True if one of its pods succeeded. */
	bool ended;
	/* The queue entry at which the gang was served; NULL: not yet. */
	const struct queued *turn;
	/* want: pods not placed yet. need: how many of them must be placed at least. */
	size_t want, need;
	/* Number of the gang in the plan, from 1, once it is placed; 0: not placed. */
	size_t number;
	/* NULL: the gang is placed, or needs no placement. */
	struct plan_reason *reasons;
	size_t nreasons;
	/* Number of free machines reserved for the gang (holds.h). */
	size_t held;
	/* GPUs of these machines, in thousandths. */
	int64_t held_gpus;
	const char **held_names;
	size_t held_cap;
	/* The last machine that the gang waits for, and when; NULL: not known when the gang is
	 * whole. */
	const struct world_machine *last;
	int64_t p50, p90;
};

/* Returns the gang of a pod; NULL: none. */
struct plan_gang *gangs_of(struct planning *p, const struct world_one *pod, struct plan_tenant *t);
/* Adds a waiting pod to its gang. Call in queue order, after queued.seat is set. */
void gangs_add(struct planning *p, struct queued *q);
/* Serves the gang of q at q's turn. Pods that were placed have a queued.seat afterwards. */
void gangs_serve(struct planning *p, struct queued *q);

#endif
