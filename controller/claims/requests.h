#ifndef CONTROLLER_CLAIMS_REQUESTS_H
#define CONTROLLER_CLAIMS_REQUESTS_H

#include "base/arena.h"
#include "controller/claims/whole.h"
#include "planner/plan.h"

/*
 * requests: what a plan means for ProvisioningRequests (tenant/provisioning_requests.h).
 *
 * Their pods to come are planned like pods. What is said of a request is what the plan says of one
 * of them: of those that got least the first in the queue.
 * Tests: tests/world/test_requests.c
 */
struct tenants;

/* Tells each request what it has, and keeps the Nodes with their seats. Gives for each pod of the
 * plan whether it speaks for its request; NULL: there is none. */
bool *requests_plan(const struct tenants *ts, const struct plan *p, struct arena *a);
/* Keeps back each claim that is only room for requests that check whether there is room. */
void requests_only_check(const struct plan *p, struct whole_claim *v, struct arena *a);

#endif
