#include "wipe/target.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "wipe/dio.h"
#include "wipe/drives.h"
#include "wipe/gpt.h"
#include "wipe/readback.h"
#include "wipe/ring.h"

/* Largest number of bytes per Write Zeroes, so that a slow drive still shows progress. */
#define ZEROS_MOST (64 << 20)
#define ZERO_RUNS 1024

_Static_assert(GPT_HEAD % TARGET_PIECE == 0, "the head is whole pieces");

struct run {
	int64_t at, end;
};

struct target {
	const struct host *host;
	const struct proto_drive *drive;
	struct dio dio;
	struct ring *ring;
	struct ring_job job;
	struct readback *readback;
	_Atomic int64_t *moved;
	/* The first GPT_HEAD bytes of the image, written last. */
	uint8_t *head;
	/* Offset of the next piece on the drive, in bytes. */
	int64_t at;
	/* Runs of zeros in the image that are not written yet. */
	struct run zeros[ZERO_RUNS];
	size_t nzeros;
	bool touched;
	struct gpt gpt;
	int64_t cidata_at, cidata_bytes;
};

static int piece_written(const struct ring_piece *p, struct err *e, void *arg)
{
	struct target *t = arg;

	if (e)
		return -1;
	if (p->tag)
		--*(unsigned *)(uintptr_t)p->tag;
	atomic_fetch_add(t->moved, (int64_t)p->len);
	return 0;
}

struct target *target_new(const struct host *h, const struct proto_drive *d,
			  const uint8_t seed[static 32], _Atomic int64_t *moved)
{
	struct target *t = mem_new(struct target);

	t->host = h;
	t->drive = d;
	t->dio.fd = -1;
	t->ring = ring_new(h, TARGET_DEPTH, TARGET_PIECE, false);
	t->job = (struct ring_job){.write = true, .done = piece_written, .arg = t};
	t->readback = readback_new(seed);
	t->moved = moved;
	t->head = dio_buffer(GPT_HEAD);
	return t;
}

void target_free(struct target *t)
{
	if (!t)
		return;
	ring_free(t->ring);
	dio_close(&t->dio);
	readback_free(t->readback);
	free(t->head);
	free(t);
}

int target_open(struct target *t, struct err *e)
{
	if (dio_open(&t->dio, t->host, drive_name(t->drive), true, e) < 0)
		return -1;
	if (t->dio.bytes != t->drive->bytes)
		return err_set(e, ERR_CONFLICT, 0,
			       "%s: the drive's size changed since it was listed", t->drive->path);
	return drive_check(t->host, t->drive, e);
}

/* Zeros both ranges in which a firmware looks for a partition table: the first and the last
 * GPT_HEAD bytes. */
static int erase_tables(struct target *t, struct err *e)
{
	int head = dio_zero(&t->dio, 0, GPT_HEAD, e);
	int tail = dio_zero(&t->dio, t->dio.bytes - GPT_HEAD, GPT_HEAD, e);

	return head || tail ? -1 : dio_flush(&t->dio, e);
}

void *target_buffer(struct target *t, struct err *e)
{
	return ring_claim(t->ring, &t->dio, &t->job, e);
}

/* --- zeros ----------------------------------------------------------------------------------- */

/* Writes the collected runs of zeros. Zeros are not written between the data, because Write Zeroes
 * blocks here and would delay the data. */
static int write_zeros(struct target *t, struct err *e)
{
	for (size_t i = 0; i < t->nzeros; i++) {
		struct run *r = &t->zeros[i];

		while (r->at < r->end) {
			int64_t n = r->end - r->at < ZEROS_MOST ? r->end - r->at : ZEROS_MOST;

			if (dio_zero(&t->dio, r->at, n, e) < 0)
				return -1;
			r->at += n;
			atomic_fetch_add(t->moved, n);
		}
	}
	t->nzeros = 0;
	return 0;
}

static int add_zeros(struct target *t, size_t len, struct err *e)
{
	struct run *last = t->nzeros ? &t->zeros[t->nzeros - 1] : NULL;

	/* Counts collected zeros as progress at once: hundreds of GB of zeros may pass before the
	 * drive gets any of them. */
	atomic_fetch_add(t->moved, (int64_t)len);
	if (last && last->end == t->at) {
		last->end += (int64_t)len;
		return 0;
	}
	if (t->nzeros == ZERO_RUNS && write_zeros(t, e) < 0)
		return -1;
	t->zeros[t->nzeros++] = (struct run){t->at, t->at + (int64_t)len};
	return 0;
}

/* --- pieces ---------------------------------------------------------------------------------- */

/* Zeros the image's own backup partition table in the data. An image as large as the drive contains
 * that table at the drive's end, and the drive must have no table until target_finish(). */
static void blank_backup(const struct target *t, uint8_t *data, size_t len)
{
	int64_t from = t->dio.bytes - GPT_TABLE - t->dio.block - t->at;

	if (from < (int64_t)len)
		memset(data + (from > 0 ? from : 0), 0, len - (size_t)(from > 0 ? from : 0));
}

/* Sends a piece to the drive. in_flight NULL: the data is in the ring's claimed buffer; otherwise
 * in the caller's pages. */
static int send(struct target *t, uint8_t *data, size_t len, unsigned *in_flight, struct err *e)
{
	struct ring_piece p = {.buf = in_flight ? data : NULL,
			       .len = len,
			       .off = t->at,
			       .tag = (int64_t)(uintptr_t)in_flight};

	if (in_flight)
		++*in_flight;
	return ring_send(t->ring, &t->dio, &t->job, &p, e);
}

