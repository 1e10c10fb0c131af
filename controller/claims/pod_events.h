#ifndef CONTROLLER_CLAIMS_POD_EVENTS_H
#define CONTROLLER_CLAIMS_POD_EVENTS_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * pod_events: decides what is reported to each waiting pod: the claim made for it, or its place in
 * the queue and why it has no machine. The same text goes to the event on the pod, to the log and
 * to VirtualCluster.status.waiting (claims/waiting.h).
 *
 * An event is sent at once if the reason, the pool or label key that the reason names, or the claim
 * changed. A claim counts as unchanged between the plan that makes it and the plans that follow.
 *
 * A changed place in the queue, or a changed time at which the pod is expected to be served, is
 * sent once the last event is POD_EVENTS_AGAIN_MS old. The delay is needed because any tenant can
 * move all other tenants' pods in the queue as often as it likes. Up to place 20 every change of
 * the place counts, further back only a change by more than a tenth. The expected time counts as
 * changed if it moved by more than a fourth of the time that was left and by more than
 * POD_EVENTS_AGAIN_MS, or if it became known or unknown.
 *
 * If the machine of a claim does not serve a minute after the time (p90) that was expected, a
 * Warning says by how much it is late and what it lacks. It is repeated when the delay doubled, at
 * most every POD_EVENTS_AGAIN_MS, and followed by an event of type Normal if a new estimate is
 * made.
 *
 * A tenant gets a limited number of events per second (tenant/budget.h). A pod whose event exceeds
 * the limit is reported POD_EVENTS_LATER_MS later, with what is true then, so that the last event
 * of each pod is right although 10,000 pods wait.
 *
 * Other changed numbers, and a new estimate for a claim, cause no event; the next event contains
 * them. An unchanged state is repeated after POD_EVENTS_KEEP_MS, before the API server deletes the
 * event, which kube-apiserver does after an hour (--event-ttl).
 * Tests: tests/unit/controller/claims/test_provisioner.c, tests/world/test_breaker.c,
 * tests/world/test_waiting.c
 */
#define POD_EVENTS_AGAIN_MS 300000
#define POD_EVENTS_LATER_MS 10000
#define POD_EVENTS_KEEP_MS (45 * 60 * 1000)

struct eta;
struct pod_events;
struct refused;
struct sending;
struct tenants;
struct waiting;
struct pod_events *pod_events_new(struct context *c, const struct tenants *tenants,
				  const struct eta *eta, const struct refused *refused,
				  const struct sending *sending, struct waiting *waiting);
void pod_events_free(struct pod_events *w);

/* Reports on the pods number from to from + n - 1 of a plan. Call between waiting_begin() and
 * waiting_end(). Returns the ms after which there is more to report if nothing changes; 0: never.
 *
 * claims: for each claim of the plan the name of its NodeClaim; NULL: it was not created, and the
 * next plan decides anew. speaks: result of requests_plan(), with one element for each pod. A
 * ProvisioningRequest announces pods that do not exist yet. Such a pod is reported only if its
 * element of speaks is true, and the report goes to the request. speaks NULL: the plan has no such
 * pods. */
int64_t pod_events_of_plan(struct pod_events *w, const struct plan *plan, const char *const *claims,
			   const bool *speaks, size_t from, size_t n);

/* Forgets what was reported to the pod. Call when the pod is deleted or bound to a Node. */
void pod_events_forget(struct pod_events *w, const char *tenant, const char *ns, const char *pod);
/* Forgets what was reported to all pods of the tenant. Call when the tenant's pods are read
 * again. */
void pod_events_forget_tenant(struct pod_events *w, const char *tenant);

#endif
