#ifndef CONTROLLER_LIFE_TAKEOVER_H
#define CONTROLLER_LIFE_TAKEOVER_H

#include "controller/life/life.h"

/*
 * takeover: decides when a new leader may act on a machine. At the BMC: after two reads, and once
 * no request of the previous leader can be in flight there. At the port: once no move by the
 * previous leader can be in flight.
 * Tests: tests/world/test_fence.c
 */

/* Records which act the Machine m in the cache shows as begun, and when this process saw that. Call
 * at each change of the Machine, also while another replica leads. */
void life_follow_saw(struct life *l, const struct machine *m);
/* Forgets what this process has read of the machine's power at the BMC: the next act there waits
 * for two new reads. Call while another replica leads. */
void life_follow_forget(struct life *l);
/* True if the previous leader can no longer act at the BMC. False while the two reads are missing,
 * or the time limit of the previous leader's last request has not passed. */
bool life_ensure_predecessor_done(struct life *l);

/* True if no earlier move of the port can take effect any more. A move to `segment` does no harm
 * and does not count. False until the time limit of the earlier move has passed. */
bool life_ensure_moves_landed(struct life *l, const char *segment);
/* Records a move of the port to `segment` that was begun, but whose end this process will not
 * learn. */
void life_move_unheard(struct life *l, const char *segment);

#endif
