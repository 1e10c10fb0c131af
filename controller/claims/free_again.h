#ifndef CONTROLLER_CLAIMS_FREE_AGAIN_H
#define CONTROLLER_CLAIMS_FREE_AGAIN_H

#include "controller/claims/eta.h"
#include "controller/core/context.h"

/*
 * free_again: when a machine that is not free is expected to be.
 *
 * On its way from a tenant, and in a quarantine that drover ends itself: by what was measured of
 * others from that state on, of those that took at least as long as it has by now. One that drains
 * under a deadline leaves then at the latest. One that serves: when its claim expires; or once its
 * Node has been empty for as long as its pool lets it, if that is sooner: where all pods on it have
 * an end (activeDeadlineSeconds), counted from the last of these. Of another nobody knows. Nor of
 * one that is to be taken out of use, or that drover does not manage.
 * Tests: tests/unit/controller/claims/test_free_again.c, tests/world/test_eta.c
 */
#define EMPTY_MIN_MS (10 * 60 * 1000)
/* For how long a Node of the pool stays empty before it goes, ms; less than 0: it does not go for
 * that. */
int64_t free_again_quiet_ms(const struct context *c, const struct node_pool *p);

struct tenants;
/* Wall ms; false: not known. */
bool free_again(const struct context *c, const struct tenants *ts, const struct eta *e,
		const struct machine *m, struct eta_span *out);
/* It serves or is on its way, there or back, and will be free some day without a person's doing,
 * whoever knows when. */
bool free_again_ever(const struct context *c, const struct machine *m);

#endif
