/*
 * record_files: the blocking file calls of record_export.c, run on a worker thread. Each file is
 * written under a temporary name and then renamed.
 */
#include "controller/core/record_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define FILE_MAX (4u << 20)
/* Number of temporary names to try. A temporary file may belong to a running writer or to one
 * that crashed, and the two cannot be distinguished. So no temporary file of another writer is
 * deleted. */
#define ASIDES 100

static int open_folder(int at, const char *path, struct err *e)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? err_errno(e, errno, "%s", path) : fd;
}

static bool is_plain(const char *name)
{
	return name && name[0] && name[0] != '.' && !strchr(name, '/');
}

/* Returns the file's text, malloc'd. NULL with ERR_NOT_FOUND if the file does not exist, else with
 * another error. */
static char *read_at(int folder, const char *name, struct err *e)
{
	/* O_NONBLOCK: open() must not block on a named pipe. */
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	char piece[65536];
	struct stat st;
	struct buf b;
	ssize_t n = 0;

	if (fd < 0) {
		bool none = errno == ENOENT;

		err_note_errno(e, errno, "%s", name);
		if (none)
			e->kind = ERR_NOT_FOUND;
		return NULL;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		err_note(e, ERR_INVALID, 0, "%s: not a regular file", name);
		close(fd);
		return NULL;
	}
	buf_init(&b, FILE_MAX);
	while (!b.over && (n = read(fd, piece, sizeof(piece))) > 0)
		buf_put(&b, piece, (size_t)n);
	if (n < 0 || b.over) {
		err_note_errno(e, n < 0 ? errno : EFBIG, "%s", name);
		buf_done(&b);
		close(fd);
		return NULL;
	}
	close(fd);
	return buf_steal(&b);
}

/* Opens a temporary file that no other writer uses, since another replica may be writing the same
 * record at the same time. Returns its descriptor and writes its name to `aside`. */
static int open_aside(int folder, const char *name, char *aside, size_t size, struct err *e)
{
	int fd;

	for (unsigned i = 0; i < ASIDES; i++) {
		if (!str_format(aside, size, ".%s.%u.new", name, i))
			return err_set(e, ERR_INVALID, 0, "%s: the name is too long", name);
		fd = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0644);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return err_errno(e, errno, "%s", aside);
	}
	return err_set(e, ERR_UNAVAILABLE, 0,
		       "%s: all %u temporary names (.%s.N.new) exist; delete leftover ones", name,
		       ASIDES, name);
}

/* Renames aside to `name` without replacing an existing file (then fails with EEXIST). Uses a hard
 * link if renameat2() is not supported, as on NFS. */
static int rename_new(int folder, const char *aside, const char *name)
{
	if (renameat2(folder, aside, folder, name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EEXIST || linkat(folder, aside, folder, name, 0) < 0)
		return -1;
	(void)unlinkat(folder, aside, 0);
	return 0;
}

/* Writes `text` to a temporary file and renames that to `name`. Not file_write(), because replicas
 * may write the same file at the same time. If `over` is false and another writer has created
 * `name` meanwhile: ERR_CONFLICT. */
static int put(int folder, const char *name, const char *text, bool over, struct err *e)
{
	char aside[300];
	int fd = open_aside(folder, name, aside, sizeof(aside), e), rc;

	if (fd < 0)
		return -1;
	rc = file_write_fd(fd, text, strlen(text), name, e);
	if (rc == 0 && fsync(fd) < 0)
		rc = err_errno(e, errno, "%s", name);
	if (close(fd) < 0 && rc == 0)
		rc = err_errno(e, errno, "%s", name);
	if (rc == 0 &&
	    (over ? renameat(folder, aside, folder, name) : rename_new(folder, aside, name)) < 0)
		rc = errno == EEXIST
			     ? err_set(e, ERR_CONFLICT, errno, "%s: the file exists already", name)
			     : err_errno(e, errno, "%s", name);
	if (rc < 0)
		(void)unlinkat(folder, aside, 0);
	else if (fsync(folder) < 0)
		rc = err_errno(e, errno, "%s", name);
	return rc;
}

/* Syncs an existing file to disk, because another replica may have written the file a moment ago
 * without a sync so far. */
static int flush(int folder, const char *name, struct err *e)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	int rc = fd < 0 || fsync(fd) < 0 || fsync(folder) < 0 ? err_errno(e, errno, "%s", name) : 0;

	if (fd >= 0)
		close(fd);
	return rc;
}

static int keep_at(int folder, const char *name, const char *text, struct err *e)
{
	char *old = read_at(folder, name, e);
	bool same;

	if (!old && e->kind == ERR_NOT_FOUND) {
		if (put(folder, name, text, false, e) == 0)
			return 0;
		if (e->kind != ERR_CONFLICT)
			return -1;
		old = read_at(folder, name, e);
	}
	if (!old)
		return -1;
	same = str_eq(old, text);
	free(old);
	return same ? flush(folder, name, e)
		    : err_set(e, ERR_CONFLICT, 0, "%s: the file exists with different contents",
			      name);
}

int record_files_keep(const char *dir, const char *sub, const char *name, const char *text,
		      struct err *e)
{
	int top, folder, rc = -1;

	if (!is_plain(sub) || !is_plain(name))
		return err_set(e, ERR_INVALID, 0, "%s/%s: not a valid file name", str_or(sub, ""),
			       str_or(name, ""));
	top = open_folder(AT_FDCWD, dir, e);
	if (top < 0)
		return -1;
	if (mkdirat(top, sub, 0755) < 0 && errno != EEXIST) {
		err_note_errno(e, errno, "%s", sub);
	} else if (fsync(top) < 0) {
		err_note_errno(e, errno, "%s", dir);
	} else {
		folder = openat(top, sub, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (folder < 0) {
			err_note_errno(e, errno, "%s", sub);
		} else {
			rc = keep_at(folder, name, text, e);
			close(folder);
		}
	}
	close(top);
	return rc;
}

int record_files_replace(const char *dir, const char *name, const char *text, struct err *e)
{
	int folder = open_folder(AT_FDCWD, dir, e), rc;

	if (folder < 0)
		return -1;
	rc = put(folder, name, text, true, e);
	close(folder);
	return rc;
}

char *record_files_read(const char *dir, const char *name, struct err *e)
{
	int folder = open_folder(AT_FDCWD, dir, e);
	char *text;

	if (folder < 0)
		return NULL;
	text = read_at(folder, name, e);
	close(folder);
	return text;
}
