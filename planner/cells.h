#ifndef PLANNER_CELLS_H
#define PLANNER_CELLS_H

#include "planner/topology.h"

/*
 * cells: pods that are alike in all that a plan looks at; the parties that they are of.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_topology.c
 */
struct cells;
struct cells *cells_new(struct planning *p);
/* The cell of a class and a side (NULL: nobody asks for topology). */
struct plan_cell *cells_of(struct planning *p, struct plan_class *c, struct plan_side *s);
/* One more, or one less, of its pods waits. */
void cells_join(const struct plan_cell *c);
void cells_leave(const struct plan_cell *c);

#endif
