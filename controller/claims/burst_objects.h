#ifndef CONTROLLER_CLAIMS_BURST_OBJECTS_H
#define CONTROLLER_CLAIMS_BURST_OBJECTS_H

#include "api/kinds.h"
#include "planner/burst.h"

/*
 * burst_objects: BurstPolicies as planner/burst.h has them. The object was checked, and must live
 * as long as the result; what is made besides is in the arena.
 * Tests: tests/unit/cli/test_burst.c
 */
struct burst_policy_in burst_object_policy(const struct burst_policy *p, struct arena *a);

#endif
