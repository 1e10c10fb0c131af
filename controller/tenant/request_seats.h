#ifndef CONTROLLER_TENANT_REQUEST_SEATS_H
#define CONTROLLER_TENANT_REQUEST_SEATS_H

#include "base/arena.h"
#include "base/map.h"
#include "controller/tenant/request_objects.h"
#include "planner/world.h"

/*
 * request_seats: the pod slots of one ProvisioningRequest: which of its pods already exist, and the
 * planner's view of those that do not.
 *
 * A pod that consumes the request takes a free slot, if possible of a set with equal resource
 * requests. A slot whose pod got a Node is used up: it does not become free when that pod ends.
 * Tests: tests/unit/controller/tenant/test_request_objects.c, tests/world/test_requests.c
 */
struct tenant_pod;
struct request_seats {
	char *ns, *name, *uid;
	size_t n, ntaken;
	struct {
		size_t first, n;
		char *template_;
	} set[REQUEST_SETS];
	size_t nsets;
	/* per slot: a pod has taken it; the planner knows it */
	bool *taken, *put;
	/* UID of a pod -> struct request_user */
	struct map *users;
};

struct request_seats *request_seats_new(const char *ns, const char *name,
					const struct request_object *o);
void request_seats_free(struct request_seats *s);
/* True if s was created for the same podSets of the same object. */
bool request_seats_are_of(const struct request_seats *s, const struct request_object *o);

/* Convert between a slot and the name of its future pod; SIZE_MAX: no such slot. */
const char *request_seats_pod_name(const struct request_seats *s, size_t seat, struct arena *a);
size_t request_seats_find(const struct request_seats *s, const char *pod);
size_t request_seats_set(const struct request_seats *s, size_t seat);

/* Assigns a free slot to the pod unless it already has one. like: one pod per set, or NULL. Returns
 * the slot; SIZE_MAX: none was newly assigned. */
size_t request_seats_take(struct request_seats *s, const struct tenant_pod *p,
			  const struct world_pod *const *like);
/* Releases the slot of a deleted pod. Returns the slot; SIZE_MAX: none becomes free. */
size_t request_seats_leave(struct request_seats *s, const struct tenant_pod *p);

/* Returns the future pod of a slot for the planner. like: a pod of the slot's set. */
struct world_pod request_seats_pod(const struct request_seats *s, const struct request_object *o,
				   enum request_phase phase, size_t seat,
				   const struct world_pod *like, struct arena *a);

#endif
