#ifndef CONTROLLER_LIFE_PAID_H
#define CONTROLLER_LIFE_PAID_H

#include "controller/life/life.h"

/*
 * paid: decides when an instance that a BurstPolicy pays for must end.
 *
 * The instance may run until its NodeClaim expires (spec.expireAfter: maxRuntime plus boot time,
 * counted from the creation of the claim, or from its approval). It may also not run longer than
 * PAID_GONE_MS after its BurstPolicy was deleted and not created again. Then drover terminates the
 * instance. Nothing postpones this end (safety invariant S6): no cordon, no hold, no Drain, no
 * disruption budget, no pause of the NodePool, the VirtualCluster, the Provider or the Machine, and
 * no unreachable tenant. Pods get at most PAID_GRACE_MS to terminate.
 *
 * On the loop thread.
 * Tests: tests/world/test_burst_end.c, tests/unit/controller/steps/test_leave_reason.c
 */
/* Longest time for which an instance may run without its BurstPolicy. It is long enough for kubectl
 * replace --force, which deletes a policy and creates it again. */
#define PAID_GONE_MS 60000
#define PAID_GRACE_MS ((int64_t)3 * 60 * 1000)

/* True if the instance of this machine has reached the end of what its BurstPolicy pays for. False
 * before that end, and if no BurstPolicy pays for the machine. Schedules the next turn of the
 * machine no later than the end. */
bool life_paid_over(struct life *l);

#endif
