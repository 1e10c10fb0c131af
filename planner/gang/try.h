#ifndef PLANNER_GANG_TRY_H
#define PLANNER_GANG_TRY_H

#include "planner/gang/gangs.h"
#include "planner/supply/supply.h"

/*
 * try: places the pods that a gang lacks, all of them or none.
 *
 * Search order: first without new machines, then with new machines. In each of the two cases, the
 * search first tries single domains of the narrowest topology level, then single domains of the
 * next wider level, and so on. Last, it ignores topology levels. Within a level, domains that need
 * the fewest new machines are tried first; of these, the smallest with room for all pods comes
 * first, so that large domains stay free as a whole. If some pods of the gang are already placed,
 * only the domain that contains all of them is tried.
 *
 * An attempt is a transaction: it places pods in bins (candidate nodes), opens claims and counts
 * pods for topology constraints. If it places fewer pods than needed, all these changes are rolled
 * back. Attempts do not use the search positions stored in cells, because those are valid only
 * while room shrinks.
 * Tests: tests/unit/planner/gang/test_gangs.c, tests/unit/planner/test_oracle.c
 */
struct gang_miss {
	/* Number of pods that the last attempt (the one that ignores topology levels) placed before
	 * it was rolled back. */
	size_t placed;
	/* Reasons why the first pod that was not placed got no machine. */
	struct plan_reason *reasons;
	size_t nreasons;
};
/* Places the pods of the gang. True: each pod that was placed has a queued.seat (1 + index of its
 * bin) afterwards. False: no pod is placed, and *miss contains the reasons. */
bool gang_try(struct planning *p, struct plan_gang *g, struct gang_miss *miss);

/*
 * Look-ahead: the same search as gang_try(), but with the machines that will be free at a later
 * time (planner/gang/holds.h). No pod is placed. The result is the list of machines (v, n) that the
 * gang's pods would get.
 */
struct gang_ahead {
	/* The later time, Unix ms; SUPPLY_SOMETIME: include machines whose free time is unknown. */
	int64_t until;
	/* True: room on claims in progress that the gang's pods would use stays reserved for these
	 * pods after the look-ahead. */
	bool keeps;
	/* True: ignore topology levels and existing room. Of all suitable machines, choose those
	 * that become free earliest, including machines that serve the gang's tenant now. */
	bool anywhere;
	struct gang_machine {
		struct supply_pool *pool;
		const struct supply_type_offer *offer;
		struct world_stock *machine;
	} * v;
	size_t n, cap;
};
bool gang_try_ahead(struct planning *p, struct plan_gang *g, struct gang_ahead *out);

#endif
