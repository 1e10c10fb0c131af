#ifndef WIPE_DRIVES_H
#define WIPE_DRIVES_H

#include "base/arena.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * drives: which drives the machine has, from sysfs.  Blocking: only from loop_work().
 *
 * What has no medium of its own (loop, RAM, device mapper, software RAID), optical
 * drives and empty slots are left out; hidden paths of NVMe multipath too; and USB sticks,
 * among which is the virtual medium that the agent was booted from.  The boot partitions of an eMMC
 * device are parts of it and no drives of their own; its RPMB takes no plain I/O at all.
 * Tests: tests/unit/wipe/test_inventory.c
 */
struct drive_list {
	/* strings and array in the arena given */
	struct proto_drive *v;
	size_t n;
	/* mmcblk0boot0 ...: beside the drives, neither wiped nor written */
	struct strings parts;
};
void drives_scan(const struct host *h, struct arena *a, struct drive_list *out);
/* "nvme0n1" of "/dev/nvme0n1" */
const char *drive_name(const struct proto_drive *d);

/* Is what is called so still the drive that was found?  Names are given again when one drive is
 * pulled and another put in: asked with the drive open.  ERR_CONFLICT: it is another. */
int drive_check(const struct host *h, const struct proto_drive *d, struct err *e)
	__attribute__((warn_unused_result));

#endif
