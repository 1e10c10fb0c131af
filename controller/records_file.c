#include "controller/records_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

#define FILE_MAX (4u << 20)

static int open_folder(int at, const char *path, struct err *e)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? err_errno(e, errno, "%s", path) : fd;
}

static bool is_plain(const char *name)
{
	return name && name[0] && name[0] != '.' && !strchr(name, '/');
}

/* NULL with ERR_NOT_FOUND: there is none. */
static char *read_at(int folder, const char *name, struct err *e)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char piece[65536];
	struct buf b;
	ssize_t n = 0;

	if (fd < 0) {
		(void)!err_errno(e, errno, "%s", name);
		if (errno == ENOENT)
			e->kind = ERR_NOT_FOUND;
		return NULL;
	}
	buf_init(&b, FILE_MAX);
	while (!b.over && (n = read(fd, piece, sizeof(piece))) > 0)
		buf_put(&b, piece, (size_t)n);
	if (n < 0 || b.over) {
		(void)!err_errno(e, n < 0 ? errno : EFBIG, "%s", name);
		buf_done(&b);
		close(fd);
		return NULL;
	}
	close(fd);
	return buf_give(&b);
}

static int write_all(int fd, const char *text, const char *name, struct err *e)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno != EINTR)
			return err_errno(e, errno, "%s", name);
		if (n > 0) {
			text += n;
			left -= (size_t)n;
		}
	}
	return fsync(fd) < 0 ? err_errno(e, errno, "%s", name) : 0;
}

static int put(int folder, const char *name, const char *text, struct err *e)
{
	char aside[300];
	int fd, rc;

	if (!str_format(aside, sizeof(aside), ".%s.new", name))
		return err_set(e, ERR_INVALID, 0, "%s: the name is too long", name);
	if (unlinkat(folder, aside, 0) < 0 && errno != ENOENT)
		return err_errno(e, errno, "%s", aside);
	fd = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_errno(e, errno, "%s", aside);
	rc = write_all(fd, text, name, e);
	if (close(fd) < 0 && rc == 0)
		rc = err_errno(e, errno, "%s", name);
	if (rc == 0 && renameat(folder, aside, folder, name) < 0)
		rc = err_errno(e, errno, "%s", name);
	if (rc < 0)
		(void)unlinkat(folder, aside, 0);
	else if (fsync(folder) < 0)
		rc = err_errno(e, errno, "%s", name);
	return rc;
}

static int keep_at(int folder, const char *name, const char *text, struct err *e)
{
	char *old = read_at(folder, name, e);
	bool same = old && str_eq(old, text);

	if (!old && e->kind == ERR_NOT_FOUND)
		return put(folder, name, text, e);
	if (!old)
		return -1;
	free(old);
	return same ? 0 : err_set(e, ERR_CONFLICT, 0, "%s: another text stands there", name);
}

int records_file_keep(const char *dir, const char *sub, const char *name, const char *text,
		      struct err *e)
{
	int top, folder, rc = -1;

	if (!is_plain(sub) || !is_plain(name))
		return err_set(e, ERR_INVALID, 0, "%s/%s: no name for a file", str_or(sub, ""),
			       str_or(name, ""));
	top = open_folder(AT_FDCWD, dir, e);
	if (top < 0)
		return -1;
	if (mkdirat(top, sub, 0755) < 0 && errno != EEXIST) {
		(void)!err_errno(e, errno, "%s", sub);
	} else if (fsync(top) < 0) {
		(void)!err_errno(e, errno, "%s", dir);
	} else {
		folder = openat(top, sub, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (folder < 0) {
			(void)!err_errno(e, errno, "%s", sub);
		} else {
			rc = keep_at(folder, name, text, e);
			close(folder);
		}
	}
	close(top);
	return rc;
}

int records_file_replace(const char *dir, const char *name, const char *text, struct err *e)
{
	int folder = open_folder(AT_FDCWD, dir, e), rc;

	if (folder < 0)
		return -1;
	rc = put(folder, name, text, e);
	close(folder);
	return rc;
}

char *records_file_read(const char *dir, const char *name, struct err *e)
{
	int folder = open_folder(AT_FDCWD, dir, e);
	char *text;

	if (folder < 0)
		return NULL;
	text = read_at(folder, name, e);
	close(folder);
	return text;
}
