#ifndef CONTROLLER_CLAIMS_REQUESTS_H
#define CONTROLLER_CLAIMS_REQUESTS_H

#include "base/arena.h"
#include "controller/claims/whole.h"
#include "planner/plan.h"

/*
 * requests: reports what a plan means for ProvisioningRequests (tenant/provisioning_requests.h).
 *
 * The pods that a request announces (future pods) are planned like existing pods. One of them
 * represents the request: the first in the queue among those with the worst outcome. Its outcome is
 * reported for the request.
 * Tests: tests/world/test_requests.c
 */
struct tenants;

/* Reports to each ProvisioningRequest its outcome in plan p, and reserves the Nodes on which its
 * pods are placed. Returns an array in the arena with one element for each pod of the plan: true if
 * the pod represents its request and its outcome is reported for the request. All elements of a
 * check-capacity request are false. NULL: the plan has no pod of a request. */
bool *requests_plan(const struct tenants *ts, const struct plan *p, struct arena *a);
/* Clears v[i].goes of each claim that only pods of check-capacity requests need, so that the claim
 * is not created: such a request only asks whether there is capacity. */
void requests_only_check(const struct plan *p, struct whole_claim *v, struct arena *a);

#endif
