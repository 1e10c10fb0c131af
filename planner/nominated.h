#ifndef PLANNER_NOMINATED_H
#define PLANNER_NOMINATED_H

#include "planner/queue.h"

/*
 * nominated: pods that kube-scheduler has nominated for a node (status.nominatedNodeName).
 *
 * When kube-scheduler filters a node for other pods, it counts the pods that are nominated for the
 * node. A plan does the same: it reserves the room of nominated pods before any other pod is
 * placed. A nominated pod is placed on the node if the node suits it and either has room for it
 * besides all other nominated pods, or the pod may preempt others. (kube-scheduler withdraws a
 * nomination as soon as preemption does not help.)
 *
 * Any other nominated pod is normal demand. kube-scheduler still counts that pod on its node, so
 * the plan places no pods there. A nomination for a node that the tenant does not have, or that
 * accepts no pods, is ignored.
 * Tests: tests/unit/planner/test_nominated.c
 */

/* Places the nominated pods among the n entries of q and sets their queued.seat; closes nodes on
 * which a nominated pod could not be placed. Call after the bins (candidate nodes) of all nodes and
 * claims were added. */
void nominated_seat(struct planning *p, struct queued *const *q, size_t n);

#endif
