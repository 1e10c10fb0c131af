#ifndef WIPE_DIO_H
#define WIPE_DIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wipe/host.h"

/*
 * dio: one drive open for direct I/O. Blocking: only from loop_work().
 *
 * A drive is opened without O_CREAT, so that a missing device node never becomes a file. For
 * writing, a drive is opened with O_EXCL: the kernel then refuses a drive that is mounted or in
 * use. The opened device number must be the number in sysfs, so that a node never refers to another
 * drive. The page cache is bypassed: every read comes from the drive.
 * Tests: tests/unit/wipe/test_writer.c, tests/unit/wipe/test_erase.c
 */
struct dio {
	int fd;
	int64_t bytes;
	/* Logical block size in bytes. */
	uint32_t block;
	/* True: the drive is a regular file (tests). */
	bool file;
};

/* Opens the drive `name`, such as "nvme0n1", for reading, or for reading and writing if write is
 * set. */
int dio_open(struct dio *d, const struct host *h, const char *name, bool write, struct err *e)
	__attribute__((warn_unused_result));
/* Closes the drive. Allowed for a struct dio that was never opened, with fd -1. */
void dio_close(struct dio *d);

/* True if the device node or its entry in sysfs no longer exists. */
bool dio_gone(const struct host *h, const char *name);

/* Reads exactly len bytes at offset off, or fails. len and off must be multiples of d->block, and
 * buf must come from dio_buffer() or dio_pages(). dio_write() has the same rules. */
int dio_read(struct dio *d, void *buf, size_t len, int64_t off, struct err *e)
	__attribute__((warn_unused_result));
int dio_write(struct dio *d, const void *buf, size_t len, int64_t off, struct err *e)
	__attribute__((warn_unused_result));
/* Makes len bytes at offset off read as zeros by the drive's fastest method. This does not count as
 * an erasure. */
int dio_zero(struct dio *d, int64_t off, int64_t len, struct err *e)
	__attribute__((warn_unused_result));
/* Returns when everything written to the drive is on its medium; the host's cache of the drive is
 * then empty. */
int dio_flush(struct dio *d, struct err *e) __attribute__((warn_unused_result));

/* Returns zeroed memory; release it with free(). */
void *dio_buffer(size_t len) __attribute__((returns_nonnull));
/* Returns a zeroed buffer from mmap(), for I/O that may still be in flight when the buffer is
 * freed: after dio_pages_free() the kernel reuses no page before the page's I/O ends. Memory is
 * allocated on first touch. */
void *dio_pages(size_t len) __attribute__((returns_nonnull));
/* Frees a buffer of dio_pages(); p NULL is allowed. */
void dio_pages_free(void *p, size_t len);
bool dio_all(const void *buf, size_t len, uint8_t byte);

#endif
