#ifndef CONTROLLER_CORE_APPROVAL_H
#define CONTROLLER_CORE_APPROVAL_H

#include "controller/core/context.h"

/*
 * approval: whether a NodeClaim may get a machine, if its tenant's claims need an approval
 * (spec.approval of the VirtualCluster, docs/approval.md).
 *
 * A decision is made once: in spec.approval of the claim by an administrator, or by the tenant's
 * webhook. drover records the decision in status.approval of the claim, with the time at which
 * drover first saw it (claims/claim_status.c); the recorded decision counts from then on. A gang is
 * decided as a whole: the first decision on one of its claims is recorded in all its claims that
 * exist then. So it stays when the claim on which it was made is deleted.
 *
 * A claim that has a machine already needs no decision any more. That includes a claim whose
 * machine serves the claim of its name, and one for which an operator has a running machine adopted
 * (approval_is_adopted()). All state is in the objects, so a new leader decides the same. On the
 * loop thread.
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
	/* NULL unless state is APPROVAL_GIVEN or APPROVAL_REFUSED. Valid until a cache changes. */
	const struct node_claim_approval *decision;
	/* name of the claim on which the decision was made: the claim itself or another one of its
	 * gang */
	const char *on;
	/* wall ms at which drover first saw the decision; now if it is not recorded yet */
	int64_t time;
	/* True: the decision is recorded in status.approval of the claim */
	bool recorded;
};

struct approval approval_of(const struct context *c, const struct node_claim *n);
/* True if a machine may be bound, switched on or launched for the claim. False also if the
 * VirtualCluster of the claim does not exist. */
bool approval_admits(const struct context *c, const struct node_claim *n);
/* True if an operator approved that machine m already serves claim n (drover approve --adopt), and
 * drover has not carried that out yet. */
bool approval_is_adopted(const struct machine *m, const struct node_claim *n);
/* Returns the decision that counts for the claim, also if the claim has a machine already; state is
 * APPROVAL_WAITING if there is none. */
struct approval approval_decision(const struct context *c, const struct node_claim *n);
/* True if the tenant's claims need an approval. False also if the VirtualCluster does not exist. */
bool approval_asked(const struct context *c, const struct node_claim *n);
/* True if a machine could accept the claim: the claim names none, is for a cloud instance without a
 * Machine, or names a free machine. Any other machine may serve a claim that was restored without
 * its status. */
bool approval_can_bind(const struct context *c, const struct node_claim *n);
/* True if both claims belong to the same gang of the same tenant. */
bool approval_same_gang(const struct node_claim *a, const struct node_claim *b);
/* Returns the wall ms until which a denied claim is kept. */
int64_t approval_denied_until(const struct approval *a);

#endif
