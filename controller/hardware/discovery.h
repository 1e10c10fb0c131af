#ifndef CONTROLLER_HARDWARE_DISCOVERY_H
#define CONTROLLER_HARDWARE_DISCOVERY_H

#include "controller/hardware/driver.h"

/*
 * discovery: what the managers of Providers have (BCM's head nodes), looked at once a minute while
 * this replica leads.
 *
 * A node without a Machine gets one, which only observes (managementPolicy Observe): name and
 * spec.node are its hostname, its BMC is trusted on first use and asked with the Provider's Secret,
 * so only BMCs in spec.bcm.bmcNetworks count. No Machine is created once the Provider has
 * spec.bcm.maxMachines of them. drover deletes none: a node that has gone leaves its Machine
 * behind, for a person to retire. What has no Machine, and why, stands in the Provider's
 * status.bcm, with the names that pools may use.
 *
 * A node that is up in BCM for long while its machine serves a tenant reaches the head node from
 * there, with a certificate that the tenant's root can read: an event HeadNodeReached says so.
 * Tests: tests/world/test_bcm_discovery.c
 */
struct discovery;

struct discovery *discovery_new(struct context *c, const struct drivers *drivers);
void discovery_free(struct discovery *d);
/* this replica leads: it looks soon */
void discovery_lead(struct discovery *d);
/* This driver's provider goes: what was asked of it is never answered. */
void discovery_forget(struct discovery *d, const struct driver *s);

#endif
