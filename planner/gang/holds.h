#ifndef PLANNER_GANG_HOLDS_H
#define PLANNER_GANG_HOLDS_H

#include "planner/gang/gangs.h"

/*
 * holds: reserves machines for a gang that lacks machines, so that the gang does not wait forever
 * behind pods that need one machine each.
 *
 * A gang that is served and is not whole reserves the machines with which it becomes whole the
 * earliest, as a plan would choose them at that time (planner/gang/try.h). Pods behind the gang in
 * the queue get none of the reserved machines: neither those that are free now (reason HeldForGang)
 * nor those that become free later. Pods before the gang are served first. Machines that are not
 * reserved are available to any pod.
 *
 * If the time at which the gang becomes whole is known, it is reported for the gang's pods
 * (plan_pod.expected), unless the reservation ends before that time. The time is not known if it
 * depends on machines whose free time is unknown. Then every suitable machine is reserved as it
 * becomes free, in whatever topology domain.
 *
 * Reservations are bounded, because a reserved machine is idle:
 * - in time, by tenant and by machine: world_put_tenant_hold(), world_put_machine_rest(). The
 *   caller measures the times (controller/claims/gang_holds.h). A gang whose tenant may not reserve
 *   now waits without reserved machines (reason GangHoldOver).
 * - in number: while pods of another tenant wait, only one gang of a tenant reserves machines.
 * - in amount: reserved machines count for the tenant's quota, its share and the pool's limits.
 * - in use: a gang reserves nothing if it would not become whole, because fewer machines than it
 *   lacks will ever be free, or because a quota or limit refuses them. A pod that only checks for
 *   room (world_pod.check) reserves nothing.
 *
 * Room on Nodes is not reserved, because kube-scheduler binds pods there without asking drover.
 * Tests: tests/unit/planner/gang/test_holds.c, tests/world/test_hold_budget.c
 */
void holds_reserve(struct planning *p, struct plan_gang *g);

#endif
