#ifndef CONTROLLER_CLAIMS_WHOLE_H
#define CONTROLLER_CLAIMS_WHOLE_H

#include "planner/plan.h"

/*
 * whole: ensures that either all claims that a plan makes for a gang are created, or none of them.
 *
 * A claim of the plan may be paused (circuit breaker, failing pool). The other claims that were
 * opened for its gang are then not created either. Neither are the claims of other gangs that have
 * pods on one of these claims. A trial claim of the circuit breaker is created in any case, because
 * without a trial the breaker would never close.
 * Tests: tests/unit/controller/claims/test_whole.c
 */
struct whole_claim {
	/* goes: before whole_gangs(), true if the claim by itself may be created; afterwards, true
	 * if it is created. probe: true for a trial claim of the circuit breaker. */
	bool goes;
	bool probe;
};
/* Clears v[i].goes of each claim whose gang is incomplete. v: one element for each claim of plan p,
 * in the order of p->claims. */
void whole_gangs(const struct plan *p, struct whole_claim *v, struct arena *a);

#endif
