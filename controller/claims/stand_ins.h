#ifndef CONTROLLER_CLAIMS_STAND_INS_H
#define CONTROLLER_CLAIMS_STAND_INS_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * stand_ins: claims that are made before others are given back, so that pods which are evicted find
 * a Node that is Ready.
 *
 * Who wants one asks (stand_ins_awaited()). After the next plan that claims nothing, with nobody
 * who waits for a machine and none held, one is looked for on the same world (planner/stand_in.h),
 * of the same pool and type. None: the machine itself is given back first. One is looked for at a
 * time, so it shows to all who count what is on its way before the next.
 *
 * Such a claim names the other by CLAIM_REPLACES. It is not given back as empty while that one is
 * there, for STAND_IN_IDLE_MS at most; then it is a Node like any other.
 *
 * What was asked is remembered here alone; the claims are there for the next leader. On the loop
 * thread.
 * Tests: tests/unit/controller/claims/test_stand_ins.c, tests/world/test_drift.c
 */
#define STAND_IN_DENIED_MS 60000
#define STAND_IN_MADE_MS 30000
#define STAND_IN_IDLE_MS ((int64_t)3600 * 1000)

struct stand_ins;
/* kick: a plan is to be made. */
struct stand_ins *stand_ins_new(struct context *c, void (*kick)(void *arg), void *arg);
void stand_ins_free(struct stand_ins *s);

/* What it waits for before its machine goes; NULL: for nothing any more: the other is Ready, or
 * there is none to be had. */
const char *stand_ins_awaited(struct stand_ins *s, const struct node_claim *n);

/* After this plan, on its world: whom one is made for, and what as a claim of the plan; NULL:
 * nobody. waits: somebody waits for a machine. Who gets none is told: NOTICE_MACHINE. */
const struct node_claim *stand_ins_plan(struct stand_ins *s, const struct plan *p, struct world *w,
					bool waits, struct arena *a, struct plan_claim *out);
void stand_ins_clear(struct stand_ins *s);

/* It stands in for one that is there still. */
bool stand_ins_is_one(const struct context *c, const struct node_claim *n);

#endif
