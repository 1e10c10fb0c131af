#ifndef PLANNER_OPENING_H
#define PLANNER_OPENING_H

#include "planner/bins.h"
#include "planner/supply.h"

/*
 * opening: opens a claim of the plan, and its bin, for a machine that was taken; places pods into
 * bins.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_gangs.c
 */
size_t opening_new(struct planning *p, const struct plan_class *c, const struct supply_offer *o);
void opening_take(struct planning *p, size_t bin, const struct plan_cell *c);

#endif
