#ifndef SIM_DRIVE_H
#define SIM_DRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/*
 * drive: an NVMe drive that remembers what was written to it, sparsely: blocks of
 * 4096 bytes that are not all zero.  In memory, and in a file when it has one (written through, so that
 * a killed process finds what it had written).  Loop thread alone.
 */
#define DRIVE_BLOCK 4096
struct drive;

/* path NULL: memory alone.  ERR_* of the file. */
struct drive *drive_open(const char *path, int64_t bytes, struct err *e);
void drive_close(struct drive *d);
int64_t drive_bytes(const struct drive *d);

/* Any offset and length within the drive; -1: beyond its end, failed (drive_fail), or the file's error. */
int drive_read(struct drive *d, void *buf, size_t len, int64_t off, struct err *e);
int drive_write(struct drive *d, const void *buf, size_t len, int64_t off, struct err *e);
/* All of it reads as zeros from now on. */
int drive_erase(struct drive *d, struct err *e);
/* From now on every access fails, as one that was pulled out. */
void drive_fail(struct drive *d, bool failed);
/* Is this text anywhere on it?  For tests and the demo's own check. */
bool drive_holds(struct drive *d, const void *text, size_t len);

#endif
