#ifndef CONTROLLER_CLAIMS_WHOLE_H
#define CONTROLLER_CLAIMS_WHOLE_H

#include "planner/plan.h"

/*
 * whole: what a plan wants for a gang is done whole or not at all.
 *
 * A claim may be held (a line that is stopped, a pool that fails) though the plan wants it. Then
 * the other claims that were opened for its gang are not created either, nor those of gangs that
 * have pods on these. A claim that tries a stopped line goes all the same: without it the line
 * would never be known to work again.
 * Tests: tests/unit/controller/claims/test_whole.c
 */
struct whole_claim {
	/* is created; in: as far as it alone is asked */
	bool goes;
	bool probe;
};
/* v: by plan.claims. */
void whole_gangs(const struct plan *p, struct whole_claim *v, struct arena *a);

#endif
