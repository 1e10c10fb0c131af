#ifndef CONTROLLER_CLAIMS_UNWANTED_H
#define CONTROLLER_CLAIMS_UNWANTED_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * unwanted: claims made for pods that were all deleted before anything was written for the claim.
 *
 * Each plan shows on which claims pods are placed. A claim without such a pod is not advanced
 * beyond state claimed (steps/coming.c), and is withdrawn after UNWANTED_MS (claims/claims.c). Its
 * machine is then free again without a wipe, because nothing was written. A new pod that fits on
 * the claim keeps it.
 *
 * Regardless of the plan, some claims are never unwanted: a claim that an operator created; a claim
 * whose machine is not in state claimed, or has a Node; all claims of a tenant whose pods are not
 * known now (unreachable, asleep, paused), of which the plan left out some pods, or of which a pod
 * is placed on a Node but not yet bound by kube-scheduler.
 *
 * Kept in this process only; the first plan of the next leader finds the same. On the loop thread.
 * Tests: tests/unit/controller/claims/test_unwanted.c, tests/world/test_join.c
 */
#define UNWANTED_MS 30000 /* A Job recreates a failed pod after 10 s */

struct tenants;
struct unwanted;
struct unwanted *unwanted_new(struct context *c, const struct tenants *tenants);
void unwanted_free(struct unwanted *u);

/* Learns from a finished plan that was made of the caches' present content. Sends NOTICE_CLAIM and
 * NOTICE_MACHINE for claims that begin or cease to be unwanted. */
void unwanted_plan(struct unwanted *u, const struct plan *p);
/* Forgets all results. Call when another replica becomes the leader. */
void unwanted_clear(struct unwanted *u);
/* Returns for how long no pod has needed the claim, ms; -1: a pod needs it, or it is not known. */
int64_t unwanted_ms(const struct unwanted *u, const struct node_claim *n);

#endif
