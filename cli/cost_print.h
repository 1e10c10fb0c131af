#ifndef CLI_COST_PRINT_H
#define CLI_COST_PRINT_H

#include "api/kinds.h"
#include "base/buf.h"

/*
 * cost_print: formats bills as a table, as JSON, as CSV, and as CSV in the columns of FOCUS 1.0 (a
 * standard for cloud bills). Also formats prices as OpenCost custom pricing. Pure functions.
 * Tests: tests/unit/cli/test_cost.c
 */

/* One charge (sum of machine time) of one tenant, up to cost_rows.now. uid: UID of the tenant's
 * VirtualCluster. */
struct cost_row {
	const char *tenant, *uid;
	struct virtual_cluster_charge charge;
};
struct cost_rows {
	struct cost_row *v;
	size_t n;
	/* time of the bill, wall ms */
	int64_t now;
};

/* Sorts the rows by tenant, month, currency, pool, Provider, instance type and phase. */
void cost_sort(struct cost_rows *r);
/* Appends a table of all rows to `out`; r must be sorted. Returns 0, or -1 with *e if a sum
 * overflows; `out` is unusable after an error. */
int cost_table(const struct cost_rows *r, struct buf *out, struct err *e)
	__attribute__((warn_unused_result));
/* Appends all rows as CSV to `out`. Returns 0, or -1 with *e as cost_table() does. */
int cost_csv(const struct cost_rows *r, struct buf *out, struct err *e)
	__attribute__((warn_unused_result));
/* Appends all rows that have a price to `out`, as CSV in the columns of FOCUS 1.0. Sets *left_out
 * to the number of rows without a price. Returns 0, or -1 with *e as cost_table() does. */
int cost_focus(const struct cost_rows *r, struct buf *out, size_t *left_out, struct err *e)
	__attribute__((warn_unused_result));
/* Returns all rows as JSON, owned by the caller; NULL with *e if a sum overflows. */
json_t *cost_json(const struct cost_rows *r, struct err *e);
/* Returns the price of the instance type t as OpenCost custom pricing, owned by the caller. The
 * whole price of a machine is divided among its GPUs; CPUs and memory cost nothing. NULL with *e: t
 * has no GPUs or no price. */
json_t *cost_opencost(const char *provider, const struct provider_object_instance_type *t,
		      struct err *e);

#endif
