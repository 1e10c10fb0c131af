#ifndef CONTROLLER_TENANT_DEVICES_H
#define CONTROLLER_TENANT_DEVICES_H

#include "kube/cache.h"
#include "planner/world.h"

/*
 * devices: counts the whole GPUs that a tenant's pods use through resource claims
 * (resource.k8s.io), and the whole GPUs that its Nodes offer for such claims.
 *
 * The planner sees both as the resource nvidia.com/gpu, like the GPUs that an instance type
 * promises. A claim for two GPUs is a request for two; a Node whose driver publishes eight whole
 * GPUs in ResourceSlices has eight. A shared claim counts for one pod only. An allocated claim
 * counts for the first pod in its reservedFor, with the allocated GPUs. Any other claim counts for
 * the first pending pod that uses it, with the GPUs that the claim or its template requests. A
 * Node's GPUs count once all slices of the newest generation of its pool exist.
 *
 * A pod that requests the extended resource is not planned on a Node whose GPUs are allocated by
 * claims, unless a DeviceClass maps the resource (spec.extendedResourceName). A pod with claims is
 * not planned on a Node whose GPUs a device plugin allocates. For both rules the planner gets a
 * Node label that exists in no cluster (DEVICES_BY).
 *
 * The claim of a ComputeDomain's channel takes the Node's only channel. The pods of one
 * ComputeDomain are placed in one NVLink domain (label nvidia.com/gpu.clique).
 *
 * Claims, templates, classes and slices are watched once a pod has a claim, or once a Node lacks
 * the GPUs of its type for a while: in v1 from Kubernetes 1.34 on, in v1beta2 in 1.33, in v1beta1
 * in 1.32. Otherwise nothing is requested from the API server. If an object cannot be read (not
 * served, not permitted, too large, no answer), only the pods with claims wait. Part of a struct
 * tenant. All on the loop thread.
 * Tests: tests/unit/controller/tenant/test_devices.c, tests/world/test_devices.c
 */
#define TENANT_DEVICES 20000 /* maximum number of objects of each kind */
#define TENANT_DEVICES_BYTES ((size_t)8 << 20)
#define DEVICES_GPU "nvidia.com/gpu"
#define DEVICES_CHANNEL ":channel of a ComputeDomain"
#define DEVICES_CLIQUE "nvidia.com/gpu.clique"
/* Labels that only the planner sees. DEVICES_BY, on a Node: how its GPUs are allocated
 * (DEVICES_BY_CLAIM or DEVICES_BY_PLUGIN). DEVICES_DOMAIN, on a pod: UID of its ComputeDomain. */
#define DEVICES_BY "drover.dev/gpus-by"
#define DEVICES_BY_CLAIM "ResourceClaim"
#define DEVICES_BY_PLUGIN "DevicePlugin"
#define DEVICES_DOMAIN "drover.dev/compute-domain"

struct tenant;
struct tenant_pod;
struct devices;
struct devices_hooks {
	/* pod() and node() pass the pod or Node to the planner again. They must ignore names that
	 * are no longer in the cache. */
	void (*pod)(struct tenant *t, const char *ns, const char *name);
	void (*node)(struct tenant *t, const char *name);
};
struct devices *devices_new(struct tenant *t, const struct devices_hooks *hooks);
void devices_free(struct devices *d);
/* Drops all caches, because the tenant's client is about to be freed. Must not be called from a
 * cache's callbacks. */
void devices_forget(struct devices *d);

/* Starts to read the devices of the cluster. Call when a Node lacks GPUs that no device plugin
 * registers. */
void devices_want(struct devices *d);
/* Reports a change of a cached pod; call before devices_of_pod(). old NULL: added; new_ NULL:
 * deleted. */
void devices_pod(struct devices *d, const struct tenant_pod *old, const struct tenant_pod *new_);

/* devices_of_pod() and devices_of_node() return the pod or Node as the planner sees it, with the
 * effect of claims and devices. devices_of_pod() returns w itself if nothing changes, else a copy
 * in the arena. */
const struct world_pod *devices_of_pod(const struct devices *d, const struct tenant_pod *p,
				       const struct world_pod *w, struct arena *a);
struct world_node devices_of_node(const struct devices *d, const struct world_node *n,
				  struct arena *a);
/* Returns the number of whole GPUs of the Node that can be allocated by claims; 0 if slices are not
 * read. */
size_t devices_on(const struct devices *d, const char *node);

#endif
