#ifndef WIPE_DIO_H
#define WIPE_DIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wipe/host.h"

/*
 * dio: one drive open for direct I/O.  Blocking: only from loop_work().
 *
 * A drive is opened without O_CREAT and, for writing, with O_EXCL, which the
 * kernel refuses while anything holds or mounts it; its device number must be
 * the one that sysfs gives, so that a missing node never becomes a file and a
 * node never stands for another drive.  The page cache is bypassed: what is
 * read comes from the drive.
 * Tests: tests/unit/wipe/test_writer.c, tests/unit/wipe/test_erase.c
 */
struct dio {
	int fd;
	int64_t bytes;
	/* logical block size */
	uint32_t block;
	/* a regular file (tests) */
	bool file;
};

/* name: "nvme0n1". */
int dio_open(struct dio *d, const struct host *h, const char *name, bool write, struct err *e)
	__attribute__((warn_unused_result));
/* also of one that was never opened, with fd -1 */
void dio_close(struct dio *d);

/* The node or sysfs's entry of it is not there any more. */
bool dio_gone(const struct host *h, const char *name);

/* len and off are multiples of block, buf comes from dio_buffer().  All of it or an error. */
int dio_read(struct dio *d, void *buf, size_t len, int64_t off, struct err *e)
	__attribute__((warn_unused_result));
int dio_write(struct dio *d, const void *buf, size_t len, int64_t off, struct err *e)
	__attribute__((warn_unused_result));
/* Make a range read as zeros, by whatever the drive does fastest.  Not an erasure. */
int dio_zero(struct dio *d, int64_t off, int64_t len, struct err *e)
	__attribute__((warn_unused_result));
/* Everything written is on the medium, and nothing of it in a cache of ours. */
int dio_flush(struct dio *d, struct err *e) __attribute__((warn_unused_result));

/* zeroed; free() */
void *dio_buffer(size_t len) __attribute__((returns_nonnull));
/* Pages of their own, for what may still be in flight when it is given up: freed while a drive
 * holds them they go to nobody else.  Zeroed; not there until they are touched. */
void *dio_pages(size_t len) __attribute__((returns_nonnull));
/* NULL is fine */
void dio_pages_free(void *p, size_t len);
bool dio_all(const void *buf, size_t len, uint8_t byte);

#endif
