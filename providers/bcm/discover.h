#ifndef PROVIDERS_BCM_DISCOVER_H
#define PROVIDERS_BCM_DISCOVER_H

#include "providers/bcm/client.h"
#include "providers/managed.h"

/*
 * discover: reads the inventory of a head node: its nodes, each with the reason if drover does not
 * manage it, and the names of categories, software images and networks. Reads these four lists one
 * after the other, then the states of the nodes. Without the states, the inventory is still
 * complete, but no node counts as up. A device that cannot be parsed is listed as a node that
 * drover does not manage.
 * Tests: tests/contract/test_bcm.c
 */
struct bcm_discovery;

struct bcm_discovery *bcm_discover(struct bcm *b,
				   void (*done)(const struct provider_inventory *i,
						const struct err *e, void *arg),
				   void *arg);
/* Cancels without done(). NULL is allowed. */
void bcm_discovery_cancel(struct bcm_discovery *d);

#endif
