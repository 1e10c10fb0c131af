#ifndef CONTROLLER_CLAIMS_CLAIM_BUILD_H
#define CONTROLLER_CLAIMS_CLAIM_BUILD_H

#include <jansson.h>
#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * claim_build: builds a NodeClaim object from a claim that a plan proposes. The object's spec is a
 * frozen copy of what its pool specifies at that time.
 * Tests: tests/unit/controller/claims/test_claims.c
 */

struct permit;
/* Returns the NodeClaim to create; the caller owns the reference. permit: the burst permit of the
 * claim's machine (permits.h); NULL: none. Returns NULL with *e set if the pool, tenant or machine
 * changed while the plan was made. */
json_t *claims_build(struct context *c, const struct plan_claim *p, const struct permit *permit,
		     struct err *e);

#endif
