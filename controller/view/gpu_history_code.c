#include "controller/view/gpu_history_code.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

#define MAGIC "DRVH"
#define MAGIC_LEN 4
#define VERSION 1
#define HEAD (MAGIC_LEN + 1)
#define MAP_BYTES (GPU_HISTORY_DAY_STEPS / 8)
#define NAME_MAX_BYTES 253
/* Maximum size before compression: the columns with 5 bytes for each number, names, the rest. */
#define RAW_MAX                                                                                    \
	((GPU_GROUPS + 1 + GPU_HISTORY_TENANTS) * GPU_HISTORY_DAY_STEPS * 5 +                      \
	 GPU_HISTORY_TENANTS * (NAME_MAX_BYTES + 2) + MAP_BYTES + 16)
_Static_assert(HEAD + ZSTD_COMPRESSBOUND(RAW_MAX) <= GPU_HISTORY_DAY_BYTES,
	       "a day always fits into a ConfigMap");

/* --- encoding --------------------------------------------------------------------------------- */

static void put_number(struct buf *b, uint64_t n)
{
	char bytes[10];
	size_t len = 0;

	do {
		bytes[len++] = (char)((n & 0x7f) | (n > 0x7f ? 0x80 : 0));
		n >>= 7;
	} while (n);
	buf_put(b, bytes, len);
}

static void put_column(struct buf *b, const struct gpu_history *h, const struct gpu_column *x,
		       int64_t first)
{
	int64_t before = 0;

	for (int64_t s = first; s < first + GPU_HISTORY_DAY_STEPS; s++) {
		int64_t by;

		if (!gpu_history_has(h, s))
			continue;
		by = gpu_column_at(x, s) - before;
		put_number(b, by < 0 ? (uint64_t)-by * 2 - 1 : (uint64_t)by * 2);
		before += by;
	}
}

static bool has_gpus(const struct gpu_history *h, const struct gpu_column *x, int64_t first)
{
	for (int64_t s = first; s < first + GPU_HISTORY_DAY_STEPS; s++)
		if (gpu_history_has(h, s) && gpu_column_at(x, s))
			return true;
	return false;
}

static void put_day(struct buf *b, struct gpu_history *h, int64_t day)
{
	const int64_t first = day * GPU_HISTORY_DAY_STEPS;
	uint8_t map[MAP_BYTES] = {0};
	struct gpu_column *const *v;
	size_t n, stored = 0;

	put_number(b, (uint64_t)day);
	for (size_t i = 0; i < GPU_HISTORY_DAY_STEPS; i++)
		if (gpu_history_has(h, first + (int64_t)i))
			map[i / 8] |= (uint8_t)(1u << i % 8);
	buf_put(b, map, sizeof(map));
	for (int g = 0; g < GPU_GROUPS; g++)
		put_column(b, h, gpu_history_group(h, (enum gpu_group)g), first);
	put_column(b, h, gpu_history_others(h), first);
	v = gpu_history_tenants(h, &n);
	for (size_t i = 0; i < n; i++)
		stored += has_gpus(h, v[i], first);
	put_number(b, stored);
	for (size_t i = 0; i < n; i++) {
		const char *name = gpu_column_name(v[i]);

		if (!has_gpus(h, v[i], first))
			continue;
		put_number(b, strlen(name));
		buf_puts(b, name);
		put_column(b, h, v[i], first);
	}
}

char *gpu_history_encode(struct gpu_history *h, int64_t day, size_t *len)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();
	struct buf raw;
	size_t bound;
	char *out;

	buf_init(&raw, RAW_MAX);
	put_day(&raw, h, day);
	bound = ZSTD_compressBound(raw.len);
	out = mem_alloc(HEAD + bound);
	memcpy(out, MAGIC, MAGIC_LEN);
	out[MAGIC_LEN] = VERSION;
	(void)ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	*len = HEAD + ZSTD_compress2(z, out + HEAD, bound, raw.data, raw.len);
	ZSTD_freeCCtx(z);
	buf_done(&raw);
	return out;
}

/* --- decoding --------------------------------------------------------------------------------- */

/* The uncompressed bytes while they are read. Each day is read twice: first to check every byte,
 * then with h set to add the samples. */
struct code_reader {
	const uint8_t *p, *end;
	/* History to which samples are added; NULL: bytes are only checked */
	struct gpu_history *h;
	int64_t first;
	/* present: steps of the day that have a sample. opened: steps whose sample is added to
	 * h. */
	bool present[GPU_HISTORY_DAY_STEPS], opened[GPU_HISTORY_DAY_STEPS];
};

static int invalid(struct err *e, const char *what)
{
	return err_set(e, ERR_PROTOCOL, 0, "stored GPU history: %s", what);
}

static int get_number(struct code_reader *r, uint64_t max, uint64_t *n, struct err *e)
{
	*n = 0;
	for (unsigned shift = 0; shift < 63; shift += 7) {
		uint8_t byte;

		if (r->p == r->end)
			return invalid(e, "it ends too early");
		byte = *r->p++;
		*n |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		return *n <= max ? 0 : invalid(e, "a number is too large");
	}
	return invalid(e, "a number is too long");
}

