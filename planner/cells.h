#ifndef PLANNER_CELLS_H
#define PLANNER_CELLS_H

#include "planner/topology.h"

/*
 * cells: lookup of cells (pods that a plan treats alike) and of the parties that they belong to;
 * terms as in planning.h.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_topology.c
 */
struct cells;
struct cells *cells_new(struct planning *p);
/* Returns the cell of a class and a topology profile (NULL: no pod has topology constraints). */
struct plan_cell *cells_of(struct planning *p, struct plan_class *c, struct plan_side *s);
/* Counts one more waiting pod of the cell. */
void cells_join(const struct plan_cell *c);
/* Counts one waiting pod less. */
void cells_leave(const struct plan_cell *c);

#endif
