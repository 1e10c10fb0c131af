#ifndef CONTROLLER_BURST_TO_COME_H
#define CONTROLLER_BURST_TO_COME_H

#include "base/arena.h"
#include "controller/core/context.h"
#include "planner/world.h"

/*
 * to_come: adds the machines that elastic Providers could launch (machines to come) to the
 * planner's world. For each instance type there are as many as the pools' limits allow. All of them
 * are offered, and rank behind every existing machine. A pool without limits.nodes has no bound on
 * its cost, and gets none of them. In addition, every pool gets the machines of permits
 * (permits.h).
 *
 * Their names are "PROVIDER/TYPE/N", and for permits "PROVIDER/TYPE/permit/...". No object can have
 * such a name.
 * Tests: tests/world/test_elastic.c
 */
struct to_come;
struct permits;
struct to_come *to_come_new(const struct context *c, const struct permits *permits);
void to_come_free(struct to_come *t);

/* Adds to the planner's world w the machines to come that the pools and Providers in the caches
 * allow, and removes the machines to come that are no longer allowed. */
void to_come_put(struct to_come *t, struct world *w);
/* Moves elastic Providers to the end of the Provider list of pool p. If the pool has no
 * limits.nodes, removes them instead, unless a BurstPolicy of mode Enforce or Recommend exists.
 * In that case the elastic Providers stay in the list, but serve only work with a permit. */
void to_come_bound(const struct context *c, struct world_pool *p, struct arena *a);
/* True if the machine that a plan names is a machine to come, and no existing Machine. */
bool to_come_is(const struct context *c, const char *provider, const char *machine);

#endif
