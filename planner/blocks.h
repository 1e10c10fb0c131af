#ifndef PLANNER_BLOCKS_H
#define PLANNER_BLOCKS_H

#include "planner/bins.h"
#include "planner/supply.h"

/*
 * blocks: the places that a gang's pods may have, by where they stand: bins and free machines with
 * the same values of all levels (world_put_levels()) are one block; blocks with one value of a
 * level are a span.
 *
 * How many pods a block has room for is counted for each kind of pod by itself, and whatever other
 * constraints say: never too few, so what is too small needs no try.
 * Tests: tests/unit/planner/test_gangs.c
 */
#define BLOCK_KINDS 8 /* that are counted; more are taken to fit */

/* pods of one cell */
struct gang_kind {
	struct plan_cell *cell;
	/* without a place */
	size_t left;
};
struct block_machines {
	/* of the tenant's, as each of its fits has them */
	size_t pool;
	struct supply_line *line;
	struct supply_option *option;
	/* of the group, within a try */
	size_t next;
};
struct block {
	/* NULL: none */
	const char *value[WORLD_LEVELS];
	uint32_t *bins;
	size_t nbins, bins_cap;
	struct block_machines *machines;
	size_t nmachines, machines_cap;
	size_t room[BLOCK_KINDS], stock[BLOCK_KINDS];
};
struct blocks {
	struct planning *p;
	/* of all that it gives */
	struct arena *a;
	struct plan_tenant *tenant;
	const struct gang_kind *kinds;
	size_t nkinds;
	/* machines that are free by then count as free; 0: none but those that are */
	int64_t until;
	/* by their values */
	struct block **v;
	size_t n;
};
struct span {
	/* NULL: of blocks that have none */
	const char *value;
	struct block **v;
	size_t n;
	/* how many of the gang's pods it has room for: without new machines, and with them */
	size_t room, all;
	/* how many it would have room for, whoever came */
	size_t size;
};

/* stock: machines among them, as until has it.  After supply_ask() of each kind. */
struct blocks *blocks_new(struct planning *p, struct plan_tenant *t, const struct gang_kind *kinds,
			  size_t nkinds, bool stock, int64_t until, struct arena *a);
struct span blocks_all(const struct blocks *b);
/* Spans of that level, by value. */
struct span *blocks_spans(const struct blocks *b, const struct span *of, size_t level, size_t *n);
/* Puts the blocks of a span into the order in which so many pods fill them: for each of the levels
 * below, the smallest domain that has room for all; else the largest one, and so on. So few domains
 * are entered, and large ones stay whole. */
void blocks_order(const struct blocks *b, struct span *s, size_t levels, size_t pods);

#endif
