#ifndef CONTROLLER_CLAIMS_SENDING_H
#define CONTROLLER_CLAIMS_SENDING_H

#include <jansson.h>
#include "controller/core/context.h"

/*
 * sending: NodeClaims that go to the host's API server, until the cache has them.
 *
 * To a plan such a claim is on its way like any other (claims/world_sync.h): its machine is taken
 * and its pods have their seats, so planning goes on for everybody else and nothing is claimed
 * twice, however slow the server is. One that could not be created, or of which that is not known,
 * holds its machine for another 2 s; then the server says whether it is there, or its pods are
 * planned anew.
 * Tests: tests/unit/controller/claims/test_provisioner.c
 */
#define SENDING_RETRY_MS 2000

struct sending;
/* over: the cache may have the claim of that name, but no more is known here; not from inside
 * sending_claim(). */
struct sending *sending_new(struct context *c, void (*over)(const char *name, void *arg),
			    void *arg);
void sending_free(struct sending *s);

/* Sends the object of a NodeClaim; its name, or NULL with *e set: it is none. */
const char *sending_claim(struct sending *s, const json_t *o, struct err *e);
/* As it was sent.  NULL: nothing of that name is being sent, or the cache has had it. */
const struct node_claim *sending_get(const struct sending *s, const char *name);
/* The cache has it, or has lost it. */
void sending_seen(struct sending *s, const char *name);
/* Each that sending_get() would give, in the order in which they were sent. */
void sending_each(const struct sending *s, void (*fn)(const struct node_claim *n, void *arg),
		  void *arg);

#endif
