#ifndef CONTROLLER_CLAIMS_FAILING_H
#define CONTROLLER_CLAIMS_FAILING_H

#include "controller/core/context.h"

/*
 * failing: claims that fail one after the other.
 *
 *   one tenant in one pool:    after three failures no claim is made for that pair for 10 min,
 *                              doubling to 160 min. A claim of the pair that becomes ready ends
 *                              the row.
 *   several tenants in one     the same, for all tenants, because the pool is at fault. Counts
 *   pool, for one reason:      only cloud instances, which are deleted with their claims, so that
 *                              no circuit breaker (stop_line.h) sees their failures. Of one tenant
 *                              at most two failures in a row count. Any claim of the pool that
 *                              becomes ready ends the row.
 *
 * A changed spec of the pool ends its rows. Kept in memory.
 * Tests: tests/unit/controller/claims/test_provisioner.c
 */
struct failing;
struct failing *failing_new(struct context *c);
void failing_free(struct failing *f);

/* Records the state of a claim. Called with each change of the claim; a failure counts once. */
void failing_claim(struct failing *f, const struct node_claim *n, bool failed, bool ready);
void failing_forget_claim(struct failing *f, const char *claim);
/* Ends the rows of a pool whose spec changed, so that claims are made at once. */
void failing_forgive(struct failing *f, const char *pool);

struct failing_row {
	/* Tenant of the last failure */
	char *tenant;
	/* True if more than one tenant had failures */
	bool several;
	/* In a pool's row: failures of `tenant` one after the other */
	unsigned alone;
	unsigned n;
	/* Wall ms. last: of the last failure; until: no new claim before */
	int64_t last, until;
	/* Reason and message of the last failure */
	char why[200];
};
/* Calls fn for each row. tenant NULL: the row is of several tenants. */
void failing_each(const struct failing *f,
		  void (*fn)(const char *tenant, const char *pool, const struct failing_row *row,
			     void *arg),
		  void *arg);
/* Returns true if the row, by a failure after `since`, pauses new claims at wall ms `now`. */
bool failing_row_holds(const struct failing_row *row, int64_t now, int64_t since);
/* Returns true if a row pauses new claims of the tenant in the pool. */
bool failing_holds(const struct failing *f, const char *tenant, const char *pool, int64_t now,
		   int64_t since);

#endif
