#ifndef PLANNER_BINS_H
#define PLANNER_BINS_H

#include "planner/topology.h"

/*
 * bins: the candidate nodes of one tenant ("bins" of bin packing): serving nodes, then claims in
 * progress, then claims that this plan proposes.
 *
 * Room only shrinks while a plan is made, except when reserved room becomes available
 * (supply/reserve.h). So a bin that did not fit a pod will not fit an equal pod later. Each cell (a
 * set of interchangeable pods, planning.h) therefore continues its search at the bin in which its
 * last pod was placed.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_topology.c
 */
struct bin {
	/* PLAN_ON_NODE, PLAN_ON_CLAIM or PLAN_ON_NEW. PLAN_NOTHING: a node that accepts no pods,
	 * but whose pods count for topology constraints. */
	enum plan_outcome kind;
	const char *target;
	/* PLAN_ON_NEW: index into plan.claims of the claim that the plan opens. */
	size_t claim;
	const struct labels *labels;
	const struct world_taints *taints;
	/* Pool of the node or claim; NULL: a node without a pool. */
	const struct world_pool *pool;
	/* PLAN_ON_NEW: permit of the claimed machine; NULL: none. A permit is a BurstPolicy's
	 * decision to launch one cloud instance (see world_machine.permit). */
	const char *permit;
};

struct bins *bins_new(struct planning *p, struct plan_tenant *of);
/* Adds a bin with a copy of room, an array of free amounts with one element for each resource
 * column (planning.h). Returns the bin's index. */
size_t bins_add(struct bins *b, const struct bin *bin, const int64_t *room);
/* Records the shared volumes (attachments.h) of the pods that are bound to the bin's node. */
void bins_load(struct bins *b, size_t at, const struct world_load *l);
const struct bin *bins_at(const struct bins *b, size_t at);
/* Records in *f which bins suit the pods of the fit (pods that differ only in their requests) by
 * labels, taints, RuntimeClass and permit. Checks only the bins added since the last call. Call
 * before topology_begin() and before the functions below. */
void bins_check(struct bins *b, struct plan_fit *f);
/* Finds the first bin that fits a pod of the cell (a set of interchangeable pods); bins with a
 * higher preference score come first. *at: the bin's index. False: no bin fits. If the cell has
 * topology constraints, topology_begin() must have returned true before. */
bool bins_find(struct bins *b, struct plan_cell *c, size_t *at);
/* True if a pod of the cell may be placed in bin `at`: the bin suits (labels, taints, RuntimeClass,
 * permit), has room, and meets the topology constraints. */
bool bins_fits(struct bins *b, const struct plan_cell *c, size_t at);
/* Subtracts the requests of class c, for one pod, from the free amounts of bin `at`. */
void bins_take(struct bins *b, size_t at, const struct plan_class *c);
/* Subtracts the requests from the free amounts of bin `at`. False: the bin has less, and nothing
 * was subtracted. */
bool bins_reserve(struct bins *b, size_t at, struct asks asks);
/* Reverts a bins_reserve() that returned true. */
void bins_unreserve(struct bins *b, size_t at, struct asks asks);
/* Returns the free amounts of bin `at`, by column. */
const int64_t *bins_room(const struct bins *b, size_t at);
/* Sets the free number of pods of bin `at` to the minimum, so that no further pod fits. */
void bins_close(struct bins *b, size_t at);
/* True if bin `at` suits the pods of the fit (pods that differ only in their requests) by labels,
 * taints, RuntimeClass and permit. Ignores the bin's room. Call after bins_check(). */
bool bins_suits(const struct plan_fit *f, size_t at);

/*
 * The following functions are for gangs, whose placement may be rolled back. Gangs do not use the
 * search positions of cells.
 *
 * To roll back: call bins_mark() for each fit before the attempt. Afterwards call bins_release()
 * for each pod that was placed into a bin that existed before the attempt. Then call
 * bins_truncate() with the number of bins before the attempt.
 */

size_t bins_count(const struct bins *b);
/* Returns the index of the first bin, from index `from` on, that suits the class of cell c (labels,
 * taints, RuntimeClass, permit) and has room for one pod; bins_count() if there is none. Ignores
 * topology constraints. */
size_t bins_next(struct bins *b, const struct plan_cell *c, size_t from);
/* Returns how many pods of class c the free amounts of bin `at` allow; 0 if the bin's labels,
 * taints, RuntimeClass or permit exclude the pods. Call after bins_check(). */
size_t bins_times(const struct bins *b, const struct plan_class *c, size_t at);
/* Writes to *level the rank of the bin's preference score among all scores that bins have for class
 * c; 0 is the highest score. False: the bin's labels, taints, RuntimeClass or permit exclude the
 * pods, or the bin has no room. */
bool bins_level(struct bins *b, const struct plan_class *c, size_t at, size_t *level);
/* Reverts one bins_take() of a pod of class c. */
void bins_release(struct bins *b, size_t at, const struct plan_class *c);
struct bins_mark {
	struct plan_fit *fit;
	size_t seen;
};
struct bins_mark bins_mark(struct plan_fit *f);
void bins_truncate(struct bins *b, size_t n, const struct bins_mark *m, size_t nmarks);

#endif
