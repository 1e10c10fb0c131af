#ifndef PLANNER_REFUSAL_H
#define PLANNER_REFUSAL_H

#include "planner/planning.h"

/*
 * refusal: the single reason, about no pool, of a class for which no search is made or no claim may
 * be opened.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_gangs.c
 */
/* True if the tenant may not get machines now. */
bool refusal_is_of_tenant(const struct world_tenant *t);
/* Writes the reason to c->reasons, unless the class has reasons already. */
void refusal_of_tenant(struct planning *p, struct plan_class *c);
/* Writes the reason of a class with plan_class.refused. */
void refusal_of_pod(struct planning *p, struct plan_class *c);
void refusal_over_budget(struct planning *p, struct plan_class *c);

#endif
