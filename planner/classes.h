#ifndef PLANNER_CLASSES_H
#define PLANNER_CLASSES_H

#include "planner/planning.h"

/*
 * classes: the shapes of the pods that wait, as a plan works with them: what each asks for, as
 * numbers in columns, and what looking for its place costs.
 *
 * Order: classes_of() for each shape, classes_columns(), classes_requests() for each class.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_fit.c
 */

/* The class of a shape that a pending pod has. */
struct plan_class *classes_of(struct planning *p, struct world_shape *s);

/* A resource of that name has a column, if anybody offers it. */
void classes_want(struct planning *p, const char *name);

/* Looks at what is offered until all that is wanted has a column. */
void classes_columns(struct planning *p, const struct world_list *nodes,
		     const struct world_list *claims);

/* Whether anything has a taint that is a preference. */
void classes_soft(struct planning *p, const struct world_list *nodes,
		  const struct world_list *claims);

/* Once all columns are open. */
void classes_requests(struct planning *p, struct plan_class *c);

#endif
