#ifndef PLANNER_GANG_GANGS_H
#define PLANNER_GANG_GANGS_H

#include "planner/queue.h"

/*
 * gangs: gang scheduling, for pods that are only useful together.
 *
 * Pods of the gang that have a node, or for which a claim in progress was made, count as placed.
 * The other pods that the gang needs to reach its size are placed in one transaction
 * (planner/gang/try.h), at the queue position of the gang's first pod. If they cannot all be
 * placed, no claim is opened, and the reason of each pod reports how many could be placed.
 *
 * A gang that has fewer existing pods than its size waits for the missing pods. In two cases it
 * does not wait, because pods that ended are not created again: if the gang has begun (one of its
 * pods has a node), or if one of its pods succeeded. Pods beyond the gang's size are placed one by
 * one, like pods without a gang.
 * Tests: tests/unit/planner/gang/test_gangs.c, tests/unit/planner/test_oracle.c
 */
struct plan_gang {
	const struct world_gang *it;
	struct plan_tenant *tenant;
	/* Waiting pods of the gang in queue order, including those that have a planned placement
	 * (queued.seat). */
	struct queued **v;
	size_t n, cap;
	size_t begun, seated;
	/* The gang's size: the largest that its pods specify. Ignores pods that are terminating or
	 * have succeeded, because they may belong to an older, larger job of the same name. */
	size_t size;
	/* ended: a pod of the gang succeeded. cut: queued.cut is true for a pod of the gang. */
	bool ended, cut;
	/* The queue entry at which the gang's turn came; NULL: the gang's turn did not come yet. */
	const struct queued *turn;
	/* want: number of the gang's pods that are not placed yet. need: how many of these pods
	 * must be placed so that the gang reaches its size. */
	size_t want, need;
	/* Number of the gang among the gangs that the plan placed, from 1; 0: not placed. */
	size_t number;
	/* Why the gang was not placed; NULL: the gang is placed, or needs no placement. */
	struct plan_reason *reasons;
	size_t nreasons;
	/* Number of free machines that are reserved for the gang (holds.h). */
	size_t held;
	/* Sum of the GPUs of the free machines that are reserved for the gang, in thousandths. */
	int64_t held_gpus;
	const char **held_names;
	size_t held_cap;
	/* The machine that becomes free last, among those reserved for the gang; NULL: the time at
	 * which the gang becomes whole is not known. p50, p90: expected free time of that machine
	 * (median, 90th percentile), Unix ms. */
	const struct world_machine *last;
	int64_t p50, p90;
};

/* Returns the plan's record of the pod's gang, created if missing; NULL: the pod has no gang. */
struct plan_gang *gangs_of(struct planning *p, const struct world_one *pod, struct plan_tenant *t);
/* Adds the waiting pod of entry q to its gang, q->gang. Call in queue order, after q->seat is
 * set. */
void gangs_add(struct planning *p, struct queued *q);
/* Serves the gang of q, unless an earlier queue entry already served it. Places the pods that the
 * gang lacks, or reserves machines for the gang. Each pod that was placed has a queued.seat
 * afterwards. */
void gangs_serve(struct planning *p, struct queued *q);

#endif
