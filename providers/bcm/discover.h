#ifndef PROVIDERS_BCM_DISCOVER_H
#define PROVIDERS_BCM_DISCOVER_H

#include "providers/bcm/client.h"
#include "providers/provider.h"

/*
 * discover: what a head node has: nodes, with the reason for each that drover leaves alone, and the
 * names of categories, software images and networks. Four lists, one after the other; a device that
 * cannot be read is told as one that is left alone. Then their states, where BCM tells them.
 * Tests: tests/contract/test_bcm.c
 */
struct bcm_discovery;

struct bcm_discovery *bcm_discover(struct bcm *b,
				   void (*done)(const struct provider_inventory *i,
						const struct err *e, void *arg),
				   void *arg);
/* no done(); NULL is fine */
void bcm_discovery_cancel(struct bcm_discovery *d);

#endif
