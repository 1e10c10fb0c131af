#ifndef CONTROLLER_CLAIMS_FAILING_H
#define CONTROLLER_CLAIMS_FAILING_H

#include "controller/core/context.h"

/*
 * failing: claims that fail one after the other.
 *
 *   of one tenant in one pool	after three no claim is made for that pair for 10 min, doubling to
 *   				160 min.  A claim of the pair that becomes ready ends the row.
 *   of several tenants in one pool,	the same, for all tenants: the pool is at fault.  Counted for
 *   for one reason			instances of a cloud alone, which go with their claims, so no
 *   				stopped line (stop_line.h) sees their failures.  Of one tenant
 *   				two failures in a row count.  Any claim of the pool that
 *   				becomes ready ends the row.
 *
 * A changed spec of the pool ends its rows. Kept in memory.
 * Tests: tests/unit/controller/claims/test_provisioner.c
 */
struct failing;
struct failing *failing_new(struct context *c);
void failing_free(struct failing *f);

/* How a claim stands; told with each change of it, counted once. */
void failing_claim(struct failing *f, const struct node_claim *n, bool failed, bool ready);
void failing_forget_claim(struct failing *f, const char *claim);
/* Its spec changed: what failed before is tried at once. */
void failing_forgive(struct failing *f, const char *pool);

struct failing_row {
	/* of the last failure */
	char *tenant;
	/* failures of more than one tenant */
	bool several;
	/* failures of that tenant one after the other, of a pool's row */
	unsigned alone;
	unsigned n;
	/* wall ms: of the last one; no new claim before */
	int64_t last, until;
	/* reason and message of the last one */
	char why[200];
};
/* Calls fn for each row; tenant NULL: of several tenants. */
void failing_each(const struct failing *f,
		  void (*fn)(const char *tenant, const char *pool, const struct failing_row *row,
			     void *arg),
		  void *arg);
/* Returns true if the row keeps claims back at that wall ms, by failures after since. */
bool failing_row_holds(const struct failing_row *row, int64_t now, int64_t since);
/* Returns true if a row keeps the tenant's claims of the pool back. */
bool failing_holds(const struct failing *f, const char *tenant, const char *pool, int64_t now,
		   int64_t since);

#endif
