#ifndef CLI_SIMULATE_REPORT_H
#define CLI_SIMULATE_REPORT_H

#include "base/buf.h"
#include "cli/simulate/scenario.h"

/*
 * report: plans a scenario once, replays it if jobs arrive, and returns the result as JSON. The
 * table and the chart are drawn from this JSON:
 *
 *   scenario   its name
 *   machines   [{provider, type, machines, offered, held}] before the plan;
 *              offered: free, held: claimed
 *   plan       {waiting, onNodes, onClaims, onNew, nothing, pods: [...],
 *              claims: [...], fewest, gap}
 *   replay     {seconds, jobs, started, ended, gpus, usePercent, nodesPercent,
 *              boundPercent, gap, wait: {p50, p90, p99, max}, tenants: [...],
 *              timeline: [...], plans, boots, wipes}; absent without jobs
 *
 * plan.fewest: lower bound of new machines by the linear program of planner/bound.h. plan.gap: new
 * machines beyond that bound, as a fraction of it. replay.boundPercent: upper bound of GPU use.
 * replay.gap: unused part of that bound, as a fraction of it. Waits are in seconds; a job that
 * never started counts as waiting until the end.
 * Tests: tests/unit/cli/simulate/test_simulate.c
 */
#define REPORT_SAMPLES 240

/* Returns the report; the caller owns it. Changes the world of s. */
json_t *report_make(const struct scenario *s);

/* Appends the report as text. before: the report without --what-if; NULL: print no comparison. */
void report_table(const json_t *report, const json_t *before, struct buf *out);

/* Appends the chart of the replay as an SVG document. False: the report has no replay. */
bool report_svg(const json_t *report, struct buf *out);

#endif
