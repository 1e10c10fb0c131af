#ifndef PLANNER_RECLAIM_CANDIDATES_H
#define PLANNER_RECLAIM_CANDIDATES_H

#include "planner/planning.h"

/*
 * reclaim_candidates: the machines that a reclaim pass may take back from their tenants, and what
 * taking them would cost.
 *
 * Machines with pods of one gang form a unit, because they can only be taken back together. A gang
 * with a pod on a machine that is no candidate bars its whole unit.
 */

/* A machine that serves a tenant in a pool whose reclaim policy allows it to be taken back. */
struct candidate {
	const struct world_claim *claim;
	struct plan_tenant *tenant;
	const struct world_pool *pool;
	const struct world_stock *m;
	/* Work of the machine's pods that would be lost: the sum of run time times GPUs, in ms
	 * times thousandths of a GPU. */
	__int128 lost;
	/* Cost of moving the machine to the next tenant, in the same unit. */
	__int128 move;
	/* Longest run time of a pod on the machine, in ms. */
	int64_t age;
	/* Highest priority of the machine's pods, as it counts among tenants. */
	int64_t priority;
	/* Index of the unit's root, or of a machine closer to it; equal to the own index in the
	 * root. */
	size_t root;
	/* Sums over all machines of the unit (machines that can only be taken back together); valid
	 * only in the unit's root, its first machine. */
	struct {
		size_t n, fits;
		__int128 cost;
		int64_t age;
		bool barred;
		/* Position of the unit: index of its group (reclaim_groups.h), and index in v of
		 * that group */
		size_t group, place;
	} unit;
	/* Index of the next machine of the same unit (machines that can only be taken back
	 * together); SIZE_MAX: this is the last one. */
	size_t next;
	/* barred: the machine must not be taken, because it has no Node, its Node is cordoned, its
	 * claim is younger than RECLAIM_KEEP_MS, or its gang has a pod on a machine that is no
	 * candidate (set for one machine of the gang; see unit.barred). taken: set and cleared by
	 * reclaim.c. */
	bool barred, taken;
};

/* Finds all candidates and their units, in portions, so that a plan can be made in slices:
 * reclaim_search_next() does one portion and returns false once all are done. Then
 * reclaim_search_found() returns the candidates, oldest claim first, *n of them. All is allocated
 * in the plan's arena. */
struct reclaim_search;
struct reclaim_search *reclaim_search_new(struct planning *p, int64_t now_ms);
bool reclaim_search_next(struct reclaim_search *s);
struct candidate *reclaim_search_found(const struct reclaim_search *s, size_t *n);

/* Returns the weight of requests or of a capacity: its GPUs in thousandths, or, without GPUs, a
 * part of its CPUs. */
__int128 reclaim_weight_of(const struct resources *r);
/* Returns the expected duration in ms of the machine's move to the next tenant (drain, wipe,
 * boot). */
int64_t reclaim_move_ms_of(const struct planning *p, const struct world_machine *m);

#endif
