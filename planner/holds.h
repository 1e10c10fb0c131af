#ifndef PLANNER_HOLDS_H
#define PLANNER_HOLDS_H

#include "planner/gangs.h"

/*
 * holds: machines that are kept for a gang that lacks some, so that the gang does not wait for ever
 * behind pods that need one machine each.
 *
 * A gang that has its turn and is not whole reserves machines: those with which it is whole the
 * soonest, as a plan would choose them at that time (planner/gang_try.h).  Pods behind the gang get
 * none of these machines: neither the free ones, which are held (HeldForGang), nor the others when
 * they come.  Pods before the gang are served first, and machines that are not reserved go to
 * whoever wants them.  If the time at which the gang is whole is known, its pods are told
 * (plan_pod.expected), unless its hold ends before.  If it is not known, because machines serve for
 * an unknown time, every machine that would do is held as it comes free, wherever it is.
 *
 * Holds are bounded, because a held machine is idle:
 *	- in time, by tenant and by machine: world_put_tenant_hold(), world_put_machine_rest().  The
 *	  caller measures (controller/claims/gang_holds.h).  A gang whose tenant rests waits without
 *	  a hold (GangHoldOver).
 *	- in number: while pods of another tenant wait, one gang of a tenant reserves machines.
 *	- in amount: machines that are held or reserved count for the tenant's quota, its share and
 *	  the pool's limits.
 *	- in use: a gang holds nothing if it would not become whole: fewer machines than it lacks
 *	  will ever be free, or the quota or a limit is in the way.  A pod that only checks for room
 *	  (world_pod.check) holds nothing.
 *
 * Room on Nodes is not held, because kube-scheduler binds pods there by itself.
 * Tests: tests/unit/planner/test_holds.c, tests/world/test_hold_budget.c
 */
void holds_reserve(struct planning *p, struct plan_gang *g);

#endif
