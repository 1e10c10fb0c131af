#ifndef WIPE_DRIVES_H
#define WIPE_DRIVES_H

#include "base/arena.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * drives: lists the machine's drives from sysfs. Blocking: only from loop_work().
 *
 * Left out are devices without a medium of their own (loop, RAM, device mapper, software RAID),
 * optical drives, empty slots, hidden paths of NVMe multipath, and USB sticks, which include the
 * virtual medium that the agent booted from. The boot partitions of an eMMC device are parts of it,
 * not drives; its RPMB has no plain I/O at all.
 * Tests: tests/unit/wipe/test_inventory.c
 */
struct drive_list {
	/* Strings and array are in the given arena. */
	struct proto_drive *v;
	size_t n;
	/* mmcblk0boot0 and so on: parts that are neither wiped nor written. */
	struct strings parts;
};
void drives_scan(const struct host *h, struct arena *a, struct drive_list *out);
/* Returns "nvme0n1" for "/dev/nvme0n1". */
const char *drive_name(const struct proto_drive *d);

/* Checks that the device name still refers to the drive that was found, because a name is reused
 * when a drive is replaced. Call it with the drive open. ERR_CONFLICT: another drive. */
int drive_check(const struct host *h, const struct proto_drive *d, struct err *e)
	__attribute__((warn_unused_result));

#endif
