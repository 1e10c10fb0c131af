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
 * host: where the machine under the agent is, so that tests can give it another:
 * a tree of files for sysfs and /proc, regular files for drives, a scripted NVMe controller.
 * Constant while the agent runs; read from every thread.
 * Tests: tests/unit/wipe/test_inventory.c
 */
struct host {
	/* "/sys", "/dev", "/proc" */
	const char *sys, *dev, *proc;
	/* tests: what stands under dev may be a regular file */
	bool files_are_drives;
	/* Admin command on the namespace open as fd: 0, an NVMe status (> 0), or -1 with errno. */
	int (*nvme_admin)(int fd, struct nvme_passthru_cmd *c);
	/* Looks anew for namespaces of the controller open as fd; NULL: there are no others. */
	int (*nvme_rescan)(int fd);
	/* ATA command on the drive open as fd (sat.h): 0, or -1 with errno. NULL: there is no ATA
	 * drive. */
	int (*ata)(int fd, struct ata_command *c);
	/* SCSI command on the drive open as fd (scsi.h): 0, or -1 with errno. NULL: there is no
	 * SCSI drive. */
	int (*scsi)(int fd, struct scsi_command *c);
	/* Blocks until the drives that are going to appear have appeared; NULL: they are there. */
	void (*settle)(void);
	/* Tests: called with memory that was written, before it is read back; NULL: nothing. */
	void (*spoil_memory)(uint64_t *words, size_t n);
	/* NULL: io_uring where it is allowed */
	const struct ring_ops *ring;
	/* no I/O may stand still for longer; 0: RING_STALL_MS */
	int stall_ms;
};
extern const struct host host_real;

/* First line of a small file, trimmed; NULL if there is none or it is empty. */
const char *host_line(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The whole of a small binary file, at most max bytes; 0 if there is none. */
size_t host_bytes(void *out, size_t max, const char *path);
/* A number in such a file; otherwise if there is none. */
int64_t host_number(int64_t otherwise, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Names in a directory, sorted, without those that begin with a dot. */
size_t host_names(struct arena *a, const char *path, const char ***names);
/* Last component of what a symbolic link points to; NULL if it is none. */
const char *host_link(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
