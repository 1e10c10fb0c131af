#ifndef TESTS_WORLD_WORLD_OBJECTS_H
#define TESTS_WORLD_WORLD_OBJECTS_H

struct sim_world;

/*
 * world_objects: the objects with which a world begins, and requests to its API servers (world_do()
 * and the functions after it in world.h).
 */

/* Creates the objects with which each world begins: definitions, Provider, NodePool, two tenants, a
 * Machine for each server. */
void world_objects(struct sim_world *w);

#endif
