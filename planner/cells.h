#ifndef PLANNER_CELLS_H
#define PLANNER_CELLS_H

#include "planner/topology.h"

/*
 * cells: lookup of cells (sets of interchangeable waiting pods), and of the parties (sets of pods
 * that could share a new machine) to which cells belong. See planning.h for both terms.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_topology.c
 */
struct cells;
struct cells *cells_new(struct planning *p);
/* Returns the cell of class c (equal pods) and topology profile s, created if missing. s NULL: no
 * pod in the plan has topology constraints. */
struct plan_cell *cells_of(struct planning *p, struct plan_class *c, struct plan_profile *s);
/* Adds one waiting pod of the cell to the counts of the cell's party (pods that could share a new
 * machine). */
void cells_join(const struct plan_cell *c);
/* Subtracts one waiting pod of the cell from the counts of the cell's party (pods that could share
 * a new machine). */
void cells_leave(const struct plan_cell *c);
/* Subtracts one pod from those that are expected on new machines (party.expected), because a pod of
 * the cell was placed on one. */
void cells_arrive(const struct plan_cell *c);

#endif
