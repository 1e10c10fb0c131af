#ifndef CONTROLLER_BURST_INPUT_H
#define CONTROLLER_BURST_INPUT_H

#include "controller/core/context.h"
#include "planner/burst/burst.h"
#include "planner/plan.h"

/*
 * input: collects the input of burst_decide() from the caches and from what the elastic
 * Providers (clouds) report: policies, offers, refusals, running and ended launches, and the
 * waiting work.
 *
 * Launches count against the budgets of the policies as follows:
 *
 * - A claim that carries out a decision (spec.burst) counts from the decision on, with its highest
 *   possible cost (committed amount), whether an instance was launched or not.
 * - A claim that is being sent, and a permit (permits.h) that has no claim yet, count in the same
 *   way.
 * - A deleted claim that carried out a decision counts with the cost in its row of the BurstLedger.
 * - Any other claim of an elastic Provider counts from its creation, with its cost so far at the
 *   price of its launch, in steps of ten minutes.
 * - A tenant's bill (VirtualCluster.status.cost) may contain a higher cost of these Providers. The
 *   excess comes from ended launches and counts from the beginning of its month.
 *
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
/* Returns the input of burst_decide() without the waiting work, which burst_waits_of() supplies.
 * *reading: true if the offers of some Provider have not been read yet. */
struct burst_input burst_input_of(const struct burst_input_spec *spec, struct arena *a,
				  bool *reading);

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
