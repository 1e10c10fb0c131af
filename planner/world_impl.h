#ifndef PLANNER_WORLD_IMPL_H
#define PLANNER_WORLD_IMPL_H

#include "base/arena.h"
#include "base/map.h"
#include "planner/world.h"

/*
 * world_impl: how the world is kept: for plan*.c alone.
 *
 * Each object is copied into an arena of its own.  Order of insertion means
 * nothing: who needs an order sorts by key (world_sorted).
 */
struct world_object {
	struct arena *arena;
	void *it; /* struct world_pod, ... */
};

struct world {
	struct map *tenants, *providers, *pools, *machines, *claims, *nodes, *pods; /* key -> struct world_object */
};

/* The objects of one map as an array sorted by key, in the arena. */
void **world_sorted(const struct map *m, struct arena *a, size_t *n);
/* NULL: absent. */
void *world_find(const struct map *m, const char *key);

#endif
