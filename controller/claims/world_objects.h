#ifndef CONTROLLER_CLAIMS_WORLD_OBJECTS_H
#define CONTROLLER_CLAIMS_WORLD_OBJECTS_H

#include "api/kinds.h"
#include "base/arena.h"
#include "planner/world.h"

/*
 * world_objects: objects of drover's API as the planner's structs. Pure: the controller and `drover
 * simulate` see one object as the same. What is given points into the object, or lies in the arena.
 * Tests: tests/unit/controller/claims/test_world_sync.c, tests/unit/cli/simulate/test_scenario.c
 */
struct world_pool world_object_pool(const struct node_pool *p, struct arena *a);
struct world_provider world_object_provider(const struct provider_object *p, struct arena *a);
/* r: the record of its last wipe; NULL: none, or not known. */
struct world_machine world_object_machine(const struct machine *m, const struct wipe_record *r,
					  struct arena *a);
/* m: the machine that it names, p: that one's Provider; NULL: none, or not known. */
struct world_claim world_object_claim(const struct node_claim *n, const struct machine *m,
				      const struct provider_object *p, struct arena *a);
/* Without what a tenant's API server says, version and health, and without probed: others count for
 * that. */
struct world_tenant world_object_tenant(const struct virtual_cluster *vc);

#endif
