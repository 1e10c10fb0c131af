#ifndef CONTROLLER_RULES_PROMISE_H
#define CONTROLLER_RULES_PROMISE_H

#include "api/kinds.h"
#include "base/arena.h"

/*
 * promise: what a NodePool's template says of a NodeClaim, and in what a claim that was made before
 * differs from it. Pure.
 *
 * A claim's spec is the copy of what was promised, so it is compared itself, member by member: no
 * hash on the object has to be trusted, and no new field of a later drover makes all that there is
 * differ.
 *
 * What the node is counts: image, labels, annotations, taints, startupTaints, userDataSecretRef,
 * kubelet, network. Lists of taints are sets. How drover treats it does not (deadlines, wipe,
 * checkpoint, expireAfter, terminationGracePeriod): no machine is installed anew for these. What is
 * in a Secret is not looked at, its name is.
 * Tests: tests/unit/controller/rules/test_promise.c
 */

/* The members of a claim's spec that the template says, with this image of it; all point into the
 * pool. */
struct node_claim_spec promise_of(const struct node_pool *p, const struct object_image *image);

/* "image, labels", in the arena: the members of `is` that are not as said; NULL: none. */
const char *promise_differs(const struct node_claim_spec *is, const struct node_claim_spec *said,
			    struct arena *a);

/* A name for what counts of it: the same for all claims that do not differ, order of lists
 * apart. */
#define PROMISE_NAME_SIZE 17
const char *promise_name(const struct node_claim_spec *s, char out[static PROMISE_NAME_SIZE]);

#endif
