#ifndef PLANNER_EARLY_H
#define PLANNER_EARLY_H

#include "planner/queue.h"

/*
 * early: pods on Nodes that are bound before pods ahead of them in the queue.
 *
 * kube-scheduler binds a pod to a Node at once, and to a new machine only when the machine has
 * become a Node. So a pod that is placed on a Node counts for the topology spread and affinity of
 * all pods that wait for a machine, even if it comes behind them in the queue. If a plan placed
 * such a pod behind them, it is made again: the pods that it placed on Nodes are placed there
 * first, in the same order. Otherwise a machine might be claimed for a pod that the constraints no
 * longer admit there.
 *
 * Pods of gangs keep their turn, because a gang is placed as a whole.
 * Tests: tests/unit/planner/test_again.c
 */

/* Number of times that a plan is made again at most. */
#define EARLY_ROUNDS 3

struct early {
	/* Pods on Nodes, in the order in which they were placed. entry: index of the pod in the
	 * array `all` that is passed to early_place(); bin: index of the Node's bin. */
	struct early_pod {
		size_t entry, bin;
	} * v;
	size_t n, cap;
	/* True if a pod on a Node is counted for a pod that was placed before it and waits for a
	 * machine. */
	bool late;
	/* Number of times that the plan was made again. */
	unsigned rounds;
};

/* Records that the pod of entry q, whose index is `entry`, was placed in bin `bin`. Call for each
 * placed pod, in the order of placement. */
void early_note(struct early *e, struct planning *p, const struct queued *q, size_t entry,
		size_t bin);
/* True if the plan must be made again. Then the caller begins the same plan again, with *next,
 * which has the same arena. */
bool early_again(const struct early *e, struct early *next);
/* Places the pods of *e on their Nodes, as far as these still admit them, and sets their
 * queued.seat. all: the plan's queue entries, in the same order in which early_note() counted them.
 * Call once all bins exist. */
void early_place(const struct early *e, struct planning *p, struct queued *all);

#endif
