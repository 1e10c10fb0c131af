#ifndef PLANNER_QUEUE_H
#define PLANNER_QUEUE_H

#include "planner/planning.h"

/*
 * queue: who is served next: pods that wait before pods that only check whether there is room
 * (world_pod.check); among these: the tenant's priority, the pod's as far as it counts among
 * tenants, then tenants within their quota before those of a cohort that would borrow (quota.h),
 * then the tenant that has the smallest share of GPUs for its weight just then: what it holds and
 * what it has used (usage.h) together; then, of that tenant, the pod's own priority, age, namespace
 * and name. A tenant's share grows with each machine that the plan gives it, so equal tenants take
 * turns (progressive filling, as in dominant resource fairness: Ghodsi et al., NSDI 2011, for one
 * resource).
 *
 * Who waits long rises (struct world_aging): it joins the band of the highest priority within its
 * reach that somebody has who waits. There shares decide, and among its tenant's pods its age: it
 * comes before no other tenant for its age alone, and equals stay equals.
 *
 * In a world that clamps (world_put_clamp()), a pod's priority counts among tenants only up to its
 * tenant's priority: a tenant that writes 1,000,000,000 reorders only its own pods. In other worlds
 * the pod's priority counts as it is.
 *
 * A total order: equal worlds give equal queues.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_world.c
 */
struct queued {
	const struct world_one *pod;
	struct plan_class *class_;
	/* once all sides have met */
	struct plan_cell *cell;
	/* NULL: of none */
	struct plan_gang *gang;
	/* the pod's, with its age, as it counts among tenants (queue_new()) */
	int64_t priority;
	/* the pod's priority with its age, for the order within the tenant; 0 in a world that does
	 * not clamp */
	int64_t own;
	/* of the plan's pods, once it was its turn */
	size_t at;
	/* bin + 1 of the claim that was made for it, or of the node that it is nominated for; 0:
	 * none */
	size_t seat;
};

/* Sorts q, which stays the caller's; both live as long as the arena. */
struct queue *queue_new(struct queued **q, size_t n, const struct world *w, int64_t now_ms,
			struct arena *a);
/* Returns the part of a pod's priority that counts among tenants. */
int64_t queue_clamp(const struct world *w, const struct world_tenant *t, int64_t priority);
/* The same of some that are sorted already. */
struct queue *queue_sorted(struct queued **q, size_t n, struct arena *a);
/* Whose turn it is, whoever was given machines since the last call; NULL: all were. */
struct queued *queue_next(struct queue *q);

#endif
