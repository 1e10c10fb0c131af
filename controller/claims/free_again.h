#ifndef CONTROLLER_CLAIMS_FREE_AGAIN_H
#define CONTROLLER_CLAIMS_FREE_AGAIN_H

#include "controller/claims/eta.h"
#include "controller/core/context.h"

/*
 * free_again: estimates when a machine that is not free will be free.
 *
 * Leaving a tenant, or in a quarantine that drover ends itself: by samples of other machines from
 * that state on that took at least as long as this machine has by now. A machine that drains under
 * a deadline leaves at the deadline at the latest. Serving: when its claim expires; or, if sooner,
 * once its Node has been empty for as long as its pool demands, if all pods on it have an end
 * (activeDeadlineSeconds), counted from the last end. For any other machine the time is not known,
 * nor for one that is to be taken out of use or that drover does not manage.
 * Tests: tests/unit/controller/claims/test_free_again.c, tests/world/test_eta.c
 */
#define EMPTY_MIN_MS (10 * 60 * 1000)
/* Returns for how long a Node of the pool must be empty before it is released, ms; negative: it is
 * never released for being empty. */
int64_t free_again_quiet_ms(const struct context *c, const struct node_pool *p);

struct tenants;
/* Sets *out to the wall ms at which the machine is expected to be free. False: not known. */
bool free_again(const struct context *c, const struct tenants *ts, const struct eta *e,
		const struct machine *m, struct eta_span *out);
/* True if the machine serves, or is on its way to or from serving, and will be free some day
 * without an operator, even if the time is not known. */
bool free_again_ever(const struct context *c, const struct machine *m);

#endif
