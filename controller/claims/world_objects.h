#ifndef CONTROLLER_CLAIMS_WORLD_OBJECTS_H
#define CONTROLLER_CLAIMS_WORLD_OBJECTS_H

#include "api/kinds.h"
#include "base/arena.h"
#include "planner/world.h"

/*
 * world_objects: converts objects of drover's API to the planner's structs. Pure functions, used by
 * the controller and by `drover simulate`. The results point into the object, or into the arena.
 * Tests: tests/unit/controller/claims/test_world_sync.c, tests/unit/cli/simulate/test_scenario.c
 */
struct world_pool world_object_pool(const struct node_pool *p, struct arena *a);
struct world_provider world_object_provider(const struct provider_object *p, struct arena *a);
/* Converts Machine m. r: record of the machine's last wipe; NULL: none, or not known. */
struct world_machine world_object_machine(const struct machine *m, const struct wipe_record *r,
					  struct arena *a);
/* Converts NodeClaim n. m: the claim's machine; p: the Provider of m; NULL: none, or not known. */
struct world_claim world_object_claim(const struct node_claim *n, const struct machine *m,
				      const struct provider_object *p, struct arena *a);
/* Converts VirtualCluster vc. Does not set version, health and `probed`, which the caller has to
 * supply. */
struct world_tenant world_object_tenant(const struct virtual_cluster *vc);

#endif
