#ifndef PLANNER_RECLAIM_H
#define PLANNER_RECLAIM_H

#include "planner/queue.h"

/*
 * reclaim: machines that are taken back from one tenant for a waiting pod of another tenant. A
 * pool's reclaim policy decides whether its machines may be taken back:
 *
 *   Borrowed        allowed if the waiting tenant stays within its quota, and the other
 *                   tenant, of the same cohort, has borrowed the machine: without the
 *                   machine, it still has its whole quota
 *   LowerPriority   allowed as in Borrowed, or if the other tenant has a lower
 *                   VirtualCluster.spec.priority
 *
 * Waiting pods are processed in queue order. Machines that are already being given back are
 * assigned first. No machine is taken that an earlier entry of the queue would get: while a waiting
 * pod is not served, entries behind it cannot take any machine that would suit that pod. Only pods
 * that would be behind the waiting pod in the queue are displaced.
 *
 * The machines of a gang are taken together or not at all. Of the sets of machines that suffice, a
 * greedy search chooses one with a small loss and no more machines than needed.
 *
 * The loss has two parts. Each displaced pod loses its GPUs times its run time (0 if the pod saves
 * its work when asked to end). Each machine costs its GPUs times the duration of its move to the
 * next tenant (drain, wipe, boot).
 *
 * The loss must not exceed the saving: the GPUs that the waiting pods request, times the waiting
 * time that they avoid. If a machine is known to become free, the avoided time is the time until
 * then, minus the duration of the move. If not, it is estimated as the time waited so far plus the
 * run time of the pods to be displaced. So between equal pods, a machine is only taken after a wait
 * as long as the move takes, and a small pod never takes a large machine whose work would be lost.
 *
 * A claim younger than RECLAIM_KEEP_MS is exempt, so no tenant loses a machine twice within that
 * time.
 * Tests: tests/unit/planner/test_reclaim.c, tests/world/test_fair_share.c
 */
#define RECLAIM_KEEP_MS ((int64_t)30 * 60 * 1000)
/* Assumed duration of a machine's move to the next tenant (drain, wipe, boot) if none was
 * measured. */
#define RECLAIM_MOVE_MS ((int64_t)30 * 60 * 1000)

struct reclaim;
/* Begins the reclaim pass of a plan. q: all n queue entries of the plan. Call after the timeline is
 * complete. */
struct reclaim *reclaim_new(struct planning *p, struct queued **q, size_t n, int64_t now_ms);
/* Processes the next queue entry. False: all entries are done, and plan.reclaims is complete. */
bool reclaim_next(struct reclaim *r);

#endif
