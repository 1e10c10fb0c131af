#ifndef CONTROLLER_STEPS_LEAVE_REASON_H
#define CONTROLLER_STEPS_LEAVE_REASON_H

#include "controller/drain/leave.h"
#include "controller/life/life.h"

/*
 * leave_reason: decides whether a serving machine must leave its tenant, why, and how. Derived from
 * the caches in each turn; nothing is remembered here.
 *
 * While serving, the answer starts a drain and is written to status.leave. While draining it is
 * computed again: if the reason no longer exists, the machine serves again, unless its claim is
 * deleted, which cannot be undone. Drover's own reasons (Empty, Underutilized, Drifted, Expired,
 * Reclaimed, TenantAsleep) wait for the pool's disruption budgets, and while the machine is paused
 * or held; an instance that no BurstPolicy pays for any more does not wait. A drain already begun
 * for one of them continues, according to the journal.
 */
/* Returns why the machine must leave; .reason NULL: it need not. For serving and draining. */
struct leave leave_reason(struct life *l);

#endif
