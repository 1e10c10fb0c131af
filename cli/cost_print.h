#ifndef CLI_COST_PRINT_H
#define CLI_COST_PRINT_H

#include "api/kinds.h"
#include "base/buf.h"

/*
 * cost_print: bills as text: a table for people, JSON and CSV for programs, CSV in the columns of
 * FOCUS 1.0, and prices as OpenCost's custom pricing. Pure.
 * Tests: tests/unit/cli/test_cost.c
 */

/* One sum of one tenant, reckoned up to the time at which it is printed. */
struct cost_row {
	const char *tenant, *uid;
	struct virtual_cluster_charge charge;
};
struct cost_rows {
	struct cost_row *v;
	size_t n;
	/* wall ms */
	int64_t now;
};

/* By tenant, month, pool, machine class and phase. */
void cost_sort(struct cost_rows *r);
/* Each writes all of `r`, sorted; -1: a sum leaves the range, and what is in out is not to be
 * used. */
int cost_table(const struct cost_rows *r, struct buf *out, struct err *e)
	__attribute__((warn_unused_result));
int cost_csv(const struct cost_rows *r, struct buf *out, struct err *e)
	__attribute__((warn_unused_result));
/* What has no price is left out; *left_out: how many. */
int cost_focus(const struct cost_rows *r, struct buf *out, size_t *left_out, struct err *e)
	__attribute__((warn_unused_result));
/* NULL with e */
json_t *cost_json(const struct cost_rows *r, struct err *e);
/* The whole price of a machine on its GPUs.  NULL with e: it has none of both. */
json_t *cost_opencost(const char *provider, const struct provider_object_instance_type *t,
		      struct err *e);

#endif
