#ifndef CONTROLLER_CORE_APPROVAL_H
#define CONTROLLER_CORE_APPROVAL_H

#include "controller/core/context.h"

/*
 * approval: whether a NodeClaim may get a machine, if its tenant's claims need an approval
 * (spec.approval of the VirtualCluster, docs/approval.md).
 *
 * A decision is made once, in spec.approval of the claim by an administrator, or in status.approval
 * by the tenant's webhook. A gang is decided as a whole: the first decision on one of its claims
 * counts for all its claims that were created before that decision. A claim that has a machine
 * already needs no decision any more. That includes a claim whose machine serves the claim of its
 * name, and one for which an operator has a running machine adopted (approval_is_adopted()). All
 * state is in the objects, so a new leader decides the same. On the loop thread.
 * Tests: tests/unit/controller/core/test_approval.c, tests/world/test_approval.c
 */
enum approval_state {
	/* the tenant's claims need no approval, or the claim has a machine or is about to */
	APPROVAL_NOT_NEEDED,
	APPROVAL_GIVEN,
	APPROVAL_WAITING,
	APPROVAL_REFUSED,
};
struct approval {
	enum approval_state state;
	/* the decision, and the claim on which it was made: the claim itself or another one of its
	 * gang. NULL unless state is APPROVAL_GIVEN or APPROVAL_REFUSED. Valid until a cache
	 * changes. */
	const struct node_claim_approval *decision;
	const struct node_claim *on;
};

struct approval approval_of(const struct context *c, const struct node_claim *n);
/* True if a machine may be bound, switched on or launched for the claim. False also if the
 * VirtualCluster of the claim does not exist. */
bool approval_admits(const struct context *c, const struct node_claim *n);
/* True if an operator approved that machine m already serves claim n (drover approve --adopt), and
 * drover has not carried that out yet. */
bool approval_is_adopted(const struct machine *m, const struct node_claim *n);
/* Returns the decision on this claim itself that counts now: that of an administrator, or, if the
 * tenant's claims are decided by its webhook, that of the webhook. vc NULL: the tenant does not
 * exist. NULL: none. */
const struct node_claim_approval *approval_own(const struct virtual_cluster *vc,
					       const struct node_claim *n);
/* True if both claims belong to the same gang of the same tenant. */
bool approval_same_gang(const struct node_claim *a, const struct node_claim *b);
/* Returns the wall ms until which a denied claim is kept. */
int64_t approval_denied_until(const struct node_claim_approval *a);

#endif
