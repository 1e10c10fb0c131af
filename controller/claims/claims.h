#ifndef CONTROLLER_CLAIMS_CLAIMS_H
#define CONTROLLER_CLAIMS_CLAIMS_H

#include "controller/claims/claim_status.h"

/*
 * claims: maintains existing NodeClaims. Writes their status and finalizer, and deletes a claim
 * that no machine accepted, that no pod needs any more, or whose launch failed.
 * claims/provisioner.h creates NodeClaims.
 *
 * Only the leader writes. On the loop thread.
 * Tests: tests/unit/controller/claims/test_claims.c
 */
struct avoided;
struct claims;
struct unwanted;

struct claims_spec {
	struct claim_status_spec status;
	/* List to which each machine is added that did not accept its claim */
	struct avoided *avoided;
	const struct unwanted *unwanted;
};
struct claims *claims_new(const struct claims_spec *spec);
void claims_free(struct claims *cl);
/* Schedules a check of this claim for the next loop turn. */
void claims_kick(struct claims *cl, const char *claim);
/* Forgets since when machines could have accepted the claims: the time within which a machine has
 * to accept a claim begins anew for each leader. Call when another replica becomes the leader. */
void claims_clear(struct claims *cl);

#endif
