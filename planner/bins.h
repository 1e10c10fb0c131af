#ifndef PLANNER_BINS_H
#define PLANNER_BINS_H

#include "planner/topology.h"

/*
 * bins: the candidate nodes of one tenant ("bins" of bin packing): serving nodes, then claims in
 * progress, then claims that this plan proposes.
 *
 * Room only shrinks while a plan is made. So a bin that did not fit a pod will not fit an equal pod
 * later, and each cell continues its search where its last pod found a bin.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_topology.c
 */
struct bin {
	/* PLAN_NOTHING: a node that accepts no pods, but whose pods count for topology
	 * constraints. */
	enum plan_outcome kind;
	const char *target;
	/* PLAN_ON_NEW: index into plan.claims. */
	size_t claim;
	const struct labels *labels;
	const struct world_taints *taints;
	/* NULL: no pool. */
	const struct world_pool *pool;
	/* PLAN_ON_NEW: permit of its machine (world.h). */
	const char *permit;
};

struct bins *bins_new(struct planning *p, struct plan_tenant *of);
/* Adds a bin with a copy of room, by column. Returns its index. */
size_t bins_add(struct bins *b, const struct bin *bin, const int64_t *room);
const struct bin *bins_at(const struct bins *b, size_t at);
/* Checks which bins added since the last call suit the fit. Call before topology_begin() and before
 * the functions below. */
void bins_look(struct bins *b, struct plan_fit *f);
/* Finds the first bin that fits, in order of preference score. False: none fits. Call only after
 * topology_begin() returned true. */
bool bins_find(struct bins *b, struct plan_cell *c, size_t *at);
/* True if the pod fits into that bin, with regard to labels, room and topology. */
bool bins_fits(struct bins *b, const struct plan_cell *c, size_t at);
/* Subtracts the requests of one pod from the bin's room. */
void bins_take(struct bins *b, size_t at, const struct plan_class *c);
/* Leaves no room in the bin. */
void bins_close(struct bins *b, size_t at);
/* True if the bin suits the fit, whatever room it has. Call after bins_look(). */
bool bins_suits(const struct plan_fit *f, size_t at);

/*
 * The following functions are for gangs, whose pods are placed without search positions and may be
 * taken out again. To roll back: bins_mark() for each fit beforehand; afterwards bins_give() for
 * each pod placed, then bins_cut() to the previous number of bins.
 */

size_t bins_count(const struct bins *b);
/* Returns the first bin from index `from` on that suits the class and has room for one pod;
 * bins_count(): none. */
size_t bins_next(struct bins *b, const struct plan_cell *c, size_t from);
/* Returns how many pods of the class fit into one bin; 0 if the bin does not suit. Call after
 * bins_look(). */
size_t bins_times(const struct bins *b, const struct plan_class *c, size_t at);
/* Writes the index of the bin's preference level in the fit, 0 the best. False: the bin does not
 * suit or has no room. */
bool bins_level(struct bins *b, const struct plan_class *c, size_t at, size_t *level);
/* Reverts one bins_take(). */
void bins_give(struct bins *b, size_t at, const struct plan_class *c);
struct bins_mark {
	struct plan_fit *fit;
	size_t seen;
};
struct bins_mark bins_mark(struct plan_fit *f);
void bins_cut(struct bins *b, size_t n, const struct bins_mark *m, size_t nmarks);

#endif
