#ifndef CONTROLLER_BURST_SELECTS_H
#define CONTROLLER_BURST_SELECTS_H

#include "controller/core/context.h"
#include "planner/burst/burst.h"
#include "planner/world.h"

/*
 * selects: to which tenants and pods BurstPolicies apply, whatever their mode.
 * Tests: tests/world/test_burst_match.c, tests/world/test_burst.c
 */

/* True if a BurstPolicy applies to the tenant, or to some of its pods. */
bool burst_governs(const struct context *c, const char *tenant);
/* True if a BurstPolicy selects the pod by tenant, namespace, labels or queue: elastic Providers
 * then launch for the pod only by decision of a policy. The other conditions of spec.match do not
 * count. */
bool burst_governs_pod(const struct context *c, const struct world_pod *p);
/* True if any BurstPolicy exists. */
bool burst_any(const struct context *c);
/* True if a BurstPolicy selects pods by labels other than their queue. */
bool burst_any_selector(const struct context *c);
/* Returns the traits of pod p, which must live as long as the result. */
struct burst_traits burst_traits_of(const struct world_pod *p);

#endif
