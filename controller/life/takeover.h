#ifndef CONTROLLER_LIFE_TAKEOVER_H
#define CONTROLLER_LIFE_TAKEOVER_H

#include "controller/life/life.h"

/*
 * takeover: when a new leader may act at a machine's BMC: after two looks at it, and once no request of its
 * predecessor can be under way there.
 * Tests: tests/world/test_fence.c
 */

/* The Machine was seen in the cache, also while another replica leads: notes which act has begun, and when. */
void life_follow_saw(struct life *l, const struct machine *m);
/* Another replica leads: the next time here begins with two looks again. */
void life_follow_forget(struct life *l);
/* May an act go out to the BMC?  False: a look or the end of that time is waited for. */
bool life_follow_may_act(struct life *l);

#endif
