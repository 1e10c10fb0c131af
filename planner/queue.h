#ifndef PLANNER_QUEUE_H
#define PLANNER_QUEUE_H

#include "planner/planning.h"

/*
 * queue: the order in which pending pods are served, by fair share.
 *
 * Pods are ordered by these criteria:
 * - waiting pods before pods that only check whether there is room (world_pod.check);
 * - the tenant's priority;
 * - the part of the pod's priority that counts among tenants;
 * - tenants within their quota before tenants that would borrow in their cohort (quota.h);
 * - the tenant's share of GPUs for its weight, smallest first: present holdings plus past use
 *   (usage.h); of equal shares, the older pod;
 * - within a tenant: the pod's own priority, age, namespace, name.
 *
 * A tenant's share grows with each machine that the plan gives the tenant, so equal tenants take
 * turns (progressive filling, as in dominant resource fairness: Ghodsi et al., NSDI 2011, for one
 * resource).
 *
 * Aging (struct world_aging): the priority of a pod that waits long rises, but only to a priority
 * that another waiting pod has. Among the pods of that priority, shares decide between tenants and
 * age decides within a tenant. So age alone never puts a pod before another tenant's pod, and equal
 * pods stay equal.
 *
 * In a world that clamps (world_put_clamp()), a pod's priority counts among tenants only up to its
 * tenant's priority. So a tenant that sets a pod priority of 1,000,000,000 reorders only its own
 * pods. In other worlds the pod's priority counts as it is.
 *
 * The order is total: equal worlds give equal queues.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_world.c
 */
struct queued {
	const struct world_one *pod;
	struct plan_class *class_;
	/* Cell of the pod (pods that are interchangeable, planning.h); set once all topology
	 * profiles are known. */
	struct plan_cell *cell;
	/* Gang of the pod; NULL: none. */
	struct plan_gang *gang;
	/* The pod's priority as it counts among tenants, including aging (queue_new()). */
	int64_t priority;
	/* The pod's own priority including aging, for the order within the tenant; 0 in a world
	 * that does not clamp. */
	int64_t own;
	/* Index into plan.pods, set when the pod is served. */
	size_t at;
	/* True if the tenant's work units do not suffice for the pod (PLAN_OVER_BUDGET). */
	bool cut;
	/* Planned placement of the pod: 1 + index of a bin (candidate node, bins.h); 0: none.
	 * Before the pod's turn the bin is the claim that was made for the pod, the node for which
	 * the pod is nominated, the node to which the pod is bound early (early.h), or the bin in
	 * which the pod's gang was placed. */
	size_t seat;
};

/* Sets the priorities of the n entries, sorts array q and returns a queue over it. The caller still
 * owns q; the queue is allocated in the arena and must not outlive q. */
struct queue *queue_new(struct queued **q, size_t n, const struct world *w, int64_t now_ms,
			struct arena *a);
/* Returns the part of a pod's priority that counts among tenants: at most the tenant's priority in
 * a world that clamps. */
int64_t queue_clamp(const struct world *w, const struct world_tenant *t, int64_t priority);
/* Returns a queue over the n entries of q, which queue_new() must have sorted before. */
struct queue *queue_sorted(struct queued **q, size_t n, struct arena *a);
/* Returns the next entry; NULL: all entries were returned. Considers the machines that tenants got
 * since the last call, because they change the tenants' shares. */
struct queued *queue_next(struct queue *q);

#endif
