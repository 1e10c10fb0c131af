#ifndef CONTROLLER_CORE_LOOKUP_H
#define CONTROLLER_CORE_LOOKUP_H

#include "controller/core/context.h"

/*
 * lookup: finds the Machine, Provider and replacement of a claim in the host cluster's caches.
 * Tests: tests/unit/controller/claims/test_claims.c
 */

/* Returns the Machine that the claim names, if the Machine's status.claimRef has the UID of the
 * claim; otherwise NULL. */
const struct machine *machine_of_claim(const struct context *c, const struct node_claim *n);
/* Returns the Machine that the claim names, whether or not it is bound to the claim; NULL: the
 * claim names none, or the Machine does not exist. */
const struct machine *machine_named_by(const struct context *c, const struct node_claim *n);
/* Returns the Provider of the Machine that the claim names, else the Provider that the claim names;
 * NULL: none. */
const struct provider_object *provider_of_claim(const struct context *c,
						const struct node_claim *n);
/* Returns the claim that replaces claim n (annotation CLAIM_REPLACES), unless it failed or is being
 * deleted; NULL: none. */
const struct node_claim *claim_replacement_of(const struct context *c, const struct node_claim *n);

#endif
