#ifndef CONTROLLER_CLAIMS_DRIFT_RINGS_H
#define CONTROLLER_CLAIMS_DRIFT_RINGS_H

#include "controller/core/context.h"

/*
 * drift_rings: limits how many Nodes of a pool may leave for drift at once, in addition to the
 * pool's budgets: as many as already serve with the new template, and one before any does.
 *
 * Replacements in progress count against the limit: Nodes that drain for drift, their machines
 * until they are wiped, and claims of the new template that do not serve yet, whichever tenant they
 * are for, or that replace a Node which has not begun to drain. So the first Node is a trial, and
 * each ring is no larger than what earlier rings have proved. A finished machine counts for
 * DRIFT_SETTLE_MS more, because the claim that replaces its Node may not exist yet. For the same
 * time nothing begins after a change of the template or of the leader.
 *
 * A failed claim of the new template stops all replacements, until another claim of it reaches
 * serving later, the template is changed again, or an operator runs `drover resume` for the pool. A
 * tenant's own failure (stop_line_is_tenants()) does not stop them. A tripped circuit breaker of
 * the pool stops them, too.
 *
 * Derived from the caches by the leader; on the loop thread.
 * Tests: tests/unit/controller/claims/test_drift_rings.c, tests/world/test_drift.c
 */
#define DRIFT_SETTLE_MS 60000
/* Time for which a closed ring is not counted again */
#define DRIFT_CLOSED_MS 10000

/* Answer of judge(): how a claim compares with the template of its pool. */
struct drift_ring_claim {
	/* True if the claim does not match its pool's template */
	bool drifted;
	/* Name of what the template specifies for the claim now (rules/promise.h) */
	const char *template_;
};
struct drift_rings;
struct drift_rings *drift_rings_new(struct context *c,
				    struct drift_ring_claim (*judge)(const struct node_claim *n,
								     void *arg),
				    void *arg);
void drift_rings_free(struct drift_rings *r);

/* Forgets the rings of the pool, which changed or was deleted; NULL: of all pools. */
void drift_rings_forget(struct drift_rings *r, const char *pool);
/* Returns why the claim may not leave for a claim of this template now, valid until the next call;
 * NULL: it may. The claim's own replacement (stand_ins.h) does not count against it. */
const char *drift_rings_closed(struct drift_rings *r, const struct node_claim *n,
			       const struct node_pool *p, const char *template_);

#endif
