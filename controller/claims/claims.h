#ifndef CONTROLLER_CLAIMS_CLAIMS_H
#define CONTROLLER_CLAIMS_CLAIMS_H

#include "controller/claims/claim_status.h"

/*
 * claims: looks after the NodeClaims that exist: status, finalizer, and withdrawal of one that no
 * machine took, or that no pod wants any more. What makes them is claims/provisioner.h.
 *
 * Only the leader writes. On the loop thread.
 * Tests: tests/unit/controller/claims/test_claims.c
 */
struct avoided;
struct claims;
struct unwanted;

struct claims_spec {
	struct claim_status_spec status;
	/* is told of machines that did not take theirs */
	struct avoided *avoided;
	const struct unwanted *unwanted;
};
struct claims *claims_new(const struct claims_spec *spec);
void claims_free(struct claims *cl);
/* look at this claim in the next turn */
void claims_kick(struct claims *cl, const char *claim);

#endif
