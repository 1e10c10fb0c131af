#ifndef CONTROLLER_RULES_INVENTORY_H
#define CONTROLLER_RULES_INVENTORY_H

#include "api/kinds.h"
#include "api/reasons.h"
#include "wipe/proto.h"

/*
 * inventory: does what the agent found agree with the Machine and its instance type? Pure.
 * Tests: tests/unit/controller/rules/test_inventory.c, tests/world/test_evidence.c,
 * tests/world/test_identity.c
 */

/* What was found, by vendor and device; in the arena. */
struct object_controllers inventory_controllers(const struct proto_inventory *inv, struct arena *a);
/* DMI, PCI devices, storage controllers and drives as the Machine and its instance type at the
 * Provider p say. REASON_NONE: they agree; else e names what differs: StorageHidden when a
 * controller or a drive does not show all that it holds; DriveMissing when an expected drive is not
 * there, whatever else differs of the drives; DriveUnknown when one is there beside those expected;
 * InventoryMismatch for all else (p NULL: ERR_NOT_FOUND). A controller that was expected may have
 * neither gone nor lost its driver. Without spec.controllers none is expected. */
enum reason inventory_misfit(const struct machine *m, const struct provider_object *p,
			     const struct proto_inventory *inv, struct err *e);

/* "eui.2 (serial S2, slot 12)": how a person finds the drive; serial and slot as far as the last
 * inspection or spec knows them. Gives out. */
#define INVENTORY_DRIVE_TEXT 160
const char *inventory_drive_text(const struct machine *m, const char *wwn,
				 char out[static INVENTORY_DRIVE_TEXT]);

#endif
