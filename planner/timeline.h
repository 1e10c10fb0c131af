#ifndef PLANNER_TIMELINE_H
#define PLANNER_TIMELINE_H

#include "planner/queue.h"

/*
 * timeline: when those who get nothing in a plan may expect a machine.
 *
 * The last pass of a plan. Machines that are not free have a time at which they are expected to be,
 * where that is known (world_machine.free_p50_ms). Those who wait for one (PLAN_NO_MACHINE) are
 * given such machines in the order of the queue, shares of GPUs counted as they grow: each the
 * earliest that will do, or room beside others of its tenant on one that is given already, if that
 * is as early.
 *
 * So each has a reservation, and whoever comes later takes what is left: nobody's time is later for
 * those behind him. A small pod that finds an early machine which those before it cannot use fills
 * that hole. As no pod says when it ends, this is EASY backfill as well: at each machine that comes
 * free, the first of the queue whom it suits takes it. A test runs that day by plans, one after the
 * other, and compares.
 *
 * A promise is of the world as it is: who comes with a higher priority moves all others. Limits and
 * quotas count as they stand, so who waits for those has no time; and what of them is left is kept
 * for the first of the queue here, while a plan gives it to whom it has a machine for. A pod that
 * topology restricts is given a machine of its own, for where others are by then is not known.
 * Gangs have their reservations before (planner/holds.h): nobody else has these machines. Who is
 * beyond his tenant's work (PLAN_WORK) has no time.
 * Tests: tests/unit/planner/test_timeline.c, tests/bench/bench_plan.c
 */
struct timeline;
struct timeline *timeline_new(struct planning *p);
/* While the plan is being made, for gangs that come later in the queue: q had its turn. If it
 * waits, it has the earliest machine until timeline_start(); quotas and limits are not counted for
 * that. */
void timeline_wait(struct timeline *t, const struct queued *q);
/* The same of one that is to wait alone. */
void timeline_hope(struct timeline *t, const struct queued *q);
/* All pods of the plan, as queue_new() sorted them, with what each got. */
void timeline_start(struct timeline *t, struct queued **q, size_t n);
/* The next who waits; false: all have their times. */
bool timeline_next(struct timeline *t);

#endif
