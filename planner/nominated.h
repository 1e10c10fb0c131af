#ifndef PLANNER_NOMINATED_H
#define PLANNER_NOMINATED_H

#include "planner/queue.h"

/*
 * nominated: pods that kube-scheduler has nominated for a node (status.nominatedNodeName).
 *
 * When kube-scheduler filters a node for other pods, it counts the pods that are nominated for the
 * node. So does a plan: the room of a nominated pod is taken before anybody else is placed. The pod
 * gets its place on the node if the node suits it, and has room for it beside all that are
 * nominated or the pod may preempt others: kube-scheduler withdraws a nomination as soon as
 * preemption does not help.
 *
 * Any other nominated pod is demand like the rest. kube-scheduler keeps counting such a pod on its
 * node, so nobody is placed there. A node that the tenant does not have, or that takes no pods,
 * means nothing.
 * Tests: tests/unit/planner/test_nominated.c
 */

/* Seats nominated pods among the n of q.  The bins of all nodes and claims must be open. */
void nominated_seat(struct planning *p, struct queued *const *q, size_t n);

#endif
