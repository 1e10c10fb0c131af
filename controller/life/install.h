#ifndef CONTROLLER_LIFE_INSTALL_H
#define CONTROLLER_LIFE_INSTALL_H

#include "controller/life/journal.h"

/*
 * install: for Providers with a manager (BCM), the manager installs the image instead of the agent.
 * status.install contains the phase.
 *
 *   (none) --acquired--> Installing --UP for 30 s--> Installed --off--> Configuring
 *      ^                                                                     |
 *      |                                             agent writes the config drive, then as usual
 *      '----------- after the wipe: node released to its manager -----------'
 *
 *   Installing --booted while the manager was away--> Restarting --off--> Installing	(once)
 *
 * The manager is asked to install or release a node only while the machine is off and its port is
 * in the provisioning segment, from where the machine reaches the head node. The agent writes the
 * tenant's token after the installation, so that no manager ever sees the token.
 * Tests: tests/world/test_bcm.c
 */

/* True if the manager has accepted the request to install the image of claim n, and status.install
 * records that. Otherwise sends the request or writes the acceptance. The machine must be off. */
bool life_ensure_acquired(struct life *l, const struct node_claim *n);

/* True if the installation is over: the manager has installed the image, the machine was up and is
 * off again, and status.install and a new boot number for the next agent are written. Otherwise
 * continues the installation. *d: decision if the installation failed or made no progress for too
 * long. */
bool life_ensure_installed(struct life *l, enum life_decision *d);

/* True if the manager has taken its node back, with the node's original settings, or if there is no
 * manager. Otherwise starts the release of the node. */
bool life_ensure_released(struct life *l);

/* Forgets what was observed of the installation, and a progress query in flight. Call when the
 * driver is freed or another replica leads. */
void life_install_forget(struct life *l);

#endif
