#include "sim/machine/drive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"

#define SEARCH (1 << 20)

struct drive {
	/* Path of the drive's file; NULL: the drive is in anonymous memory, under fd. */
	char *path;
	int fd;
	int64_t bytes;
	bool failed, lies;
};

/* Modes of a drive's file, which record whether the drive was pulled. A second file for this state
 * could disagree with the drive's file after a crash. */
enum { MODE_IN = 0600, MODE_PULLED = 0400 };

/* Returns a file descriptor for one access only. The file is not kept open, because a rack has more
 * drives than a process may have open files. */
static int take(const struct drive *d, int flags, struct err *e)
{
	int fd = d->path ? open(d->path, flags | O_CLOEXEC | O_NOFOLLOW, MODE_IN) : d->fd;

	return fd < 0 ? err_errno(e, errno, "drive %s", d->path) : fd;
}

static void leave(const struct drive *d, int fd)
{
	if (d->path)
		close(fd);
}

static int make_file(const struct drive *d, struct err *e)
{
	int fd = take(d, O_RDWR | O_CREAT, e), rc;

	if (fd < 0)
		return -1;
	rc = ftruncate(fd, d->bytes);
	if (rc < 0)
		rc = err_errno(e, errno, "drive of %lld bytes", (long long)d->bytes);
	leave(d, fd);
	return rc;
}

static int begin(struct drive *d, struct err *e)
{
	struct stat st;

	if (d->bytes <= 0)
		return err_set(e, ERR_INVALID, 0, "drive of %lld bytes, want at least %d",
			       (long long)d->bytes, DRIVE_BLOCK);
	if (!d->path) {
		d->fd = memfd_create("drive", MFD_CLOEXEC);
		if (d->fd < 0)
			return err_errno(e, errno, "drive in memory");
	}
	d->failed = d->path && stat(d->path, &st) == 0 && (st.st_mode & 0777) == MODE_PULLED;
	return d->failed ? 0 : make_file(d, e);
}

struct drive *drive_open(const char *path, int64_t bytes, struct err *e)
{
	struct drive *d = mem_new(struct drive);

	d->fd = -1;
	d->path = mem_strdup(path);
	d->bytes = bytes / DRIVE_BLOCK * DRIVE_BLOCK;
	if (begin(d, e) == 0)
		return d;
	drive_close(d);
	return NULL;
}

void drive_close(struct drive *d)
{
	if (!d)
		return;
	if (d->fd >= 0)
		close(d->fd);
	free(d->path);
	free(d);
}

int64_t drive_bytes(const struct drive *d)
{
	return d->bytes;
}

static int check(const struct drive *d, int64_t off, int64_t len, struct err *e)
{
	if (d->failed)
		return err_set(e, ERR_UNAVAILABLE, EIO, "the drive does not answer");
	if (off < 0 || len < 0 || len > d->bytes || off > d->bytes - len)
		return err_set(e, ERR_INVALID, EINVAL, "%lld bytes at %lld of a drive of %lld",
			       (long long)len, (long long)off, (long long)d->bytes);
	return 0;
}

