#ifndef CONTROLLER_LIFE_INSTALL_H
#define CONTROLLER_LIFE_INSTALL_H

#include "controller/life/journal.h"

/*
 * install: the image of a machine that its Provider's manager (BCM) installs, in place of the
 * agent's writing it.
 *
 *   (none) --asked--> Installing --UP for 30 s--> Installed --off--> Configuring --agent: config drive--> as ever
 *      ^								   |
 *      '-------------- the manager has its node back: after the wipe ----'
 *
 *   Installing --its boot led nowhere: its manager was away-> Restarting --off--> Installing	(once)
 *
 * Where it is stands in status.install. The manager is asked only when the machine is off and its
 * port is in provisioning, where it reaches the head node; the tenant's token comes after it, by
 * the agent, so that no manager ever sees it.
 * Tests: tests/world/test_bcm.c
 */

/* Its manager was asked to install what the claim says; the machine is off. */
bool life_ensure_acquired(struct life *l, const struct node_claim *n);

/* It is installed, was up, is off again, and the journal says so, with a boot number for the next
 * agent. *d: the install failed, or said nothing new for too long. */
bool life_ensure_installed(struct life *l, enum life_decision *d);

/* Its manager has its node back, as it was. */
bool life_ensure_released(struct life *l);

/* What is on its way is never heard: the driver goes, or another leads. */
void life_install_forget(struct life *l);

#endif
