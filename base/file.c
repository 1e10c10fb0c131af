#include "base/file.h"

#include <errno.h>
#include <stdio.h>
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
