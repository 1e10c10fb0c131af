#include "cli/tarball.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/str.h"

enum { BLOCK = 512, LEVEL = 6 };

struct tarball {
	FILE *to;
	ZSTD_CCtx *z;
	char *out;
	size_t out_size;
	int64_t time;
	struct err failed;
};

struct tarball *tarball_new(FILE *to, int64_t time)
{
	struct tarball *t = mem_new(struct tarball);

	t->to = to;
	t->time = time;
	t->z = ZSTD_createCCtx();
	t->out_size = ZSTD_CStreamOutSize();
	t->out = mem_alloc(t->out_size);
	if (!t->z)
		err_note(&t->failed, ERR_CAPACITY, 0, "not enough memory to compress the archive");
	else
		(void)ZSTD_CCtx_setParameter(t->z, ZSTD_c_compressionLevel, LEVEL);
	return t;
}

void tarball_free(struct tarball *t)
{
	if (!t)
		return;
	ZSTD_freeCCtx(t->z);
	free(t->out);
	free(t);
}

static void write_out(struct tarball *t, const void *data, size_t len, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {data, len, 0};
	size_t left = 1;

	while (t->failed.kind == ERR_NONE && (in.pos < in.size || (end == ZSTD_e_end && left))) {
		ZSTD_outBuffer out = {t->out, t->out_size, 0};

		left = ZSTD_compressStream2(t->z, &out, &in, end);
		if (ZSTD_isError(left))
			err_note(&t->failed, ERR_CAPACITY, 0, "%s", ZSTD_getErrorName(left));
		else if (fwrite(t->out, 1, out.pos, t->to) != out.pos)
			err_note(&t->failed, ERR_UNAVAILABLE, errno, "%s", strerror(errno));
	}
}

/* Writes n in octal with leading zeros to field. The last of its size bytes is left as it is
 * (NUL). */
static void put_number(char *field, size_t size, int64_t n)
{
	for (size_t i = size - 1; i-- > 0; n /= 8)
		field[i] = (char)('0' + n % 8);
}

void tarball_add(struct tarball *t, const char *name, const void *data, size_t len)
{
	static const char zeros[BLOCK];
	char head[BLOCK] = {0};
	int64_t sum = 0;

	if (!str_copy(head, 100, name)) {
		err_note(&t->failed, ERR_INVALID, 0, "%s: the name is too long", name);
		return;
	}
	put_number(head + 100, 8, 0600); /* file mode: only the owner may read and write */
	put_number(head + 108, 8, 0);
	put_number(head + 116, 8, 0);
	put_number(head + 124, 12, (int64_t)len);
	put_number(head + 136, 12, t->time);
	/* fill the checksum field with spaces, because ustar defines the checksum that way */
	memset(head + 148, ' ', 8);
	head[156] = '0'; /* type of the entry: regular file */
	memcpy(head + 257,
	       "ustar\0"
	       "00",
	       8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += (unsigned char)head[i];
	put_number(head + 148, 7, sum);
	write_out(t, head, sizeof(head), ZSTD_e_continue);
	write_out(t, data, len, ZSTD_e_continue);
	if (len % BLOCK)
		write_out(t, zeros, BLOCK - len % BLOCK, ZSTD_e_continue);
}

int tarball_end(struct tarball *t, struct err *e)
{
	static const char zeros[2 * BLOCK];

	write_out(t, zeros, sizeof(zeros), ZSTD_e_end);
	if (t->failed.kind == ERR_NONE && fflush(t->to) != 0)
		err_note(&t->failed, ERR_UNAVAILABLE, errno, "%s", strerror(errno));
	if (t->failed.kind == ERR_NONE)
		return 0;
	*e = t->failed;
	return -1;
}