static int get_column(struct code_reader *r, struct gpu_column *x, struct err *e)
{
	int64_t n = 0;

	for (size_t i = 0; i < GPU_HISTORY_DAY_STEPS; i++) {
		uint64_t coded;

		if (!r->present[i])
			continue;
		if (get_number(r, UINT64_C(2) * UINT32_MAX, &coded, e) < 0)
			return -1;
		n += coded % 2 ? -(int64_t)(coded / 2) - 1 : (int64_t)(coded / 2);
		if (n < 0 || n > UINT32_MAX)
			return invalid(e, "a number of GPUs is out of range");
		if (x && r->opened[i])
			gpu_column_add(x, r->first + (int64_t)i, n);
	}
	return 0;
}

static int get_name(struct code_reader *r, char name[static NAME_MAX_BYTES + 1], struct err *e)
{
	char before[NAME_MAX_BYTES + 1];
	uint64_t len;

	str_copy(before, sizeof(before), name);
	if (get_number(r, NAME_MAX_BYTES, &len, e) < 0)
		return -1;
	if (len > (size_t)(r->end - r->p))
		return invalid(e, "it ends too early");
	memcpy(name, r->p, len);
	name[len] = '\0';
	r->p += len;
	if (strlen(name) != len || !str_is_dns_subdomain(name) || strcmp(before, name) >= 0)
		return invalid(e, "a tenant's name is invalid, or not after the one before");
	return 0;
}

static int get_steps(struct code_reader *r, struct err *e)
{
	if (r->end - r->p < MAP_BYTES)
		return invalid(e, "it ends too early");
	for (size_t i = 0; i < GPU_HISTORY_DAY_STEPS; i++) {
		r->present[i] = r->p[i / 8] >> i % 8 & 1;
		r->opened[i] =
			r->present[i] && r->h && gpu_history_open(r->h, r->first + (int64_t)i);
	}
	r->p += MAP_BYTES;
	return 0;
}

static bool opens_none(const struct code_reader *r)
{
	for (size_t i = 0; i < GPU_HISTORY_DAY_STEPS; i++)
		if (r->opened[i])
			return false;
	return true;
}

static int get_day(struct code_reader *r, int64_t latest, int64_t *day, struct err *e)
{
	char name[NAME_MAX_BYTES + 1] = "";
	uint64_t n, tenants;

	if (get_number(r, INT32_MAX, &n, e) < 0)
		return -1;
	if ((int64_t)n > latest)
		return invalid(e, "its day is in the future");
	*day = (int64_t)n;
	r->first = *day * GPU_HISTORY_DAY_STEPS;
	if (get_steps(r, e) < 0)
		return -1;
	if (r->h && opens_none(r))
		return 0;
	for (int g = 0; g < GPU_GROUPS; g++)
		if (get_column(r, r->h ? gpu_history_group(r->h, (enum gpu_group)g) : NULL, e) < 0)
			return -1;
	if (get_column(r, r->h ? gpu_history_others(r->h) : NULL, e) < 0 ||
	    get_number(r, GPU_HISTORY_TENANTS, &tenants, e) < 0)
		return -1;
	for (; tenants; tenants--)
		if (get_name(r, name, e) < 0 ||
		    get_column(r, r->h ? gpu_history_tenant(r->h, name) : NULL, e) < 0)
			return -1;
	return r->p == r->end ? 0 : invalid(e, "bytes follow its end");
}

/* Returns the uncompressed bytes, malloc'd; NULL with *e on error. */
static uint8_t *unpack(const char *data, size_t len, size_t *raw_len, struct err *e)
{
	unsigned long long size;
	uint8_t *raw;

	if (len < HEAD || memcmp(data, MAGIC, MAGIC_LEN) != 0)
		(void)!invalid(e, "not written by drover");
	else if (data[MAGIC_LEN] != VERSION)
		err_note(e, ERR_UNSUPPORTED, 0, "stored GPU history: format %u is unknown",
			 (unsigned)(uint8_t)data[MAGIC_LEN]);
	else if ((size = ZSTD_getFrameContentSize(data + HEAD, len - HEAD)) > RAW_MAX)
		/* also true for the two sizes that mean "unknown" and "error" */
		(void)!invalid(e, "its size is invalid");
	else {
		raw = mem_alloc((size_t)size + 1);
		*raw_len = ZSTD_decompress(raw, (size_t)size, data + HEAD, len - HEAD);
		if (!ZSTD_isError(*raw_len))
			return raw;
		err_note(e, ERR_PROTOCOL, 0, "stored GPU history: %s", ZSTD_getErrorName(*raw_len));
		free(raw);
	}
	return NULL;
}

int gpu_history_decode(struct gpu_history *h, const char *data, size_t len, int64_t latest,
		       int64_t *day, struct err *e)
{
	size_t raw_len;
	uint8_t *raw = unpack(data, len, &raw_len, e);
	struct code_reader check = {.p = raw, .end = raw ? raw + raw_len : NULL}, add = check;
	int rc = raw ? get_day(&check, latest, day, e) : -1;

	add.h = h;
	if (rc == 0)
		rc = get_day(&add, latest, day, e);
	free(raw);
	return rc;
}
