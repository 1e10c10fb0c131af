#ifndef PLANNER_RECLAIM_H
#define PLANNER_RECLAIM_H

#include "planner/queue.h"

/*
 * reclaim: machines that are taken back from one tenant for a waiting pod of another tenant. A
 * pool's reclaim policy decides whether its machines may be taken back:
 *
 *   Borrowed        the waiting tenant stays within its quota; the other tenant, of the same
 *                   cohort, has borrowed the machine and keeps its whole quota
 *   LowerPriority   as Borrowed, or the other tenant has a lower VirtualCluster.spec.priority
 *
 * Waiting pods are processed in queue order. Machines that are already on their way back are
 * assigned first. No machine is taken that an earlier entry of the queue would get: a waiting pod
 * that is not served blocks machines that would suit it for all entries behind it. Only pods that
 * would be behind the waiting pod in the queue are displaced.
 *
 * The machines of a gang are taken together or not at all. Of the sets of machines that suffice,
 * the one with the least loss is chosen (greedily), with no more machines than needed.
 *
 * The loss has two parts. Each displaced pod loses its GPUs times its run time (0 if it saves its
 * work when asked to end). Each machine costs its GPUs times the duration of its move to the next
 * tenant (drain, wipe, boot).
 *
 * The loss must not exceed the saving: the GPUs waited for, times the waiting time that is avoided.
 * The avoided time is the time until a machine is known to come. If none is known, it is estimated
 * as the time waited so far plus the run time of the pods to be displaced. So between equal pods, a
 * machine is only taken after a wait as long as the move takes, and a small pod never takes a large
 * machine whose work would be lost.
 *
 * A claim younger than RECLAIM_KEEP_MS is exempt, so no tenant loses a machine twice within that
 * time.
 * Tests: tests/unit/planner/test_reclaim.c, tests/world/test_fair_share.c
 */
#define RECLAIM_KEEP_MS ((int64_t)30 * 60 * 1000)
/* Duration of a machine's move to the next tenant if none was measured. */
#define RECLAIM_WAY_MS ((int64_t)30 * 60 * 1000)

struct reclaim;
/* Begins the reclaim pass of a plan. q: all n queue entries of the plan. Call after the timeline is
 * complete. */
struct reclaim *reclaim_new(struct planning *p, struct queued **q, size_t n, int64_t now_ms);
/* Processes the next queue entry. False: all entries are done, and plan.takes is complete. */
bool reclaim_next(struct reclaim *r);

#endif
