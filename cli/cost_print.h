#ifndef CLI_COST_PRINT_H
#define CLI_COST_PRINT_H

#include "api/kinds.h"
#include "base/buf.h"

/*
 * cost_print: formats bills: as a table, as JSON, as CSV, as CSV in the columns of FOCUS 1.0; and
 * prices as OpenCost custom pricing. Pure functions.
 * Tests: tests/unit/cli/test_cost.c
 */

/* One charge of one tenant, computed up to cost_rows.now. */
struct cost_row {
	const char *tenant, *uid;
	struct virtual_cluster_charge charge;
};
struct cost_rows {
	struct cost_row *v;
	size_t n;
	/* Wall clock, Unix ms. */
	int64_t now;
};

/* Sorts by tenant, month, currency, pool, Provider, instance type and phase. */
void cost_sort(struct cost_rows *r);
/* Writes a table of all rows of r, which must be sorted. Returns 0, or -1 with e if a sum
 * overflows; out is then unusable. */
int cost_table(const struct cost_rows *r, struct buf *out, struct err *e)
	__attribute__((warn_unused_result));
/* Writes all rows of r as CSV. Errors as for cost_table(). */
int cost_csv(const struct cost_rows *r, struct buf *out, struct err *e)
	__attribute__((warn_unused_result));
/* Writes all rows that have a price as CSV in the columns of FOCUS 1.0. *left_out: number of rows
 * without a price. Errors as for cost_table(). */
int cost_focus(const struct cost_rows *r, struct buf *out, size_t *left_out, struct err *e)
	__attribute__((warn_unused_result));
/* Returns all rows as JSON, owned by the caller; NULL with e if a sum overflows. */
json_t *cost_json(const struct cost_rows *r, struct err *e);
/* Returns OpenCost custom pricing, where the GPUs of a machine carry its whole price. NULL with e:
 * the instance type has no GPUs or no price. */
json_t *cost_opencost(const char *provider, const struct provider_object_instance_type *t,
		      struct err *e);

#endif
