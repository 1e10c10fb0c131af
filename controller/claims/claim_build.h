#ifndef CONTROLLER_CLAIMS_CLAIM_BUILD_H
#define CONTROLLER_CLAIMS_CLAIM_BUILD_H

#include <jansson.h>
#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * claim_build: a NodeClaim as an object, from what a plan wants: a frozen copy of what its pool
 * promises.
 * Tests: tests/unit/controller/claims/test_claims.c
 */

struct permit;
/* The object to create; gives. permit: that its machine is of; NULL: of none. NULL with *e set when
 * pool, tenant or machine changed under the plan. */
json_t *claims_build(struct context *c, const struct plan_claim *p, const struct permit *permit,
		     struct err *e);

#endif
