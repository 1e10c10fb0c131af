#ifndef CONTROLLER_CLAIMS_USED_H
#define CONTROLLER_CLAIMS_USED_H

#include "api/virtualcluster.h"
#include "controller/core/context.h"

/*
 * used: what a tenant has had of GPUs, as VirtualCluster.status.usage keeps it: the sum at the time at which
 * status.allocated became what it is, so that it is written when that is, and never else.  Since then the tenant holds what is
 * written there, and what has come of the sum is reckoned (planner/usage.h): a restart forgets nothing.
 * Tests: tests/unit/controller/claims/test_supply_status.c
 */
/* As things are now. */
struct virtual_cluster_usage used_now(const struct context *c, const struct virtual_cluster *vc);
/* For the planner: thousandths of a GPU that it held, on average. */
int64_t used_average(const struct context *c, const struct virtual_cluster *vc);

#endif
