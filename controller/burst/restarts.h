#ifndef CONTROLLER_BURST_RESTARTS_H
#define CONTROLLER_BURST_RESTARTS_H

#include "api/kinds.h"
#include "base/arena.h"
#include "controller/core/context.h"
#include "planner/burst/burst.h"

/*
 * restarts: how often the launches for a workload were interrupted, for spec.runtime.maxRestarts of
 * BurstPolicies.
 *
 *   Machine of a launch leaves its tenant while pods are on its Node
 *       --> Machine.status.instance.interrupted (steps/enter.c)
 *       --> BurstLedger.status.restarts, with the cost of the launch (settle.h)
 *       --> burst_work.restarts, for as long as the workload's entry is younger than
 *           BURST_RESTARTS_MS
 *
 * Tests: tests/unit/controller/burst/test_restarts.c, tests/world/test_burst_restarts.c
 */

/* Returns status.restarts of ledger l as JSON, with the launch of claim n counted at `now` (wall
 * ms). Drops entries that no longer count, and the oldest beyond BURST_LEDGER_RESTARTS. n must have
 * spec.burst. The caller owns the reference. */
json_t *burst_restarts_with(const struct burst_ledger *l, const struct node_claim *n, int64_t now);
/* Raises w->restarts to the number of interrupted launches that all BurstLedgers have for the
 * workload of w. */
void burst_restarts_put(const struct context *c, struct burst_work *w);

#endif
