#ifndef CONTROLLER_RULES_PROMISE_H
#define CONTROLLER_RULES_PROMISE_H

#include "api/kinds.h"
#include "base/arena.h"

/*
 * promise: determines in what a NodeClaim differs from the current template of its NodePool
 * (drift). Pure functions.
 *
 * A claim's spec is a copy of the template at the time when the claim was made. It is compared with
 * the template member by member. Therefore no stored hash has to be trusted, and a new field in a
 * later release of drover does not make all existing claims differ.
 *
 * Only members that define the node are compared: image, labels, annotations, taints,
 * startupTaints, userDataSecretRef, kubelet, network. Lists of taints are compared as sets. Members
 * that define how drover treats the node (deadlines, wipe, checkpoint, expireAfter,
 * terminationGracePeriod) are not compared, because no machine is reinstalled for them. Secrets are
 * compared by name, not by content.
 * Tests: tests/unit/controller/rules/test_promise.c
 */

/* Returns a claim spec with the members that the template of p defines, and with *image. Everything
 * points into p and *image. */
struct node_claim_spec promise_of(const struct node_pool *p, const struct object_image *image);

/* Returns the names of the compared members in which `is` (a claim) differs from `said` (the
 * template), such as "image, labels"; in the arena. NULL: none. */
const char *promise_differs(const struct node_claim_spec *is, const struct node_claim_spec *said,
			    struct arena *a);

/* Writes a hash of the compared members to `out`, and returns `out`. Two specs without a difference
 * in promise_differs() have the same hash, unless their lists have a different order. */
#define PROMISE_NAME_SIZE 17
const char *promise_name(const struct node_claim_spec *s, char out[static PROMISE_NAME_SIZE]);

#endif
