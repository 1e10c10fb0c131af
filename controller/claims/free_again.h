#ifndef CONTROLLER_CLAIMS_FREE_AGAIN_H
#define CONTROLLER_CLAIMS_FREE_AGAIN_H

#include "controller/core/eta.h"
#include "controller/core/context.h"

/*
 * free_again: estimates when a machine that is not free will be free.
 *
 * - A machine that leaves a tenant, or is in a quarantine that drover ends itself: the estimate
 *   comes from the times that other machines took from the same state on (eta.h). Times shorter
 *   than this machine has been in the state are left out. A machine that drains under a deadline
 *   leaves at the deadline at the latest.
 * - A machine that serves: it leaves when its claim expires. If all pods on its Node have an end
 *   (activeDeadlineSeconds), it leaves as soon as the Node has been empty, after the last end, for
 *   as long as its pool demands, if that is earlier.
 * - Any other machine, a machine that will be taken out of use, and a machine that drover does not
 *   manage: not known.
 *
 * Tests: tests/unit/controller/claims/test_free_again.c, tests/world/test_eta.c
 */
#define EMPTY_MIN_MS (10 * 60 * 1000)
/* Returns for how long (ms) a Node of the pool must be empty before it is released; a negative
 * value means that it is never released for being empty. */
int64_t free_again_quiet_ms(const struct context *c, const struct node_pool *p);

struct tenants;
/* Sets *out to the wall ms (p50 and p90) at which the machine is expected to be free. False: not
 * known. */
bool free_again(const struct context *c, const struct tenants *ts, const struct eta *e,
		const struct machine *m, struct eta_span *out);
/* True if the machine will become free without an operator, even if the time is not known. The
 * machine must be managed, and neither a Drain nor its status.leave may take it out of use. It must
 * be claimed, serve without a hold, be on its way back to free, be a warm machine that is being
 * switched off, or be in a quarantine that drover ends itself. */
bool free_again_ever(const struct context *c, const struct machine *m);

#endif
