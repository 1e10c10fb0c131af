#ifndef PLANNER_REFUSAL_H
#define PLANNER_REFUSAL_H

#include "planner/planning.h"

/*
 * refusal: reasons for classes (sets of equal pods) for which no search is made or no claim may be
 * opened. Such a class gets a single reason, which does not name a pool.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/gang/test_gangs.c
 */
/* True if the tenant may not get machines now, because it is paused or its Kubernetes version is
 * unknown. */
bool refusal_is_of_tenant(const struct world_tenant *t);
/* Writes to c->reasons why the tenant may not get machines, unless the class has reasons
 * already. */
void refusal_of_tenant(struct planning *p, struct plan_class *c);
/* Writes to c->reasons why the pods themselves cannot be placed (plan_class.refused), unless the
 * class has reasons already. */
void refusal_of_pod(struct planning *p, struct plan_class *c);
/* Returns the reason of those pods of the tenant that its work units do not suffice for. */
struct plan_reason *refusal_over_budget(const struct planning *p, struct plan_tenant *t);

#endif
