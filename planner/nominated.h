#ifndef PLANNER_NOMINATED_H
#define PLANNER_NOMINATED_H

#include "planner/queue.h"

/*
 * nominated: pods that kube-scheduler has nominated for a node (status.nominatedNodeName).
 *
 * When kube-scheduler checks whether other pods fit on a node, it also counts the pods that are
 * nominated for that node. A plan does the same: it reserves the room of nominated pods before any
 * other pod is placed. A nominated pod is placed on its node if the node suits the pod and one of
 * two conditions is true: the node has room for the pod besides all other nominated pods, or the
 * pod may preempt others. (kube-scheduler withdraws a nomination as soon as preemption does not
 * help.)
 *
 * Any other nominated pod is normal demand. kube-scheduler still counts that pod on the node for
 * which it is nominated, so the plan places no pods on that node. A nomination is ignored if the
 * tenant does not have the node, or if the node accepts no pods.
 * Tests: tests/unit/planner/test_nominated.c
 */

/* Places the nominated pods among the n entries of q and sets their queued.seat. Closes nodes on
 * which a nominated pod could not be placed. Call after the bins (candidate nodes) of all existing
 * nodes and claims were added. */
void nominated_placement(struct planning *p, struct queued *const *q, size_t n);

#endif
