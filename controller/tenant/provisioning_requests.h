#ifndef CONTROLLER_TENANT_PROVISIONING_REQUESTS_H
#define CONTROLLER_TENANT_PROVISIONING_REQUESTS_H

#include "controller/tenant/request_objects.h"
#include "planner/world.h"

/*
 * provisioning_requests: turns a tenant's ProvisioningRequests into future pods for the planner,
 * and reports the results as conditions.
 *
 * drover asks the API server every five minutes whether it serves ProvisioningRequests, until it
 * does. Then the requests and the cluster's PodTemplates are watched. Objects that cannot be read
 * are ignored.
 *
 * While a request waits, its future pods form one gang. A pod that consumes the request then
 * requests no machine itself. Once the request is Provisioned, each of its pod slots (room for one
 * pod) is reserved on a Node until a pod takes the slot or the booking expires.
 *
 * Part of a struct tenant. All on the loop thread. Only the leader writes conditions.
 * Tests: tests/unit/controller/tenant/test_provisioning_requests.c, tests/world/test_requests.c
 */
#define REQUESTS 2000 /* maximum number of objects of each kind */
#define REQUESTS_BYTES ((size_t)4 << 20)
#define REQUESTS_PODS 8192 /* maximum number of pods of all active requests in a tenant's cluster */

struct tenant;
struct tenant_pod;
struct provisioning_requests;
struct provisioning_requests_hooks {
	/* Passes a future pod to the planner; p NULL: removes the future pod from it. */
	void (*to_come)(struct tenant *t, const char *ns, const char *name,
			const struct world_pod *p);
	/* Passes a pod to the planner again. pod() must ignore names that are no longer in the
	 * cache. */
	void (*pod)(struct tenant *t, const char *ns, const char *name);
};
struct provisioning_requests *provisioning_requests_new(
	struct tenant *t, const struct provisioning_requests_hooks *hooks);
void provisioning_requests_free(struct provisioning_requests *r);
/* Starts to ask whether the API server serves requests; call once the tenant has a working
 * client. */
void provisioning_requests_start(struct provisioning_requests *r);
/* Drops all caches, because the tenant's client is about to be freed. Must not be called from a
 * cache's callbacks. */
void provisioning_requests_forget(struct provisioning_requests *r);

/* Reports a change of a cached pod. old NULL: added; new_ NULL: deleted. */
void provisioning_requests_pod(struct provisioning_requests *r, const struct tenant_pod *old,
			       const struct tenant_pod *new_);
/* Returns pod p for the planner. While p's request waits or is not read yet, this is a copy of w in
 * the arena that requests no machine, because the request's future pods do. Otherwise returns w
 * itself. */
const struct world_pod *provisioning_requests_of_pod(const struct provisioning_requests *r,
						     const struct tenant_pod *p,
						     const struct world_pod *w, struct arena *a);
/* Returns the future pod `name` for the planner; NULL: no such pod. */
const struct world_pod *provisioning_requests_to_come(const struct provisioning_requests *r,
						      const char *ns, const char *name,
						      struct arena *a);
/* Calls fn for each future pod that the planner has. */
void provisioning_requests_each(const struct provisioning_requests *r,
				void (*fn)(const char *ns, const char *name, void *arg), void *arg);
/* Evaluates all requests again. Call when the needs of a PodTemplate's pods have changed. */
void provisioning_requests_kick(struct provisioning_requests *r);

/* Result of a plan for the future pods of one request. */
struct request_outcome {
	/* Numbers of pods. pods: all future pods of the request; on_node: those placed on a Node;
	 * coming: those placed on a claim, existing or still to be created. */
	size_t pods, on_node, coming;
	/* True: at least one of the pods cannot be placed on any machine */
	bool never;
	/* why the plan could not place all pods; NULL: all are placed */
	const char *missing;
};
void provisioning_requests_plan(struct provisioning_requests *r, const char *ns, const char *name,
				const struct request_outcome *is);
/* Records why the request waits. reason: in CamelCase; text: for users. */
void provisioning_requests_wait(struct provisioning_requests *r, const char *ns, const char *name,
				const char *reason, const char *text);

/* provisioning_requests_reserve_begin(), _reserve() and _reserve_end() set the Nodes on which the
 * plan reserves pod slots: exactly the Nodes that are passed to _keep() between begin and end. */
void provisioning_requests_reserve_begin(struct provisioning_requests *r);
void provisioning_requests_reserve(struct provisioning_requests *r, const char *node);
void provisioning_requests_reserve_end(struct provisioning_requests *r);
/* True if pod slots are reserved on the Node. *since: wall ms when the last slot was released; 0 if
 * slots are reserved, or were never seen reserved. */
bool provisioning_requests_is_reserved(const struct provisioning_requests *r, const char *node,
				       int64_t *since);

#endif
