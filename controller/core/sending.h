#ifndef CONTROLLER_CORE_SENDING_H
#define CONTROLLER_CORE_SENDING_H

#include <jansson.h>
#include "controller/core/context.h"

/*
 * sending: NodeClaims that were sent to the host cluster's API server but are not in the cache yet.
 *
 * A plan counts such a claim like any other claim in progress (claims/world_sync.h): its machine is
 * in use and its pods are placed. So planning continues for other pods and nothing is claimed
 * twice, however slow the API server is. If the creation of a claim failed or has an unknown
 * result, the claim occupies its machine for another 2 s. Then the API server is asked whether the
 * claim exists; if not, the claim's pods are planned anew.
 * Tests: tests/unit/controller/claims/test_provisioner.c
 */
#define SENDING_RETRY_MS 2000

struct sending;
/* over(): called when this module forgets the claim of that name, because the claim is in the cache
 * or does not exist. Never called from inside sending_claim(). */
struct sending *sending_new(struct context *c, void (*over)(const char *name, void *arg),
			    void *arg);
void sending_free(struct sending *s);

/* Sends the NodeClaim o to the API server. Returns the claim's name; NULL with *e set if the object
 * is invalid. */
const char *sending_claim(struct sending *s, const json_t *o, struct err *e);
/* Returns the claim as it was sent; NULL: no claim of that name is being sent, or the cache has
 * already contained the claim. */
const struct node_claim *sending_get(const struct sending *s, const char *name);
/* Hides the claim from sending_get() and sending_each() from now on. Call when the cache adds,
 * changes or deletes the claim. */
void sending_seen(struct sending *s, const char *name);
/* Calls fn for each claim that sending_get() returns, in the order in which they were sent. */
void sending_each(const struct sending *s, void (*fn)(const struct node_claim *n, void *arg),
		  void *arg);

#endif
