#ifndef CONTROLLER_CLAIMS_UNWANTED_H
#define CONTROLLER_CLAIMS_UNWANTED_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * unwanted: claims that were made for pods, and whose pods are all gone before anything was written
 * for them.
 *
 * Each plan says on which claims pods are placed. A claim on which none is placed any more is not
 * brought further than claimed (steps/coming.c), and is withdrawn after UNWANTED_MS
 * (claims/claims.c): its machine is free again, unwiped because unwritten. A pod that comes
 * meanwhile and fits there keeps it.
 *
 * A claim stays, whatever a plan says: one that a person made; one whose machine is not in claimed,
 * or has a Node; all of a tenant whose pods are not known now (unreachable, asleep, paused), or of
 * which the plan judged some not at all, or placed one on a Node that kube-scheduler has not bound
 * it to yet.
 *
 * Remembered by this process alone; the first plan of the next leader finds the same. On the loop
 * thread.
 * Tests: tests/unit/controller/claims/test_unwanted.c, tests/world/test_join.c
 */
#define UNWANTED_MS 30000 /* a Job makes a pod that failed anew after 10 s */

struct tenants;
struct unwanted;
struct unwanted *unwanted_new(struct context *c, const struct tenants *tenants);
void unwanted_free(struct unwanted *u);

/* A plan is ready, made of what the caches have. Whose claims change is told: NOTICE_CLAIM,
 * NOTICE_MACHINE. */
void unwanted_plan(struct unwanted *u, const struct plan *p);
/* Another replica leads: what was found is not worth anything when this one leads again. */
void unwanted_clear(struct unwanted *u);
/* For how long no pod has wanted it, ms; -1: one does, or nobody can say. */
int64_t unwanted_ms(const struct unwanted *u, const struct node_claim *n);

#endif
