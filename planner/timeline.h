#ifndef PLANNER_TIMELINE_H
#define PLANNER_TIMELINE_H

#include "planner/queue.h"

/*
 * timeline: when pods that get nothing in a plan may expect a machine.
 *
 * It is the last pass of a plan before reclaim. Machines that are not free have an expected free
 * time, if one is known (world_machine.free_p50_ms). Pods that wait for a machine (PLAN_NO_MACHINE,
 * PLAN_HELD) are assigned such machines in queue order; each assignment increases the tenant's
 * share of GPUs. Each pod gets the earliest machine that suits, or room beside other pods of its
 * tenant on a machine that is assigned already, if that machine is as early.
 *
 * Entries later in the queue get the remaining machines, so they never delay the entries before
 * them. A small pod may get an early machine that the entries before it cannot use. Since pods have
 * no known end, this equals EASY backfill: whenever a machine becomes free, the first entry of the
 * queue that the machine suits takes it. A test simulates this by a series of plans and compares
 * the results.
 *
 * An expected time assumes that the world does not change; for example, a new pod with a higher
 * priority delays all others. Limits and quotas are compared with the present holdings, so a pod
 * that waits because of a limit or quota gets no time. The remaining part of a quota or limit is
 * reserved for the first entry of the queue, whereas a plan uses it for the first entry for which
 * there is a machine. A pod that topology constraints restrict gets a machine of its own, because
 * the location of other pods at that time is not known. Gangs reserve their machines before the
 * timeline (planner/gang/holds.h); these machines are not assigned to others. A tenant that has
 * exceeded its work units (PLAN_WORK) gets no times.
 * Tests: tests/unit/planner/test_timeline.c,
 * tests/bench/bench_plan.c
 */
struct timeline;
struct timeline *timeline_new(struct planning *p);
/* Records that entry q was served, so that look-aheads of gangs later in the queue leave machines
 * for q. If q waits for a machine, assigns the earliest suitable machine to it. The assignment
 * lasts until timeline_start() and is not charged to quotas and limits. */
void timeline_wait(struct timeline *t, const struct queued *q);
/* Assigns a machine to entry q as timeline_wait() does, without checking whether q waits for a
 * machine. */
void timeline_hope(struct timeline *t, const struct queued *q);
/* Drops the assignments of timeline_wait() and timeline_hope(), and begins the assignment of
 * expected times. q: all n entries of the plan, sorted by queue_new() and served. */
void timeline_start(struct timeline *t, struct queued **q, size_t n);
/* Assigns an expected machine and time to the next waiting entry. False: all entries are done. */
bool timeline_next(struct timeline *t);

#endif
