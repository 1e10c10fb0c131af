#ifndef CONTROLLER_CLAIMS_BURSTS_H
#define CONTROLLER_CLAIMS_BURSTS_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * bursts: what BurstPolicies decide on those who get nothing in a plan (planner/burst.h), told and not acted on: rows in
 * status.decisions, status.spend, the condition Active, and an event on the pod.  After each plan, and every 10 s as long as
 * somebody waits; the leader alone.  A row and an event come when the decision's code or offer is another.
 * Tests: tests/world/test_burst.c
 */
#define BURSTS_LOOK_MS 10000

struct bursts;
struct eta;
struct fleet;
struct tenants;
/* fleet: NULL: nothing is decided. */
struct bursts *bursts_new(struct context *c, const struct tenants *tenants, const struct eta *eta,
			  struct fleet *fleet);
void bursts_free(struct bursts *s);
void bursts_plan(struct bursts *s, const struct plan *p);

#endif
