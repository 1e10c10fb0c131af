#ifndef CONTROLLER_CORE_LEADER_SERVICE_H
#define CONTROLLER_CORE_LEADER_SERVICE_H

#include "controller/core/context.h"

/*
 * leader_service: makes a Service lead to the leader. Machines, agents and BMCs must reach the
 * leader alone, while all replicas are Ready; therefore the Service has no selector, and the leader
 * writes the Service's only EndpointSlice, SERVICE-leader, with its own pod as the only endpoint.
 *
 * The slice is written when this replica begins to lead, and again if a check every
 * LEADER_SERVICE_MS finds that another writer has changed or deleted it. A replica that leads no
 * longer sends nothing: it drops its calls, and the next leader overwrites the slice.
 *
 * A former leader cannot overwrite the slice of its successor. Every patch and deletion names the
 * resourceVersion of a reply that arrived while this replica held the Lease, so it is older than
 * the successor's first write, and the API server refuses the request after that write. A creation
 * is refused if the slice exists.
 *
 * The API server refuses to change addressType, so a slice with the other address family is deleted
 * and created. An error is logged and reported as an event on the Service; drover continues without
 * the slice.
 *
 * On the loop thread.
 * Tests: tests/unit/controller/core/test_leader_service.c, tests/world/test_leader_service.c
 */
/* interval in ms between checks of the slice */
#define LEADER_SERVICE_MS 10000

struct leader_service;

/* Strings are copied. */
struct leader_service_spec {
	/* name of the Service in drover's namespace */
	const char *service;
	/* IPv4 or IPv6 address of this replica's pod */
	const char *pod_ip;
	/* name of the pod's node; a Service with externalTrafficPolicy Local needs it */
	const char *node_name;
	/* ports on which this replica listens for agents and serves boot media */
	uint16_t agent_port, media_port;
};

/* Begins to write the slice whenever this replica leads. Its listeners must be open. */
struct leader_service *leader_service_new(struct context *c, const struct leader_service_spec *s);
void leader_service_free(struct leader_service *s);

/* Writes the slice now; called when this replica becomes leader. s may be NULL. */
void leader_service_lead(struct leader_service *s);
/* Marks the endpoint as not ready, so that connections are refused at once instead of waiting for a
 * pod that has ended; if another replica has written the slice since, nothing changes. Then calls
 * done(arg), which may be called before this function returns. Writes nothing afterwards. s may be
 * NULL. */
void leader_service_stop(struct leader_service *s, void (*done)(void *arg), void *arg);

#endif
