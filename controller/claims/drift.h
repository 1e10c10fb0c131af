#ifndef CONTROLLER_CLAIMS_DRIFT_H
#define CONTROLLER_CLAIMS_DRIFT_H

#include "controller/core/context.h"

/*
 * drift: Nodes that are not any more what their pool's template says, for pools with
 * disruption.drift WhenEmpty or WithinBudgets. steps/leave_reason.c lets them go, as budgets allow
 * it (reason Drifted).
 *
 * A claim has drifted when what it was promised differs (rules/promise.h), the image being the one
 * that the template has for its tenant's Kubernetes now; when its machine does not fit the
 * template's requirements any more; or when the template does not name its machine's Provider. Of
 * an instance that a BurstPolicy decided on nothing is judged: its time is bounded.
 *
 * Where pods have to move and a machine is free, another claim is Ready before the Node drains
 * (stand_ins.h). Else its own machine goes first, and the plan makes claims for pods that wait
 * then, as ever. How many leave at once: drift_rings.h.
 *
 * WhenEmpty: the Node goes when no pod has been on it for DRIFT_QUIET_MS. WithinBudgets: its pods
 * are evicted, and it serves on if they have not all gone within terminationGracePeriod; then it is
 * left alone for DRIFT_BARRED_MS, twice as long each time. A pod that may not be disrupted, has no
 * controller, or is of a gang keeps it; nothing is forced.
 *
 * What is remembered here may be lost. On the loop thread.
 * Tests: tests/unit/controller/claims/test_drift.c, tests/world/test_drift.c
 */
#define DRIFT_AGAIN_MS 10000
#define DRIFT_QUIET_MS 60000
#define DRIFT_BARRED_MS ((int64_t)3600 * 1000)

struct stand_ins;
struct tenants;
struct drift;
/* stand_ins: NULL: nothing comes in its place first. */
struct drift *drift_new(struct context *c, const struct tenants *tenants,
			struct stand_ins *stand_ins);
void drift_free(struct drift *d);

/* The pool is another one, or gone: its claims are judged again. Told: NOTICE_CLAIM,
 * NOTICE_MACHINE. */
void drift_pool(struct drift *d, const char *pool);
void drift_claim_gone(struct drift *d, const char *claim);
/* Another replica leads: how far its rings are is not known. */
void drift_clear(struct drift *d);

/* Content of a claim's condition Drifted. drift_say() returns false if the pool does not ask for
 * drift or the comparison is not possible yet. */
struct drift_words {
	bool drifted;
	/* NodePoolDrifted, RequirementsDrifted, ProviderDrifted, NotDrifted */
	const char *reason;
	/* what differs, and what it waits for; in the arena */
	const char *text;
};
bool drift_say(struct drift *d, const struct node_claim *n, struct arena *a,
	       struct drift_words *out);

enum drift_way { DRIFT_STAYS, DRIFT_QUIETLY, DRIFT_EVICTS };
/* May it begin to leave, but for the budgets? since: wall ms since when it serves and nobody has
 * held it. *again: it has drifted, and is to be asked about in so many ms; 0: there is nothing to
 * wait for. */
enum drift_way drift_begins(struct drift *d, const struct node_claim *n, int64_t since,
			    int64_t *again);
/* What it waits for beside, for people. */
void drift_waits(struct drift *d, const struct node_claim *n, const char *text);
/* The budgets allow it, too: is a machine in its place to come first?  False: its own goes now. */
bool drift_awaits(struct drift *d, const struct node_claim *n);
/* It leaves for that already: how it goes on; DRIFT_STAYS: there is no reason any more, or a pod
 * keeps it. */
enum drift_way drift_goes_on(struct drift *d, const struct node_claim *n);
/* It serves on, though it has drifted. */
void drift_withdrawn(struct drift *d, const struct node_claim *n);

#endif
