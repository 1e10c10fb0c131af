#ifndef CONTROLLER_CLAIMS_FREE_AGAIN_H
#define CONTROLLER_CLAIMS_FREE_AGAIN_H

#include "controller/claims/eta.h"
#include "controller/core/context.h"

/*
 * free_again: when a machine that is not free is expected to be.
 *
 * On its way from a tenant, and in a quarantine that drover ends itself: by what was measured of others from that state on, of
 * those that took at least as long as it has by now.  One that drains under a deadline leaves then at the latest.  One that
 * serves: when its claim expires; of another nobody knows.  Nor of one that is to be taken out of use, or that drover
 * does not manage.
 * Tests: tests/unit/controller/claims/test_free_again.c, tests/world/test_eta.c
 */
/* Wall ms; false: not known. */
bool free_again(const struct context *c, const struct eta *e, const struct machine *m,
		struct eta_span *out);
/* It serves or is on its way, there or back, and will be free some day without a person's doing, whoever knows when. */
bool free_again_ever(const struct context *c, const struct machine *m);

#endif
