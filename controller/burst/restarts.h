#ifndef CONTROLLER_BURST_RESTARTS_H
#define CONTROLLER_BURST_RESTARTS_H

#include "api/kinds.h"
#include "base/arena.h"
#include "controller/core/context.h"
#include "planner/burst/burst.h"

/*
 * restarts: how often the launches for a workload were interrupted, for spec.runtime.maxRestarts of
 * BurstPolicies, and how often its pods were moved from a launch to an owned machine, for
 * spec.scaleBack.maxMigrationsPerJob. A move counts as no interruption.
 *
 *   Machine of a launch leaves its tenant while pods are on its Node
 *       --> Machine.status.instance.interrupted (steps/enter.c)
 *       --> BurstLedger.status.restarts, with the cost of the launch (settle.h)
 *       --> burst_work.restarts, for as long as the workload's entry is younger than
 *           BURST_RESTARTS_MS
 *
 * Moves are recorded likewise: Machine.status.instance.moved, BurstLedger.status.moves.
 *
 * Tests: tests/unit/controller/burst/test_restarts.c, tests/world/test_burst_restarts.c
 */

/* Returns status.restarts of ledger l as JSON, with the launch of claim n counted at `now` (wall
 * ms). Drops entries that no longer count, and the oldest beyond BURST_LEDGER_RESTARTS. n must have
 * spec.burst. The caller owns the reference. */
json_t *burst_restarts_with(const struct burst_ledger *l, const struct node_claim *n, int64_t now);
/* Like burst_restarts_with(), but for status.moves. */
json_t *burst_moves_with(const struct burst_ledger *l, const struct node_claim *n, int64_t now);
/* Moves of a workload. count: their number; last: wall ms at which the last of the launches from
 * which it was moved ended, 0: none. */
struct burst_moved {
	int64_t count, last;
};
/* Returns the moves that all BurstLedgers have for the workload of the tenant. work: the workload,
 * or the piece of work if it has none. */
struct burst_moved burst_moved_of(const struct context *c, const char *tenant, const char *work);
/* Raises w->restarts to the number of interrupted launches that all BurstLedgers have for the
 * workload of w. */
void burst_restarts_put(const struct context *c, struct burst_work *w);

#endif
