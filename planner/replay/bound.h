#ifndef PLANNER_REPLAY_BOUND_H
#define PLANNER_REPLAY_BOUND_H

#include "planner/plan.h"
#include "planner/replay/replay.h"

/*
 * bound: limits that no planner can beat, to report how far a plan is from the optimum. The limits
 * are a lower bound of the number of machines that are needed, and an upper bound of the GPU time
 * that can be used. Both ignore some constraints, so the true optimum may lie between the bound and
 * the plan.
 * Tests: tests/unit/planner/replay/test_bound.c
 */

/*
 * Returns a lower bound of the number of machines that could serve the pods for which the plan
 * opens claims. It is the optimum of the linear program
 *
 *   min sum(x_t)   subject to   sum(x_t capacity_t,r) >= requests_r for each resource r,
 *                               0 <= x_t <= machines_t
 *
 * over the instance types t that have offered machines; x_t is the number of machines of type t.
 * The program allows pods to be split, and machines to be shared by tenants and by any pods.
 * Returns 0 if the plan opens no claims.
 */
double bound_machines(struct world *w, const struct plan *p);

/*
 * Returns an upper bound of the GPU time (GPUs times ms) that can be used until until_ms. It treats
 * all machines as one pool of GPUs, always on and usable by any tenant, and lets jobs be split into
 * parts that run concurrently.
 *
 * The bound is the minimum over all times t of the sum of two amounts: the GPU time that the jobs
 * which arrived before t need until until_ms, and the time of all GPUs from t to until_ms. A job
 * needs its GPUs for its duration, but at most from its arrival to until_ms.
 */
double bound_use(const struct replay_job *jobs, size_t njobs, double gpus, int64_t until_ms);

#endif
