#ifndef PLANNER_HOLDS_H
#define PLANNER_HOLDS_H

#include "planner/gangs.h"

/*
 * holds: what is kept for a gang that lacks machines, so that it does not wait for ever behind those who need one each.
 *
 * A gang that has its turn and is not whole reserves machines: those with which it is whole the soonest, as a plan would choose
 * them at that time (planner/gang_try.h).  Its reservation stands: who is behind it in the queue gets none of these
 * machines, neither those that are free (they are held: HeldForGang) nor, when they come, the others; who is before it comes first.
 * All else is for whoever wants it.  Where the soonest time is known, the gang has it (plan_pod.expected), unless its hold ends
 * before.  Where it is not, because machines serve that nobody knows the end of, what is free is held wherever it stands, and so
 * is each that comes free.
 *
 * Machines do not stand idle for a gang for ever: world_put_hold() bounds that, and world_put_gang_hold() has who watches the
 * clock say when a hold began.  Once it is over, the gang waits like one of whom nothing is held (GangHoldOver), until
 * its rest is over.  A gang holds nothing that would not make it whole: fewer machines than it lacks will ever be free, or its
 * quota or the pool's limit is in the way.
 *
 * Machines that are held or reserved count for its tenant and for the pool's limits as if it had them.  Room on
 * Nodes is not kept: kube-scheduler binds there whom it likes.
 * Tests: tests/unit/planner/test_holds.c
 */
void holds_reserve(struct planning *p, struct plan_gang *g);

#endif
