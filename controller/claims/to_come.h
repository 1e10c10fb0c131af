#ifndef CONTROLLER_CLAIMS_TO_COME_H
#define CONTROLLER_CLAIMS_TO_COME_H

#include "base/arena.h"
#include "controller/core/context.h"
#include "planner/world.h"

/*
 * to_come: the machines that elastic Providers could launch, as machines of the planner's world.
 * For each instance type there are as many as the pools' limits allow; all are offered, and rank
 * behind every existing machine. A pool without limits.nodes has no bound on its cost, and gets
 * none. In addition, every pool gets the machines of permits (permits.h).
 *
 * Their names are "PROVIDER/TYPE/N", and for permits "PROVIDER/TYPE/permit/...". No object can have
 * such a name.
 * Tests: tests/world/test_elastic.c
 */
struct to_come;
struct permits;
struct to_come *to_come_new(const struct context *c, const struct permits *permits);
void to_come_free(struct to_come *t);

/* Adds the machines to come that the pools and Providers in the caches allow to the world, and
 * removes those no longer allowed. */
void to_come_put(struct to_come *t, struct world *w);
/* Moves elastic Providers to the end of the pool's list. In a pool without limits.nodes they are
 * removed, unless a BurstPolicy of mode Enforce exists: then they serve only work with a permit. */
void to_come_bound(const struct context *c, struct world_pool *p, struct arena *a);
/* True if this machine of a plan is a machine to come. */
bool to_come_is(const struct context *c, const char *provider, const char *machine);

#endif
