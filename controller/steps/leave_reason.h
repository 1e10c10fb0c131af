#ifndef CONTROLLER_STEPS_LEAVE_REASON_H
#define CONTROLLER_STEPS_LEAVE_REASON_H

#include "controller/drain/leave.h"
#include "controller/life/life.h"

/*
 * leave: whether a machine that serves has to leave its tenant, why, and how it
 * may: asked from the caches at each turn, never remembered here.
 *
 * While serving the answer starts a drain and is written to status.leave; while
 * draining it is asked again: what no longer wants it to leave lets it serve on, as long as its claim
 * is not deleted, for that cannot be undone.
 * What drover begins for its own sake, Empty, Expired and TenantAsleep, waits for the budgets of the pool and for
 * nobody to have paused or held it; once begun, the journal says that it goes on.
 */
/* In serving and draining. */
struct leave leave_reason(struct life *l);

#endif
