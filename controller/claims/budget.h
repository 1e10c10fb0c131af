#ifndef CONTROLLER_CLAIMS_BUDGET_H
#define CONTROLLER_CLAIMS_BUDGET_H

#include "controller/core/context.h"

/*
 * budget: may one more claim of a pool begin to leave? The one judgement for all that drover begins
 * itself: nodes that are empty, expired or of a tenant that sleeps (steps/leave_reason.c), and
 * claims of a pool that was deleted (claims/owners.c).
 *
 * What leaves already counts, whoever began it, also what is decided and not yet written (struct
 * context, decided). On the loop thread.
 * Tests: tests/unit/controller/claims/test_owners.c,
 * tests/unit/controller/steps/test_leave_reason.c
 */

/* reason: of api/annotations.h, or BUDGET_POOL_DELETED. A claim whose machine does not serve takes
 * nothing from anybody: true. */
bool budget_allows(const struct context *c, const struct node_claim *n, const char *reason);

/* How many more of its pool may begin to leave for that reason, its own among them; INT64_MAX: no
 * budget counts. */
int64_t budget_room(const struct context *c, const struct node_claim *n, const char *reason);

/* The pool is deleted: no budget of it counts for less than one, and a pool that is gone has one of
 * one. */
#define BUDGET_POOL_DELETED "Deleted"

#endif
