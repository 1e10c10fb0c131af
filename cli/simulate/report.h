#ifndef CLI_SIMULATE_REPORT_H
#define CLI_SIMULATE_REPORT_H

#include "base/buf.h"
#include "cli/simulate/scenario.h"

/*
 * report: plans a scenario once, and replays it if the scenario has jobs that arrive. Returns the
 * result as JSON, from which the table and the chart are drawn:
 *
 *   scenario   name of the scenario
 *   machines   [{provider, type, machines, offered, held}] before the plan;
 *              offered: free, held: claimed
 *   plan       {waiting, onNodes, onClaims, onNew, nothing, pods: [...],
 *              claims: [...], fewest, gap}
 *   replay     {seconds, jobs, started, ended, gpus, usePercent, nodesPercent,
 *              boundPercent, gap, wait: {p50, p90, p99, max}, tenants: [...],
 *              timeline: [...], plans, boots, wipes, bursts: [{policy, mode,
 *              launches, pods, instances, instanceHours, cost, currency,
 *              jobsLeft: {REASON: n}}]}; absent without jobs; bursts: absent
 *              without BurstPolicies
 *
 * plan.fewest is a lower bound of the number of new machines, by the linear program of
 * planner/replay/bound.h. plan.gap is the number of new machines beyond plan.fewest, divided by
 * plan.fewest. replay.boundPercent is an upper bound of GPU use. replay.gap is the part of
 * replay.boundPercent that is not used, divided by replay.boundPercent. Waits are in seconds; a job
 * that never started counts as waiting until the end.
 * Tests: tests/unit/cli/simulate/test_simulate.c
 */
#define REPORT_SAMPLES 240

/* Plans and replays *s. Returns the report, owned by the caller. Changes s->world. */
json_t *report_make(const struct scenario *s);

/* Appends the report as text to `out`. before: the report of the same scenario without the changes
 * of --what-if, printed as a comparison; NULL: no comparison. */
void report_table(const json_t *report, const json_t *before, struct buf *out);

/* Appends a chart of the replay to `out`, as an SVG document. False: the report has no replay, and
 * nothing is appended. */
bool report_svg(const json_t *report, struct buf *out);

#endif
