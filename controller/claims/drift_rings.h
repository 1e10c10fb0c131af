#ifndef CONTROLLER_CLAIMS_DRIFT_RINGS_H
#define CONTROLLER_CLAIMS_DRIFT_RINGS_H

#include "controller/core/context.h"

/*
 * drift_rings: limits how many Nodes of a pool may leave for drift at once, in addition to the
 * pool's budgets. The limit is the number of Nodes that already serve with the new template; it is
 * one before any Node does. So the first replacement is a trial, and each group (ring) of
 * replacements is no larger than the number that earlier rings have proved to work.
 *
 * These replacements in progress count against the limit:
 *
 * - Nodes that drain for drift.
 * - Their machines, until these are wiped.
 * - Claims of the new template that do not serve yet, of any tenant. A claim that waits for an
 *   approval (core/approval.h) or was denied counts only if it replaces a Node, and only against
 *   other Nodes of its tenant: so it limits the machines that are reserved, but holds up no other
 *   tenant.
 * - Claims of the new template that replace a Node which has not begun to drain.
 *
 * A finished machine counts for DRIFT_SETTLE_MS more, because the claim that replaces its Node may
 * not exist yet. For the same time no replacement begins after a change of the template or of the
 * leader.
 *
 * A failed claim of the new template stops all replacements. They continue when a claim of the new
 * template reaches serving later, when the template is changed again, or when an operator runs
 * `drover resume` for the pool. A tenant's own failure (breaker_is_tenants()) does not stop them.
 * A tripped circuit breaker of the pool (breaker.h) stops them, too.
 *
 * Derived from the caches by the leader; on the loop thread.
 * Tests: tests/unit/controller/claims/test_drift_rings.c, tests/world/test_drift.c
 */
#define DRIFT_SETTLE_MS 60000
/* Time for which the answer "closed" of drift_rings_closed() is reused without counting again */
#define DRIFT_CLOSED_MS 10000

/* Result of judge(): how a claim compares with the present template of its pool. */
struct drift_ring_claim {
	/* True if the claim does not match its pool's template */
	bool drifted;
	/* Hash of what the pool's template specifies now for a claim like this one (promise_name(),
	 * rules/promise.h) */
	const char *template_;
};
struct drift_rings;
struct drift_rings *drift_rings_new(struct context *c,
				    struct drift_ring_claim (*judge)(const struct node_claim *n,
								     void *arg),
				    void *arg);
void drift_rings_free(struct drift_rings *r);

/* Forgets the state of all templates of the pool. Call when the pool changed or was deleted. pool
 * NULL: of all pools. */
void drift_rings_forget(struct drift_rings *r, const char *pool);
/* Returns why claim n of pool p may not be replaced now by a claim of this template; the text is
 * valid until the next call. NULL: it may be replaced. A replacement already created for n itself
 * (replacements.h) does not count against n. */
const char *drift_rings_closed(struct drift_rings *r, const struct node_claim *n,
			       const struct node_pool *p, const char *template_);

#endif
