#ifndef PLANNER_CLASSES_H
#define PLANNER_CLASSES_H

#include "planner/planning.h"

/*
 * classes: groups waiting pods into classes (pods with equal constraints and requests). Computes
 * for each class its requests by column (array index of a resource, planning.h), and the work units
 * that one check of its pods costs.
 *
 * Call order: classes_of() for each shape, classes_columns(), classes_requests() for each class.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_fit.c
 */

/* Returns the class of shape s, created if missing. A shape is the data that equal pods share
 * (world_impl.h). */
struct plan_class *classes_of(struct planning *p, struct world_shape *s);

/* Adds the resource to the list of those that pods request. classes_columns() then assigns a column
 * (array index, planning.h) if something offers the resource. */
void classes_want(struct planning *p, const char *name);

/* Assigns columns (array indexes, planning.h) to those requested resources that nodes, claims or
 * instance types offer. */
void classes_columns(struct planning *p, const struct world_list *nodes,
		     const struct world_list *claims);

/* Sets p->soft if a pool, node or claim has a PreferNoSchedule taint. */
void classes_soft(struct planning *p, const struct world_list *nodes,
		  const struct world_list *claims);

/* Returns the work units (plan.h) that one check of a node's labels and taints costs for the
 * pod. */
uint64_t classes_fit_cost(const struct world_pod *p);

/* Computes c->asks, the class's requests by column. Sets c->impossible if nothing offers a
 * requested resource. Call after classes_columns(). */
void classes_requests(struct planning *p, struct plan_class *c);

#endif
