#ifndef TESTS_WORLD_WORLD_OBJECTS_H
#define TESTS_WORLD_WORLD_OBJECTS_H

struct sim_world;

/*
 * world_objects: the objects of the world, and what is asked of its API servers (world_do() and
 * what stands around it in world.h).
 */

/* What each world begins with: definitions, Provider, NodePool, two tenants, a Machine for each
 * server. */
void world_objects(struct sim_world *w);

#endif
