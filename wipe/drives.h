#ifndef WIPE_DRIVES_H
#define WIPE_DRIVES_H

#include "base/arena.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * drives: lists the machine's drives from sysfs. Blocking: only from loop_work().
 *
 * The list omits devices without a medium of their own (loop, RAM, device mapper, software RAID),
 * optical drives, empty slots, hidden paths of NVMe multipath, and USB sticks, which include the
 * virtual medium that the agent booted from. The boot partitions of an eMMC device are parts of it,
 * not drives. Its RPMB partition is omitted, because it does not support plain I/O.
 * Tests: tests/unit/wipe/test_inventory.c
 */
struct drive_list {
	/* The drives; array and strings are in the arena passed to drives_scan(). */
	struct proto_drive *v;
	size_t n;
	/* Names of drive parts that are neither wiped nor written, such as mmcblk0boot0. */
	struct strings parts;
};
void drives_scan(const struct host *h, struct arena *a, struct drive_list *out);
/* Returns "nvme0n1" for "/dev/nvme0n1". */
const char *drive_name(const struct proto_drive *d);

/* Checks that the drive's device name still refers to the drive d, because the kernel reuses names
 * when a drive is replaced. The caller must have the device open. ERR_CONFLICT: the name now refers
 * to another drive. */
int drive_check(const struct host *h, const struct proto_drive *d, struct err *e)
	__attribute__((warn_unused_result));

#endif
