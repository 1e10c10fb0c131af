#ifndef WIPE_SLOT_H
#define WIPE_SLOT_H

#include "base/arena.h"
#include "wipe/host.h"

/*
 * slot: where in the machine a drive is, for whoever has to pull it. Blocking: only from
 * loop_work().
 *
 * In this order, as far as sysfs tells: "bay 5", of its enclosure (Linux, drivers/misc/enclosure.c:
 * the link enclosure_device:NAME of a SCSI device, and `slot` behind it); of a drive that is a PCI
 * device itself (NVMe, virtio) "slot 12", which the firmware names (ABI/testing/sysfs-bus-pci:
 * slots/NAME/address is domain:bus:device), else "pci 0000:3b:00.0"; of any other "ata3", else
 * "scsi 2:0:1:0".
 * Tests: tests/unit/wipe/test_inventory.c
 */
/* Of the block device of that name. Printable ASCII, at most 63 bytes, in the arena; NULL: nothing
 * tells. */
const char *slot_of(const struct host *h, struct arena *a, const char *name);

#endif
