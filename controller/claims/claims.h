#ifndef CONTROLLER_CLAIMS_CLAIMS_H
#define CONTROLLER_CLAIMS_CLAIMS_H

#include "controller/claims/claim_status.h"

/*
 * claims: looks after existing NodeClaims: writes status and finalizer, and withdraws a claim that
 * no machine accepted or that no pod needs any more. claims/provisioner.h creates them.
 *
 * Only the leader writes. On the loop thread.
 * Tests: tests/unit/controller/claims/test_claims.c
 */
struct avoided;
struct claims;
struct unwanted;

struct claims_spec {
	struct claim_status_spec status;
	/* Receives the machines that did not accept their claim */
	struct avoided *avoided;
	const struct unwanted *unwanted;
};
struct claims *claims_new(const struct claims_spec *spec);
void claims_free(struct claims *cl);
/* Schedules a check of this claim for the next loop turn. */
void claims_kick(struct claims *cl, const char *claim);

#endif
