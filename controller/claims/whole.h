#ifndef CONTROLLER_CLAIMS_WHOLE_H
#define CONTROLLER_CLAIMS_WHOLE_H

#include "planner/plan.h"

/*
 * whole: carries out what a plan decides for a gang completely or not at all.
 *
 * A claim that the plan made may be held back (circuit breaker, failing pool). Then the other
 * claims that were opened for its gang are not created either, nor those of gangs with pods on
 * these claims. A trial claim of the circuit breaker is created in any case, because without a
 * trial the breaker would never close.
 * Tests: tests/unit/controller/claims/test_whole.c
 */
struct whole_claim {
	/* goes: the claim is created. On entry: whether it may be created on its own. probe: a
	 * trial claim. */
	bool goes;
	bool probe;
};
/* Clears `goes` of claims whose gang is incomplete. v: one element for each of p->claims. */
void whole_gangs(const struct plan *p, struct whole_claim *v, struct arena *a);

#endif
