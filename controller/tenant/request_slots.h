#ifndef CONTROLLER_TENANT_REQUEST_SLOTS_H
#define CONTROLLER_TENANT_REQUEST_SLOTS_H

#include "base/arena.h"
#include "base/map.h"
#include "controller/tenant/request_objects.h"
#include "planner/world.h"

/*
 * request_slots: the pod slots of one ProvisioningRequest. A slot stands for one pod of
 * the request. Records which of the pods already exist, and describes the others to the planner as
 * future pods.
 *
 * A pod that consumes the request takes a free slot, if possible of a set with equal resource
 * requests. A slot whose pod got a Node is used up: it does not become free when that pod ends.
 * Tests: tests/unit/controller/tenant/test_request_objects.c, tests/world/test_requests.c
 */
struct tenant_pod;
struct request_slots {
	char *ns, *name, *uid;
	size_t n, ntaken;
	struct {
		size_t first, n;
		char *template_;
	} set[REQUEST_SETS];
	size_t nsets;
	/* arrays with one element per slot. taken: a pod has taken the slot; put: the planner has
	 * the slot's future pod */
	bool *taken, *put;
	/* UID of a pod -> struct request_user */
	struct map *users;
};

struct request_slots *request_slots_new(const char *ns, const char *name,
					const struct request_object *o);
void request_slots_free(struct request_slots *s);
/* True if s was created for the same ProvisioningRequest (UID) with the same podSets. */
bool request_slots_are_of(const struct request_slots *s, const struct request_object *o);

/* request_slots_pod_name() returns the name of a slot's future pod; request_slots_find() returns
 * the slot for such a name, SIZE_MAX if there is none; request_slots_set() returns the set to which
 * a slot belongs. */
const char *request_slots_pod_name(const struct request_slots *s, size_t seat, struct arena *a);
size_t request_slots_find(const struct request_slots *s, const char *pod);
size_t request_slots_set(const struct request_slots *s, size_t seat);

/* Assigns a free slot to the pod, unless the pod already has one. like[i]: a pod with the requests
 * of set i; like NULL: any free slot. Returns the slot; SIZE_MAX: no slot was newly assigned. */
size_t request_slots_take(struct request_slots *s, const struct tenant_pod *p,
			  const struct world_pod *const *like);
/* Releases the slot of a deleted pod. Returns the slot; SIZE_MAX: no slot becomes free. */
size_t request_slots_leave(struct request_slots *s, const struct tenant_pod *p);

/* Returns the future pod of a slot for the planner. like: a pod as the PodTemplate of the slot's
 * set describes it. */
struct world_pod request_slots_pod(const struct request_slots *s, const struct request_object *o,
				   enum request_phase phase, size_t seat,
				   const struct world_pod *like, struct arena *a);

#endif
