#ifndef CONTROLLER_CLAIMS_APPROVAL_ASKS_H
#define CONTROLLER_CLAIMS_APPROVAL_ASKS_H

#include "controller/core/context.h"

/*
 * approval_asks: asks a tenant's webhook whether a NodeClaim may get a machine (spec.approval of
 * the VirtualCluster; docs/approval.md describes the protocol).
 *
 *   claim waits --> POST with the claim's UID as id --> answer --> status.approval of the claim
 *                     |  no usable answer: again after 5 s, then twice as long, up to 5 min
 *
 * Only one claim of a gang is asked for: the first by name of those that wait, once no claim of the
 * gang was created for 3 s. Only an answer 200
 * with exactly {"decision": "Approved" or "Denied", "reason": TEXT} decides; anything else leaves
 * the claim without an approval. An answer is kept in memory until claims/claims.c has written it;
 * a new leader asks again, with the same id. On the loop thread.
 * Tests: tests/world/test_approval_webhook.c
 */
struct approval_asks;
struct approval_asks *approval_asks_new(struct context *c);
void approval_asks_free(struct approval_asks *s);

/* Sends the request for claim n if one is due. Sends NOTICE_CLAIM when it is answered, and when the
 * next one is due. Call while the claim waits for its approval. */
void approval_asks_look(struct approval_asks *s, const struct node_claim *n);
/* Drops what is known about the claim of that name. Call when it waits no longer. */
void approval_asks_forget(struct approval_asks *s, const char *claim);
/* Returns the answer for claim n; NULL: none yet. Valid until approval_asks_forget(). */
const struct node_claim_approval *approval_asks_answer(const struct approval_asks *s,
						       const struct node_claim *n);
/* Returns why the last request for claim n had no usable answer; NULL: it had, or is the first.
 * Valid until the next loop turn. */
const char *approval_asks_trouble(const struct approval_asks *s, const struct node_claim *n);

#endif
