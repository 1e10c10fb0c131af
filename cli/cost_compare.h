#ifndef CLI_COST_COMPARE_H
#define CLI_COST_COMPARE_H

#include "cli/cost_print.h"

/*
 * cost_compare: what the work on a bill would have cost on owned machines and in clouds, and from
 * which use on an owned machine costs less (docs/cost.md has the formulas). Pure functions.
 * Tests: tests/unit/cli/test_cost_compare.c
 */

/* An instance type of a Provider. */
struct cost_type {
	const char *provider, *name;
	/* GPU product of its machines; NULL: not known, then it is not compared */
	const char *product;
	const char *currency;
	int64_t gpus;
	/* True: a cloud launches such machines. */
	bool elastic;
	/* Price of one machine for one hour by market (of an owned machine: MARKET_ON_DEMAND), in
	 * millionths; -1: not known */
	int64_t price[3];
	/* Owned machines of this type that exist now */
	int64_t machines;
};
struct cost_comparison {
	const struct cost_rows *rows;
	const struct cost_type *types;
	size_t ntypes;
	/* Length of the compared time, in seconds */
	int64_t seconds;
};

/* Returns the comparison by GPU product and currency, owned by the caller; NULL with *e if a sum
 * overflows. Amounts are texts, and absent if a price is not known:
 *
 *   [{product, currency, gpuHours, gpuHoursWithoutPrice, paid,
 *     owned, onDemand, spot, reserved    the price of these GPU hours at the lowest rate
 *     ownedGPUs, ownedUse                owned GPUs, and the part of them that was used
 *     ownWinsAbove: {onDemand, reserved} use of owned GPUs from which on they cost less}]
 */
json_t *cost_compare(const struct cost_comparison *c, struct arena *a, struct err *e);
/* Appends the comparison as a table. */
void cost_compare_table(const json_t *comparison, struct buf *out);

#endif
