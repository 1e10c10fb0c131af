#ifndef PLANNER_TIMELINE_H
#define PLANNER_TIMELINE_H

#include "planner/queue.h"

/*
 * timeline: when pods that get nothing in a plan may expect a machine.
 *
 * It is the last pass of a plan before reclaim. Machines that are not free have an expected free
 * time, if that is known (world_machine.free_p50_ms). Pods that wait for a machine
 * (PLAN_NO_MACHINE, PLAN_HELD) get reservations for such machines in queue order, with shares of
 * GPUs counted as they grow: each gets the earliest machine that suits, or room beside other pods
 * of its tenant on a machine that is reserved already, if that is as early.
 *
 * Entries later in the queue get what is left, so no time becomes later because of entries behind.
 * A small pod that finds an early machine which entries before it cannot use fills that hole. Since
 * pods have no known end, this equals EASY backfill: whenever a machine becomes free, the first
 * entry of the queue that it suits takes it. A test simulates that by a series of plans and
 * compares.
 *
 * An expected time assumes that the world stays as it is: a new pod with a higher priority delays
 * all others. Limits and quotas count at their present state, so a pod that waits for these has no
 * time; what is left of them is reserved for the first entry of the queue here, while a plan gives
 * it to the first entry for which it has a machine. A pod that topology restricts gets a machine of
 * its own, because the location of other pods at that time is not known. Gangs get their
 * reservations before (planner/holds.h); these machines are not assigned to others. A tenant that
 * has exceeded its work (PLAN_WORK) gets no times.
 * Tests: tests/unit/planner/test_timeline.c, tests/bench/bench_plan.c
 */
struct timeline;
struct timeline *timeline_new(struct planning *p);
/* For gangs later in the queue, while the plan is being made: q was served. If q waits, it is
 * assigned the earliest machine until timeline_start(); quotas and limits do not count for that. */
void timeline_wait(struct timeline *t, const struct queued *q);
/* As timeline_wait(), for an entry that will wait on its own in any case. */
void timeline_hope(struct timeline *t, const struct queued *q);
/* Begins the assignment of times. q: all entries of the plan, as queue_new() sorted them, with
 * their results. */
void timeline_start(struct timeline *t, struct queued **q, size_t n);
/* Assigns a time to the next waiting entry. False: all are done. */
bool timeline_next(struct timeline *t);

#endif
