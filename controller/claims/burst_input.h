#ifndef CONTROLLER_CLAIMS_BURST_INPUT_H
#define CONTROLLER_CLAIMS_BURST_INPUT_H

#include "controller/core/context.h"
#include "planner/burst.h"
#include "planner/plan.h"

/*
 * burst_input: what burst_decide() is asked about, from the caches and from what the elastic
 * Providers say: policies, offers, refusals, what runs and what has ended, and who waits.
 *
 * A claim that carries out a decision (spec.burst) is a launch from the decision on, by what it may
 * cost at most, whether anything was launched for it yet or not; so is one that is being sent, and
 * a permit of which no claim is made yet. What another claim of an elastic Provider has cost so far
 * is counted at its creation, by the price that its launch went out with, in steps of ten minutes.
 * What tenants' bills (VirtualCluster.status.cost) have of these Providers beyond that has ended;
 * it counts from the beginning of its month on.
 * Tests: tests/world/test_burst.c
 */
struct eta;
struct fleet;
struct permits;
struct sending;
struct tenants;

/* A BurstPolicy is for that tenant's work: for it elastic Providers launch by decision alone. */
bool burst_governs(const struct context *c, const char *tenant);
/* there is one for somebody */
bool burst_any(const struct context *c);

struct burst_input_spec {
	struct context *c;
	struct fleet *fleet;
	const struct permits *permits;
	const struct sending *sending;
};
/* All but the work.  reading: offers of some Provider have not come in yet. */
struct burst_input burst_input_of(const struct burst_input_spec *spec, struct arena *a,
				  bool *reading);

/* Who waits: a pod, or a gang by all of its pods that wait. */
struct burst_waits {
	struct burst_work *v;
	/* its first pod */
	struct burst_waiting {
		const char *ns, *name, *uid;
	} * pods;
	/* it is one */
	bool *gangs;
	size_t n;
	/* all of their pods that wait */
	struct burst_member {
		size_t work;
		const char *ns, *name;
	} * members;
	size_t nmembers;
};
/* The plan's, of tenants that policies are for; nothing of it is the plan's. */
struct burst_waits burst_waits_of(const struct tenants *ts, const struct context *c,
				  const struct eta *eta, const struct plan *p, struct arena *a);

#endif
