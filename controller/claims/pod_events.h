#ifndef CONTROLLER_CLAIMS_POD_EVENTS_H
#define CONTROLLER_CLAIMS_POD_EVENTS_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * pod_events: decides what each waiting pod hears: the claim that is made for it, or its place and
 * why there is none. One text goes to the event on the pod, the log and
 * VirtualCluster.status.waiting (claims/waiting.h).
 *
 * An event goes out at once when the reason, its pool or key, or the claim is another. A claim is
 * the same news in the plan that makes it and in those that follow. Another place, or another time
 * at which the pod is expected to be served, makes an event when the last one is
 * POD_EVENTS_AGAIN_MS old, since any tenant can move all others' pods in the queue, as often as it
 * likes: up to the twentieth each place counts, behind it one that is off by a tenth; a time counts
 * that is off by a fourth of what was left of it and by POD_EVENTS_AGAIN_MS at least, or is known
 * at last, or no more. Other numbers and another estimate of what is on its way make no event: they
 * come with the next. What goes on unchanged is repeated before the API server drops the event,
 * which kube-apiserver does after an hour (--event-ttl).
 * Tests: tests/unit/controller/claims/test_provisioner.c, tests/world/test_stop_line.c,
 * tests/world/test_waiting.c
 */
#define POD_EVENTS_AGAIN_MS 300000
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

/* Pods of one plan, n at most, from the given one on. claims: for each claim of the plan the name
 * of the NodeClaim, or NULL: none was made, and the next plan has another answer. Of pods to come
 * those that speak for their ProvisioningRequest, which is told instead (claims/requests.h).
 * Between waiting_begin() and waiting_end(). Returns after how many ms there is more to tell of
 * them if nothing changes; 0: never. */
int64_t pod_events_of_plan(struct pod_events *w, const struct plan *plan, const char *const *claims,
			   const bool *speaks, size_t from, size_t n);

/* The pod has gone, or has its place. */
void pod_events_forget(struct pod_events *w, const char *tenant, const char *ns, const char *pod);
/* All of a tenant: they are read anew. */
void pod_events_forget_tenant(struct pod_events *w, const char *tenant);

#endif
