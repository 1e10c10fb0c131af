#ifndef PLANNER_TIMELINE_H
#define PLANNER_TIMELINE_H

#include "planner/queue.h"

/*
 * timeline: when pods that get nothing in a plan may expect a machine.
 *
 * It is the last pass of a plan before reclaim. Machines that are not free have an expected free
 * time, if that is known (world_machine.free_p50_ms). Pods that wait for a machine
 * (PLAN_NO_MACHINE, PLAN_HELD) get reservations for such machines in queue order; the tenants'
 * shares of GPUs grow with these reservations. Each pod gets the earliest machine that suits, or
 * room beside other pods of its tenant on a machine that is reserved already, if that is as early.
 *
 * Entries later in the queue get what is left, so they never delay the entries before them. A small
 * pod may get an early machine that the entries before it cannot use. Since pods have no known end,
 * this equals EASY backfill: whenever a machine becomes free, the first entry of the queue that it
 * suits takes it. A test simulates that by a series of plans and compares.
 *
 * An expected time assumes that the world stays as it is: a new pod with a higher priority delays
 * all others. Limits and quotas count at their present state, so a pod that waits for these has no
 * time. The timeline reserves what is left of a quota or limit for the first entry of the queue,
 * while a plan gives it to the first entry for which it has a machine. A pod that topology
 * restricts gets a machine of its own, because the location of other pods at that time is not
 * known. Gangs get their reservations before (planner/holds.h); their machines are not assigned to
 * others. A tenant that has exceeded its work units (PLAN_WORK) gets no times.
 * Tests: tests/unit/planner/test_timeline.c, tests/bench/bench_plan.c
 */
struct timeline;
struct timeline *timeline_new(struct planning *p);
/* Records that q was served, so that look-aheads of gangs later in the queue leave machines for q.
 * If q waits for a machine, it is assigned the earliest one. The assignment lasts until
 * timeline_start() and is not charged to quotas and limits. */
void timeline_wait(struct timeline *t, const struct queued *q);
/* Assigns a machine to q as timeline_wait() does, without checking whether q waits for one. */
void timeline_hope(struct timeline *t, const struct queued *q);
/* Begins the assignment of times, and drops the assignments of timeline_wait() and timeline_hope().
 * q: all n entries of the plan, sorted by queue_new() and served. */
void timeline_start(struct timeline *t, struct queued **q, size_t n);
/* Assigns an expected machine and time to the next waiting entry. False: all entries are done. */
bool timeline_next(struct timeline *t);

#endif
