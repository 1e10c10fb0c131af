#ifndef CONTROLLER_BILLING_USED_H
#define CONTROLLER_BILLING_USED_H

#include "api/virtualcluster.h"
#include "controller/core/context.h"

/*
 * used: calculates the GPU seconds that count as a tenant's use. Older use counts less (half-life,
 * planner/usage.h). VirtualCluster.status.usage stores the sum at the time of the last write. The
 * sum is written whenever status.allocated changes: from then on the tenant uses what
 * status.allocated contains, so the sum at any later time can be calculated. Therefore a restart
 * loses nothing.
 *
 * Idle GPUs reserved for the tenant's gangs count, too (held_gpus.h). Their GPU seconds are written
 * with each change of status.allocated, and after USED_UNWRITTEN GPU seconds.
 * Tests: tests/unit/controller/claims/test_supply_status.c
 */
#define USED_UNWRITTEN 3600

/* Returns the usage of tenant vc at the present time, as for status.usage. */
struct virtual_cluster_usage used_now(const struct context *c, const struct virtual_cluster *vc);
/* Returns the GPU seconds reserved for gangs of tenant vc that status.usage does not contain
 * yet. */
int64_t used_unwritten(const struct context *c, const struct virtual_cluster *vc);
/* Returns the average number of GPUs that tenant vc used lately, in thousandths, as the planner
 * needs it. */
int64_t used_average(const struct context *c, const struct virtual_cluster *vc);

#endif
