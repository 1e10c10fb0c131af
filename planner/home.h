#ifndef PLANNER_HOME_H
#define PLANNER_HOME_H

#include "planner/plan.h"

/*
 * home: finds owned machines for the pods that run on cloud instances, before these pods are
 * evicted (controller/burst/homeward.h).
 *
 * All pods of an instance's Node, without those of DaemonSets, must fit on one machine: labels,
 * taints, RuntimeClass, resources beside the DaemonSets, quota and limits. The instance still
 * counts against quota and limits, because it is released only afterwards. A pod of a gang, without
 * a controller, or whose place depends on other pods is not moved. A pod with local data or volumes
 * is moved only if it saves its work on request.
 *
 * The results are a pure function of the world; during the call no plan of the world may be in
 * progress. The queue is ignored, so call only while no pod waits and nothing is reserved.
 * Tests: tests/unit/planner/test_home.c
 */
struct plan_home {
	/* Claim of the instance, whose Node has the same name */
	const char *claim;
	/* Claim of the owned machine that is being prepared for the pods, or is Ready; NULL: search
	 * for a free machine */
	const char *to;
	/* True if a machine was found, or the pods fit on the Node of `to` */
	bool found;
	/* `to` NULL: the claim to create. Names belong to the world, the requirements and labels
	 * are in the arena; pods is empty. */
	struct plan_claim out;
	/* Number of pods that would move */
	size_t pods;
	/* True if there is at least one pod, and all of them save their work on request */
	bool saves;
	/* Unix ms at which the first of the pods was bound; 0: no pod, or not known */
	int64_t since;
	/* Why the pods cannot be moved, in the arena; NULL: they can be */
	const char *kept;
};
/* Sets all members of the n elements of v other than `claim` and `to`. now: Unix ms. */
void plan_homes(struct world *w, struct plan_home *v, size_t n, int64_t now, struct arena *a);

#endif
