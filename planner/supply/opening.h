#ifndef PLANNER_SUPPLY_OPENING_H
#define PLANNER_SUPPLY_OPENING_H

#include "planner/bins.h"
#include "planner/supply/supply.h"

/*
 * opening: opens planned claims and places pods into bins (candidate nodes, bins.h).
 *
 * opening_new() adds a claim on the machine of offer *o to the plan, and returns the index of the
 * claim's new bin. opening_take() places one pod of the cell into bin `bin`: subtracts the pod's
 * requests from the bin's room, and counts the pod for topology constraints.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/gang/test_gangs.c
 */
struct plan_opened {
	/* Pool and offer of the claim's machine. */
	struct supply_pool *from;
	const struct supply_type_offer *offer;
	/* Tenant of the claim, and index of its bin. */
	struct plan_tenant *tenant;
	size_t bin;
};
size_t opening_new(struct planning *p, const struct plan_class *c, const struct supply_choice *o);
void opening_take(struct planning *p, size_t bin, const struct plan_cell *c);

#endif
