#ifndef CONTROLLER_CLAIMS_DRIFT_H
#define CONTROLLER_CLAIMS_DRIFT_H

#include "controller/core/context.h"

/*
 * drift: Nodes that no longer match their pool's template, for pools with disruption.drift
 * WhenEmpty or WithinBudgets. steps/leave_reason.c releases them as budgets allow (reason Drifted).
 *
 * A claim has drifted if its frozen spec differs from the template (rules/promise.h), where the
 * template's image is the one for the tenant's present Kubernetes version; if its machine no longer
 * matches the template's requirements; or if the template does not list its machine's Provider.
 * Instances that a BurstPolicy decided on are not evaluated, because their lifetime is limited.
 *
 * If pods have to move and a machine is free, a replacement claim becomes Ready before the Node
 * drains (stand_ins.h). Otherwise the Node's own machine is released first, and the plan then makes
 * claims for the pods that wait. drift_rings.h limits how many leave at once.
 *
 * WhenEmpty: the Node leaves once no pod has run on it for DRIFT_QUIET_MS. WithinBudgets: its pods
 * are evicted. If they are not all gone within terminationGracePeriod, the Node serves on and is
 * not tried again for DRIFT_BARRED_MS, doubled each time. A pod that forbids disruption, has no
 * controller, or belongs to a gang prevents eviction; nothing is forced.
 *
 * The data kept here may be lost without harm. On the loop thread.
 * Tests: tests/unit/controller/claims/test_drift.c, tests/world/test_drift.c
 */
#define DRIFT_AGAIN_MS 10000
#define DRIFT_QUIET_MS 60000
#define DRIFT_BARRED_MS ((int64_t)3600 * 1000)

struct stand_ins;
struct tenants;
struct drift;
/* stand_ins NULL: no replacements are created first. */
struct drift *drift_new(struct context *c, const struct tenants *tenants,
			struct stand_ins *stand_ins);
void drift_free(struct drift *d);

/* Evaluates the pool's claims again. Call when the pool changed or was deleted. Sends NOTICE_CLAIM
 * and NOTICE_MACHINE. */
void drift_pool(struct drift *d, const char *pool);
void drift_claim_gone(struct drift *d, const char *claim);
/* Forgets everything. Call when another replica becomes the leader: how far its rings are is not
 * known. */
void drift_clear(struct drift *d);

/* Content of a claim's condition Drifted. drift_say() returns false if the pool's policy does not
 * ask for drift or the comparison is not possible yet. */
struct drift_words {
	bool drifted;
	/* NodePoolDrifted, RequirementsDrifted, ProviderDrifted, NotDrifted */
	const char *reason;
	/* What differs, and what the claim waits for; in the arena */
	const char *text;
};
bool drift_say(struct drift *d, const struct node_claim *n, struct arena *a,
	       struct drift_words *out);

enum drift_way { DRIFT_STAYS, DRIFT_QUIETLY, DRIFT_EVICTS };
/* Returns whether the claim may begin to leave, apart from budgets. since: wall ms since when it
 * serves without a Hold. *again: ms after which to ask again, because it has drifted but has to
 * wait; 0: nothing to wait for. */
enum drift_way drift_begins(struct drift *d, const struct node_claim *n, int64_t since,
			    int64_t *again);
/* Sets the text of what the claim waits for in addition, for condition Drifted. */
void drift_waits(struct drift *d, const struct node_claim *n, const char *text);
/* Returns true if, with budgets allowing it, a replacement has to be Ready first. False: the
 * claim's own machine is released now. */
bool drift_awaits(struct drift *d, const struct node_claim *n);
/* Returns how a claim that already leaves for drift goes on. DRIFT_STAYS: the reason no longer
 * exists, or a pod prevents it. */
enum drift_way drift_goes_on(struct drift *d, const struct node_claim *n);
/* Records that the claim serves on although it has drifted. */
void drift_withdrawn(struct drift *d, const struct node_claim *n);

#endif
