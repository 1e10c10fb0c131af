#ifndef CONTROLLER_CLAIMS_TO_COME_H
#define CONTROLLER_CLAIMS_TO_COME_H

#include "base/arena.h"
#include "controller/core/context.h"
#include "planner/world.h"

/*
 * to_come: the machines that elastic Providers would launch, as the planner's: for each instance
 * type as many as the pools let it have, offered, and worth less than any that there is. A pool
 * whose limits do not say `nodes` has no bound for its money, and so none of them. Besides, in
 * every pool, those that a permit is for (permits.h).
 *
 * Their names are "PROVIDER/TYPE/N", and of permits "PROVIDER/TYPE/permit/...", which no object
 * has.
 * Tests: tests/world/test_elastic.c
 */
struct to_come;
struct permits;
struct to_come *to_come_new(const struct context *c, const struct permits *permits);
void to_come_free(struct to_come *t);

/* Puts those that the pools and Providers in the caches allow into the world, and takes away those
 * that they do not. */
void to_come_put(struct to_come *t, struct world *w);
/* Puts elastic Providers last in a pool; where it has no limit of nodes, a policy that launches
 * leaves them there for what has a permit, and else they are taken from it. */
void to_come_bound(const struct context *c, struct world_pool *p, struct arena *a);
/* This machine of a plan is one of them. */
bool to_come_is(const struct context *c, const char *provider, const char *machine);

#endif
