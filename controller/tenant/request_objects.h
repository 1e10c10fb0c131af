#ifndef CONTROLLER_TENANT_REQUEST_OBJECTS_H
#define CONTROLLER_TENANT_REQUEST_OBJECTS_H

#include <jansson.h>
#include "api/common.h"
#include "base/arena.h"
#include "base/data/scan.h"
#include "base/err.h"
#include "controller/tenant/gang_names.h"

/*
 * request_objects: reads a ProvisioningRequest (autoscaling.x-k8s.io/v1) and computes its
 * conditions. Pure functions.
 *
 * A request represents pods that do not exist yet: each of its podSets represents `count` pods like
 * a PodTemplate. The class of a request (spec.provisioningClassName) determines how it is served:
 *
 *   check-capacity...               checks whether there is room on Nodes now; creates no
 *                                   machines
 *   best-effort-atomic-scale-up...  machines for all pods or for none; Failed if no machine
 *                                   would be suitable
 *   queued.drover.dev               as best-effort-atomic-scale-up, but waits without limit
 *
 *   waits --> Provisioned, booked for REQUEST_BOOKED_MS --> BookingExpired
 *         `-> Failed
 *
 * All state is in the conditions, so that a restart loses nothing. The object is untrusted text of
 * a tenant.
 * Tests: tests/unit/controller/tenant/test_request_objects.c
 */
#define REQUEST_SETS 32
#define REQUEST_PODS GANG_SIZE_MAX	    /* maximum number of pods of one request */
#define REQUEST_BOOKED_MS ((int64_t)600000) /* as in Cluster Autoscaler */
/* lifetime of a request without ValidUntilSeconds, as in Cluster Autoscaler */
#define REQUEST_EXPIRES_S ((int64_t)7 * 24 * 3600)
#define REQUEST_PLURAL "provisioningrequests.autoscaling.x-k8s.io"
#define REQUEST_CONSUME "autoscaling.x-k8s.io/consume-provisioning-request"

enum request_class { REQUEST_CHECK, REQUEST_ATOMIC, REQUEST_QUEUED, REQUEST_CLASSES };
extern const char *const request_class_names[];

struct request_object {
	enum request_class class_;
	struct request_set {
		/* name of the PodTemplate */
		const char *template_;
		int64_t count;
	} * sets;
	size_t nsets;
	/* number of pods of all sets; 0 if the request is refused */
	int64_t pods;
	/* message for a request that can never be served; NULL: not refused */
	const char *refused;
	/* machine-readable reason of the refusal, in CamelCase */
	const char *because;
	/* REQUEST_CHECK: true if free machines count as room, not only Nodes */
	bool machines;
	/* REQUEST_CHECK: true if the request fails, instead of waiting, when there is no room
	 * now */
	bool no_retry;
	/* lifetime in s from `created` on; 0: unlimited */
	int64_t valid_s;
	/* creation time, wall ms */
	int64_t created;
	int64_t generation;
	const char *uid;
	struct conditions conditions;
};
extern const struct scan_want request_want[];
/* Projection for kube_cache_spec; arg is not used. Returns NULL without setting *e if the object
 * has a class that is not drover's, or is being deleted. */
void *request_project(const json_t *o, struct arena *a, void *arg, struct err *e);

/* Returns the name of a future pod, "REQUEST:SET:NUMBER"; no real pod can have a name with ":". */
const char *request_pod_name(struct arena *a, const char *request, size_t set, size_t number);
/* True if `pod` is the name of a future pod. Then *request (`request` may be NULL) is the name of
 * its ProvisioningRequest, allocated in the arena. */
bool request_of_pod(const char *pod, const char **request, struct arena *a);

enum request_phase { REQUEST_WAITS, REQUEST_BOOKED, REQUEST_OVER };
enum request_phase request_phase(const struct request_object *o, int64_t now);

/* What drover knows about a waiting request now. */
struct request_result {
	/* True: there is room for all pods of the request (on Ready Nodes, if the class requires
	 * Nodes) */
	bool served;
	/* True: for at least a minute, each plan found a pod of the request that can be placed on
	 * no machine */
	bool never;
	/* machine-readable reason why the request is not served, in CamelCase; NULL: not known
	 * yet */
	const char *reason;
	const char *text;
};
/* Computes the conditions of the request into *out. Returns false if they do not change. */
bool request_conditions(const struct request_object *o, const struct request_result *said,
			int64_t now, struct arena *a, struct conditions *out);
/* Returns the wall ms at which the conditions next change by the passage of time alone; 0:
 * never. */
int64_t request_due(const struct request_object *o);

#endif
