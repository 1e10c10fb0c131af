/* audit_lines: the blocking file calls of audit_file.c, run on a worker thread. */
#include "controller/core/audit_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/auditlog.h"
#include "base/mem.h"
#include "base/str.h"

/* Number of bytes at the end of the file in which the last complete entry is searched: more than
 * two of the longest entries. */
#define TAIL_BYTES (64u << 10)

static int open_file(const char *path, int flags, struct stat *st, struct err *e)
{
	/* O_NONBLOCK: open() must not block on a named pipe. */
	int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0640);

	if (fd < 0)
		return err_errno(e, errno, "%s", path);
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode))
		return fd;
	close(fd);
	return err_set(e, ERR_INVALID, 0, "%s: not a regular file", path);
}

static int write_all(int fd, const char *text, size_t left, const char *path, struct err *e)
{
	while (left) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, errno, "%s", path);
		text += n;
		left -= (size_t)n;
	}
	return 0;
}

/* True if the file is empty or ends with a newline. */
static bool ends_with_line(int fd, off_t size)
{
	char last;

	return size == 0 || pread(fd, &last, 1, size - 1) != 1 || last == '\n';
}

static int append(int fd, off_t size, const char *path, const char *text, struct err *e)
{
	if (!ends_with_line(fd, size) && write_all(fd, "\n", 1, path, e) < 0)
		return -1;
	if (write_all(fd, text, strlen(text), path, e) < 0)
		return -1;
	return fsync(fd) < 0 ? err_errno(e, errno, "%s", path) : 0;
}

int audit_lines_append(const char *path, const char *text, struct err *e)
{
	struct stat st;
	int fd, rc;

	if (str_eq(path, AUDIT_LINES_STDOUT))
		return write_all(STDOUT_FILENO, text, strlen(text), "standard output", e);
	fd = open_file(path, O_RDWR | O_APPEND | O_CREAT, &st, e);
	if (fd < 0)
		return -1;
	rc = append(fd, st.st_size, path, text, e);
	close(fd);
	return rc;
}

/* Returns the sequence number of the entry in the line; 0: it is no complete entry. */
static int64_t seq_of(const char *line)
{
	char digest[CRYPTO_DIGEST_TEXT];
	struct err e;
	OWN_JSON j = json_parse(line, strlen(line), &e);
	const bool whole = json_is_object(j) &&
			   str_eq(audit_entry_digest(j, digest), json_str_at(j, "digest"));

	return whole ? json_int_at(j, "seq") : 0;
}

/* Returns the sequence number of the last complete entry of text, which is changed. */
static int64_t last_of(char *text)
{
	int64_t seq = 0;
	char *end;

	while (!seq && (end = strrchr(text, '\n')) != NULL) {
		char *begin;

		*end = '\0';
		begin = strrchr(text, '\n');
		seq = seq_of(begin ? begin + 1 : text);
	}
	return seq;
}

int audit_lines_last(const char *path, int64_t *seq, struct err *e)
{
	struct stat st;
	off_t from;
	ssize_t n;
	char *text;
	int fd = open_file(path, O_RDONLY, &st, e);

	*seq = 0;
	if (fd < 0)
		return e->code == ENOENT ? 0 : -1;
	text = mem_alloc(TAIL_BYTES + 1);
	from = st.st_size > (off_t)TAIL_BYTES ? st.st_size - (off_t)TAIL_BYTES : 0;
	n = pread(fd, text, TAIL_BYTES, from);
	if (n < 0)
		err_note_errno(e, errno, "%s", path);
	text[n < 0 ? 0 : n] = '\0';
	*seq = last_of(text);
	free(text);
	close(fd);
	return n < 0 ? -1 : 0;
}
