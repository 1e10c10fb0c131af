#ifndef PLANNER_REFUSAL_H
#define PLANNER_REFUSAL_H

#include "planner/planning.h"

/*
 * refusal: what a class is told where nothing is looked for, or nothing new may be opened: one
 * reason, of no pool.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_gangs.c
 */
/* The tenant gets no machines now. */
bool refusal_is_of_tenant(const struct world_tenant *t);
/* Into class_->reasons, where there are none yet. */
void refusal_of_tenant(struct planning *p, struct plan_class *c);
/* of one that is refused */
void refusal_of_pod(struct planning *p, struct plan_class *c);
void refusal_over_budget(struct planning *p, struct plan_class *c);

#endif
