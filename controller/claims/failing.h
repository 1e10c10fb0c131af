#ifndef CONTROLLER_CLAIMS_FAILING_H
#define CONTROLLER_CLAIMS_FAILING_H

#include "controller/core/context.h"

/*
 * failing: claims that fail one after the other for one tenant and pool.  After three no claim is made for
 * that pair for 10 min, doubling to 160 min.  A claim that becomes ready, or a changed spec of the pool,
 * ends the row.
 *
 * Remembered by this process alone.
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
	unsigned n;
	int64_t last, until; /* wall ms: of the last one; no new claim before */
	char why[200];	     /* reason and message of the last one */
};
/* Calls fn for each tenant and pool whose claims failed. */
void failing_each(const struct failing *f,
		  void (*fn)(const char *tenant, const char *pool, const struct failing_row *row,
			     void *arg),
		  void *arg);
/* NULL: none failed. */
const struct failing_row *failing_of(const struct failing *f, const char *tenant, const char *pool);

#endif
