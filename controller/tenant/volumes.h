#ifndef CONTROLLER_TENANT_VOLUMES_H
#define CONTROLLER_TENANT_VOLUMES_H

#include "kube/cache.h"
#include "planner/world.h"

/*
 * volumes: where a tenant's pods may be for the sake of their volumes.
 *
 * The claims, volumes, classes and CSINodes of a tenant's cluster are watched from the first pod on
 * that waits for a machine and has a claim; in a cluster without such pods nobody asks for them.
 * What cannot be read (no right, no room, no answer) keeps the pods that have claims waiting, and
 * nobody else; the tenant stays usable.
 *
 * A pod whose volumes changed is told again, some pods in each turn of the loop. Part of a struct
 * tenant. All on the loop thread.
 * Tests: tests/unit/controller/tenant/test_volumes.c, tests/world/test_volumes.c
 */
#define TENANT_VOLUMES 20000 /* objects of each kind */
#define TENANT_VOLUMES_BYTES ((size_t)8 << 20)

struct tenant;
struct tenant_pod;
struct volumes;
struct volumes_hooks {
	/* The planner is to see it anew; one that is in the cache no more is none of these'
	 * business. */
	void (*pod)(struct tenant *t, const char *ns, const char *name);
	void (*node)(struct tenant *t, const char *name);
	/* volumes_over() may be another */
	void (*over)(struct tenant *t);
};
struct volumes *volumes_new(struct tenant *t, const struct volumes_hooks *hooks);
void volumes_free(struct volumes *v);
/* Its client is about to be freed: nothing is known any more. Not from inside a cache's
 * callbacks. */
void volumes_forget(struct volumes *v);

/* A pod in the cache changed; NULL: added, gone.  Before volumes_of_pod(). */
void volumes_pod(struct volumes *v, const struct tenant_pod *old, const struct tenant_pod *new_);

/* As the planner is to see them: the same, or a copy in the arena, with what their volumes add. */
const struct world_pod *volumes_of_pod(const struct volumes *v, const struct tenant_pod *p,
				       struct arena *a);
struct world_node volumes_of_node(const struct volumes *v, const struct world_node *n,
				  struct arena *a);

/* A kind of which not all is read for want of room, "PersistentVolumes"; NULL: none. */
const char *volumes_over(const struct volumes *v);

#endif
