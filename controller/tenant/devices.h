#ifndef CONTROLLER_TENANT_DEVICES_H
#define CONTROLLER_TENANT_DEVICES_H

#include "kube/cache.h"
#include "planner/world.h"

/*
 * devices: how many whole GPUs a tenant's pods take by resource claims (resource.k8s.io), and how
 * many its Nodes have for them.
 *
 * To the planner both are nvidia.com/gpu, as an instance type promises it: a claim for two GPUs is
 * a request for two, and a Node whose driver publishes eight whole ones in ResourceSlices has
 * eight. What kube-scheduler has allocated counts for the first pod that the claim is reserved for;
 * before that, what the claim or its template asks, for the first pod that waits with it. A Node
 * counts once all slices of the newest generation of a pool are there.
 *
 * Where GPUs are whose driver is asked by claims, no pod is planned that asks for the extended
 * resource, and the other way round, unless a DeviceClass stands for that resource
 * (spec.extendedResourceName). The planner sees that by a label of the Node, which is in no
 * cluster.
 *
 * The claim of a ComputeDomain's channel takes the Node's one channel, and keeps the domain's pods
 * in one NVLink domain (label nvidia.com/gpu.clique).
 *
 * Claims, templates, classes and slices are watched from the first pod on that has a claim, and
 * once a Node goes without the GPUs of its type for a while; in v1 from Kubernetes 1.34 on, v1beta2
 * in 1.33, v1beta1 in 1.32; elsewhere nobody asks for them. What cannot be read (not served, no
 * right, no room, no answer) keeps the pods that have claims waiting, and nobody else. Part of a
 * struct tenant. All on the loop thread.
 * Tests: tests/unit/controller/tenant/test_devices.c, tests/world/test_devices.c
 */
#define TENANT_DEVICES 20000 /* objects of each kind */
#define TENANT_DEVICES_BYTES ((size_t)8 << 20)
#define DEVICES_GPU "nvidia.com/gpu"
#define DEVICES_CHANNEL ":channel of a ComputeDomain"
#define DEVICES_CLIQUE "nvidia.com/gpu.clique"
/* Labels that the planner alone sees: of a Node, by what its GPUs are had; of a pod, the UID of its
 * ComputeDomain. */
#define DEVICES_BY "drover.dev/gpus-by"
#define DEVICES_BY_CLAIM "ResourceClaim"
#define DEVICES_BY_PLUGIN "DevicePlugin"
#define DEVICES_DOMAIN "drover.dev/compute-domain"

struct tenant;
struct tenant_pod;
struct devices;
struct devices_hooks {
	/* The planner is to see it anew; one that is in the cache no more is none of these'
	 * business. */
	void (*pod)(struct tenant *t, const char *ns, const char *name);
	void (*node)(struct tenant *t, const char *name);
};
struct devices *devices_new(struct tenant *t, const struct devices_hooks *hooks);
void devices_free(struct devices *d);
/* Its client is about to be freed: nothing is known any more. Not from inside a cache's
 * callbacks. */
void devices_forget(struct devices *d);

/* Somebody waits for GPUs of a Node that no device plugin registers: what the cluster has of
 * devices is read from now on. */
void devices_want(struct devices *d);
/* A pod in the cache changed; NULL: added, gone.  Before devices_of_pod(). */
void devices_pod(struct devices *d, const struct tenant_pod *old, const struct tenant_pod *new_);

/* As the planner is to see them: w, or a copy in the arena, with what their claims and devices
 * add. */
const struct world_pod *devices_of_pod(const struct devices *d, const struct tenant_pod *p,
				       const struct world_pod *w, struct arena *a);
struct world_node devices_of_node(const struct devices *d, const struct world_node *n,
				  struct arena *a);
/* Whole GPUs of that Node that are had by claims; 0 where that is not read. */
size_t devices_on(const struct devices *d, const char *node);

#endif
