#ifndef CONTROLLER_RULES_CLAIM_H
#define CONTROLLER_RULES_CLAIM_H

#include "api/kinds.h"
#include "base/arena.h"

/*
 * claim: image, instance type and phase of a NodeClaim, computed from the objects alone. Pure.
 * Tests: tests/unit/controller/claims/test_claims.c
 */

/* Returns what identifies the image: its digest, or the BCM category in which it is installed. */
const char *claim_image_id(const struct object_image *i);

/* Returns the pool's image for that Kubernetes minor version ("1.36"), or NULL. */
const struct object_image *claim_image(const struct node_pool *pool, const char *version);
/* Returns the phase of the claim for human readers, from the state of its machine m (or NULL).
 * *failed: the claim failed, with the last failure of the machine for this claim in *reason and
 * *message. */
const char *claim_phase(const struct node_claim *n, const struct machine *m, bool *failed,
			const char **reason, const char **message);
/* Returns the instance type as which the claim counts: that of its Machine m, else the one that its
 * requirements name. m may be NULL. NULL: unknown. */
const char *claim_instance_type(const struct node_claim *n, const struct machine *m);
/* Returns true if the claim counts at all: until it has ended, and after a failure as long as it
 * names a Machine. */
bool claim_counts(const struct node_claim *n);
/* Returns the resources as which the claim counts for quotas, limits, shares and status. p: the
 * Provider of the claim or its Machine, or NULL. NULL: unknown, which counts as nothing. */
const struct resources *claim_capacity(const struct node_claim *n, const struct machine *m,
				       const struct provider_object *p);
/* Returns spec.gang.uid for claims of the tenant's gang with that key (world_pod.gang.key), in the
 * arena. */
const char *claim_gang_uid(const char *tenant, const char *gang, struct arena *a);

/* True if the condition Ready is True: the machine serves and its Node is Ready. */
bool claim_is_ready(const struct node_claim *n);
/* True if the condition Ready reports that the Node is gone, so that no pods may be placed
 * there. */
bool claim_node_gone(const struct node_claim *n);

#endif
