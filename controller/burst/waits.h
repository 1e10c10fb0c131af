#ifndef CONTROLLER_BURST_WAITS_H
#define CONTROLLER_BURST_WAITS_H

#include "controller/core/context.h"
#include "planner/burst/burst.h"
#include "planner/plan.h"

/*
 * waits: the waiting work as input of burst_decide(): the pods and gangs that a plan did not place.
 * Tests: tests/world/test_burst.c, tests/world/test_burst_match.c
 */
struct eta;
struct tenants;

/* The work that waits for machines. One piece of work is a single pod, or a gang with all of its
 * waiting pods. v, pods and gangs have n elements each. */
struct burst_waits {
	struct burst_work *v;
	/* First pod of each piece of work */
	struct burst_waiting {
		const char *ns, *name, *uid;
	} * pods;
	/* gangs[i]: true if work i is a gang */
	bool *gangs;
	size_t n;
	/* All waiting pods of all pieces of work; work: index of the pod's work in v */
	struct burst_member {
		size_t work;
		const char *ns, *name;
	} * members;
	size_t nmembers;
};
/* Returns the work that waits in plan p, of those tenants to which BurstPolicies apply. Texts are
 * copied to the arena. */
struct burst_waits burst_waits_of(const struct tenants *ts, const struct context *c,
				  const struct eta *eta, const struct plan *p, struct arena *a);

#endif
