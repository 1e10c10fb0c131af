#ifndef CONTROLLER_CLAIMS_BURST_INPUT_H
#define CONTROLLER_CLAIMS_BURST_INPUT_H

#include "controller/core/context.h"
#include "planner/burst.h"
#include "planner/plan.h"

/*
 * burst_input: what burst_decide() is asked about, from the caches and from what the elastic Providers say: policies, offers,
 * refusals, what runs and what has ended, and who waits.
 *
 * What a claim of an elastic Provider has cost so far is counted at its creation, by the price that its launch went out with, in
 * steps of ten minutes.  What tenants' bills (VirtualCluster.status.cost) have of these Providers beyond that has ended; it
 * counts from the beginning of its month on.
 * Tests: tests/world/test_burst.c
 */
struct eta;
struct fleet;
struct tenants;

/* A BurstPolicy is for that tenant's work: for it elastic Providers launch by decision alone. */
bool burst_governs(const struct context *c, const char *tenant);
bool burst_any(const struct context *c); /* there is one for somebody */

/* All but the work.  reading: offers of some Provider have not come in yet. */
struct burst_input burst_input_of(struct context *c, struct fleet *f, struct arena *a,
				  bool *reading);

/* Who waits: a pod, or a gang by all of its pods that wait. */
struct burst_waits {
	struct burst_work *v;
	struct burst_waiting { /* its first pod */
		const char *ns, *name, *uid;
	} * pods;
	size_t n;
};
/* The plan's, of tenants that policies are for; nothing of it is the plan's. */
struct burst_waits burst_waits_of(const struct tenants *ts, const struct context *c,
				  const struct eta *eta, const struct plan *p, struct arena *a);

#endif
