#ifndef CONTROLLER_HARDWARE_DISCOVERY_H
#define CONTROLLER_HARDWARE_DISCOVERY_H

#include "controller/hardware/driver.h"

/*
 * discovery: creates Machines for the nodes that the manager of a Provider (BCM's head node) knows.
 * Reads the inventory of each manager once a minute while this replica leads.
 *
 * A node without a Machine gets a Machine that only observes (managementPolicy Observe). The node's
 * hostname becomes the Machine's name and spec.node. The BMC's certificate is trusted on first use,
 * and drover logs in with the Provider's Secret, so only BMCs inside spec.bcm.bmcNetworks qualify.
 * No Machine is created once the Provider has spec.bcm.maxMachines Machines. drover never deletes a
 * discovered Machine: when the node is gone from BCM, an operator retires its Machine. The
 * Provider's status.bcm lists the nodes without a Machine, each with the reason, and the names of
 * categories, software images and networks that pools may use.
 *
 * If BCM reports a node as UP although its machine has served a tenant for several minutes, the
 * tenant can reach the head node, and the tenant's root user can read the node's certificate. The
 * Machine then gets an event HeadNodeReached.
 * Tests: tests/world/test_bcm_discovery.c
 */
struct discovery;

struct discovery *discovery_new(struct context *c, const struct drivers *drivers);
void discovery_free(struct discovery *d);
/* Reads the inventories within seconds; called when this replica becomes the leader. */
void discovery_lead(struct discovery *d);
/* Forgets an inventory request of driver s that is in progress. Call before s->provider is freed,
 * because the request is never answered afterwards. */
void discovery_forget(struct discovery *d, const struct driver *s);

#endif
