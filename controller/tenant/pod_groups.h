#ifndef CONTROLLER_TENANT_POD_GROUPS_H
#define CONTROLLER_TENANT_POD_GROUPS_H

#include "base/arena.h"
#include "controller/tenant/gang_names.h"
#include "kube/client.h"
#include "planner/world.h"

/*
 * pod_groups: how large the gangs of a tenant's pods are.
 *
 * PodGroups, or Workloads, of a kind are watched in the tenant's cluster from the first pod on that
 * waits for a machine and names one; elsewhere nobody asks for them. What cannot be read (not
 * served, no right, no room, no answer) keeps the pods that name one waiting, and nobody else.
 *
 * A pod whose PodGroup changed is told again, some pods in each turn of the loop. Part of a struct
 * tenant. All on the loop thread.
 * Tests: tests/unit/controller/tenant/test_pod_groups.c, tests/world/test_gangs.c
 */
#define POD_GROUPS 5000 /* objects of each kind */
#define POD_GROUPS_BYTES ((size_t)2 << 20)

struct tenant;
struct tenant_pod;
struct pod_groups;
/* Resource of a kind in version i, from 0; NULL: it is read in fewer versions. */
const struct kube_resource *pod_groups_resource(enum gang_kind kind, int i);
/* Returns why the size of p's gang is not known, NULL if *size is set. group: the object that p's
 * gang names; NULL: it does not exist. Not for a gang of kind GANG_SAID. */
const char *pod_groups_size(const struct tenant_pod *p, const struct gang_group *group,
			    int64_t *size, struct arena *a);
/* Returns w, or a copy in the arena with p's gang, whose size is known unless why says
 * otherwise. */
const struct world_pod *pod_groups_sized(const struct tenant_pod *p, const struct world_pod *w,
					 int64_t size, const char *why, struct arena *a);
/* pod: the planner is to see it anew; one that is in the cache no more is none of its business. */
struct pod_groups *pod_groups_new(struct tenant *t,
				  void (*pod)(struct tenant *t, const char *ns, const char *name));
void pod_groups_free(struct pod_groups *g);
/* Its client is about to be freed: nothing is known any more. Not from inside a cache's
 * callbacks. */
void pod_groups_forget(struct pod_groups *g);

/* A pod in the cache changed; NULL: added, gone.  Before pod_groups_of_pod(). */
void pod_groups_pod(struct pod_groups *g, const struct tenant_pod *old,
		    const struct tenant_pod *new_);
/* The pod as the planner is to see it: w, or a copy in the arena, with its gang. */
const struct world_pod *pod_groups_of_pod(const struct pod_groups *g, const struct tenant_pod *p,
					  const struct world_pod *w, struct arena *a);

#endif
