#ifndef CONTROLLER_CLAIMS_RECLAIMS_H
#define CONTROLLER_CLAIMS_RECLAIMS_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * reclaims: machines that a plan takes back from one tenant for another tenant (planner/reclaim.h).
 *
 * The proposals of a plan for one waiting pod or gang are carried out as a whole. Either all of
 * them are within the budgets of their pools for the reason Reclaimed, or none of them begins. The
 * next plan replaces proposals that have not begun. Those that have begun are stored in
 * status.leave of their Machine (steps/leave_reason.c), so a restart loses nothing.
 *
 * Events are sent at once to the VirtualClusters of both tenants and to the pods on the machine. On
 * the loop thread.
 * Tests: tests/world/test_fair_share.c
 */
struct tenants;
struct reclaims;
struct reclaims *reclaims_new(struct context *c, const struct tenants *tenants);
void reclaims_free(struct reclaims *r);

/* Replaces the proposals by those of the finished plan p. Sends NOTICE_MACHINE for each machine
 * that is to be released. */
void reclaims_plan(struct reclaims *r, const struct plan *p);
/* Forgets all proposals. Call when another replica becomes the leader. */
void reclaims_clear(struct reclaims *r);
/* True if the machine of claim n is to be taken back. False if r is NULL. */
bool reclaims_wants(const struct reclaims *r, const struct node_claim *n);

#endif
