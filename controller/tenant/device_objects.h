#ifndef CONTROLLER_TENANT_DEVICE_OBJECTS_H
#define CONTROLLER_TENANT_DEVICE_OBJECTS_H

#include <jansson.h>
#include "base/arena.h"
#include "base/data/labels.h"
#include "base/data/scan.h"
#include "base/err.h"
#include "controller/tenant/device_cel.h"

/*
 * device_objects: of a tenant's ResourceClaims, ResourceClaimTemplates, DeviceClasses and
 * ResourceSlices what decides on how many whole GPUs a pod takes, and of which Node; typed, as
 * kube/cache wants them.
 *
 * Sources: resource.k8s.io/v1, v1beta2 and v1beta1, whose requests and devices are not wrapped
 * alike: each table and projection reads all three. A claim of a ComputeDomain names its domain in
 * the opaque configuration for driver compute-domain.nvidia.com (resource.nvidia.com/v1beta1
 * ComputeDomainChannelConfig).
 *
 * All of it is a tenant's text. Of one object's lists DEVICE_LIST_BYTES are read; what has more, or
 * cannot be judged, keeps its pods waiting with that as the reason.
 * Tests: tests/unit/controller/tenant/test_device_objects.c
 */
#define DEVICE_LIST_BYTES ((size_t)64 << 10) /* as scan_weight() counts */
#define DEVICE_COUNT_MAX 4096

struct device_request {
	const char *name, *class_;
	int64_t count;
	/* selectors, all of which must hold */
	const char **cel;
	size_t ncel;
	/* what of it is not judged; NULL: nothing */
	const char *unjudged;
};
struct device_asks {
	struct device_request *v;
	size_t n;
	/* UID of the ComputeDomain; NULL: none */
	const char *domain;
	/* of the whole of it */
	const char *unjudged;
};

/* a device that was allocated */
struct device_result {
	const char *driver, *pool, *device;
};
struct device_claim {
	struct device_asks asks;
	bool deleting, allocated;
	/* those that nobody else can have */
	struct device_result *results;
	size_t nresults;
	/* where they are: of its labels */
	struct selector node;
	/* why that is not judged; NULL: it is */
	const char *elsewhere;
	/* UID of the first of whom it is reserved for; NULL: nobody */
	const char *first;
};
struct device_template {
	struct device_asks asks;
};
struct device_class {
	const char **cel;
	size_t ncel;
	/* the extended resource that stands for it; NULL: none */
	const char *extended;
	bool unreadable;
};
struct device_slice {
	/* node NULL: of no one Node */
	const char *driver, *pool, *node;
	/* of its pool: which, and how many slices that has */
	int64_t generation, slices;
	/* names of whole GPUs without taints */
	const char **whole;
	size_t nwhole;
	/* of the first of them, as GPU feature discovery writes them */
	struct labels labels;
};

extern const struct scan_want device_want_claim[], device_want_template[], device_want_class[],
	device_want_slice[];
/* The arg is not used. */
void *device_project_claim(const json_t *o, struct arena *a, void *arg, struct err *e);
void *device_project_template(const json_t *o, struct arena *a, void *arg, struct err *e);
void *device_project_class(const json_t *o, struct arena *a, void *arg, struct err *e);
void *device_project_slice(const json_t *o, struct arena *a, void *arg, struct err *e);

/* What the requests of one claim ask. */
struct device_answer {
	int64_t gpus;
	/* the Node's channel of ComputeDomains */
	bool channel;
	struct selector node;
};
struct device_refusal {
	/* "... is not judged", or what has to be another first; NULL */
	const char *unjudged, *wait;
};
/* False: why not in *no, which names the request.  class_: by name, NULL: there is none. */
bool device_judge(const struct device_asks *asks,
		  const struct device_class *(*class_)(const char *name, void *arg), void *arg,
		  struct device_answer *out, struct device_refusal *no, struct arena *a);

#endif
