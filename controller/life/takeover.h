#ifndef CONTROLLER_LIFE_TAKEOVER_H
#define CONTROLLER_LIFE_TAKEOVER_H

#include "controller/life/life.h"

/*
 * takeover: a new leader's first acts at the BMC: the journal as seen, also while another leads; and whether its predecessor can
 * do nothing any more.
 * Tests: tests/world/test_fence.c
 */

/* A new leader's first acts at the BMC (life/takeover.c): the journal as seen, also while another leads; a
 * look that was answered; another leads; and whether its predecessor can do nothing any more. */
void life_follow_saw(struct life *l, const struct machine *m);
void life_follow_forget(struct life *l);
bool life_follow_may_act(struct life *l);

#endif
