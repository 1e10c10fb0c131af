#ifndef CONTROLLER_RULES_INVENTORY_H
#define CONTROLLER_RULES_INVENTORY_H

#include "api/kinds.h"
#include "wipe/proto.h"

/*
 * inventory: does what the agent found agree with the Machine and its instance type?  Pure.
 * Tests: tests/unit/controller/rules/test_inventory.c, tests/world/test_evidence.c, tests/world/test_identity.c
 */

/* What was found, by vendor and device; in the arena. */
struct object_controllers inventory_controllers(const struct proto_inventory *inv, struct arena *a);
/* DMI, PCI devices, storage controllers and drives as the Machine and its instance type at the Provider p say (NULL: ERR_NOT_FOUND);
 * -1 names what differs.  A controller that was expected may have neither gone nor lost its driver; one that does not
 * show all that it holds never fits.  Without spec.controllers none is expected. */
int inventory_fits(const struct machine *m, const struct provider_object *p,
		   const struct proto_inventory *inv, struct err *e);

#endif
