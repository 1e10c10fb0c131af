#ifndef CONTROLLER_RULES_CLAIM_H
#define CONTROLLER_RULES_CLAIM_H

#include "api/kinds.h"
#include "base/arena.h"

/*
 * claim: image, instance type and phase of a NodeClaim, computed from the objects alone. Pure
 * functions.
 * Tests: tests/unit/controller/claims/test_claims.c
 */

/* status.phase of a claim that was denied (controller/core/approval.h): it gets no machine and
 * counts for nothing. */
#define CLAIM_PHASE_DENIED "Denied"

/* Returns the text that identifies the image: its digest, or, for an image without a digest, its
 * BCM category. */
const char *claim_image_id(const struct object_image *i);

/* Returns the pool's image for Kubernetes minor version `version`, such as "1.36"; NULL: none. */
const struct object_image *claim_image(const struct node_pool *pool, const char *version);
/* Returns the phase of the claim for human readers, from the state of its machine m (NULL: none).
 * Sets *failed to true if the machine's failures contain one of this claim, and *reason and
 * *message to those of the latest such failure; otherwise both are "". */
const char *claim_phase(const struct node_claim *n, const struct machine *m, bool *failed,
			const char **reason, const char **message);
/* Returns the instance type of the claim's Machine m, or, without one, the type that the claim's
 * requirements name. m may be NULL. NULL: unknown. */
const char *claim_instance_type(const struct node_claim *n, const struct machine *m);
/* True if the claim counts for quotas and limits: it has not ended, and was not denied. A failed
 * claim counts only while it names a Machine. */
bool claim_counts(const struct node_claim *n);
/* Returns for how many ms the claim has waited for its approval until now (wall ms), or waited
 * until it was given; 0: it needed none. All times of a claim that count from its creation, or
 * from the decision of a BurstPolicy, begin that much later: expireAfter, the paid time,
 * holdUntil of its gang. Known from the condition Approved, so by drover's clock. */
int64_t claim_waited_ms(const struct node_claim *n, int64_t now);
/* Returns the resources that the claim uses up in quotas, limits, shares and status: the capacity
 * of its instance type. p: the Provider of the claim or of its Machine, or NULL. NULL: unknown,
 * which counts as nothing. */
const struct resources *claim_capacity(const struct node_claim *n, const struct machine *m,
				       const struct provider_object *p);
/* Returns the spec.gang.uid that the claims of one gang of the tenant share; allocated in the
 * arena. gang: key of the gang in the tenant (world_pod.gang.key). */
const char *claim_gang_uid(const char *tenant, const char *gang, struct arena *a);

/* True if condition Ready of the claim is True: the machine serves and its Node is Ready. */
bool claim_is_ready(const struct node_claim *n);
/* True if condition Ready of the claim reports that the Node is gone. No pods may then be placed on
 * the Node. */
bool claim_node_gone(const struct node_claim *n);

#endif
