#ifndef CONTROLLER_CLAIMS_STAND_INS_H
#define CONTROLLER_CLAIMS_STAND_INS_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * stand_ins: replacement claims, created before the claim that they replace is released, so that
 * evicted pods find a Node that is Ready.
 *
 * The caller asks with stand_ins_awaited(). After the next plan that creates no claim, and if no
 * pod waits for a machine and no machine is reserved, a replacement of the same pool and type is
 * searched for in the same world (planner/stand_in.h). If there is none, the old machine is
 * released first. Replacements are searched for one at a time, so that the next search already sees
 * the claim that the last one created.
 *
 * A replacement names the old claim in its annotation CLAIM_REPLACES. As long as the old claim
 * exists, but at most STAND_IN_IDLE_MS, it is not released as empty; afterwards it is a Node like
 * any other.
 *
 * Requests are kept in this process only; created claims exist for the next leader. On the loop
 * thread.
 * Tests: tests/unit/controller/claims/test_stand_ins.c, tests/world/test_drift.c
 */
#define STAND_IN_DENIED_MS 60000
#define STAND_IN_MADE_MS 30000
#define STAND_IN_IDLE_MS ((int64_t)3600 * 1000)

struct stand_ins;
/* kick: requests a plan. */
struct stand_ins *stand_ins_new(struct context *c, void (*kick)(void *arg), void *arg);
void stand_ins_free(struct stand_ins *s);

/* Returns what claim n waits for before its machine is released, and searches for a replacement if
 * needed; NULL: nothing, because the replacement is Ready or none is available. */
const char *stand_ins_awaited(struct stand_ins *s, const struct node_claim *n);

/* Searches for a replacement after plan p, in the plan's world w. Returns the claim to replace and
 * writes the replacement to *out as a claim of the plan; NULL: none. waits: some pod waits for a
 * machine. Machines whose claim gets no replacement are notified: NOTICE_MACHINE. */
const struct node_claim *stand_ins_plan(struct stand_ins *s, const struct plan *p, struct world *w,
					bool waits, struct arena *a, struct plan_claim *out);
void stand_ins_clear(struct stand_ins *s);

/* True if n replaces a claim that still exists and is not being deleted. */
bool stand_ins_is_one(const struct context *c, const struct node_claim *n);

#endif
