#ifndef CONTROLLER_CLAIMS_REPLACEMENTS_H
#define CONTROLLER_CLAIMS_REPLACEMENTS_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * replacements: creates replacement claims. A replacement is created before the machine of the old
 * claim is released, so that evicted pods find a Node that is Ready.
 *
 * The caller requests a replacement with replacements_awaited(). The search follows the next plan
 * that creates no claim, provided that no pod waits for a machine and no machine is reserved. It
 * looks for a machine of the same pool and type in the world of that plan (planner/replacement.h).
 * If there is none, the old machine is released first. Only one replacement is searched for at a
 * time, so that the next search already sees the claim that the last one created.
 *
 * A replacement names the old claim in its annotation CLAIM_REPLACES. As long as the old claim
 * exists, but at most for STAND_IN_IDLE_MS, the replacement is not released as empty. Afterwards it
 * is treated like any other claim.
 *
 * Requests are kept in this process only; the next leader finds the claims that were created. On
 * the loop thread.
 * Tests: tests/unit/controller/claims/test_replacements.c, tests/world/test_drift.c
 */
#define STAND_IN_DENIED_MS 60000
#define STAND_IN_MADE_MS 30000
#define STAND_IN_IDLE_MS ((int64_t)3600 * 1000)

struct replacements;
/* kick(): called to request a plan. */
struct replacements *replacements_new(struct context *c, void (*kick)(void *arg), void *arg);
void replacements_free(struct replacements *s);

/* Returns a text that says what claim n waits for before its machine may be released; requests a
 * replacement for n if there is none. NULL: the machine may be released, because the replacement is
 * Ready or none can be found. */
const char *replacements_awaited(struct replacements *s, const struct node_claim *n);

/* Searches for a replacement after plan p, in the plan's world w. Returns the claim to replace and
 * writes its replacement to *out as a claim of the plan; NULL: none. waits: true if some pod waits
 * for a machine. Sends NOTICE_MACHINE for each machine whose claim gets no replacement. */
const struct node_claim *replacements_plan(struct replacements *s, const struct plan *p,
					   struct world *w, bool waits, struct arena *a,
					   struct plan_claim *out);
void replacements_clear(struct replacements *s);

/* True if n is a replacement, and the claim that it replaces exists and is not being deleted. */
bool replacements_is_one(const struct context *c, const struct node_claim *n);

#endif
