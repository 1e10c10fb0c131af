#ifndef CONTROLLER_TENANT_VOLUMES_H
#define CONTROLLER_TENANT_VOLUMES_H

#include "kube/cache.h"
#include "planner/world.h"

/*
 * volumes: determines where a tenant's pods may be placed because of their volumes.
 *
 * The claims, volumes, classes and CSINodes of a tenant's cluster are watched once a pod that waits
 * for a machine has a claim. Otherwise nothing is requested from the API server. If an object
 * cannot be read (not permitted, too large, no answer), only the pods with claims wait; the tenant
 * stays usable.
 *
 * A pod whose volumes changed is passed to the planner again, some pods per loop turn. Part of a
 * struct tenant. All on the loop thread.
 * Tests: tests/unit/controller/tenant/test_volumes.c, tests/world/test_volumes.c
 */
#define TENANT_VOLUMES 20000 /* maximum number of objects of each kind */
#define TENANT_VOLUMES_BYTES ((size_t)8 << 20)

struct tenant;
struct tenant_pod;
struct volumes;
struct volumes_hooks {
	/* pod() and node() pass the pod or Node to the planner again. They must ignore names that
	 * are no longer in the cache. */
	void (*pod)(struct tenant *t, const char *ns, const char *name);
	void (*node)(struct tenant *t, const char *name);
	/* Reports that the result of volumes_over() may have changed. */
	void (*over)(struct tenant *t);
};
struct volumes *volumes_new(struct tenant *t, const struct volumes_hooks *hooks);
void volumes_free(struct volumes *v);
/* Drops all caches, because the tenant's client is about to be freed. Must not be called from a
 * cache's callbacks. */
void volumes_forget(struct volumes *v);

/* Reports a change of a cached pod; call before volumes_of_pod(). old NULL: added; new_ NULL:
 * deleted. */
void volumes_pod(struct volumes *v, const struct tenant_pod *old, const struct tenant_pod *new_);

/* volumes_of_pod() and volumes_of_node() return the pod or Node as the planner sees it, with the
 * effect of volumes: the same object, or a copy in the arena. */
const struct world_pod *volumes_of_pod(const struct volumes *v, const struct tenant_pod *p,
				       struct arena *a);
struct world_node volumes_of_node(const struct volumes *v, const struct world_node *n,
				  struct arena *a);

/* Returns the plural name, such as "PersistentVolumes", of a kind of which some objects are not
 * read because they exceed TENANT_VOLUMES or TENANT_VOLUMES_BYTES; NULL: no such kind. */
const char *volumes_over(const struct volumes *v);

#endif
