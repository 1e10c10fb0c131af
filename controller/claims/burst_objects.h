#ifndef CONTROLLER_CLAIMS_BURST_OBJECTS_H
#define CONTROLLER_CLAIMS_BURST_OBJECTS_H

#include "api/kinds.h"
#include "planner/burst.h"

/*
 * burst_objects: converts BurstPolicies to the structs of planner/burst.h. The object must be
 * validated, and must live as long as the result; new lists are allocated in the arena.
 * Tests: tests/unit/cli/test_burst.c
 */
struct burst_policy_in burst_object_policy(const struct burst_policy *p, struct arena *a);

#endif
