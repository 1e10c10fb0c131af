#ifndef CONTROLLER_CLAIMS_GANG_HOLDS_H
#define CONTROLLER_CLAIMS_GANG_HOLDS_H

#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * gang_holds: limits how long machines stay idle because they are reserved for gangs that wait for
 * more machines (planner/gang/holds.h).
 *
 * H is gang_holds_ms(), 30 minutes if not set. Each limit is a level: a time that grows while
 * something is reserved and shrinks while nothing is reserved. So creating, deleting or renaming
 * gangs in any order gains no extra time.
 *
 *   tenant, without a break   H, doubled after each reservation that ran out, up to 4 H. Then the
 *                             tenant gets no reservation for an equally long time.
 *   tenant, per day           6 H, refilled by an eighth of the elapsed time: if H is 30 minutes,
 *                             at most 6 hours in 24 hours.
 *   machine, for any tenant   4 H without a break. Then the machine is reserved for no gang for
 *                             an equally long time.
 *
 * So a pod that could use a machine waits for other tenants' gangs at most 4 H (2 hours), however
 * many tenants, gangs and ProvisioningRequests there are. Reserved GPUs count as used by the tenant
 * (held_gpus.h).
 *
 * Kept in memory: with a new leader the levels start at 0. On the loop thread.
 * Tests: tests/unit/controller/claims/test_gang_holds.c, tests/world/test_gang_holds.c,
 * tests/world/test_hold_budget.c
 */
#define GANG_HOLDS_DOUBLINGS 2

struct gang_holds;
struct gang_holds *gang_holds_new(const struct context *c);
void gang_holds_free(struct gang_holds *h);
/* Returns H in ms; 0 means that machines are never reserved for gangs. */
int64_t gang_holds_ms(const struct context *c);

/* Writes to the planner's world which tenants and machines may have reservations, and for how long.
 * Call before a plan. now: Unix ms. */
void gang_holds_before(struct gang_holds *h, struct world *w, int64_t now);
/* Records which machines the finished plan reserves from now on (now: Unix ms). Returns the Unix ms
 * at which another plan is due because a reservation or a pause ends; 0: none is due. */
int64_t gang_holds_after(struct gang_holds *h, const struct plan *p, int64_t now);

#endif
