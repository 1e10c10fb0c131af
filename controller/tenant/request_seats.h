#ifndef CONTROLLER_TENANT_REQUEST_SEATS_H
#define CONTROLLER_TENANT_REQUEST_SEATS_H

#include "base/arena.h"
#include "base/map.h"
#include "controller/tenant/request_objects.h"
#include "planner/world.h"

/*
 * request_seats: the pods that one ProvisioningRequest stands for: which of them exist by now, and
 * what the others are to the planner.
 *
 * A pod that consumes the request takes the seat of one that does not exist yet, of its set where
 * the requests are equal. A seat that a pod had a Node for is spent: it does not come back when
 * that pod ends.
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
	/* by seat; put: the planner knows it */
	bool *taken, *put;
	/* UID of a pod -> struct request_user */
	struct map *users;
};

struct request_seats *request_seats_new(const char *ns, const char *name,
					const struct request_object *o);
void request_seats_free(struct request_seats *s);
/* The object is the one that this was made for. */
bool request_seats_are_of(const struct request_seats *s, const struct request_object *o);

/* The name of a seat's pod, and back; SIZE_MAX: no seat of it. */
const char *request_seats_pod_name(const struct request_seats *s, size_t seat, struct arena *a);
size_t request_seats_find(const struct request_seats *s, const char *pod);
size_t request_seats_set(const struct request_seats *s, size_t seat);

/* A pod takes a seat, where one is left and it has none. like: the pods of each set, or NULL. The
 * seat; SIZE_MAX: none new. */
size_t request_seats_take(struct request_seats *s, const struct tenant_pod *p,
			  const struct world_pod *const *like);
/* A pod has gone.  The seat that is free again; SIZE_MAX: none is. */
size_t request_seats_leave(struct request_seats *s, const struct tenant_pod *p);

/* The pod of a seat, as the planner is to see it: like is one of its set. */
struct world_pod request_seats_pod(const struct request_seats *s, const struct request_object *o,
				   enum request_phase phase, size_t seat,
				   const struct world_pod *like, struct arena *a);

#endif
