#ifndef CONTROLLER_TENANT_POD_GROUPS_H
#define CONTROLLER_TENANT_POD_GROUPS_H

#include "base/arena.h"
#include "controller/tenant/gang_names.h"
#include "kube/client.h"
#include "planner/world.h"

/*
 * pod_groups: determines the sizes of the gangs of a tenant's pods from PodGroups and Workloads.
 *
 * PodGroups or Workloads of a kind are watched in the tenant's cluster once a pod that waits for a
 * machine names one of that kind. Otherwise nothing is requested from the API server. If an object
 * cannot be read (not served, not permitted, too large, no answer), only the pods that name such an
 * object wait.
 *
 * A pod whose PodGroup changed is passed to the planner again, some pods per loop turn. Part of a
 * struct tenant. All on the loop thread.
 * Tests: tests/unit/controller/tenant/test_pod_groups.c, tests/world/test_gangs.c
 */
#define POD_GROUPS 5000 /* maximum number of objects of each kind */
#define POD_GROUPS_BYTES ((size_t)2 << 20)

struct tenant;
struct tenant_pod;
struct pod_groups;
/* Returns the i-th API version (from 0) of the kind's resource; NULL: the kind has fewer
 * versions. */
const struct kube_resource *pod_groups_resource(enum gang_kind kind, int i);
/* Sets *size to the size of p's gang, whose kind must not be GANG_SIZE_IN_POD. Returns NULL, or why
 * the size is not known. group: the object that the gang names; NULL: the object does not exist. */
const char *pod_groups_size(const struct tenant_pod *p, const struct gang_group *group,
			    int64_t *size, struct arena *a);
/* Returns a copy of w in the arena with p's gang and its size; w itself if p has no gang. why:
 * reason for which the size is not known, or NULL. */
const struct world_pod *pod_groups_sized(const struct tenant_pod *p, const struct world_pod *w,
					 int64_t size, const char *why, struct arena *a);
/* Creates the module. pod() passes a pod to the planner again; it must ignore names that are no
 * longer in the cache. */
struct pod_groups *pod_groups_new(struct tenant *t,
				  void (*pod)(struct tenant *t, const char *ns, const char *name));
void pod_groups_free(struct pod_groups *g);
/* Drops all caches, because the tenant's client is about to be freed. Must not be called from a
 * cache's callbacks. */
void pod_groups_forget(struct pod_groups *g);

/* Reports a change of a cached pod; call before pod_groups_of_pod(). old NULL: added; new_ NULL:
 * deleted. */
void pod_groups_pod(struct pod_groups *g, const struct tenant_pod *old,
		    const struct tenant_pod *new_);
/* Returns pod p for the planner with its gang: w itself, or a copy in the arena. */
const struct world_pod *pod_groups_of_pod(const struct pod_groups *g, const struct tenant_pod *p,
					  const struct world_pod *w, struct arena *a);

#endif
