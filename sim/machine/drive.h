#ifndef SIM_MACHINE_DRIVE_H
#define SIM_MACHINE_DRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/*
 * drive: a simulated NVMe drive that stores its contents sparsely: blocks of 4096 bytes that are
 * all zero take no space. The contents are in a file with holes; without a path they are in
 * anonymous memory. Writes are not cached in the process, so that the file has everything that was
 * written even if the process is killed. Loop thread only.
 */
#define DRIVE_BLOCK 4096
struct drive;

/* Opens a drive. path NULL: in memory only. An existing file keeps its contents and is resized to
 * `bytes`. NULL with *e: the file could not be opened. */
struct drive *drive_open(const char *path, int64_t bytes, struct err *e);
void drive_close(struct drive *d);
int64_t drive_bytes(const struct drive *d);

/* Reads len bytes at offset off; any offset and length within the drive are allowed. -1: out of
 * range, the drive was pulled (drive_fail()), or the file failed. drive_write() has the same
 * rules. */
int drive_read(struct drive *d, void *buf, size_t len, int64_t off, struct err *e)
	__attribute__((warn_unused_result));
int drive_write(struct drive *d, const void *buf, size_t len, int64_t off, struct err *e)
	__attribute__((warn_unused_result));
/* drive_zero() zeros a range, drive_erase() the whole drive. Both are fast on a file system with
 * holes, because they punch a hole in the file. */
int drive_zero(struct drive *d, int64_t off, int64_t len, struct err *e)
	__attribute__((warn_unused_result));
int drive_erase(struct drive *d, struct err *e) __attribute__((warn_unused_result));
/* failed true: makes every later access fail, as for a pulled drive; false restores the drive. The
 * state is stored with the file. */
void drive_fail(struct drive *d, bool failed);
bool drive_failed(const struct drive *d);
/* lies true: from now on drive_write() returns success and stores nothing; false: the drive stores
 * again. Not stored with the file: the drive stores again after drive_open(). */
void drive_lie(struct drive *d, bool lies);
/* True if the text occurs anywhere on the drive, even if the drive was pulled. For tests, and for
 * the check of the demo that no tenant data is left. */
bool drive_holds(struct drive *d, const void *text, size_t len);

#endif
