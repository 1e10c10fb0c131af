#ifndef CONTROLLER_BURST_HOMEWARD_H
#define CONTROLLER_BURST_HOMEWARD_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * homeward: moves running work from cloud instances of BurstPolicies to owned machines
 * (spec.scaleBack.toOnPrem AtCheckpoint and Immediate). planner/burst/moves.h decides,
 * planner/home.h finds the machines, steps/leave_reason.c releases the instances.
 *
 *   plan without waiting pods --> an owned machine is free, for `hysteresis` without interruption
 *       --> claim on it, with the annotation CLAIM_REPLACES --> it is Ready, the pods still fit
 *       --> the instance drains (reason MovedHome), kube-scheduler places the pods
 *       --> Machine.status.instance.moved --> BurstLedger.status.moves (restarts.h)
 *
 * The instance keeps its pods until the new claim is Ready. If that claim fails or is no longer
 * Ready during the drain, the drain ends and the instance serves on. Another owned machine is then
 * tried after HOMEWARD_AGAIN_MS.
 *
 * What was observed is kept in this process only. A new leader counts the hysteresis anew, and
 * finds a move in progress by the claim and by status.leave of the Machine. On the loop thread.
 * Tests: tests/world/test_homeward.c, tests/world/test_homeward_sweep.c
 */
/* Interval of plans while an instance could be released */
#define HOMEWARD_LOOK_MS 10000
/* Time for which the result of such a plan is valid */
#define HOMEWARD_VALID_MS (3 * HOMEWARD_LOOK_MS)
#define HOMEWARD_AGAIN_MS ((int64_t)3600 * 1000)

struct eta;
struct homeward;
struct tenants;
struct homeward *homeward_new(struct context *c, const struct tenants *tenants,
			      const struct eta *eta);
void homeward_free(struct homeward *h);

/* Evaluates all instances after plan p, in the plan's world w. Returns the claim of an instance
 * whose work is to move, and writes the claim on the owned machine to *out as a claim of the plan;
 * NULL: none. waits: true if some pod waits for a machine. Sends NOTICE_MACHINE for each instance
 * that may drain, and an event on a claim when its result changes. */
const struct node_claim *homeward_plan(struct homeward *h, const struct plan *p, struct world *w,
				       bool waits, struct arena *a, struct plan_claim *out);
/* Returns the ms until a plan is needed so that homeward_plan() can follow it; 0: none is. */
int64_t homeward_next_ms(const struct homeward *h);
/* Forgets everything. Call when another replica becomes the leader. */
void homeward_clear(struct homeward *h);

/* How an instance drains. saved: a pod is evicted only after its checkpoint; otherwise no
 * checkpoint is requested. max_wait: longest duration of the drain, ms. */
struct homeward_drain {
	bool saved;
	int64_t max_wait;
};
/* True if the instance of claim n may drain now, apart from disruption budgets: an owned machine is
 * Ready for its pods. Sets *out. */
bool homeward_begins(const struct homeward *h, const struct node_claim *n,
		     struct homeward_drain *out);
/* True if the drain of the instance goes on: its policy still asks for it, and the owned machine is
 * still Ready. Sets *out. */
bool homeward_goes_on(const struct homeward *h, const struct node_claim *n,
		      struct homeward_drain *out);
/* Records that the instance serves on. It does not drain again for HOMEWARD_AGAIN_MS. */
void homeward_withdrawn(struct homeward *h, const struct node_claim *n);

/* True if the policy keeps an instance without pods until its time is over (toOnPrem Never). p:
 * NULL: no policy. */
bool homeward_keeps_idle(const struct burst_policy *p);
/* True if no policy may launch instances for the workload now: its pods are being moved, or were
 * moved less than the longest hysteresis of all policies ago. work: the workload, or the piece of
 * work if it has none. */
bool homeward_bars(const struct context *c, const char *tenant, const char *work);

#endif
