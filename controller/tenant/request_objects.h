#ifndef CONTROLLER_TENANT_REQUEST_OBJECTS_H
#define CONTROLLER_TENANT_REQUEST_OBJECTS_H

#include <jansson.h>
#include "api/common.h"
#include "base/arena.h"
#include "base/data/scan.h"
#include "base/err.h"
#include "controller/tenant/gang_names.h"

/*
 * request_objects: what a ProvisioningRequest (autoscaling.x-k8s.io/v1) says, and what its
 * conditions have to be. Pure.
 *
 * A request stands for pods that do not exist yet: each of its podSets for count pods like a
 * PodTemplate.
 *
 *   check-capacity...		is there room on Nodes now?  Nothing is opened.
 *   best-effort-atomic-scale-up...	machines for all of them or for none, and Failed where none would do
 *   queued.drover.dev		the same, and it waits for as long as it takes
 *
 *   waits --> Provisioned, booked for REQUEST_BOOKED_MS --> BookingExpired
 *         `-> Failed
 *
 * All of it is in the conditions, so that a restart forgets nothing. All of it is a tenant's text.
 * Tests: tests/unit/controller/tenant/test_request_objects.c
 */
#define REQUEST_SETS 32
#define REQUEST_PODS GANG_SIZE_MAX	    /* of one request */
#define REQUEST_BOOKED_MS ((int64_t)600000) /* as Cluster Autoscaler */
#define REQUEST_EXPIRES_S                                                                          \
	((int64_t)7 * 24 * 3600) /* the same, where ValidUntilSeconds says nothing */
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
	/* of all sets; 0: refused */
	int64_t pods;
	/* why it is never served, as it is written; NULL: it may be */
	const char *refused;
	/* the reason of that, CamelCase */
	const char *because;
	/* REQUEST_CHECK: free machines count as room */
	bool machines;
	/* REQUEST_CHECK */
	bool no_retry;
	/* from created on; 0: for ever */
	int64_t valid_s;
	/* Unix ms */
	int64_t created;
	int64_t generation;
	const char *uid;
	struct conditions conditions;
};
extern const struct scan_want request_want[];
/* NULL without *e: of a class that is not drover's, or being deleted.  The arg is not used. */
void *request_project(const json_t *o, struct arena *a, void *arg, struct err *e);

/* Each pod of a request that does not exist yet has a name that no pod can have:
 * "REQUEST:SET:NUMBER". */
const char *request_pod_name(struct arena *a, const char *request, size_t set, size_t number);
/* False: it is the name of a pod.  *request may be NULL. */
bool request_of_pod(const char *pod, const char **request, struct arena *a);

enum request_phase { REQUEST_WAITS, REQUEST_BOOKED, REQUEST_OVER };
enum request_phase request_phase(const struct request_object *o, int64_t now);

/* What is known of one that waits. */
struct request_said {
	/* there is room for all of its pods, on Nodes that are Ready where those are wanted */
	bool served;
	/* no machine would do as things are, and that for a while */
	bool never;
	/* why not; NULL: nothing is known yet */
	const char *reason;
	const char *text;
};
/* The conditions as they have to be; false: they are. */
bool request_conditions(const struct request_object *o, const struct request_said *said,
			int64_t now, struct arena *a, struct conditions *out);
/* Wall ms at which its conditions change by themselves; 0: never. */
int64_t request_due(const struct request_object *o);

#endif
