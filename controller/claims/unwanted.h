#ifndef CONTROLLER_CLAIMS_UNWANTED_H
#define CONTROLLER_CLAIMS_UNWANTED_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * unwanted: finds claims whose pods were all deleted before anything was written to the claim's
 * machine.
 *
 * A finished plan shows on which claims pods are placed. A claim without a placed pod is unwanted:
 * it is not advanced beyond state claimed (steps/coming.c), and is deleted after UNWANTED_MS
 * (claims/claims.c). Its machine is then free again without a wipe, because nothing was written. If
 * a new pod that fits on the claim comes in time, the claim is wanted again.
 *
 * Some claims are never unwanted, whatever the plan says:
 *
 * - A claim that an operator created.
 * - A claim whose machine is not in state claimed, or has a Node. A claim without a machine that
 *   waits for its approval can be unwanted, though.
 * - Any claim of a tenant whose pods are not known now (unreachable, asleep, paused).
 * - Any claim of a tenant if the plan left out some of the tenant's pods, or placed one on a Node
 *   to which kube-scheduler has not bound the pod yet.
 *
 * Kept in this process only; the first plan of the next leader finds the same claims. On the loop
 * thread.
 * Tests: tests/unit/controller/claims/test_unwanted.c, tests/world/test_join.c
 */
#define UNWANTED_MS 30000 /* Longer than the 10 s after which a Job recreates a failed pod */

struct tenants;
struct unwanted;
struct unwanted *unwanted_new(struct context *c, const struct tenants *tenants);
void unwanted_free(struct unwanted *u);

/* Finds the unwanted claims by a finished plan, which must be made of the caches' present content.
 * Sends NOTICE_CLAIM and NOTICE_MACHINE for claims that become or cease to be unwanted. */
void unwanted_plan(struct unwanted *u, const struct plan *p);
/* Forgets all results. Call when another replica becomes the leader. */
void unwanted_clear(struct unwanted *u);
/* Returns for how many ms no pod has needed claim n; -1: a pod needs the claim, or the answer is
 * not known. */
int64_t unwanted_ms(const struct unwanted *u, const struct node_claim *n);

#endif
