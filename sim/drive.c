#include "sim/drive.h"

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
	int fd;
	int64_t bytes;
	bool failed;
};

/* Whether a drive was pulled is in the file's mode, so that there is no second file to get out of step. */
enum { MODE_IN = 0600, MODE_PULLED = 0400 };

static int open_file(struct drive *d, const char *path, struct err *e)
{
	struct stat st;

	if (!path) {
		d->fd = memfd_create("drive", MFD_CLOEXEC);
		return d->fd < 0 ? err_errno(e, errno, "drive in memory") : 0;
	}
	if (stat(path, &st) == 0 && (st.st_mode & 0777) == MODE_PULLED) {
		d->failed = true;
		if (chmod(path, MODE_IN) < 0)
			return err_errno(e, errno, "drive %s", path);
	}
	d->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, MODE_IN);
	if (d->fd < 0)
		return err_errno(e, errno, "drive %s", path);
	if (d->failed)
		drive_fail(d, true);
	return 0;
}

struct drive *drive_open(const char *path, int64_t bytes, struct err *e)
{
	struct drive *d = mem_new(struct drive);

	d->fd = -1;
	d->bytes = bytes / DRIVE_BLOCK * DRIVE_BLOCK;
	if (d->bytes <= 0)
		(void)!err_set(e, ERR_INVALID, 0, "drive of %lld bytes, want at least %d",
			       (long long)bytes, DRIVE_BLOCK);
	else if (open_file(d, path, e) == 0) {
		if (ftruncate(d->fd, d->bytes) == 0)
			return d;
		(void)!err_errno(e, errno, "drive of %lld bytes", (long long)d->bytes);
	}
	drive_close(d);
	return NULL;
}

void drive_close(struct drive *d)
{
	if (!d)
		return;
	if (d->fd >= 0)
		close(d->fd);
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

int drive_read(struct drive *d, void *buf, size_t len, int64_t off, struct err *e)
{
	char *at = buf;

	if (check(d, off, (int64_t)len, e) < 0)
		return -1;
	while (len) {
		ssize_t n = pread(d->fd, at, len, off);

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

static int put(struct drive *d, const char *at, size_t len, int64_t off, struct err *e)
{
	while (len) {
		ssize_t n = pwrite(d->fd, at, len, off);

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

/* For a file system that knows no holes. */
static int put_zeros(struct drive *d, int64_t off, int64_t len, struct err *e)
{
	static const char zeros[SEARCH];

	while (len) {
		size_t n = len < SEARCH ? (size_t)len : SEARCH;

		if (put(d, zeros, n, off, e) < 0)
			return -1;
		off += (int64_t)n;
		len -= (int64_t)n;
	}
	return 0;
}

int drive_zero(struct drive *d, int64_t off, int64_t len, struct err *e)
{
	if (check(d, off, len, e) < 0)
		return -1;
	if (!len || fallocate(d->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off, len) == 0)
		return 0;
	if (errno != EOPNOTSUPP)
		return err_errno(e, errno, "zeros at %lld", (long long)off);
	return put_zeros(d, off, len, e);
}

int drive_write(struct drive *d, const void *buf, size_t len, int64_t off, struct err *e)
{
	const char *at = buf;

	if (check(d, off, (int64_t)len, e) < 0)
		return -1;
	/* Runs of blocks that are all zeros, or all not. */
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
		if ((zero ? drive_zero(d, off, (int64_t)n, e) : put(d, at, n, off, e)) < 0)
			return -1;
		at += n;
		off += (int64_t)n;
		len -= n;
	}
	return 0;
}

int drive_erase(struct drive *d, struct err *e)
{
	return drive_zero(d, 0, d->bytes, e);
}

void drive_fail(struct drive *d, bool failed)
{
	d->failed = failed;
	(void)!fchmod(d->fd, failed ? MODE_PULLED : MODE_IN);
}

bool drive_failed(const struct drive *d)
{
	return d->failed;
}

/* Only where there is data; pieces overlap by the text's length. */
bool drive_holds(struct drive *d, const void *text, size_t len)
{
	char *buf = mem_alloc(SEARCH);
	int64_t at = 0;
	bool found = false;

	while (len && len < SEARCH && !found && at < d->bytes) {
		ssize_t n = pread(d->fd, buf, SEARCH, at);

		if (n <= 0)
			break;
		found = memmem(buf, (size_t)n, text, len) != NULL;
		if (n < SEARCH)
			break;
		at += n - (int64_t)len + 1;
		if (all_zero(buf, (size_t)n)) {
			off_t data = lseek(d->fd, at, SEEK_DATA);

			if (data < 0) /* ENXIO: only holes are left */
				break;
			at = data > (off_t)len ? (data - (off_t)len > at ? data - (off_t)len : at)
					       : at;
		}
	}
	free(buf);
	return found;
}
