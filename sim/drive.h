#ifndef SIM_DRIVE_H
#define SIM_DRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/*
 * drive: an NVMe drive that remembers what was written to it, sparsely: blocks of
 * 4096 bytes that are all zero take no room.  A file with holes, written through, so that
 * a killed process finds what it had written; without a path an anonymous one in memory.
 * Loop thread alone.
 */
#define DRIVE_BLOCK 4096
struct drive;

/* path NULL: memory alone.  A file that is there keeps what it holds; it gets this size.  ERR_* of
 * the file. */
struct drive *drive_open(const char *path, int64_t bytes, struct err *e);
void drive_close(struct drive *d);
int64_t drive_bytes(const struct drive *d);

/* Any offset and length within the drive; -1: beyond its end, failed (drive_fail), or the file's
 * error. */
int drive_read(struct drive *d, void *buf, size_t len, int64_t off, struct err *e)
	__attribute__((warn_unused_result));
int drive_write(struct drive *d, const void *buf, size_t len, int64_t off, struct err *e)
	__attribute__((warn_unused_result));
/* This part, or all of it, reads as zeros from now on.  Quick, however much it is. */
int drive_zero(struct drive *d, int64_t off, int64_t len, struct err *e)
	__attribute__((warn_unused_result));
int drive_erase(struct drive *d, struct err *e) __attribute__((warn_unused_result));
/* From now on every access fails, as one that was pulled out; remembered with the file. */
void drive_fail(struct drive *d, bool failed);
bool drive_failed(const struct drive *d);
/* Is this text anywhere on it? For tests and the demo's own check. Looks into a failed one too. */
bool drive_holds(struct drive *d, const void *text, size_t len);

#endif
