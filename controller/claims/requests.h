#ifndef CONTROLLER_CLAIMS_REQUESTS_H
#define CONTROLLER_CLAIMS_REQUESTS_H

#include "base/arena.h"
#include "controller/claims/whole.h"
#include "planner/plan.h"

/*
 * requests: what a plan means for ProvisioningRequests (tenant/provisioning_requests.h).
 *
 * The pods to come of a request are planned like pods. The request's condition reports the outcome
 * of one of them: the first in the queue among those with the worst outcome.
 * Tests: tests/world/test_requests.c
 */
struct tenants;

/* Passes each request its outcome in the plan, and reserves the Nodes on which its pods are placed.
 * Returns for each pod of the plan whether it represents its request, in the arena; NULL: the plan
 * has no pod of a request. */
bool *requests_plan(const struct tenants *ts, const struct plan *p, struct arena *a);
/* Drops each claim that only pods of check-capacity requests need: those requests only ask whether
 * there is room. */
void requests_only_check(const struct plan *p, struct whole_claim *v, struct arena *a);

#endif
