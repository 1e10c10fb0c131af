#ifndef CONTROLLER_LIFE_TAKEOVER_H
#define CONTROLLER_LIFE_TAKEOVER_H

#include "controller/life/life.h"

/*
 * takeover: decides when a new leader may act on a machine. At the BMC: after two reads, and once
 * no request of its predecessor can be in flight there. At the port: once no move of its
 * predecessor can be in flight.
 * Tests: tests/world/test_fence.c
 */

/* Notes which act has begun, and when, from the Machine in the cache. Called while another replica
 * leads, too. */
void life_follow_saw(struct life *l, const struct machine *m);
/* Makes the next act here wait for two reads again, because another replica leads. */
void life_follow_forget(struct life *l);
/* True if the predecessor can no longer act at the BMC. False while reads, or the end of that time,
 * are pending. */
bool life_ensure_predecessor_done(struct life *l);

/* True if no earlier move of the port can take effect any more, except a move to `segment`, which
 * does no harm. False while the end of that time is pending. */
bool life_ensure_moves_landed(struct life *l, const char *segment);
/* Notes a move to `segment` whose end this process will not learn. */
void life_move_unheard(struct life *l, const char *segment);

#endif
