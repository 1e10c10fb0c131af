#ifndef CONTROLLER_CLAIMS_DRIFT_RINGS_H
#define CONTROLLER_CLAIMS_DRIFT_RINGS_H

#include "controller/core/context.h"

/*
 * drift_rings: how many Nodes of a pool may leave for drift at once, beside what its budgets allow:
 * as many as already serve by what the template says now, and one before any does.
 *
 * What is on its way counts against it: Nodes that drain for drift, their machines until they are
 * wiped, and claims by the new template that do not serve yet, whomever they are for, or that stand
 * in for a Node that has not begun to drain. So the first Node is a trial, and each ring is no
 * larger than what the ones before have proved. A machine that is through counts for
 * DRIFT_SETTLE_MS more: the claim in its place may not be made yet. So long nothing begins after
 * another template, or leader, either.
 *
 * A claim by that template that fails stops all of them, until one by it comes to serve later, the
 * template is changed again, or `drover resume` of the pool. A tenant's own failure
 * (stop_line_is_tenants()) does not. A stopped line stops them, too.
 *
 * Derived from the caches by the leader; on the loop thread.
 * Tests: tests/unit/controller/claims/test_drift_rings.c, tests/world/test_drift.c
 */
#define DRIFT_SETTLE_MS 60000
/* Closed: not counted again before. */
#define DRIFT_CLOSED_MS 10000

/* Answer of judge(): how a claim compares with the template of its pool. */
struct drift_ring_claim {
	/* it is not as its pool's template says */
	bool drifted;
	/* what that says for it, by name (rules/promise.h) */
	const char *template_;
};
struct drift_rings;
struct drift_rings *drift_rings_new(struct context *c,
				    struct drift_ring_claim (*judge)(const struct node_claim *n,
								     void *arg),
				    void *arg);
void drift_rings_free(struct drift_rings *r);

/* The pool is another one, or gone; NULL: any may be. */
void drift_rings_forget(struct drift_rings *r, const char *pool);
/* May this one leave, for a claim by this template? NULL: it may; else why not, valid until the
 * next call. What stands in for it (stand_ins.h) does not count against it. */
const char *drift_rings_closed(struct drift_rings *r, const struct node_claim *n,
			       const struct node_pool *p, const char *template_);

#endif
