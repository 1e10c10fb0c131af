#ifndef CONTROLLER_CLAIMS_USED_H
#define CONTROLLER_CLAIMS_USED_H

#include "api/virtualcluster.h"
#include "controller/core/context.h"

/*
 * used: the GPU seconds that count as a tenant's use. VirtualCluster.status.usage stores the sum at
 * the time of the last write. It is written whenever status.allocated changes, so that from then on
 * the tenant uses what status.allocated contains and the sum at any later time can be calculated
 * (planner/usage.h): a restart loses nothing. Idle GPUs reserved for the tenant's gangs count too
 * (held_gpus.h); they are written with each change, and after USED_UNWRITTEN GPU seconds.
 * Tests: tests/unit/controller/claims/test_supply_status.c
 */
#define USED_UNWRITTEN 3600

/* Returns the usage at the present time. */
struct virtual_cluster_usage used_now(const struct context *c, const struct virtual_cluster *vc);
/* Returns the GPU seconds reserved for gangs that status.usage does not contain yet. */
int64_t used_unwritten(const struct context *c, const struct virtual_cluster *vc);
/* Returns the average number of GPUs that the tenant used, in thousandths, for the planner. */
int64_t used_average(const struct context *c, const struct virtual_cluster *vc);

#endif
