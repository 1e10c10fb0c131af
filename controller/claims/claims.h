#ifndef CONTROLLER_CLAIMS_CLAIMS_H
#define CONTROLLER_CLAIMS_CLAIMS_H

#include "controller/controller.h"
#include "planner/plan.h"

/*
 * claims: NodeClaims as objects: made from a plan, and their status derived
 * from the machine that holds them.
 * Tests: tests/unit/controller/claims/test_claims.c
 */
/* The object to create; gives.  NULL with *e set when pool or tenant changed under the plan. */
json_t *claims_build(struct controller *c, const struct plan_claim *p, struct err *e);

/* Bring the status of one claim in line with its machine.  True: a write is under way or was needed. */
struct claims;
struct claims *claims_new(struct controller *c);
void claims_free(struct claims *cl);
void claims_kick(struct claims *cl, const char *claim); /* look at this claim in the next turn */

const struct machine *claims_machine(const struct controller *c,
				     const struct node_claim *n); /* that holds it; NULL */

/* "VirtualCluster" or "NodePool": there is one of the name that the claim refers to, it is not being deleted, and it
 * has another UID.  A backup was put back, or it was made anew: the claim stays.  NULL: neither. */
const char *claims_owner_replaced(const struct controller *c, const struct node_claim *n);

#endif
