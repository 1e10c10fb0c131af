#ifndef PLANNER_STAND_IN_H
#define PLANNER_STAND_IN_H

#include "planner/plan.h"

/*
 * stand_in: a machine for a claim that is to be replaced, before its own is given back: of its pool
 * and type, free as things stand, within limits and quota beside what its tenant has. Machines of
 * elastic Providers are not taken. As pure as plan_make(); no plan is made of the world meanwhile.
 * Nobody's place in a queue is looked at: ask when nobody waits and nothing is held.
 * Tests: tests/unit/planner/test_stand_in.c
 */
/* False: there is none, or no such claim. Names in *out are the world's, requirements and labels in
 * the arena; it is for no pods. */
bool plan_stand_in(struct world *w, const char *claim, struct arena *a, struct plan_claim *out);

#endif
