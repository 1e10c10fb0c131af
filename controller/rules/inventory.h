#ifndef CONTROLLER_RULES_INVENTORY_H
#define CONTROLLER_RULES_INVENTORY_H

#include "api/kinds.h"
#include "api/reasons.h"
#include "wipe/proto.h"

/*
 * inventory: compares what the agent found on a machine with the Machine object and its instance
 * type. Pure functions.
 * Tests: tests/unit/controller/rules/test_inventory.c, tests/world/test_evidence.c,
 * tests/world/test_identity.c
 */

/* Returns how many storage controllers the agent found with and without a driver, by PCI vendor and
 * device ID; in the arena. */
struct object_controllers inventory_controllers(const struct proto_inventory *inv, struct arena *a);
/* Compares the DMI data, PCI devices, storage controllers and drives that the agent found with the
 * Machine m and its instance type at the Provider p. Returns REASON_NONE if all agree. Otherwise *e
 * names the difference, and the reason is:
 *
 * - StorageHidden: a controller or drive has a fault and may hide data from the agent.
 * - DriveMissing: an expected drive is missing; the drives may have more differences.
 * - DriveUnknown: there are unexpected drives.
 * - InventoryMismatch: any other difference, or p is NULL or lacks the instance type
 *   (ERR_NOT_FOUND).
 *
 * Controllers are compared only if spec.controllers is set: each listed one must be present with
 * its driver, and one without a driver must be listed as such. */
enum reason inventory_misfit(const struct machine *m, const struct provider_object *p,
			     const struct proto_inventory *inv, struct err *e);

/* Writes a text by which an operator finds the drive to `out`, and returns `out`: "eui.2 (serial
 * S2, slot 12)". Serial number and slot come from the last inspection or from spec.drives; they are
 * left out if unknown. */
#define INVENTORY_DRIVE_TEXT 160
const char *inventory_drive_text(const struct machine *m, const char *wwn,
				 char out[static INVENTORY_DRIVE_TEXT]);

#endif
