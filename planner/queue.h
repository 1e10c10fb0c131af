#ifndef PLANNER_QUEUE_H
#define PLANNER_QUEUE_H

#include "planner/world_impl.h"

/*
 * queue: pods in the order in which they are served: the tenant's priority, the
 * pod's, the tenant's share of GPUs for its weight, age, then tenant, namespace
 * and name.  A total order: equal worlds give equal queues.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_world.c
 */
struct queued {
	const struct world_one *pod;
	struct plan_class *class_;
	uint64_t share_high, share_low; /* of its tenant; smaller first */
	int64_t tenant_priority;
};

void queue_sort(struct queued **q, size_t n, struct arena *a);

#endif
