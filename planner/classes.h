#ifndef PLANNER_CLASSES_H
#define PLANNER_CLASSES_H

#include "planner/planning.h"

/*
 * classes: the plan's view of the shapes of waiting pods: requests by column, and the work units
 * that a search costs.
 *
 * Call order: classes_of() for each shape, classes_columns(), classes_requests() for each class.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_fit.c
 */

/* Returns the class of a pending pod's shape. */
struct plan_class *classes_of(struct planning *p, struct world_shape *s);

/* Requests a column for the resource; it gets one if anything offers it. */
void classes_want(struct planning *p, const char *name);

/* Assigns columns to the requested resources that nodes, claims or instance types offer. */
void classes_columns(struct planning *p, const struct world_list *nodes,
		     const struct world_list *claims);

/* Sets p->soft if a pool, node or claim has a PreferNoSchedule taint. */
void classes_soft(struct planning *p, const struct world_list *nodes,
		  const struct world_list *claims);

/* Computes the class's requests by column. Call after classes_columns(). */
void classes_requests(struct planning *p, struct plan_class *c);

#endif
