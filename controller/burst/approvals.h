#ifndef CONTROLLER_BURST_APPROVALS_H
#define CONTROLLER_BURST_APPROVALS_H

#include "controller/core/context.h"
#include "planner/burst/burst.h"

/*
 * approvals: which BurstPolicies may launch for a piece of waiting work, because an
 * administrator approved it in spec.approvals of the policy's BurstLedger.
 *
 * An approval counts for BURST_APPROVAL_MS, and only for work that waited already when it was made.
 * So an approval ends with its work: a pod that is created anew under the same name waits since a
 * later time.
 * Tests: tests/world/test_burst_approval.c
 */

/* Sets approved_by of w to the names of the policies, and approval of w. Array and text are in the
 * arena, the names belong to the cache. */
void burst_approvals_put(const struct context *c, struct burst_work *w, struct arena *a);

#endif
