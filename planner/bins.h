#ifndef PLANNER_BINS_H
#define PLANNER_BINS_H

#include "planner/topology.h"

/*
 * bins: room that pods of one tenant may go into: serving nodes, claims on their way, claims that
 * this plan proposes, in this order.
 *
 * Room only shrinks while a plan is made, so a bin that did not fit a pod once never will fit one
 * alike: each cell begins where the last of its pods found its bin.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_topology.c
 */
struct bin {
	/* PLAN_NOTHING: a node that takes no pods, but those on it count */
	enum plan_outcome kind;
	const char *target;
	/* PLAN_ON_NEW */
	size_t claim;
	const struct labels *labels;
	const struct world_taints *taints;
	/* NULL: none */
	const struct world_pool *pool;
	/* PLAN_ON_NEW: its machine's (world.h) */
	const char *permit;
};

struct bins *bins_new(struct planning *p, struct plan_tenant *of);
/* Room by column is copied. */
size_t bins_add(struct bins *b, const struct bin *bin, const int64_t *room);
const struct bin *bins_at(const struct bins *b, size_t at);
/* Looks at bins that came since; before all that follows, and topology_begin(). */
void bins_look(struct bins *b, struct plan_fit *f);
/* The first bin that meets the most preferences; false: none fits. After topology_begin() has said
 * that there may be one. */
bool bins_find(struct bins *b, struct plan_cell *c, size_t *at);
/* Does that bin fit? */
bool bins_fits(struct bins *b, const struct plan_cell *c, size_t at);
void bins_take(struct bins *b, size_t at, const struct plan_class *c);
/* Leaves no room in the bin. */
void bins_close(struct bins *b, size_t at);
/* True if the bin suits the fit, whatever room it has.  After bins_look(). */
bool bins_suits(const struct plan_fit *f, size_t at);

/*
 * For gangs, whose pods are looked for without cursors, and may have to go again: bins_mark() for
 * each of their fits, then bins_give() for each that was taken, and bins_cut() back to the bins
 * that there were.
 */
size_t bins_count(const struct bins *b);
/* The first from there on that suits the class and has room for one; as many as there are: none. */
size_t bins_next(struct bins *b, const struct plan_cell *c, size_t from);
/* How many of the class one bin has room for; 0 where it does not suit.  After bins_look(). */
size_t bins_times(const struct bins *b, const struct plan_class *c, size_t at);
/* The best of the levels of a fit that have that bin, from 0; false: it does not suit, or has no
 * room. */
bool bins_level(struct bins *b, const struct plan_class *c, size_t at, size_t *level);
void bins_give(struct bins *b, size_t at, const struct plan_class *c);
struct bins_mark {
	struct plan_fit *fit;
	size_t seen;
};
struct bins_mark bins_mark(struct plan_fit *f);
void bins_cut(struct bins *b, size_t n, const struct bins_mark *m, size_t nmarks);

#endif
