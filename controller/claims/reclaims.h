#ifndef CONTROLLER_CLAIMS_RECLAIMS_H
#define CONTROLLER_CLAIMS_RECLAIMS_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * reclaims: machines that a plan takes back from one tenant for another tenant (planner/reclaim.h).
 *
 * What a plan proposes for one waiting pod or gang is done as a whole: either all of it is within
 * the budgets of its pools for the reason Reclaimed, or none of it begins. The next plan replaces
 * proposals that have not begun. Those that have begun are stored in status.leave of their Machine
 * (steps/leave_reason.c), so a restart loses nothing.
 *
 * Events are sent at once to both VirtualClusters and to the pods on the machine. On the loop
 * thread.
 * Tests: tests/world/test_fair_share.c
 */
struct tenants;
struct reclaims;
struct reclaims *reclaims_new(struct context *c, const struct tenants *tenants);
void reclaims_free(struct reclaims *r);

/* Takes over the proposals of a finished plan. Machines that are to be released are notified:
 * NOTICE_MACHINE. */
void reclaims_plan(struct reclaims *r, const struct plan *p);
/* Forgets all proposals. Call when another replica becomes the leader. */
void reclaims_clear(struct reclaims *r);
/* True if the claim's machine is to be taken back. r may be NULL: false. */
bool reclaims_wants(const struct reclaims *r, const struct node_claim *n);

#endif
