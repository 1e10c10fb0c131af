#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/secret.h"

int file_read(const char *path, struct buf *into, struct err *e)
{
	FILE *f = fopen(path, "rbe");
	char piece[4096];
	size_t n;
	int rc = 0;

	if (!f)
		return errno == ENOENT ? err_set(e, ERR_NOT_FOUND, ENOENT, "%s: no such file", path)
				       : err_errno(e, errno, "%s", path);
	(void)setvbuf(f, NULL, _IONBF, 0);
	while (!rc && (n = fread(piece, 1, sizeof(piece), f)) > 0)
		if (buf_add(into, piece, n, e) < 0)
			rc = err_wrap(e, "%s", path);
	if (!rc && ferror(f))
		rc = err_errno(e, errno, "%s", path);
	fclose(f);
	secret_wipe(piece, sizeof(piece));
	return rc;
}

char *file_text(const char *path, size_t max, size_t *len, struct err *e)
{
	struct buf b;

	buf_init(&b, max);
	if (file_read(path, &b, e) < 0) {
		secret_wipe(b.data, b.len);
		buf_done(&b);
		return NULL;
	}
	if (len)
		*len = b.len;
	return buf_steal(&b);
}

int file_write_fd(int fd, const void *data, size_t len, const char *name, struct err *e)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(fd, (const char *)data + done, len - done);

		if (n < 0 && errno != EINTR)
			return err_errno(e, errno, "%s", name);
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int file_write(const char *path, const void *data, size_t len, mode_t mode, bool synced,
	       struct err *e)
{
	char *beside = mem_printf("%s.new", path);
	int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode), rc = 0;

	if (fd < 0) {
		rc = err_errno(e, errno, "%s", beside);
		free(beside);
		return rc;
	}
	rc = file_write_fd(fd, data, len, path, e);
	if (rc == 0 && synced && fsync(fd) < 0)
		rc = err_errno(e, errno, "%s", path);
	if (close(fd) < 0 && rc == 0)
		rc = err_errno(e, errno, "%s", path);
	if (rc == 0 && rename(beside, path) < 0)
		rc = err_errno(e, errno, "%s", path);
	if (rc < 0)
		(void)unlink(beside);
	free(beside);
	return rc;
}

int file_lock(const char *path, struct err *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), why;

	if (fd < 0)
		return err_errno(e, errno, "%s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	why = errno;
	err_note_errno(e, why, "%s", path);
	if (why == EWOULDBLOCK)
		e->kind = ERR_CONFLICT;
	close(fd);
	return -1;
}
