#include "wipe/dio.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "base/str.h"

#define ALIGN 4096
#define ZERO_PIECE (1 << 20)

void *dio_pages(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	/* Requests huge pages: fewer page faults, and fewer pages to pin for each write. */
	(void)madvise(p, len, MADV_HUGEPAGE);
	return p;
}

void dio_pages_free(void *p, size_t len)
{
	if (p)
		munmap(p, len);
}

void *dio_buffer(size_t len)
{
	void *p = NULL;

	if (posix_memalign(&p, ALIGN, len))
		abort();
	memset(p, 0, len);
	return p;
}

/* Checks that the opened device node is the device that sysfs shows under the same name. -1: the
 * node is another device. */
static int check_node(const struct host *h, const char *name, const struct stat *st, struct err *e)
{
	char want[32];
	OWN(arena) a = arena_new();
	const char *dev = host_line(a, "%s/block/%s/dev", h->sys, name);

	if (S_ISREG(st->st_mode) && h->files_are_drives)
		return 0;
	if (!S_ISBLK(st->st_mode))
		return err_set(e, ERR_INVALID, 0, "%s is not a block device", name);
	snprintf(want, sizeof(want), "%u:%u", major(st->st_rdev), minor(st->st_rdev));
	if (!dev || strcmp(dev, want) != 0)
		return err_set(e, ERR_INVALID, 0, "%s has device number %s, but sysfs shows %s",
			       name, want, str_or(dev, "nothing"));
	return 0;
}

static int measure(struct dio *d, const struct stat *st, const char *name, struct err *e)
{
	uint64_t bytes = 0;
	int block = 0;

	d->file = S_ISREG(st->st_mode);
	if (d->file) {
		d->bytes = st->st_size;
		d->block = 512;
	} else {
		if (ioctl(d->fd, BLKGETSIZE64, &bytes) < 0 || ioctl(d->fd, BLKSSZGET, &block) < 0)
			return err_errno(e, errno, "%s: size", name);
		d->bytes = (int64_t)bytes;
		d->block = (uint32_t)block;
	}
	if (d->bytes < ZERO_PIECE || d->block < 512 || d->block > ALIGN || d->bytes % d->block)
		return err_set(e, ERR_UNSUPPORTED, 0,
			       "%s: unsupported: %" PRId64 " bytes in blocks of %u", name, d->bytes,
			       d->block);
	return 0;
}

int dio_open(struct dio *d, const struct host *h, const char *name, bool write, struct err *e)
{
	char path[PATH_MAX];
	struct stat st;
	int flags = (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_DIRECT;

	memset(d, 0, sizeof(*d));
	d->fd = -1;
	snprintf(path, sizeof(path), "%s/%s", h->dev, name);
	if (lstat(path, &st) < 0)
		return err_errno(e, errno, "%s", path);
	if (check_node(h, name, &st, e) < 0)
		return -1;
	/* Sets O_EXCL for block devices only, because for other files O_EXCL without O_CREAT is not
	 * defined. */
	if (write && S_ISBLK(st.st_mode))
		flags |= O_EXCL;
	d->fd = open(path, flags);
	if (d->fd < 0 && errno == EINVAL && S_ISREG(st.st_mode))
		d->fd = open(path, flags & ~O_DIRECT);
	if (d->fd < 0)
		return err_errno(e, errno, "%s", path);
	if (fstat(d->fd, &st) < 0 || measure(d, &st, name, e) < 0) {
		dio_close(d);
		return -1;
	}
	return 0;
}

void dio_close(struct dio *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

bool dio_gone(const struct host *h, const char *name)
{
	char node[PATH_MAX], entry[PATH_MAX];

	snprintf(node, sizeof(node), "%s/%s", h->dev, name);
	snprintf(entry, sizeof(entry), "%s/block/%s", h->sys, name);
	return access(node, F_OK) < 0 || access(entry, F_OK) < 0;
}

/* True if a transfer that moved n bytes can be continued. A transfer that ended inside a block
 * cannot be continued, because the rest would be unaligned. */
static bool goes_on(const struct dio *d, ssize_t n)
{
	return n > 0 && (d->file || n % d->block == 0);
}

int dio_read(struct dio *d, void *buf, size_t len, int64_t off, struct err *e)
{
	char *at = buf;

	while (len) {
		ssize_t n = pread(d->fd, at, len, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, errno, "read at %" PRId64, off);
		if (!goes_on(d, n))
			return err_errno(e, EIO, "short read at %" PRId64, off);
		at += n;
		off += n;
		len -= (size_t)n;
	}
	return 0;
}

int dio_write(struct dio *d, const void *buf, size_t len, int64_t off, struct err *e)
{
	const char *at = buf;

	if (off < 0 || (int64_t)len > d->bytes - off)
		return err_set(e, ERR_INVALID, 0, "write beyond the end of the drive, at %" PRId64,
			       off);
	while (len) {
		ssize_t n = pwrite(d->fd, at, len, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, errno, "write at %" PRId64, off);
		if (!goes_on(d, n))
			return err_errno(e, EIO, "short write at %" PRId64, off);
		at += n;
		off += n;
		len -= (size_t)n;
	}
	return 0;
}

int dio_zero(struct dio *d, int64_t off, int64_t len, struct err *e)
{
	uint64_t range[2] = {(uint64_t)off, (uint64_t)len};
	int rc = 0;

	if (off < 0 || len < 0 || len > d->bytes - off)
		return err_set(e, ERR_INVALID, 0, "zeros beyond the end of the drive, at %" PRId64,
			       off);
	if (!d->file && !ioctl(d->fd, BLKZEROOUT, range))
		return 0;
	if (d->file && !fallocate(d->fd, FALLOC_FL_ZERO_RANGE, off, len))
		return 0;

	void *zeros = dio_buffer(ZERO_PIECE);

	while (len && !rc) {
		size_t n = len < ZERO_PIECE ? (size_t)len : ZERO_PIECE;

		rc = dio_write(d, zeros, n, off, e);
		off += (int64_t)n;
		len -= (int64_t)n;
	}
	free(zeros);
	return rc;
}

int dio_flush(struct dio *d, struct err *e)
{
	if (fdatasync(d->fd) < 0)
		return err_errno(e, errno, "flush");
	if (!d->file && ioctl(d->fd, BLKFLSBUF, 0) < 0)
		return err_errno(e, errno, "drop the kernel's cache");
	return 0;
}

bool dio_all(const void *buf, size_t len, uint8_t byte)
{
	const uint8_t *p = buf;

	return !len || (p[0] == byte && !memcmp(p, p + 1, len - 1));
}
