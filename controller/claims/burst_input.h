#ifndef CONTROLLER_CLAIMS_BURST_INPUT_H
#define CONTROLLER_CLAIMS_BURST_INPUT_H

#include "controller/core/context.h"
#include "planner/burst.h"
#include "planner/plan.h"

/*
 * burst_input: the input of burst_decide(), from the caches and from what the elastic Providers
 * report: policies, offers, refusals, running and ended launches, and the work that waits.
 *
 * A claim that carries out a decision (spec.burst) counts as a launch from the decision on, with
 * its highest possible cost, whether an instance was launched or not. The same holds for a claim
 * that is being sent and for a permit that has no claim yet. Any other claim of an elastic Provider
 * counts with its cost so far, at the price of its launch, in steps of ten minutes, from its
 * creation. What tenants' bills (VirtualCluster.status.cost) contain of these Providers beyond that
 * comes from ended launches and counts from the beginning of its month.
 * Tests: tests/world/test_burst.c
 */
struct eta;
struct fleet;
struct permits;
struct sending;
struct tenants;

/* True if a BurstPolicy applies to the tenant: elastic Providers then launch for the tenant only by
 * decision of a policy. */
bool burst_governs(const struct context *c, const char *tenant);
/* True if any BurstPolicy exists. */
bool burst_any(const struct context *c);

struct burst_input_spec {
	struct context *c;
	struct fleet *fleet;
	const struct permits *permits;
	const struct sending *sending;
};
/* Returns the input without the work. *reading: true if the offers of some Provider have not been
 * read yet. */
struct burst_input burst_input_of(const struct burst_input_spec *spec, struct arena *a,
				  bool *reading);

/* The work that waits: single pods, and gangs with all of their waiting pods. v, pods and gangs
 * have n elements. */
struct burst_waits {
	struct burst_work *v;
	/* First pod of the work */
	struct burst_waiting {
		const char *ns, *name, *uid;
	} * pods;
	/* True if the work is a gang */
	bool *gangs;
	size_t n;
	/* All waiting pods of all work; work: index into v */
	struct burst_member {
		size_t work;
		const char *ns, *name;
	} * members;
	size_t nmembers;
};
/* Returns the waiting work in plan p of the tenants to which policies apply. Texts are copied to
 * the arena. */
struct burst_waits burst_waits_of(const struct tenants *ts, const struct context *c,
				  const struct eta *eta, const struct plan *p, struct arena *a);

#endif
