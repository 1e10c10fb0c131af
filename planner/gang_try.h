#ifndef PLANNER_GANG_TRY_H
#define PLANNER_GANG_TRY_H

#include "planner/gangs.h"
#include "planner/supply.h"

/*
 * gang_try: places the pods that a gang lacks, all of them or none.
 *
 * Search order: without new machines before with new machines. In each of the two, the search first
 * tries single domains of the narrowest topology level, then of the next wider level, and so on,
 * then ignores levels. Of a level's domains come first those that need the fewest new machines,
 * then the smallest with room for all, so that large domains stay free as a whole. If some pods of
 * the gang are already placed, only the domain that contains all of them is considered.
 *
 * An attempt is a transaction: it takes bins (candidate nodes), opens claims and counts pods like
 * any placement. If it places fewer pods than needed, it is rolled back without a trace. Attempts
 * do not use the search positions stored in cells, because those are valid only while room shrinks.
 * Tests: tests/unit/planner/test_gangs.c, tests/unit/planner/test_oracle.c
 */
struct gang_miss {
	/* Number of pods that the last attempt placed before it was rolled back; that attempt
	 * ignores topology levels. */
	size_t placed;
	/* Reasons why the first pod that was not placed got no machine. */
	struct plan_reason *reasons;
	size_t nreasons;
};
/* Places the pods of the gang. True: each pod that was placed has a queued.seat (1 + its bin)
 * afterwards. False: no pod is placed, and *miss has the reasons. */
bool gang_try(struct planning *p, struct plan_gang *g, struct gang_miss *miss);

/*
 * Look-ahead: the same search as gang_try(), as if it were a later time at which more machines are
 * free (planner/holds.h). No pod is placed. The result is the list of machines (v, n) that the
 * needed pods would get.
 */
struct gang_ahead {
	/* The later time, Unix ms; SUPPLY_SOMETIME: include machines whose free time is unknown. */
	int64_t until;
	/* True: room on claims that the gang's pods would use stays reserved for them after the
	 * look-ahead. */
	bool keeps;
	/* True: ignore topology levels and existing room; of all suitable machines, choose those
	 * that are free first, including machines that now serve the tenant. */
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
