#ifndef PLANNER_GANG_TRY_H
#define PLANNER_GANG_TRY_H

#include "planner/gangs.h"
#include "planner/supply.h"

/*
 * gang_try: places for what a gang lacks, all of them or none.
 *
 * First in the room that is there, then with new machines; each of the two in one domain of the
 * narrowest level, then of the next, then wherever there is room. Of a level's domains come first
 * those that need the fewest new machines, then the smallest that has room for all, so that large
 * ones stay whole. Where some of the gang have their places, only the domain comes into question in
 * which all of these are.
 *
 * A try takes bins, opens claims and counts pods as any pod does; one that does not get as many as
 * are needed is undone, and nothing shows that it ever was. It uses none of what cells keep in
 * mind: that holds because room only shrinks.
 * Tests: tests/unit/planner/test_gangs.c, tests/unit/planner/test_oracle.c
 */
struct gang_miss {
	/* at most, wherever */
	size_t placed;
	/* of the first that got none */
	struct plan_reason *reasons;
	size_t nreasons;
};
/* Those that got a place have a seat; false: none has. */
bool gang_try(struct planning *p, struct plan_gang *g, struct gang_miss *miss);

/*
 * The same as if it were that time (planner/holds.h): machines count that are free by then. No pod
 * gets a place; what is given out are the machines that all the pods that are needed would have,
 * and, with keeps, the room on claims that they would take stays theirs.
 */
struct gang_ahead {
	/* Unix ms; SUPPLY_SOMETIME: those of which nobody knows when, too */
	int64_t until;
	/* that room */
	bool keeps;
	/* Whatever level: what is free first, then what is free soonest, also what serves the
	 * tenant; but no room that is there. */
	bool anywhere;
	struct gang_machine {
		struct supply_pool *pool;
		const struct supply_line *line;
		struct world_stock *machine;
	} * v;
	size_t n, cap;
};
bool gang_try_ahead(struct planning *p, struct plan_gang *g, struct gang_ahead *out);

#endif
