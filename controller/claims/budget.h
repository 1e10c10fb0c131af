#ifndef CONTROLLER_CLAIMS_BUDGET_H
#define CONTROLLER_CLAIMS_BUDGET_H

#include "controller/core/context.h"

/*
 * budget: whether one more claim of a pool may begin to leave. Used for everything that drover
 * begins itself: nodes that are empty, expired or of a sleeping tenant (steps/leave_reason.c), and
 * claims of a deleted pool (claims/owners.c).
 *
 * Nodes that are already leaving count, whoever caused it, and so do those that are decided on but
 * not yet written (struct context, decided). On the loop thread.
 * Tests: tests/unit/controller/claims/test_owners.c,
 * tests/unit/controller/steps/test_leave_reason.c
 */

/* True if the claim may begin to leave for this reason (of api/annotations.h, or
 * BUDGET_POOL_DELETED). Always true if its machine does not serve, because that disrupts no
 * pods. */
bool budget_allows(const struct context *c, const struct node_claim *n, const char *reason);

/* Returns how many more claims of the pool, n included, may begin to leave for this reason. A
 * huge number means that no budget applies. */
int64_t budget_room(const struct context *c, const struct node_claim *n, const char *reason);

/* Reason for a deleted pool: its budgets count as at least one, and a pool that no longer exists
 * has a budget of one. */
#define BUDGET_POOL_DELETED "Deleted"

#endif
