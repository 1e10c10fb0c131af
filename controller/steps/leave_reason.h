#ifndef CONTROLLER_STEPS_LEAVE_REASON_H
#define CONTROLLER_STEPS_LEAVE_REASON_H

#include "controller/drain/leave.h"
#include "controller/life/life.h"

/*
 * leave_reason: whether a machine that serves has to leave its tenant, why, and in what way.
 * Derived from the caches at each turn; nothing is remembered here.
 *
 * While serving, the answer starts a drain and is written to status.leave. While draining it is
 * asked again: when the reason is gone the machine serves on, unless its claim is deleted, which
 * cannot be undone. The reasons of drover itself (Empty, Drifted, Expired, Reclaimed, TenantAsleep)
 * wait for the budgets of the pool, and while the machine is paused or held. A drain that has begun
 * for one of them goes on, as the journal says.
 */
/* In serving and draining. */
struct leave leave_reason(struct life *l);

#endif
