#ifndef CLI_SIMULATE_REPORT_H
#define CLI_SIMULATE_REPORT_H

#include "base/buf.h"
#include "cli/simulate/scenario.h"

/*
 * report: a scenario planned once and, where jobs come, replayed, as JSON; tables and the chart are
 * made of that.
 *
 *   scenario   its name
 *   machines   [{provider, type, machines, offered, held}] before the plan
 *   plan       {waiting, onNodes, onClaims, onNew, nothing, pods: [...], claims: [...], fewest, gap}
 *   replay     {seconds, jobs, started, ended, gpus, usePercent, nodesPercent, boundPercent, gap, wait: {p50, p90, p99,
 *              max}, tenants: [...], timeline: [...], plans, boots, wipes}; absent: no jobs
 *
 * fewest: whole machines by the linear program of planner/bound.h; gap: how much more the plan
 * takes, as a part of that. boundPercent, gap: the use that nobody can beat, and what is missing to
 * it. Waits are seconds; a job that never started waited until the end.
 * Tests: tests/unit/cli/simulate/test_simulate.c
 */
#define REPORT_SAMPLES 240

/* It gives.  The world of s changes. */
json_t *report_make(const struct scenario *s);

/* before: the same without --what-if; NULL: there is none. */
void report_table(const json_t *report, const json_t *before, struct buf *out);

/* The chart of the replay, an SVG document; false: it has none. */
bool report_svg(const json_t *report, struct buf *out);

#endif
