#ifndef CONTROLLER_LIFE_TAKEOVER_H
#define CONTROLLER_LIFE_TAKEOVER_H

#include "controller/life/life.h"

/*
 * takeover: when a new leader may act on a machine: at its BMC after two looks at it, and once no
 * request of its predecessor can be under way there; at its port once no move of its predecessor
 * can.
 * Tests: tests/world/test_fence.c
 */

/* The Machine was seen in the cache, also while another replica leads: notes which act has begun,
 * and when. */
void life_follow_saw(struct life *l, const struct machine *m);
/* Another replica leads: the next time here begins with two looks again. */
void life_follow_forget(struct life *l);
/* The leader before can do nothing any more at the BMC. False: a look or the end of that time is
 * waited for. */
bool life_ensure_predecessor_done(struct life *l);

/* No move of the port that was begun before can land any more, but for one to that segment, which
 * does no harm to who wants it there. False: the end of that time is waited for. */
bool life_ensure_moves_landed(struct life *l, const char *segment);
/* A move to there is on its way, and its end will not be heard. */
void life_move_unheard(struct life *l, const char *segment);

#endif
