#ifndef CONTROLLER_TENANT_DEVICE_OBJECTS_H
#define CONTROLLER_TENANT_DEVICE_OBJECTS_H

#include <jansson.h>
#include "base/arena.h"
#include "base/data/labels.h"
#include "base/data/scan.h"
#include "base/err.h"
#include "controller/tenant/device_cel.h"

/*
 * device_objects: typed projections, for kube/cache, of a tenant's ResourceClaims,
 * ResourceClaimTemplates, DeviceClasses and ResourceSlices: the members that decide how many whole
 * GPUs a pod takes, and on which Node.
 *
 * Sources: resource.k8s.io/v1, v1beta2 and v1beta1, which nest requests and devices differently;
 * each table and projection reads all three versions. A claim of a ComputeDomain names its domain
 * in the opaque configuration for driver compute-domain.nvidia.com (resource.nvidia.com/v1beta1
 * ComputeDomainChannelConfig).
 *
 * All these objects are untrusted text of a tenant. Up to DEVICE_LIST_BYTES of an object's lists
 * are read. If a list is longer or contains something unsupported, the pods that use the object
 * wait, and their message gives this reason.
 * Tests: tests/unit/controller/tenant/test_device_objects.c
 */
#define DEVICE_LIST_BYTES ((size_t)64 << 10) /* size as counted by scan_weight() */
#define DEVICE_COUNT_MAX 4096

struct device_request {
	const char *name, *class_;
	int64_t count;
	/* CEL selectors of the request; a device must satisfy all of them */
	const char **cel;
	size_t ncel;
	/* part of the request that drover does not support; NULL: none */
	const char *unjudged;
};
struct device_asks {
	struct device_request *v;
	size_t n;
	/* UID of the ComputeDomain that the claim names; NULL: none */
	const char *domain;
	/* part of the claim outside its requests that drover does not support; NULL: none */
	const char *unjudged;
};

/* A device that was allocated to a claim. */
struct device_result {
	const char *driver, *pool, *device;
};
struct device_claim {
	struct device_asks asks;
	bool deleting, allocated;
	/* allocated devices without adminAccess */
	struct device_result *results;
	size_t nresults;
	/* requirements on the Node's labels that the allocation contains */
	struct selector node;
	/* part of the allocation's nodeSelector that drover does not support; NULL: none */
	const char *elsewhere;
	/* UID of the first pod that the claim is reserved for; NULL: none */
	const char *first;
};
struct device_template {
	struct device_asks asks;
};
struct device_class {
	const char **cel;
	size_t ncel;
	/* extended resource by which the class can be requested; NULL: none */
	const char *extended;
	bool unreadable;
};
struct device_slice {
	/* node NULL: the slice does not belong to a single Node */
	const char *driver, *pool, *node;
	/* generation of the pool to which the slice belongs, and number of slices in that pool */
	int64_t generation, slices;
	/* names of the slice's whole GPUs without taints */
	const char **whole;
	size_t nwhole;
	/* labels that GPU feature discovery writes for the first GPU of `whole` */
	struct labels labels;
};

extern const struct scan_want device_want_claim[], device_want_template[], device_want_class[],
	device_want_slice[];
/* The following are projections for kube_cache_spec; arg is not used. */
void *device_project_claim(const json_t *o, struct arena *a, void *arg, struct err *e);
void *device_project_template(const json_t *o, struct arena *a, void *arg, struct err *e);
void *device_project_class(const json_t *o, struct arena *a, void *arg, struct err *e);
void *device_project_slice(const json_t *o, struct arena *a, void *arg, struct err *e);

/* Devices and Node that the requests of one claim need. */
struct device_answer {
	int64_t gpus;
	/* True: the claim uses the Node's channel for ComputeDomains */
	bool channel;
	struct selector node;
};
struct device_refusal {
	/* Exactly one is set. unjudged: the part that drover does not support; wait: the change in
	 * the tenant's cluster that has to happen first. */
	const char *unjudged, *wait;
};
/* Evaluates the requests of one claim into *out. Returns false with the reason, and the name of the
 * request, in *no. class_(): returns the DeviceClass with this name, or NULL. */
bool device_judge(const struct device_asks *asks,
		  const struct device_class *(*class_)(const char *name, void *arg), void *arg,
		  struct device_answer *out, struct device_refusal *no, struct arena *a);

#endif
