#ifndef PLANNER_GANG_BLOCKS_H
#define PLANNER_GANG_BLOCKS_H

#include "planner/bins.h"
#include "planner/supply/supply.h"

/*
 * blocks: candidate locations for a gang's pods, by topology. A block consists of all bins
 * (candidate nodes, bins.h) and free machines whose level labels (world_put_levels(), for example
 * rack and zone) are all equal. A span consists of all blocks with the same value of one level
 * label, for example all blocks of one rack.
 *
 * For each kind of pod, the number of pods that fit into a block is counted separately; quotas,
 * limits and topology constraints are ignored. The count is never too low. So a span whose count is
 * too small for the gang need not be tried.
 * Tests: tests/unit/planner/gang/test_gangs.c
 */
/* Largest number of kinds of pods for which room is counted. Pods of further kinds are assumed to
 * fit. */
#define BLOCK_KINDS 8

/* Kind: pods of a gang that are interchangeable, because they belong to one cell (pods of one class
 * and one topology profile, planning.h). */
struct gang_kind {
	struct plan_cell *cell;
	/* Number of the gang's pods of this kind that are not yet placed. */
	size_t left;
};
struct block_machines {
	/* Index into plan_fit.pools; all fits of a tenant have the same pools in the same order. */
	size_t pool;
	struct supply_type_offer *offer;
	struct supply_option *option;
	/* Index into option->group of the next machine to consider in this attempt. */
	size_t next;
};
struct block {
	/* Value of each topology level's label, by level; NULL: the nodes lack the label. */
	const char *value[WORLD_LEVELS];
	uint32_t *bins;
	size_t nbins, bins_cap;
	struct block_machines *machines;
	size_t nmachines, machines_cap;
	size_t room[BLOCK_KINDS], stock[BLOCK_KINDS];
};
struct blocks {
	struct planning *p;
	/* Arena in which all results are allocated. */
	struct arena *a;
	struct plan_tenant *tenant;
	const struct gang_kind *kinds;
	size_t nkinds;
	/* Unix ms: machines that become free by this time count as free. 0: only machines that are
	 * free now count. */
	int64_t until;
	/* All blocks, sorted by their label values. */
	struct block **v;
	size_t n;
};
struct block_span {
	/* Label value of the topology level that all blocks of the span have; NULL: the blocks lack
	 * the label, or the span contains all blocks of the tenant. */
	const char *value;
	struct block **v;
	size_t n;
	/* Number of the gang's pods that fit into the span. room: counts only existing bins. all:
	 * counts existing bins and new claims on free machines. */
	size_t room, all;
	/* Number of pods of the gang's kinds that would fit into bins and onto free machines, even
	 * if that is more than the gang has. */
	size_t size;
};

/* Collects the blocks of the tenant. stock: includes free machines, as blocks.until defines. a:
 * arena of the result. Call after supply_ask() for each kind. */
struct blocks *blocks_new(struct planning *p, struct plan_tenant *t, const struct gang_kind *kinds,
			  size_t nkinds, bool stock, int64_t until, struct arena *a);
struct block_span blocks_all(const struct blocks *b);
/* Divides span *of by the label of topology level number `level`. Returns the resulting spans,
 * sorted by label value; *n is their number. */
struct block_span *blocks_spans(const struct blocks *b, const struct block_span *of, size_t level,
				size_t *n);
/* Sorts the blocks of span *s into the order in which the gang's `pods` remaining pods should
 * fill them. `levels`: number of topology levels that are narrower than the span.
 *
 * At each of these levels, the smallest domain with room for all remaining pods comes first. If
 * no domain has room for all of them, the largest domain comes first; the next one is chosen in
 * the same way for the pods that do not fit into it. So few domains are used, and large ones stay
 * free as a whole. */
void blocks_order(const struct blocks *b, struct block_span *s, size_t levels, size_t pods);

#endif
