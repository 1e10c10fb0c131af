#ifndef CONTROLLER_CLAIMS_SUPPLY_STATUS_H
#define CONTROLLER_CLAIMS_SUPPLY_STATUS_H

#include "controller/core/context.h"

/*
 * supply_status: writes the status of NodePools and Providers, computed from claims, machines,
 * drivers and clouds. Also writes to the status of each VirtualCluster its allocated resources, GPU
 * use, cost and waiting pods.
 *
 * supply_status_kick() only schedules a pass over all pools, Providers and VirtualClusters, at most
 * one every 2 s. Machines and claims are counted by supply_tally.h, not by the pass. Only the
 * leader writes. It writes only what changed, with the resourceVersion. After the API server
 * refused a write, that version of the object is not tried again. Conditions of other writers are
 * preserved.
 */
struct drivers;
struct eta;
struct fleet;
struct supply_status;
struct supply_tally;
struct waiting;
struct warm_pool;
struct supply_status *supply_status_new(struct context *c, const struct drivers *drivers,
					const struct warm_pool *warm_pool, const struct eta *eta,
					const struct fleet *fleet, const struct waiting *waiting);
void supply_status_free(struct supply_status *s);
void supply_status_kick(struct supply_status *s);
/* Returns the counts of machines and claims, in which the caller marks changed objects
 * (supply_tally.h). Valid as long as s. */
struct supply_tally *supply_status_tally(const struct supply_status *s);

#endif
