#ifndef CONTROLLER_CLAIMS_USED_H
#define CONTROLLER_CLAIMS_USED_H

#include "api/virtualcluster.h"
#include "controller/core/context.h"

/*
 * used: the GPU seconds that count as a tenant's use, as VirtualCluster.status.usage stores them:
 * the sum at the time of the last write. It is written whenever status.allocated changes, so from
 * then on the tenant holds what status.allocated says, and the sum for any later time is calculated
 * (planner/usage.h): a restart forgets nothing. GPUs that stand idle for the tenant's gangs count
 * too (held_gpus.h); they are written with each change, and after USED_UNWRITTEN GPU seconds.
 * Tests: tests/unit/controller/claims/test_supply_status.c
 */
#define USED_UNWRITTEN 3600

/* Returns the usage at the present time. */
struct virtual_cluster_usage used_now(const struct context *c, const struct virtual_cluster *vc);
/* Returns the GPU seconds held for gangs that status.usage does not contain yet. */
int64_t used_unwritten(const struct context *c, const struct virtual_cluster *vc);
/* Returns the GPUs that the tenant held on average, thousandths, for the planner. */
int64_t used_average(const struct context *c, const struct virtual_cluster *vc);

#endif
