#ifndef CONTROLLER_CLAIMS_FAILING_H
#define CONTROLLER_CLAIMS_FAILING_H

#include "controller/core/context.h"

/*
 * failing: pauses new claims where claims fail one after the other (in a row). A row counts the
 * failures since the last success.
 *
 *   one tenant in one pool:    after three failures no claim is made for that pair for 10 min,
 *                              doubling to 160 min. A claim of the pair that becomes ready ends
 *                              the row.
 *   several tenants in one     after three failures no claim is made in the pool for any tenant,
 *   pool, for one reason:      for the same times, because the pool is at fault. Counts only
 *                              cloud instances, which are deleted with their claims, so that no
 *                              circuit breaker (breaker.h) sees their failures. Of one tenant
 *                              at most two failures in a row count. Any claim of the pool that
 *                              becomes ready ends the row.
 *
 * A change of the pool's spec ends the rows of the pool. Rows are kept in memory only.
 * Tests: tests/unit/controller/claims/test_provisioner.c
 */
struct failing;
struct failing *failing_new(struct context *c);
void failing_free(struct failing *f);

/* Records the state of claim n. Call with each change of the claim; each failure counts only
 * once. */
void failing_claim(struct failing *f, const struct node_claim *n);
void failing_forget_claim(struct failing *f, const char *claim);
/* Ends the rows of a pool whose spec changed, so that claims for it are allowed again at once. */
void failing_forgive(struct failing *f, const char *pool);

struct failing_row {
	/* Tenant of the last failure */
	char *tenant;
	/* True if more than one tenant had failures */
	bool several;
	/* In the row of a pool: number of latest failures that all belong to `tenant` */
	unsigned alone;
	unsigned n;
	/* Wall ms. last: time of the last failure; until: no new claim before this time */
	int64_t last, until;
	/* Reason and message of the last failure */
	char why[200];
};
/* Calls fn for each row. tenant NULL: the row counts failures of several tenants in the pool. */
void failing_each(const struct failing *f,
		  void (*fn)(const char *tenant, const char *pool, const struct failing_row *row,
			     void *arg),
		  void *arg);
/* True if the row pauses new claims at wall ms `now`. False if its last failure was not later than
 * wall ms `since`. */
bool failing_row_holds(const struct failing_row *row, int64_t now, int64_t since);
/* True if a row pauses new claims of the tenant in the pool at wall ms `now`. Rows without a
 * failure after `since` do not count. */
bool failing_holds(const struct failing *f, const char *tenant, const char *pool, int64_t now,
		   int64_t since);

#endif
