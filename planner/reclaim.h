#ifndef PLANNER_RECLAIM_H
#define PLANNER_RECLAIM_H

#include "planner/queue.h"

/*
 * reclaim: machines that are taken back from one tenant for another one who waits, where the pool
 * allows it by name.
 *
 *   Borrowed	who waits stays within its quota; who gives borrows, of the same cohort, and keeps its whole quota
 *   LowerPriority	... and also: who gives has a lower VirtualCluster.spec.priority
 *
 * Who waits is taken in the order of the queue. What is on its way back already is counted out
 * first. Nothing is taken that somebody before it in the queue would get: who waits there and is
 * not served keeps all behind it from machines that would suit it, and the pods that have to go
 * stand behind it when they are back.
 *
 * A gang's machines go together or not at all. Of the sets that serve, that with the least loss is
 * taken, one after the other, and none of it is more than is needed. Loss is GPUs times the time
 * since each pod began (0 for those that save their work when they are asked to), and the machines
 * times their way to the next tenant: drained, wiped, booted. It may not be more than what is
 * saved: GPUs that are waited for, times how long: until a machine is known to come; where none is,
 * for as long as they were, and as long again as what is in the way has run. So of equal GPUs who
 * waits has waited as long as the way takes, and a small pod takes no large machine whose work
 * would be lost.
 *
 * A claim younger than RECLAIM_KEEP_MS is left alone, so nobody is a victim twice in a row within
 * that time.
 * Tests: tests/unit/planner/test_reclaim.c, tests/world/test_fair_share.c
 */
#define RECLAIM_KEEP_MS ((int64_t)30 * 60 * 1000)
#define RECLAIM_WAY_MS ((int64_t)30 * 60 * 1000) /* where none was measured */

struct reclaim;
/* q: all, sorted by their place; the timeline is done. */
struct reclaim *reclaim_new(struct planning *p, struct queued **q, size_t n, int64_t now_ms);
/* One more of who waits; false: that was all, and plan.takes is complete. */
bool reclaim_next(struct reclaim *r);

#endif
