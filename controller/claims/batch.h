#ifndef CONTROLLER_CLAIMS_BATCH_H
#define CONTROLLER_CLAIMS_BATCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * batch: how long a plan waits for the rest of a burst of pods, so that machines are chosen for the
 * group and not for whichever pod was marked first. A Job's pods come within seconds of one
 * another.
 *
 * A lone pod does not wait: it is planned after SETTLE_MS as any other change. One that comes less
 * than idle_ms after another opens a batch, which ends when no other has come for idle_ms, and
 * after most_ms at the longest. That bound holds whoever makes pods without end: each most_ms there
 * is a plan. Karpenter opens a batch for each pod, with 1 s and 10 s.
 *
 * Times are loop_now(). On the loop thread. Tests: tests/unit/controller/claims/test_batch.c
 */
struct batch {
	int64_t idle_ms, most_ms;
	/* of the pods that no plan had yet; last: of all */
	int64_t first, last;
	/* there is such a pod */
	bool waits;
	bool open;
};

/* A pod became demand, or what it asks for changed. */
void batch_came(struct batch *b, int64_t now);
/* How long the plan has to wait, in ms; 0: not at all. */
int64_t batch_left(const struct batch *b, int64_t now);
/* A plan begins, with all that came. */
void batch_planned(struct batch *b);

#endif
