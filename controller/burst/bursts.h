#ifndef CONTROLLER_BURST_BURSTS_H
#define CONTROLLER_BURST_BURSTS_H

#include "controller/burst/input.h"
#include "controller/burst/waits.h"
#include "planner/plan.h"

/*
 * bursts: applies BurstPolicies (planner/burst/burst.h) to the work for which a plan has no
 * machine, and reports each decision: a row in the policy's status.decisions, its status.spend, its
 * condition Active, and an event on the pod. Runs after each plan, and every 10 s while work waits;
 * on the leader only. A row and an event are written if the code or the offer of the decision
 * changed.
 *
 * A decision of a policy with mode Enforce, or Recommend if the work is approved, becomes a permit,
 * which allows the next plan to launch instances for the work (permits.h). The permit ends with
 * that plan. If the plan did not place the work, the work gets no decision for BURSTS_UNFIT_MS.
 * Tests: tests/world/test_burst.c, tests/world/test_burst_enforce.c, tests/world/test_burst_sweep.c
 */
#define BURSTS_LOOK_MS 10000
#define BURSTS_UNFIT_MS ((int64_t)5 * 60 * 1000)

struct bursts;
struct eta;
struct tenants;
struct bursts_spec {
	/* in.fleet: the elastic Providers; NULL means that no decisions are made */
	struct burst_input_spec in;
	const struct tenants *tenants;
	const struct eta *eta;
	struct permits *permits;
};
struct bursts *bursts_new(const struct bursts_spec *spec);
void bursts_free(struct bursts *s);
void bursts_plan(struct bursts *s, const struct plan *p);

/* Work that waits, and gets no decision now. */
struct bursts_aside {
	const struct burst_work *work;
	/* "Permitted", "NotPlaced" or "MovedHome", and a sentence that explains it */
	const char *reason, *message;
};
struct bursts_now {
	/* Input of the next pass over the waiting work */
	struct burst_input in;
	struct bursts_aside *aside;
	size_t naside;
	/* True: the offers of some Provider have not been read yet */
	bool reading;
};
/* Returns what a pass over the waiting work would decide on now, in the arena; valid until the next
 * plan. The waiting work is collected only while a BurstPolicy exists. */
struct bursts_now bursts_now(struct bursts *s, struct arena *a);

#endif
