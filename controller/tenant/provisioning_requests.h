#ifndef CONTROLLER_TENANT_PROVISIONING_REQUESTS_H
#define CONTROLLER_TENANT_PROVISIONING_REQUESTS_H

#include "controller/tenant/request_objects.h"
#include "planner/world.h"

/*
 * provisioning_requests: a tenant's ProvisioningRequests as pods to come, and what becomes of them
 * as conditions.
 *
 * Whether the API server serves them is asked once, and again every five minutes; where it does
 * not, nothing is read. Where it does, they and the PodTemplates of the cluster are watched. What
 * cannot be read is as if it were not there.
 *
 * While a request waits, its pods to come are one gang, and pods that consume it are no demand.
 * Once it is Provisioned its seats are kept on Nodes, each for itself, until a pod takes it or the
 * booking expires.
 *
 * Part of a struct tenant. All on the loop thread. Leaders alone write.
 * Tests: tests/unit/controller/tenant/test_provisioning_requests.c, tests/world/test_requests.c
 */
#define REQUESTS 2000 /* objects of each kind */
#define REQUESTS_BYTES ((size_t)4 << 20)
#define REQUESTS_PODS 8192 /* of all that live in a tenant's cluster */

struct tenant;
struct tenant_pod;
struct provisioning_requests;
struct provisioning_requests_hooks {
	/* The planner is to see a pod to come; NULL: no more. */
	void (*to_come)(struct tenant *t, const char *ns, const char *name,
			const struct world_pod *p);
	/* The planner is to see a pod anew; one that is in the cache no more is none of these'
	 * business. */
	void (*pod)(struct tenant *t, const char *ns, const char *name);
};
struct provisioning_requests *provisioning_requests_new(
	struct tenant *t, const struct provisioning_requests_hooks *hooks);
void provisioning_requests_free(struct provisioning_requests *r);
/* There is a client that works. */
void provisioning_requests_start(struct provisioning_requests *r);
/* The client is about to be freed: nothing is known any more. Not from inside a cache's
 * callbacks. */
void provisioning_requests_forget(struct provisioning_requests *r);

/* A pod in the cache changed; NULL: added, gone. */
void provisioning_requests_pod(struct provisioning_requests *r, const struct tenant_pod *old,
			       const struct tenant_pod *new_);
/* The pod as the planner is to see it: w, or a copy in the arena that is no demand. */
const struct world_pod *provisioning_requests_of_pod(const struct provisioning_requests *r,
						     const struct tenant_pod *p,
						     const struct world_pod *w, struct arena *a);
/* A pod to come as the planner is to see it; NULL: there is none of that name. */
const struct world_pod *provisioning_requests_to_come(const struct provisioning_requests *r,
						      const char *ns, const char *name,
						      struct arena *a);
/* What a template's pods need is another. */
void provisioning_requests_kick(struct provisioning_requests *r);

/* What a plan has for the pods to come of one request. */
struct request_outcome {
	/* coming: on a claim, or on one that is to be made */
	size_t pods, on_node, coming;
	/* one of them has no place in the queue */
	bool never;
	/* how far a plan came with them; NULL: all have a place */
	const char *missing;
};
void provisioning_requests_plan(struct provisioning_requests *r, const char *ns, const char *name,
				const struct request_outcome *is);
/* Why it waits. */
void provisioning_requests_wait(struct provisioning_requests *r, const char *ns, const char *name,
				const char *reason, const char *text);

/* Nodes on which a plan keeps seats: those that are named between the two calls. */
void provisioning_requests_keep_begin(struct provisioning_requests *r);
void provisioning_requests_keep(struct provisioning_requests *r, const char *node);
void provisioning_requests_keep_end(struct provisioning_requests *r);
/* Whether seats are kept there; *since: wall ms since when none is, 0: as long as is known. */
bool provisioning_requests_keeps(const struct provisioning_requests *r, const char *node,
				 int64_t *since);

#endif
