#ifndef CONTROLLER_CLAIMS_SETTLE_H
#define CONTROLLER_CLAIMS_SETTLE_H

#include "api/kinds.h"
#include "base/arena.h"
#include "controller/core/status_writer.h"

/*
 * settle: what a claim with spec.burst has cost, written to BurstPolicy.status.settled before its finalizer goes.
 *
 *	claim there, no row     charged by what it may cost (claims/burst_input.h)
 *	claim there, and a row  the same: the larger, whoever died in between
 *	row alone               what it has cost
 *
 * The instance has ended by then.  It is charged from the decision until now, by the price that was decided on, in the
 * policy's increments and at least its minimum billing; nothing where its launch was refused.
 *
 * Rows of claims that are gone are summed where no period tells them apart: equal in month, tenant, Provider and currency,
 * and in being in the current hour, day, week, month and quarter; by work only where a budget is for each Workload.  With
 * more than BURST_POLICY_SETTLED rows the work, then the month, then the tenant is let go of; no amount ever is.
 * Tests: tests/unit/controller/claims/test_settle.c, tests/world/test_burst_enforce.c, tests/world/test_burst_home.c
 */

/* The list as it is to be with one more row; there(): a claim with that UID is there. */
struct settle_list {
	struct burst_policy_settled *v;
	size_t n;
};
struct settle_list settle_add(const struct burst_policy *p, const struct burst_policy_settled *row,
			      int64_t now, bool (*there)(const char *uid, void *arg), void *arg,
			      struct arena *a);

/* It is settled, or there is nothing to settle.  False: that was started, and done() is called.  m: its Machine; NULL: it
 * is gone, and whether it was launched is not known. */
bool settle_ensure(struct context *c, struct status_writer *w, const struct node_claim *n,
		   const struct machine *m, kube_done *done);

#endif
