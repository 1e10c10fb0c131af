#ifndef PLANNER_WORLD_LOOK_H
#define PLANNER_WORLD_LOOK_H

#include "planner/world.h"

/*
 * world_look: what a world has, for who reports it.  Names are the world's: until it changes.
 * Tests: tests/unit/planner/test_replay.c, tests/unit/cli/simulate/test_scenario.c
 */

/* The name as the world keeps it; NULL: there is no such tenant. */
const char *world_tenant_name(const struct world *w, const char *name);

/* Machines of one Provider and type: how many there are, may be claimed, and are held by claims
 * that have not ended. */
struct world_use {
	const char *provider, *type;
	size_t machines, offered, held;
	/* of one */
	double gpus;
};
/* Sorted by provider and type; malloc'd: the caller frees. */
struct world_use *world_uses(struct world *w, size_t *n);

#endif
