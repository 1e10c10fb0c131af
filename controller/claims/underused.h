#ifndef CONTROLLER_CLAIMS_UNDERUSED_H
#define CONTROLLER_CLAIMS_UNDERUSED_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * underused: finds Nodes whose pods all fit on other Nodes of their tenant, for pools with
 * consolidationPolicy WhenEmptyOrUnderutilized. planner/consolidate.h does the search;
 * steps/leave_reason.c releases the Nodes.
 *
 * A search over all Nodes (sweep) follows a plan, with the planner's world of that plan, in slices,
 * at most every UNDERUSED_SWEEP_MS. Its results are valid until the planner's world changes; no
 * Node is released by older results. How long a Node has been underused is counted over all sweeps.
 *
 * No Node of a tenant is released while a pod of the tenant waits for a machine or a machine is
 * being prepared for it, because the released machine would be claimed again at once. A Node that
 * began to leave but serves on is not tried again for UNDERUSED_BARRED_MS, a time that doubles with
 * each try.
 *
 * Kept in this process only. On the loop thread.
 * Tests: tests/world/test_underused.c
 */
#define UNDERUSED_SWEEP_MS 10000
/* Longest time between sweeps, even if nothing changed: the reason for which a pod may not be moved
 * may end by time alone */
#define UNDERUSED_AGAIN_MS (5 * 60 * 1000)
#define UNDERUSED_BARRED_MS ((int64_t)3600 * 1000)

struct tenants;
struct underused;
struct underused *underused_new(struct context *c, const struct tenants *tenants);
void underused_free(struct underused *u);

/* Marks the results as outdated until the next sweep. Call when the planner's world changed. */
void underused_changed(struct underused *u);
void underused_plan(struct underused *u, const struct plan *p);
/* Runs one slice of a sweep, if a sweep is due. False: the sweep ended, or none is due. The caller
 * must keep the planner's world w paused until the sweep has ended. Sends NOTICE_CLAIM for claims
 * whose condition changes and NOTICE_MACHINE for machines that may be released. */
bool underused_step(struct underused *u, struct world *w);
bool underused_runs(const struct underused *u);
/* Gives up the sweep in progress, if any. */
void underused_stop(struct underused *u);
/* Returns the ms until a plan is needed so that the next sweep can follow it; 0: no sweep is
 * needed, because no pool asks for sweeps. */
int64_t underused_next_ms(const struct underused *u);
/* Forgets all results. Call when another replica becomes the leader. */
void underused_clear(struct underused *u);

/* Returns for how many ms all pods of the Node of claim n have fit on other Nodes; -1: they do not
 * fit, or the answer is not known now. */
int64_t underused_ms(const struct underused *u, const struct node_claim *n);
/* True if a pod of a tenant other than this one waits for a machine. */
bool underused_others_wait(const struct underused *u, const char *tenant);
/* True if a pod of this tenant waits for a machine, or a machine is being prepared for it. */
bool underused_needs(const struct underused *u, const char *tenant);
void underused_withdrawn(struct underused *u, const struct node_claim *n);

/* Content of condition Consolidatable by the last sweep, written by underused_condition(). goes:
 * true if the Node may be released. underused_condition() returns false if claim n was not
 * evaluated. */
struct underused_words {
	bool goes;
	const char *reason, *text;
};
bool underused_condition(const struct underused *u, const struct node_claim *n,
			 struct underused_words *out);

#endif
