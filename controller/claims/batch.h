#ifndef CONTROLLER_CLAIMS_BATCH_H
#define CONTROLLER_CLAIMS_BATCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * batch: how long a plan waits for the rest of a burst of pods, so that machines are chosen for the
 * whole group and not for the pod that came first. A Job's pods come within seconds of one another.
 *
 * A single pod does not wait: it is planned after SETTLE_MS like any other change. A pod that comes
 * less than idle_ms after the one before opens a batch. The batch ends when no pod has come for
 * idle_ms, at most most_ms after its first pod. So even an endless stream of pods delays a plan by
 * most_ms at most. For comparison, Karpenter opens a batch for each pod, with 1 s and 10 s.
 *
 * Times are loop_now(). On the loop thread. Tests: tests/unit/controller/claims/test_batch.c
 */
struct batch {
	int64_t idle_ms, most_ms;
	/* first: of the pods that no plan has had yet; last: of all pods */
	int64_t first, last;
	/* A pod came that no plan has had yet */
	bool waits;
	bool open;
};

/* Call when a pod begins to wait for a machine, or when its requirements changed. */
void batch_came(struct batch *b, int64_t now);
/* Returns the ms for which the plan has to wait; 0: it may begin. */
int64_t batch_left(const struct batch *b, int64_t now);
/* Call when a plan begins, with all pods that have come. */
void batch_planned(struct batch *b);

#endif
