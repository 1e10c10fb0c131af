#ifndef CONTROLLER_LIFE_INSTALL_H
#define CONTROLLER_LIFE_INSTALL_H

#include "controller/life/journal.h"

/*
 * install: for Providers with a manager (BCM), the manager installs the image instead of the agent.
 *
 *   (none) --acquired--> Installing --UP for 30 s--> Installed --off--> Configuring
 *      ^                                                                     |
 *      |                                             agent writes the config drive, then as usual
 *      '----------- after the wipe: node released to its manager -----------'
 *
 *   Installing --booted while the manager was away--> Restarting --off--> Installing	(once)
 *
 * status.install holds the phase. The manager is asked only while the machine is off and its port
 * is in the provisioning segment, from where it reaches the head node. The agent writes the
 * tenant's token afterwards, so that no manager ever sees it.
 * Tests: tests/world/test_bcm.c
 */

/* True if the manager has accepted the request to install the image of claim n. The machine must be
 * off. */
bool life_ensure_acquired(struct life *l, const struct node_claim *n);

/* True if the manager has installed the image, the machine was up, is off again, and status.install
 * says so, with a new boot number for the next agent. *d: decision if the install failed or made no
 * progress for too long. */
bool life_ensure_installed(struct life *l, enum life_decision *d);

/* True if the manager has its node back, with its original settings. */
bool life_ensure_released(struct life *l);

/* Forgets a request in flight. Call when the driver is freed or another replica leads. */
void life_install_forget(struct life *l);

#endif
