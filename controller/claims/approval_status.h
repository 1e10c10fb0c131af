#ifndef CONTROLLER_CLAIMS_APPROVAL_STATUS_H
#define CONTROLLER_CLAIMS_APPROVAL_STATUS_H

#include "base/arena.h"
#include "controller/core/approval.h"

/*
 * approval_status: the condition Approved of a NodeClaim: whether the claim may get a machine
 * (core/approval.h), who decided so, and why.
 *
 *   Unknown  ApprovalPending   no decision yet; WebhookFailed: the webhook gave no usable answer
 *   False    ClaimDenied       denied; the message names the user, the reason and the end
 *   True     Approved          approved; the message names the user and the reason
 *   True     ApprovalNotNeeded the tenant no longer asks for approvals, or the claim got a machine
 *                              in another way
 * Tests: tests/world/test_approval.c, tests/world/test_approval_webhook.c
 */

/* Writes the condition to *out, texts in the arena. trouble: error of the tenant's webhook; NULL:
 * none. False: the claim has no such condition, or its condition stays as it is. */
bool approval_condition(const struct context *c, const struct node_claim *n,
			const struct approval *is, const char *trouble, struct arena *a,
			struct condition *out);
/* Sends an event about the claim if condition `now` differs in its reason from the claim's present
 * condition. */
void approval_tell(const struct context *c, const struct node_claim *n,
		   const struct condition *now);

#endif
