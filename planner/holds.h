#ifndef PLANNER_HOLDS_H
#define PLANNER_HOLDS_H

#include "planner/gangs.h"

/*
 * holds: machines reserved for a gang that lacks machines, so that the gang does not wait forever
 * behind pods that need one machine each.
 *
 * A gang that is served and is not whole reserves machines: those with which it becomes whole the
 * soonest, as a plan would choose them at that time (planner/gang_try.h). Pods behind the gang get
 * none of these machines: neither the free ones (HeldForGang), nor the others when they become
 * free. Pods before the gang are served first, and machines that are not reserved are available to
 * any pod. If the time at which the gang becomes whole is known, it is reported for the gang's pods
 * (plan_pod.expected), unless the hold ends before. The time is not known if machines serve for an
 * unknown time. Then every suitable machine is reserved as it becomes free, wherever it is.
 *
 * Holds are bounded, because a reserved machine is idle:
 * - in time, by tenant and by machine: world_put_tenant_hold(), world_put_machine_rest(). The
 *   caller measures the times (controller/claims/gang_holds.h). A gang whose tenant may not reserve
 *   now waits without a hold (GangHoldOver).
 * - in number: while pods of another tenant wait, only one gang of a tenant reserves machines.
 * - in amount: reserved machines count for the tenant's quota, its share and the pool's limits.
 * - in use: a gang reserves nothing if it would not become whole, because fewer machines than it
 *   lacks will ever be free, or because the quota or a limit refuses them. A pod that only checks
 *   for room (world_pod.check) reserves nothing.
 *
 * Room on Nodes is not reserved, because kube-scheduler binds pods there by itself.
 * Tests: tests/unit/planner/test_holds.c, tests/world/test_hold_budget.c
 */
void holds_reserve(struct planning *p, struct plan_gang *g);

#endif
