#ifndef PLANNER_WORLD_REPORT_H
#define PLANNER_WORLD_REPORT_H

#include "planner/world.h"

/*
 * world_report: read access to a world for reports. Names in results belong to the world and are
 * valid until the world changes.
 * Tests: tests/unit/planner/replay/test_replay.c, tests/unit/cli/simulate/test_scenario.c
 */

/* Returns the world's own copy of a tenant's name; NULL: no such tenant. */
const char *world_tenant_name(const struct world *w, const char *name);

/* Numbers of machines of one Provider and instance type. machines: all that exist. offered: those
 * that may be claimed. held: those of claims that have not ended. */
struct world_use {
	const char *provider, *type;
	size_t machines, offered, held;
	/* GPUs of one machine. */
	double gpus;
};
/* Returns an array with one entry per Provider and type, sorted by both; *n is its length. The
 * caller must free() it. */
struct world_use *world_uses(struct world *w, size_t *n);

#endif
