#ifndef CONTROLLER_BURST_INPUT_H
#define CONTROLLER_BURST_INPUT_H

#include "controller/core/context.h"
#include "planner/burst/burst.h"

/*
 * input: collects the input of burst_decide() from the caches and from what the elastic
 * Providers (clouds) report: policies, offers, refusals, and running and ended launches.
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
struct fleet;
struct permits;
struct sending;

struct burst_input_spec {
	struct context *c;
	struct fleet *fleet;
	const struct permits *permits;
	const struct sending *sending;
};
/* Returns the input of burst_decide() without the waiting work, which burst_waits_of() supplies
 * (waits.h). *reading: true if the offers of some Provider have not been read yet. */
struct burst_input burst_input_of(const struct burst_input_spec *spec, struct arena *a,
				  bool *reading);

#endif