static int put(struct target *t, uint8_t *data, size_t len, unsigned *in_flight, struct err *e)
{
	int rc = 0;

	blank_backup(t, data, len);
	if (t->at < GPT_HEAD) {
		memcpy(t->head + t->at, data, len);
		atomic_fetch_add(t->moved, (int64_t)len);
	} else {
		readback_note(t->readback, data, len, t->at);
		rc = dio_all(data, len, 0) ? add_zeros(t, len, e)
					   : send(t, data, len, in_flight, e);
	}
	t->at += (int64_t)len;
	return rc;
}

/* Checks that the piece fits; before the first piece, removes old partition tables from the
 * drive. */
static int prepare(struct target *t, size_t len, struct err *e)
{
	if ((int64_t)len > t->dio.bytes - t->at)
		return err_set(e, ERR_CAPACITY, 0,
			       "the image is larger than the drive's %" PRId64 " bytes",
			       t->dio.bytes);
	if (t->touched)
		return 0;
	t->touched = true;
	return erase_tables(t, e);
}

int target_put(struct target *t, size_t len, struct err *e)
{
	uint8_t *data = target_buffer(t, e);
	size_t pad = len % VERIFY_BLOCK ? VERIFY_BLOCK - len % VERIFY_BLOCK : 0;

	if (!data || prepare(t, len, e) < 0)
		return -1;
	if (pad > (size_t)(t->dio.bytes - t->at) - len)
		pad = (size_t)(t->dio.bytes - t->at) - len;
	memset(data + len, 0, pad);
	return put(t, data, len + pad, NULL, e);
}

int target_put_from(struct target *t, uint8_t *data, unsigned *in_flight, struct err *e)
{
	if (prepare(t, TARGET_PIECE, e) < 0)
		return -1;
	return put(t, data, TARGET_PIECE, in_flight, e);
}

int target_await(struct target *t, const unsigned *in_flight, struct err *e)
{
	return ring_await(t->ring, &t->dio, &t->job, in_flight, e);
}

int target_settle(struct target *t, struct err *e)
{
	if (ring_drain(t->ring, &t->dio, &t->job, e) < 0 || write_zeros(t, e) < 0 ||
	    dio_flush(&t->dio, e) < 0)
		return -1;
	return readback_check(t->readback, t->host, &t->dio, e);
}

void target_spoil(struct target *t)
{
	struct err e;

	/* Waits first, because a write still in flight could arrive after the zeros. */
	if (t->dio.fd >= 0)
		(void)!ring_drain(t->ring, &t->dio, &t->job, &e);
	if (t->touched)
		(void)!erase_tables(t, &e);
}

/* --- tables ---------------------------------------------------------------------------------- */

static void partition_guid(const struct target *t, const uint8_t digest[static CRYPTO_SHA256],
			   uint8_t out[static 16])
{
	uint8_t d[CRYPTO_SHA256];
	char *text = mem_printf("cidata %s", t->drive->wwn);

	/* Derives the GUID from drive and image, so that it differs for each. The version bits are
	 * those of a random UUID (byte 7 in stored order). */
	crypto_sha256(text, strlen(text), d);
	free(text);
	for (size_t i = 0; i < 16; i++)
		out[i] = d[i] ^ digest[i];
	out[7] = (uint8_t)((out[7] & 0x0f) | 0x40);
	out[8] = (uint8_t)((out[8] & 0x3f) | 0x80);
}

/* Writes a table and reads all of it back, because the tenant's boot depends on it. */
static int put_table(struct target *t, const void *data, size_t len, int64_t at, struct err *e)
{
	void *back = dio_buffer(len);
	int rc = dio_write(&t->dio, data, len, at, e);

	if (!rc)
		rc = dio_flush(&t->dio, e);
	if (!rc)
		rc = dio_read(&t->dio, back, len, at, e);
	if (!rc && memcmp(back, data, len) != 0)
		rc = err_set(e, ERR_PROTOCOL, 0,
			     "the partition table at %" PRId64
			     " reads back different from what was written",
			     at);
	free(back);
	return rc;
}

int target_fit(struct target *t, const uint8_t digest[static CRYPTO_SHA256], struct err *e)
{
	uint8_t guid[16];

	partition_guid(t, digest, guid);
	if (gpt_read(&t->gpt, t->head, t->dio.block, t->dio.bytes, e) < 0)
		return -1;
	if (gpt_find(&t->gpt, TARGET_CIDATA, &t->cidata_at, &t->cidata_bytes))
		return 0;
	if (gpt_append(&t->gpt, TARGET_CIDATA, guid, TARGET_CIDATA_BYTES, e) < 0)
		return -1;
	(void)gpt_find(&t->gpt, TARGET_CIDATA, &t->cidata_at, &t->cidata_bytes);
	return 0;
}

int target_finish(struct target *t, struct err *e)
{
	size_t n = gpt_tail_bytes(&t->gpt);
	uint8_t *tail = dio_buffer(GPT_HEAD);
	/* Zeros the partition, because an old config drive at this position must not be mistaken
	 * for the config drive of this machine. */
	int rc = dio_zero(&t->dio, t->cidata_at, t->cidata_bytes, e);

	gpt_write(&t->gpt, t->head, tail);
	if (!rc)
		rc = put_table(t, tail, n, t->dio.bytes - (int64_t)n, e);
	if (!rc)
		rc = put_table(t, t->head, GPT_HEAD, 0, e);
	free(tail);
	return rc;
}
