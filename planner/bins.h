#ifndef PLANNER_BINS_H
#define PLANNER_BINS_H

#include "planner/topology.h"

/*
 * bins: room that pods of one tenant may go into: serving nodes, claims on
 * their way, claims that this plan proposes, in this order.
 *
 * Room only shrinks while a plan is made, so a bin that did not fit a pod once never will fit one alike: each cell begins
 * where the last of its pods found its bin.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_topology.c
 */
struct bin {
	enum plan_outcome kind; /* PLAN_NOTHING: a node that takes no pods, but those on it count */
	const char *target;
	size_t claim; /* PLAN_ON_NEW */
	const struct labels *labels;
	const struct world_taints *taints;
	const struct world_pool *pool; /* NULL: none */
};

struct bins *bins_new(struct planning *p, struct plan_tenant *of);
/* Room by column is copied. */
size_t bins_add(struct bins *b, const struct bin *bin, const int64_t *room);
const struct bin *bins_at(const struct bins *b, size_t at);
/* Looks at bins that came since; before all that follows, and topology_begin(). */
void bins_look(struct bins *b, struct plan_fit *f);
/* The first bin that meets the most preferences; false: none fits.  After topology_begin() has said that there may be one. */
bool bins_find(struct bins *b, struct plan_cell *c, size_t *at);
/* Does that bin fit? */
bool bins_fits(struct bins *b, const struct plan_cell *c, size_t at);
void bins_take(struct bins *b, size_t at, const struct plan_class *c);

#endif
