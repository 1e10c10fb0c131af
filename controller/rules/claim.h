#ifndef CONTROLLER_RULES_CLAIM_H
#define CONTROLLER_RULES_CLAIM_H

#include "api/kinds.h"
#include "base/arena.h"

/*
 * claim: image, instance type and phase of a NodeClaim, from the objects alone.  Pure.
 * Tests: tests/unit/controller/claims/test_claims.c
 */

/* What tells this image from others: its digest, or the category that it is installed in. */
const char *claim_image_id(const struct object_image *i);

/* The pool's image for a server of that version ("1.36"), or NULL. */
const struct object_image *claim_image(const struct node_pool *pool, const char *version);
/* The phase of the claim for people, by the state of its machine, and whether the claim failed. */
const char *claim_phase(const struct node_claim *n, const struct machine *m, bool *failed,
			const char **reason, const char **message);
/* Returns the instance type that the claim counts as: that of its Machine m, else the one that it
 * asks for by name.  m may be NULL.  NULL: not known. */
const char *claim_instance_type(const struct node_claim *n, const struct machine *m);
/* Returns true if the claim counts at all: until it has ended, and if it failed, while it names a
 * Machine. */
bool claim_counts(const struct node_claim *n);
/* Returns what the claim counts for quotas, limits, shares and status. p: the Provider of the claim
 * or its Machine, or NULL. NULL: not known, which counts as nothing. */
const struct resources *claim_capacity(const struct node_claim *n, const struct machine *m,
				       const struct provider_object *p);
/* Returns spec.gang.uid for claims of the tenant's gang with that key (world_pod.gang.key), in the
 * arena. */
const char *claim_gang_uid(const char *tenant, const char *gang, struct arena *a);

/* Its Ready says so: its machine serves, and its Node is Ready. */
bool claim_is_ready(const struct node_claim *n);
/* Its Ready says so: it is no place for pods. */
bool claim_node_gone(const struct node_claim *n);

#endif
