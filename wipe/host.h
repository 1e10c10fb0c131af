#ifndef WIPE_HOST_H
#define WIPE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"

struct ata_command;
struct nvme_passthru_cmd;
struct ring_ops;
struct scsi_command;

/*
 * host: access to the machine under the agent. In tests it is replaced by a tree of files for sysfs
 * and /proc, regular files for drives, and a scripted NVMe controller. struct host is constant
 * while the agent runs and is read by every thread.
 * Tests: tests/unit/wipe/test_inventory.c
 */
struct host {
	/* Directories of sysfs, of device nodes and of procfs: "/sys", "/dev", "/proc". */
	const char *sys, *dev, *proc;
	/* Tests: entries under dev may be regular files. */
	bool files_are_drives;
	/* Sends an admin command to the namespace open as fd. Returns 0, an NVMe status (> 0), or
	 * -1 with errno. */
	int (*nvme_admin)(int fd, struct nvme_passthru_cmd *c);
	/* Rescans the namespaces of the controller open as fd; NULL: no rescan is possible, so the
	 * caller does not wait for new block devices. */
	int (*nvme_rescan)(int fd);
	/* Sends an ATA command to the drive open as fd (sat.h). Returns 0, or -1 with errno. NULL:
	 * there is no ATA drive. */
	int (*ata)(int fd, struct ata_command *c);
	/* Sends a SCSI command to the drive open as fd (scsi.h). Returns 0, or -1 with errno. NULL:
	 * there is no SCSI drive. */
	int (*scsi)(int fd, struct scsi_command *c);
	/* Blocks until all drives of the machine have appeared; NULL: nothing to wait for. */
	void (*settle)(void);
	/* Tests: called with the n words just written to memory, before they are read back, so that
	 * a test can corrupt them; NULL: no test hook. */
	void (*spoil_memory)(uint64_t *words, size_t n);
	/* Backend of ring.h; NULL: io_uring where the kernel permits it. */
	const struct ring_ops *ring;
	/* Longest time in ms in which no I/O of a drive completes; 0 means RING_STALL_MS. */
	int stall_ms;
};
extern const struct host host_real;

/* Returns the first line of the small file at the formatted path, trimmed, in the arena. NULL: the
 * file is missing or empty. */
const char *host_line(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Reads a small binary file into out, at most max bytes. Returns the number of bytes; 0:
 * missing. */
size_t host_bytes(void *out, size_t max, const char *path);
/* Returns the number in the small file at the formatted path; `otherwise` if the file is missing or
 * holds no number. */
int64_t host_number(int64_t otherwise, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Sets *names to the sorted names in a directory, without those that begin with a dot, and returns
 * their number. */
size_t host_names(struct arena *a, const char *path, const char ***names);
/* Returns the last component of the target of the symbolic link at the formatted path; NULL: not a
 * link. */
const char *host_link(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
