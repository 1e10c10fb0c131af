#ifndef WIPE_SLOT_H
#define WIPE_SLOT_H

#include "base/arena.h"
#include "wipe/host.h"

/*
 * slot: location of a drive in the machine, for a technician who has to pull the drive. Blocking:
 * only from loop_work().
 *
 * The location is the first of these that sysfs has:
 * - "bay 5" of the drive's enclosure (Linux, drivers/misc/enclosure.c: the link
 *   enclosure_device:NAME of a SCSI device, and its `slot`).
 * - For a drive that is a PCI device itself (NVMe, virtio): "slot 12", as named by the firmware
 *   (ABI/testing/sysfs-bus-pci: slots/NAME/address is domain:bus:device), else "pci 0000:3b:00.0".
 * - For any other drive: "ata3", else "scsi 2:0:1:0".
 *
 * Tests: tests/unit/wipe/test_inventory.c
 */
/* Returns the location of the block device `name`: printable ASCII, at most 63 bytes, in the arena.
 * NULL: unknown. */
const char *slot_of(const struct host *h, struct arena *a, const char *name);

#endif
