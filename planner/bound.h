#ifndef PLANNER_BOUND_H
#define PLANNER_BOUND_H

#include "planner/plan.h"
#include "planner/replay.h"

/*
 * bound: limits that no planner can beat, to report how far a plan is from the optimum: a lower
 * bound of the machines that are needed, and an upper bound of the GPU time that can be used. Both
 * are relaxations, so the true optimum may lie between the bound and the plan.
 * Tests: tests/unit/planner/test_bound.c
 */

/*
 * Returns the least number of machines that could serve the pods for which the plan opens claims:
 * the optimum of the linear program
 *
 *   min sum(x_t)   subject to   sum(x_t capacity_t,r) >= requests_r for each resource r,
 *                               0 <= x_t <= machines_t
 *
 * over the instance types t of which machines are offered; x_t is the number of machines of type t.
 * In this relaxation pods may be split, and machines may be shared by tenants and by any pods.
 * Returns 0 if the plan opens no claims.
 */
double bound_machines(struct world *w, const struct plan *p);

/*
 * Returns the most GPU time (GPUs times ms) that could be used until until_ms. In this relaxation
 * all machines are one pool of GPUs, always on and usable by any tenant, and jobs may be split into
 * parts that run concurrently.
 *
 * The bound is the minimum over all times t: up to t, no more is used than the jobs that arrived
 * before t need; from t on, at most all GPUs are used. No job uses more than its GPUs from its
 * arrival to the end.
 */
double bound_use(const struct replay_job *jobs, size_t njobs, double gpus, int64_t until_ms);

#endif
