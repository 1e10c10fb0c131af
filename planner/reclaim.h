#ifndef PLANNER_RECLAIM_H
#define PLANNER_RECLAIM_H

#include "planner/queue.h"

/*
 * reclaim: machines that are taken back from one tenant for a waiting pod of another, in pools
 * whose reclaim policy allows it:
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
 * the one with the least loss is taken (greedily), and no machine more than needed. The loss is,
 * for each pod, its GPUs times its run time (0 if it saves its work when asked to end), plus for
 * each machine its GPUs times the duration of its move to the next tenant (drain, wipe, boot). The
 * loss must not exceed the saving: the GPUs waited for, times the waiting time that is avoided.
 * That is the time until a machine is known to come; if none is known, the time waited so far plus
 * the run time of the pods to be displaced. So between equal pods, a machine is only taken after a
 * wait as long as the move takes, and a small pod never takes a large machine whose work would be
 * lost.
 *
 * A claim younger than RECLAIM_KEEP_MS is exempt, so no tenant loses a machine twice within that
 * time.
 * Tests: tests/unit/planner/test_reclaim.c, tests/world/test_fair_share.c
 */
#define RECLAIM_KEEP_MS ((int64_t)30 * 60 * 1000)
#define RECLAIM_WAY_MS ((int64_t)30 * 60 * 1000) /* Duration of a move if none was measured. */

struct reclaim;
/* q: all queue entries of the plan. Call after the timeline is complete. */
struct reclaim *reclaim_new(struct planning *p, struct queued **q, size_t n, int64_t now_ms);
/* Processes the next waiting pod. False: all are done, and plan.takes is complete. */
bool reclaim_next(struct reclaim *r);

#endif
