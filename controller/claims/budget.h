#ifndef CONTROLLER_CLAIMS_BUDGET_H
#define CONTROLLER_CLAIMS_BUDGET_H

#include "controller/core/context.h"

/*
 * budget: whether the disruption budget of a pool lets one more of its claims begin to leave. Used
 * for each release that drover begins itself: Nodes that are empty, underused, drifted, expired or
 * of a sleeping tenant (steps/leave_reason.c), claims reclaimed for another tenant
 * (claims/reclaims.c), and claims of a deleted pool (claims/owners.c).
 *
 * Every Node that is already leaving counts against the budget, whoever caused it. A release that
 * is decided but not yet written (struct context, decided) counts, too. On the loop thread.
 * Tests: tests/unit/controller/claims/test_owners.c,
 * tests/unit/controller/steps/test_leave_reason.c
 */

/* True if claim n may begin to leave for this reason. reason: a reason in api/annotations.h, or
 * BUDGET_POOL_DELETED. Always true if the machine of n does not serve, because its release disrupts
 * no pods. */
bool budget_allows(const struct context *c, const struct node_claim *n, const char *reason);

/* Returns how many more claims of n's pool, n included, may begin to leave for this reason. 0 or a
 * negative number: none may. A number near INT64_MAX: no budget applies. */
int64_t budget_room(const struct context *c, const struct node_claim *n, const char *reason);

/* Reason of a release because the pool was deleted. For this reason each budget allows at least one
 * Node, and a pool that no longer exists has a budget of one. */
#define BUDGET_POOL_DELETED "Deleted"

#endif
