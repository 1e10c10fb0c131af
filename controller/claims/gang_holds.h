#ifndef CONTROLLER_CLAIMS_GANG_HOLDS_H
#define CONTROLLER_CLAIMS_GANG_HOLDS_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * gang_holds: bounds the time for which machines are idle for gangs (planner/holds.h).
 *
 * H is gang_holds_ms(), 30 minutes if not set.  Each bound is a level that rises by the time in
 * which something is held and falls by the time in which nothing is, so no order of making,
 * deleting and renaming gangs gets more.
 *
 *	tenant, in a row	H, after each hold that ended twice as long, at most 4 H.  Then the
 *				tenant rests for as long.
 *	tenant, per day		6 H, of which an eighth of the time comes back: 6 hours in 24.
 *	machine, for anybody	4 H in a row.  Then no gang holds the machine for as long.
 *
 * So a pod that could use a machine waits for other tenants' gangs at most 4 H (2 hours), however
 * many tenants, gangs and ProvisioningRequests there are.  GPUs that are held count as used by the
 * tenant (held_gpus.h).
 *
 * Kept in memory: with another leader the levels begin at 0.  On the loop thread.
 * Tests: tests/unit/controller/claims/test_gang_holds.c, tests/world/test_gang_holds.c,
 * tests/world/test_hold_budget.c
 */
#define GANG_HOLDS_DOUBLINGS 2

struct gang_holds;
struct gang_holds *gang_holds_new(const struct context *c);
void gang_holds_free(struct gang_holds *h);
/* Returns H, ms; 0 means that no machine is held. */
int64_t gang_holds_ms(const struct context *c);

/* Writes to the world, before a plan, what may be held.  now: Unix ms. */
void gang_holds_before(struct gang_holds *h, struct world *w, int64_t now);
/* Counts what the plan holds from now on, Unix ms.  Returns when another plan is due, because a
 * hold or a rest ends; 0 means that none is due. */
int64_t gang_holds_after(struct gang_holds *h, const struct plan *p, int64_t now);

#endif
