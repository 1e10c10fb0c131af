#ifndef PLANNER_BOUND_H
#define PLANNER_BOUND_H

#include "planner/plan.h"
#include "planner/replay.h"

/*
 * bound: what no planner can beat, to say how far a plan is from it. Both are relaxations, so the
 * true best may lie between.
 * Tests: tests/unit/planner/test_bound.c
 */

/*
 * The fewest machines that could serve the pods for which the plan opens claims: the linear program
 *
 *   min sum(x_t)   sum(x_t capacity_t,r) >= what these pods ask for of r, for each resource;   0 <= x_t <= machines_t
 *
 * over the types of which machines are offered. Pods may be cut, shared by machines of different
 * tenants and put beside any other. 0: the plan opens none.
 */
double bound_machines(struct world *w, const struct plan *p);

/*
 * The most GPU-time (GPUs times ms) that could be in use until until_ms: machines are one heap of
 * GPUs, always on and any tenant's, and jobs may be cut into parts that run at once. For each time
 * t no more is done than what came before t, and all GPUs from then on; no job does more than its
 * GPUs do from its coming to the end.
 */
double bound_use(const struct replay_job *jobs, size_t njobs, double gpus, int64_t until_ms);

#endif
