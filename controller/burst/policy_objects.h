#ifndef CONTROLLER_BURST_POLICY_OBJECTS_H
#define CONTROLLER_BURST_POLICY_OBJECTS_H

#include "api/kinds.h"
#include "planner/burst/burst.h"

/*
 * policy_objects: converts a BurstPolicy object, or its spec.match, to the struct in
 * planner/burst/burst.h. The object must be validated, and must live as long as the result, like
 * `zones`, to whose time zones the result refers; new lists are allocated in the arena.
 * Tests: tests/unit/cli/burst/test_burst.c
 */
struct burst_match burst_object_match(const struct burst_policy_match *m, struct arena *a);
struct burst_policy_in burst_object_policy(const struct burst_policy *p, struct zones *zones,
					   struct arena *a);

#endif
