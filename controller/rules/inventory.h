#ifndef CONTROLLER_RULES_INVENTORY_H
#define CONTROLLER_RULES_INVENTORY_H

#include "api/kinds.h"
#include "wipe/proto.h"

/*
 * inventory: does what the agent found agree with the Machine and its instance type?  Pure.
 * Tests: tests/unit/controller/rules/test_inventory.c, tests/world/test_evidence.c, tests/world/test_identity.c
 */

/* DMI, PCI devices and drives as the Machine and its instance type at the Provider p say (NULL: ERR_NOT_FOUND);
 * -1 names what differs. */
int inventory_fits(const struct machine *m, const struct provider_object *p,
		   const struct proto_inventory *inv, struct err *e);

#endif
