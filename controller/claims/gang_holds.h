#ifndef CONTROLLER_CLAIMS_GANG_HOLDS_H
#define CONTROLLER_CLAIMS_GANG_HOLDS_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * gang_holds: for how long machines stand idle for a gang (planner/holds.h).
 *
 * The first plan that holds one starts the clock.  After gang_holds_ms() the hold is over: for as long again what is free goes
 * to whoever wants it (the gang's pods are told GangHoldOver), and then the next hold begins, which may last twice as long as the one
 * before, up to 32 times: so jobs of any length are waited for in the end, and machines are idle for a gang in the beginning
 * for half of the time at most.  A gang that is whole, or wants nothing any more, is forgotten with all of this.
 *
 * Remembered by this process alone: with another leader the first hold begins anew.  On the loop thread.
 * Tests: tests/unit/controller/claims/test_gang_holds.c, tests/world/test_gang_holds.c
 */
#define GANG_HOLDS_DOUBLINGS 5

struct gang_holds;
struct gang_holds *gang_holds_new(int64_t ms); /* 0: none */
void gang_holds_free(struct gang_holds *h);
int64_t gang_holds_ms(const struct context *c); /* as its options have it */

/* Times are wall ms.  Before a plan: what the world is to know. */
void gang_holds_before(struct gang_holds *h, struct world *w, int64_t now);
/* Once it is ready.  When the first clock runs out: a plan is due then; 0: none is running. */
int64_t gang_holds_after(struct gang_holds *h, const struct plan *p, int64_t now);

#endif
