#ifndef CONTROLLER_CLAIMS_RECLAIMS_H
#define CONTROLLER_CLAIMS_RECLAIMS_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * reclaims: machines that a plan takes back from one tenant for another one (planner/reclaim.h).
 *
 * What a plan proposes for one who waits goes as a whole: all of it is within the budgets of its
 * pools, for the reason Reclaimed, or none of it begins. The next plan replaces what has not begun.
 * What has begun stands in status.leave of its Machine (steps/leave_reason.c), so a restart forgets
 * nothing.
 *
 * Told at once: both VirtualClusters, and the pods on the machine. On the loop thread.
 * Tests: tests/world/test_fair_share.c
 */
struct tenants;
struct reclaims;
struct reclaims *reclaims_new(struct context *c, const struct tenants *tenants);
void reclaims_free(struct reclaims *r);

/* A plan is ready.  Whose machines are to go is told: NOTICE_MACHINE. */
void reclaims_plan(struct reclaims *r, const struct plan *p);
/* Another replica leads. */
void reclaims_clear(struct reclaims *r);
/* NULL: none exist. */
bool reclaims_wants(const struct reclaims *r, const struct node_claim *n);

#endif
