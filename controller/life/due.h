#ifndef CONTROLLER_LIFE_DUE_H
#define CONTROLLER_LIFE_DUE_H

#include "controller/life/life.h"

/*
 * due: compares a time with the clock. If the time lies ahead, schedules the machine's next turn
 * for it.
 *
 * On the loop thread.
 * Tests: tests/unit/controller/steps/test_leave_reason.c
 */

/* Schedules the next turn of the machine to begin in at most ms milliseconds. */
void life_due_in(struct life *l, int64_t ms);
/* True once `after` ms have passed since the wall time `since` (Unix ms). Until then schedules the
 * next turn for that time and returns false. Forward jumps of the clock since `since` do not count.
 * A negative `after` means never. */
bool life_is_due(struct life *l, int64_t since, int64_t after);
/* Returns the wall ms from which spec.expireAfter of the claim counts: its creation, or the end of
 * its wait for an approval. */
int64_t life_began(const struct life *l, const struct node_claim *n);
/* True once `after` ms have passed since the loop_now() time `seen`. Until then schedules the next
 * turn for that time and returns false. Does not use the wall clock. */
bool life_is_due_seen(struct life *l, int64_t seen, int64_t after);

#endif
