#ifndef CONTROLLER_RULES_INVENTORY_H
#define CONTROLLER_RULES_INVENTORY_H

#include "api/kinds.h"
#include "api/reasons.h"
#include "wipe/proto.h"

/*
 * inventory: compares what the agent found with the Machine and its instance type. Pure.
 * Tests: tests/unit/controller/rules/test_inventory.c, tests/world/test_evidence.c,
 * tests/world/test_identity.c
 */

/* Counts the storage controllers found, by vendor and device ID; in the arena. */
struct object_controllers inventory_controllers(const struct proto_inventory *inv, struct arena *a);
/* Compares DMI, PCI devices, storage controllers and drives with the Machine and its instance type
 * at the Provider p. REASON_NONE: all agree. Otherwise e names the difference:
 *
 * - StorageHidden: a controller or drive does not show all that it contains.
 * - DriveMissing: an expected drive is missing, whatever else differs.
 * - DriveUnknown: there are unexpected drives.
 * - InventoryMismatch: any other difference. p NULL: ERR_NOT_FOUND.
 *
 * An expected controller must neither be missing nor have lost its driver. Without spec.controllers
 * no controller is expected. */
enum reason inventory_misfit(const struct machine *m, const struct provider_object *p,
			     const struct proto_inventory *inv, struct err *e);

/* Writes a text by which an operator finds the drive to out, and returns out: "eui.2 (serial S2,
 * slot 12)". Serial number and slot appear if the last inspection or spec knows them. */
#define INVENTORY_DRIVE_TEXT 160
const char *inventory_drive_text(const struct machine *m, const char *wwn,
				 char out[static INVENTORY_DRIVE_TEXT]);

#endif
