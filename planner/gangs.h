#ifndef PLANNER_GANGS_H
#define PLANNER_GANGS_H

#include "planner/queue.h"

/*
 * gangs: gang scheduling, for pods that are only useful together.
 *
 * Pods of the gang that have a node, or for which a claim in progress was made, count as placed.
 * The pods that the gang lacks to its size are placed in one transaction (planner/gang_try.h), at
 * the queue position of the gang's first pod. If they cannot all be placed, no claim is opened, and
 * the reason of each pod reports how many could be placed.
 *
 * A gang of which fewer pods exist than its size waits for the others. There are two exceptions,
 * because pods that ended are not created again: a gang that has begun (a pod has a node), and a
 * gang with a pod that succeeded. Pods beyond the gang's size are served one by one, like any other
 * pod.
 * Tests: tests/unit/planner/test_gangs.c, tests/unit/planner/test_oracle.c
 */
struct plan_gang {
	const struct world_gang *it;
	struct plan_tenant *tenant;
	/* Waiting pods of the gang in queue order, including those that have a planned placement
	 * (queued.seat). */
	struct queued **v;
	size_t n, cap;
	size_t begun, seated;
	/* True if a pod of the gang succeeded. */
	bool ended;
	/* The queue entry at which the gang was served; NULL: not served yet. */
	const struct queued *turn;
	/* want: number of pods that are not placed yet. need: how many of these must be placed so
	 * that the gang is whole. */
	size_t want, need;
	/* Number of the gang among those that the plan placed, from 1; 0: not placed. */
	size_t number;
	/* Why the gang was not placed; NULL: it is placed, or needs no placement. */
	struct plan_reason *reasons;
	size_t nreasons;
	/* Number of free machines that are reserved for the gang (holds.h). */
	size_t held;
	/* GPUs of the reserved free machines, in thousandths. */
	int64_t held_gpus;
	const char **held_names;
	size_t held_cap;
	/* The machine that the gang waits for longest; NULL: it is not known when the gang becomes
	 * whole. p50, p90: expected time of that machine, Unix ms. */
	const struct world_machine *last;
	int64_t p50, p90;
};

/* Returns the plan's record of the pod's gang, created if missing; NULL: the pod has no gang. */
struct plan_gang *gangs_of(struct planning *p, const struct world_one *pod, struct plan_tenant *t);
/* Adds a waiting pod to q->gang. Call in queue order, after q->seat is set. */
void gangs_add(struct planning *p, struct queued *q);
/* Serves the gang of q, unless an earlier entry of the gang did: places the pods that the gang
 * lacks, or reserves machines for it. Each pod that was placed has a queued.seat afterwards. */
void gangs_serve(struct planning *p, struct queued *q);

#endif
