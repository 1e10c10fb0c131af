#ifndef CONTROLLER_CLAIMS_DRIFT_H
#define CONTROLLER_CLAIMS_DRIFT_H

#include "controller/core/context.h"

/*
 * drift: finds Nodes that no longer match their pool's template, for pools with disruption.drift
 * WhenEmpty or WithinBudgets. steps/leave_reason.c releases these Nodes as budgets allow (reason
 * Drifted).
 *
 * A claim has drifted in each of these cases:
 *
 * - Its frozen spec differs from the template (rules/promise.h). The template's image for this
 *   comparison is the one for the tenant's present Kubernetes version.
 * - Its machine no longer matches the template's requirements.
 * - The template does not list the Provider of its machine.
 *
 * Instances that a BurstPolicy decided on are not evaluated, because their lifetime is limited.
 *
 * If pods have to move and a machine is free, a replacement claim becomes Ready before the Node
 * drains (replacements.h). Otherwise the Node's own machine is released first, and the next plan
 * makes claims for the pods that wait. drift_rings.h limits how many Nodes leave at once.
 *
 * With WhenEmpty the Node leaves once no pod has run on it for DRIFT_QUIET_MS. With WithinBudgets
 * its pods are evicted. If they are not all gone within terminationGracePeriod, the Node serves on
 * and is not tried again for DRIFT_BARRED_MS, a time that doubles with each try. A pod that forbids
 * disruption, has no controller, or belongs to a gang prevents eviction; nothing is forced.
 *
 * The data kept here may be lost without harm. On the loop thread.
 * Tests: tests/unit/controller/claims/test_drift.c, tests/world/test_drift.c
 */
#define DRIFT_AGAIN_MS 10000
#define DRIFT_QUIET_MS 60000
#define DRIFT_BARRED_MS ((int64_t)3600 * 1000)

struct replacements;
struct tenants;
struct drift;
/* replacements: module that creates replacement claims; NULL: no Node gets a replacement before it
 * leaves. */
struct drift *drift_new(struct context *c, const struct tenants *tenants,
			struct replacements *replacements);
void drift_free(struct drift *d);

/* Notifies all claims of the pool and their machines (NOTICE_CLAIM, NOTICE_MACHINE), so that drift
 * is evaluated again, and forgets the pool's rings (drift_rings.h). Call when the pool changed or
 * was deleted. */
void drift_pool(struct drift *d, const char *pool);
void drift_claim_gone(struct drift *d, const char *claim);
/* Forgets everything. Call when another replica becomes the leader, because this replica does not
 * learn how that leader's replacements progress. */
void drift_clear(struct drift *d);

/* Content of a claim's condition Drifted, written by drift_condition(). drift_condition() returns
 * false, and *out is not set, if the pool's policy does not ask for drift or the comparison is not
 * possible yet. */
struct drift_words {
	bool drifted;
	/* NodePoolDrifted, RequirementsDrifted, ProviderDrifted or NotDrifted */
	const char *reason;
	/* Message: what differs from the template, and what the claim waits for; in the arena */
	const char *text;
};
bool drift_condition(struct drift *d, const struct node_claim *n, struct arena *a,
		     struct drift_words *out);

enum drift_action { DRIFT_STAYS, DRIFT_QUIETLY, DRIFT_EVICTS };
/* Returns whether and how claim n may begin to leave, apart from budgets. DRIFT_STAYS: n stays.
 * DRIFT_QUIETLY: n may leave, because no pod runs on its Node. DRIFT_EVICTS: n may leave, and its
 * pods are evicted. since: wall ms since when the Node of n serves without a Hold. *again: ms after
 * which to call drift_begins() again, because n has drifted but has to wait; 0: n waits for
 * nothing. */
enum drift_action drift_begins(struct drift *d, const struct node_claim *n, int64_t since,
			       int64_t *again);
/* Sets the text that says what the claim waits for. The message of the claim's condition Drifted
 * then contains this text. */
void drift_waits(struct drift *d, const struct node_claim *n, const char *text);
/* True if a replacement of claim n has to be Ready before n leaves; requests a replacement
 * (replacements.h) if there is none. False: release the machine of n now. Call once the budgets
 * allow n to leave. */
bool drift_awaits(struct drift *d, const struct node_claim *n);
/* Returns how a claim that already leaves because of drift goes on: DRIFT_QUIETLY and DRIFT_EVICTS
 * as for drift_begins(). DRIFT_STAYS: the claim no longer leaves, because it matches its template
 * again, or a pod prevents it. */
enum drift_action drift_goes_on(struct drift *d, const struct node_claim *n);
/* Records that the claim stopped leaving and serves on although it has drifted. With WithinBudgets,
 * drift_begins() then keeps the claim for a time that doubles with each call, beginning with
 * DRIFT_BARRED_MS. */
void drift_withdrawn(struct drift *d, const struct node_claim *n);

#endif
