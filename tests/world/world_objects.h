#ifndef TESTS_WORLD_WORLD_OBJECTS_H
#define TESTS_WORLD_WORLD_OBJECTS_H

struct earth;

/*
 * world_objects: the objects of the world, and what is asked of its API servers (earth_do() and
 * what stands around it in world.h).
 */

/* What each world begins with: definitions, Provider, NodePool, two tenants, a Machine for each box. */
void earth_objects(struct earth *w);

#endif