static int read_all(int fd, char *at, size_t len, int64_t off, struct err *e)
{
	while (len) {
		ssize_t n = pread(fd, at, len, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(e, n ? errno : EIO, "read at %lld", (long long)off);
		at += n;
		off += n;
		len -= (size_t)n;
	}
	return 0;
}

/* True if the range is a hole of the file. Holes are not read, because the kernel would fill its
 * page cache with zeros, also by read-ahead; such reads took a third of the processor time of a
 * rack that verifies wipes. A file system without holes reports everything as data. */
static bool is_hole(int fd, int64_t off, size_t len)
{
	off_t data = lseek(fd, off, SEEK_DATA);

	return data < 0 ? errno == ENXIO : data >= off + (int64_t)len;
}

int drive_read(struct drive *d, void *buf, size_t len, int64_t off, struct err *e)
{
	int fd, rc;

	if (check(d, off, (int64_t)len, e) < 0 || (fd = take(d, O_RDONLY, e)) < 0)
		return -1;
	rc = 0;
	if (len && is_hole(fd, off, len))
		memset(buf, 0, len);
	else
		rc = read_all(fd, buf, len, off, e);
	leave(d, fd);
	return rc;
}

static int put(int fd, const char *at, size_t len, int64_t off, struct err *e)
{
	while (len) {
		ssize_t n = pwrite(fd, at, len, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, errno, "write at %lld", (long long)off);
		at += n;
		off += n;
		len -= (size_t)n;
	}
	return 0;
}

static bool all_zero(const char *at, size_t len)
{
	return !len || (!at[0] && !memcmp(at, at + 1, len - 1));
}

/* Writes zeros, for a file system that does not support holes. */
static int put_zeros(int fd, int64_t off, int64_t len, struct err *e)
{
	static const char zeros[SEARCH];

	while (len) {
		size_t n = len < SEARCH ? (size_t)len : SEARCH;

		if (put(fd, zeros, n, off, e) < 0)
			return -1;
		off += (int64_t)n;
		len -= (int64_t)n;
	}
	return 0;
}

static int punch(int fd, int64_t off, int64_t len, struct err *e)
{
	if (!len || fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off, len) == 0)
		return 0;
	if (errno != EOPNOTSUPP)
		return err_errno(e, errno, "zeros at %lld", (long long)off);
	return put_zeros(fd, off, len, e);
}

int drive_zero(struct drive *d, int64_t off, int64_t len, struct err *e)
{
	int fd, rc;

	if (check(d, off, len, e) < 0 || (fd = take(d, O_RDWR, e)) < 0)
		return -1;
	rc = punch(fd, off, len, e);
	leave(d, fd);
	return rc;
}

/* Splits the write into runs of zero and of non-zero blocks, and punches holes for the zero
 * blocks. */
static int write_runs(int fd, const char *at, size_t len, int64_t off, struct err *e)
{
	while (len) {
		size_t n = DRIVE_BLOCK - (size_t)(off % DRIVE_BLOCK);
		bool zero;

		if (n > len)
			n = len;
		zero = all_zero(at, n);
		while (n < len) {
			size_t more = len - n < DRIVE_BLOCK ? len - n : DRIVE_BLOCK;

			if (all_zero(at + n, more) != zero)
				break;
			n += more;
		}
		if ((zero ? punch(fd, off, (int64_t)n, e) : put(fd, at, n, off, e)) < 0)
			return -1;
		at += n;
		off += (int64_t)n;
		len -= n;
	}
	return 0;
}

int drive_write(struct drive *d, const void *buf, size_t len, int64_t off, struct err *e)
{
	int fd, rc;

	if (check(d, off, (int64_t)len, e) < 0)
		return -1;
	if (d->lies)
		return 0;
	if ((fd = take(d, O_RDWR, e)) < 0)
		return -1;
	rc = write_runs(fd, buf, len, off, e);
	leave(d, fd);
	return rc;
}

int drive_erase(struct drive *d, struct err *e)
{
	return drive_zero(d, 0, d->bytes, e);
}

void drive_fail(struct drive *d, bool failed)
{
	d->failed = failed;
	if (d->path)
		(void)!chmod(d->path, failed ? MODE_PULLED : MODE_IN);
}

bool drive_failed(const struct drive *d)
{
	return d->failed;
}

void drive_lie(struct drive *d, bool lies)
{
	d->lies = lies;
}

/* Reads only the data of the file, no holes. Consecutive reads overlap by the length of the
 * text. */
bool drive_holds(struct drive *d, const void *text, size_t len)
{
	char *buf = mem_alloc(SEARCH);
	int64_t at = 0;
	bool found = false;
	struct err e;
	int fd = take(d, O_RDONLY, &e);

	while (fd >= 0 && len && len < SEARCH && !found) {
		off_t data = lseek(fd, at, SEEK_DATA);
		ssize_t n;

		if (data < 0) /* Only holes follow. */
			break;
		if (data > at + (off_t)len)
			at = data - (off_t)len;
		n = pread(fd, buf, SEARCH, at);
		if (n < (ssize_t)len)
			break;
		found = memmem(buf, (size_t)n, text, len) != NULL;
		at += n - (int64_t)len + 1;
	}
	if (fd >= 0)
		leave(d, fd);
	free(buf);
	return found;
}
