#ifndef CONTROLLER_STEPS_LEAVE_REASON_H
#define CONTROLLER_STEPS_LEAVE_REASON_H

#include "controller/drain/leave.h"
#include "controller/life/life.h"

/*
 * leave_reason: decides whether a serving machine must leave its tenant, why, and how. The answer
 * is derived from the caches in each turn.
 *
 * While the machine serves, the answer starts a drain and is written to status.leave. While the
 * machine is drained, the answer is computed again. If the reason no longer exists, the machine
 * serves again, unless its claim is deleted, which cannot be undone.
 *
 * Drover's own reasons (Empty, Underutilized, Drifted, MovedHome, Expired, Reclaimed, TenantAsleep)
 * wait until the pool's disruption budgets allow them, and until the machine is neither paused nor
 * held. An instance that no BurstPolicy pays for any more does not wait. A drain that has already
 * begun for one of these reasons is continued as the journal records it.
 */
/* Returns why the machine must leave, and how; .reason NULL: the machine need not leave. Call in
 * the states serving and draining only. */
struct leave leave_reason(struct life *l);

#endif
