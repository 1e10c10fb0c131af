#ifndef PLANNER_WORLD_LOOK_H
#define PLANNER_WORLD_LOOK_H

#include "planner/world.h"

/*
 * world_look: read access to a world for reports. Names belong to the world and are valid until it
 * changes.
 * Tests: tests/unit/planner/test_replay.c, tests/unit/cli/simulate/test_scenario.c
 */

/* Returns the world's copy of the name; NULL: no such tenant. */
const char *world_tenant_name(const struct world *w, const char *name);

/* Machines of one Provider and type: how many exist, may be claimed (offered), belong to claims
 * that have not ended (held). */
struct world_use {
	const char *provider, *type;
	size_t machines, offered, held;
	/* GPUs of one machine. */
	double gpus;
};
/* Sorted by provider and type. The caller must free() the result. */
struct world_use *world_uses(struct world *w, size_t *n);

#endif
