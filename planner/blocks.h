#ifndef PLANNER_BLOCKS_H
#define PLANNER_BLOCKS_H

#include "planner/bins.h"
#include "planner/supply.h"

/*
 * blocks: candidate locations for a gang's pods, by topology. Bins and free machines with equal
 * values of all level labels (world_put_levels()) form one block; blocks with the same value of one
 * level form a span, for example a rack.
 *
 * The room of a block is counted separately for each kind of pod and ignores other constraints. The
 * count is never too low, so a span whose count is too small needs no attempt.
 * Tests: tests/unit/planner/test_gangs.c
 */
#define BLOCK_KINDS 8 /* Number of kinds that are counted; further kinds are assumed to fit. */

/* Pods of a gang that belong to one cell. */
struct gang_kind {
	struct plan_cell *cell;
	/* Number of pods not yet placed. */
	size_t left;
};
struct block_machines {
	/* Index into the tenant's pools, the same in each of its fits. */
	size_t pool;
	struct supply_line *line;
	struct supply_option *option;
	/* Index of the next machine of the group to consider in this attempt. */
	size_t next;
};
struct block {
	/* Value of each level's label; NULL: none. */
	const char *value[WORLD_LEVELS];
	uint32_t *bins;
	size_t nbins, bins_cap;
	struct block_machines *machines;
	size_t nmachines, machines_cap;
	size_t room[BLOCK_KINDS], stock[BLOCK_KINDS];
};
struct blocks {
	struct planning *p;
	/* Arena of all results. */
	struct arena *a;
	struct plan_tenant *tenant;
	const struct gang_kind *kinds;
	size_t nkinds;
	/* Machines that become free by that time count as free; 0: only machines that are free
	 * now. */
	int64_t until;
	/* Sorted by their values. */
	struct block **v;
	size_t n;
};
struct span {
	/* NULL: blocks without that label. */
	const char *value;
	struct block **v;
	size_t n;
	/* Number of the gang's pods that fit: in bins, and in bins and new machines. */
	size_t room, all;
	/* Number of pods that would fit if the gang were unlimited. */
	size_t size;
};

/* Collects the blocks. stock: include machines that are free by `until`. Call after supply_ask()
 * for each kind. */
struct blocks *blocks_new(struct planning *p, struct plan_tenant *t, const struct gang_kind *kinds,
			  size_t nkinds, bool stock, int64_t until, struct arena *a);
struct span blocks_all(const struct blocks *b);
/* Returns the spans of that level, sorted by value. */
struct span *blocks_spans(const struct blocks *b, const struct span *of, size_t level, size_t *n);
/* Sorts the blocks of a span into the order in which `pods` pods should fill them. For each level
 * below: first the smallest domain with room for all, otherwise the largest one, and so on. So few
 * domains are used, and large ones stay free as a whole. */
void blocks_order(const struct blocks *b, struct span *s, size_t levels, size_t pods);

#endif
