#ifndef CONTROLLER_CLAIMS_BATCH_H
#define CONTROLLER_CLAIMS_BATCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * batch: how long a plan waits for the rest of a burst of pods. Machines are then chosen for the
 * whole group, and not for the pod that came first. A Job's pods come within seconds of one
 * another.
 *
 * A single pod does not wait: it is planned after SETTLE_MS (provisioner.c) like any other change.
 * A pod that comes less than idle_ms after the previous pod opens a batch. The batch ends when no
 * pod has come for idle_ms, at the latest most_ms after its first pod. So even an endless stream of
 * pods delays a plan by at most most_ms. Karpenter, in contrast, opens a batch for a single pod,
 * too; its idle time is 1 s and its longest time 10 s.
 *
 * Times are loop_now(). On the loop thread.
 * Tests: tests/unit/controller/claims/test_batch.c
 */
struct batch {
	int64_t idle_ms, most_ms;
	/* first: time of the first pod that no plan has covered yet; last: time of the latest pod,
	 * whether a plan has covered it or not */
	int64_t first, last;
	/* True: a pod came since the last plan began */
	bool waits;
	bool open;
};

/* Call when a pod begins to wait for a machine, or when its requirements changed. */
void batch_came(struct batch *b, int64_t now);
/* Returns the ms for which the next plan has to wait; 0: it may begin now. */
int64_t batch_left(const struct batch *b, int64_t now);
/* Ends the batch. Call when a plan begins that covers all pods that have come. */
void batch_planned(struct batch *b);

#endif
