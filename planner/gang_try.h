#ifndef PLANNER_GANG_TRY_H
#define PLANNER_GANG_TRY_H

#include "planner/gangs.h"
#include "planner/supply.h"

/*
 * gang_try: places the pods that a gang lacks, all of them or none.
 *
 * Search order: without new machines before with new machines; in each of the two, within one
 * domain of the narrowest topology level, then of the next wider level, then without regard to
 * levels. Of a level's domains come first those that need the fewest new machines, then the
 * smallest with room for all, so that large domains stay free as a whole. If some pods of the gang
 * are already placed, only the domain that contains all of them is considered.
 *
 * An attempt is a transaction: it takes bins, opens claims and counts pods like any placement. If
 * it places fewer pods than needed, it is rolled back without a trace. Attempts do not use the
 * search positions stored in cells, because those are valid only while room shrinks.
 * Tests: tests/unit/planner/test_gangs.c, tests/unit/planner/test_oracle.c
 */
struct gang_miss {
	/* Largest number of pods that could be placed, whatever the location. */
	size_t placed;
	/* Reasons of the first pod that was not placed. */
	struct plan_reason *reasons;
	size_t nreasons;
};
/* Places the pods of the gang; each placed pod has its bin in queued.seat afterwards. False: none
 * is placed, and *miss has the reasons. */
bool gang_try(struct planning *p, struct plan_gang *g, struct gang_miss *miss);

/*
 * Looks ahead: the same search as if it were a later time, when more machines are free
 * (planner/holds.h). No pod is placed; the result is the list of machines that the needed pods
 * would get.
 */
struct gang_ahead {
	/* The later time, Unix ms; SUPPLY_SOMETIME: include machines for which no time is known. */
	int64_t until;
	/* True: room on claims that the pods would use stays reserved for them. */
	bool keeps;
	/* True: ignore topology levels and existing room; take the machines that are free first,
	 * including machines that now serve the tenant. */
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
