#ifndef CONTROLLER_CLAIMS_SUPPLY_STATUS_H
#define CONTROLLER_CLAIMS_SUPPLY_STATUS_H

#include "controller/core/context.h"

/*
 * supply_status: the status of NodePools and Providers, which is the sum of what claims, machines,
 * drivers and clouds say; of each VirtualCluster what it has of that, and which of its pods wait.
 *
 * supply_status_kick() only marks. One pass over all of them follows, at most one in 2 s. What has
 * changed is written with the resourceVersion, only by the leader. A version of an object that the
 * API server refused to have written is not tried again. Conditions of other writers stay.
 */
struct drivers;
struct eta;
struct fleet;
struct supply_status;
struct waiting;
struct warm_pool;
struct supply_status *supply_status_new(struct context *c, const struct drivers *drivers,
					const struct warm_pool *warm_pool, const struct eta *eta,
					const struct fleet *fleet, const struct waiting *waiting);
void supply_status_free(struct supply_status *s);
void supply_status_kick(struct supply_status *s);

#endif
