#include "wipe/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/crypto.h"

#define SECTOR 512
_Static_assert(2 * VERIFY_EDGE / VERIFY_BLOCK == EVIDENCE_EDGE_READS, "as a record must show");

static void derive(const struct verify *v, const char *what, int64_t n, uint8_t out[CRYPTO_SHA256])
{
	char text[512];
	int len = snprintf(text, sizeof(text), "%s\n%" PRId64 "\n%s", what, n, v->wwn);

	if (len >= (int)sizeof(text))
		len = sizeof(text) - 1;
	crypto_hmac_sha256(v->nonce, text, (size_t)len, out);
}

/* A place that depends on nonce, drive and n alone. */
static int64_t place(const struct verify *v, const char *what, int64_t n)
{
	uint8_t d[CRYPTO_SHA256];
	uint64_t r = 0;

	derive(v, what, n, d);
	for (int i = 0; i < 8; i++)
		r = r << 8 | d[i];
	return (int64_t)(r % (uint64_t)(v->drive->bytes / VERIFY_BLOCK)) * VERIFY_BLOCK;
}

static int64_t canary_place(const struct verify *v, int64_t i)
{
	if (i == 0)
		return 0;
	if (i == 1)
		return v->drive->bytes - VERIFY_BLOCK;
	return place(v, "canary place", i);
}

static void canary(const struct verify *v, int64_t offset, uint8_t out[static CRYPTO_SHA256])
{
	derive(v, "canary", offset, out);
}

/* --- one pass over many blocks --------------------------------------------------------------- */

/* Where the n-th block is; what to do with one that was read (block NULL: that could not be). */
struct walk {
	const struct verify *v;
	int64_t (*where)(const struct verify *v, int64_t i);
	void (*saw)(struct walk *w, const void *block, int64_t at, int64_t i);
	int64_t n, given, ended;
	bool broken; /* *v->why is filled in */

	enum verify_accept accept;
	const uint8_t (*old)[16];
	uint8_t (*prints)[16];
	struct verify_counts *counts;
	int found;
	int64_t unreadable;
};

static bool next_block(struct ring_piece *p, void *arg)
{
	struct walk *w = arg;

	if (w->given == w->n)
		return false;
	p->tag = w->given++;
	p->off = w->where(w->v, p->tag);
	p->len = VERIFY_BLOCK;
	return true;
}

static void ended(struct walk *w)
{
	w->ended++;
	if (w->v->done_bytes)
		atomic_fetch_add(w->v->done_bytes, VERIFY_BLOCK);
}

static void remember_why(struct walk *w, const struct err *e)
{
	if (w->v->why && !w->broken)
		*w->v->why = *e;
	w->broken = true;
}

static int block_read(const struct ring_piece *p, struct err *e, void *arg)
{
	struct walk *w = arg;

	if (e)
		remember_why(w, e);
	w->saw(w, e ? NULL : p->buf, p->off, p->tag);
	ended(w);
	return 0;
}

/* Each block is seen once, also when the drive stands still: then as one that cannot be read. */
static void walk(struct walk *w)
{
	struct ring_job j = {.next = next_block, .done = block_read, .arg = w};
	struct err e;

	if (ring_run(w->v->ring, w->v->drive, &j, &e) == 0)
		return;
	remember_why(w, &e);
	while (w->ended < w->n) {
		w->saw(w, NULL, 0, 0);
		ended(w);
	}
}

/* --- canaries -------------------------------------------------------------------------------- */

static bool next_canary(struct ring_piece *p, void *arg)
{
	struct walk *w = arg;
	uint8_t c[CRYPTO_SHA256];

	if (!next_block(p, arg))
		return false;
	canary(w->v, p->off, c);
	for (size_t k = 0; k < VERIFY_BLOCK; k += sizeof(c))
		memcpy((char *)p->buf + k, c, sizeof(c));
	return true;
}

static int canary_written(const struct ring_piece *p, struct err *e, void *arg)
{
	(void)p;
	if (e)
		return -1;
	ended(arg);
	return 0;
}

int verify_plant(const struct verify *v, struct err *e)
{
	struct walk w = {.v = v, .where = canary_place, .n = VERIFY_CANARIES};
	struct ring_job j = {.write = true, .next = next_canary, .done = canary_written, .arg = &w};

	if (ring_run(v->ring, v->drive, &j, e) < 0 || dio_flush(v->drive, e) < 0)
		return err_wrap(e, "canary");
	return verify_find(v, NULL);
}

/* One sector of it is enough: an erase that leaves a sector leaves a tenant's sector too. */
static bool holds_canary(const struct verify *v, const void *block, int64_t at)
{
	uint8_t c[CRYPTO_SHA256];

	canary(v, at, c);
	for (size_t k = 0; k < VERIFY_BLOCK; k += SECTOR)
		if (!memcmp((const char *)block + k, c, sizeof(c)))
			return true;
	return false;
}

static void saw_canary_place(struct walk *w, const void *block, int64_t at, int64_t i)
{
	(void)i;
	/* What cannot be read was not proved gone; the caller may not call it clean. */
	if (!block)
		w->unreadable++;
	else
		w->found += holds_canary(w->v, block, at);
}

int verify_find(const struct verify *v, int64_t *unreadable)
{
	struct walk w = {
		.v = v, .where = canary_place, .saw = saw_canary_place, .n = VERIFY_CANARIES};

	walk(&w);
	if (unreadable)
		*unreadable += w.unreadable;
	return w.found;
}

/* --- samples --------------------------------------------------------------------------------- */

static bool constant(const void *buf)
{
	return dio_all(buf, VERIFY_BLOCK, 0) || dio_all(buf, VERIFY_BLOCK, 0xff);
}

static void fingerprint(const struct verify *v, const void *block, uint8_t out[static 16])
{
	uint8_t d[CRYPTO_SHA256];

	crypto_hmac_sha256(v->nonce, block, VERIFY_BLOCK, d);
	memcpy(out, d, 16);
}

/* A print of a block that could not be read. */
static const uint8_t unread[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
				   0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static void saw_before(struct walk *w, const void *block, int64_t at, int64_t i)
{
	(void)at;
	if (!block)
		return;
	if (constant(block))
		memset(w->prints[i], 0, sizeof(w->prints[i]));
	else
		fingerprint(w->v, block, w->prints[i]);
}

static int64_t sample_place(const struct verify *v, int64_t i)
{
	return place(v, "sample", i);
}

void verify_fingerprint(const struct verify *v, int64_t n, uint8_t (*prints)[16])
{
	struct walk w = {
		.v = v, .where = sample_place, .saw = saw_before, .n = n, .prints = prints};

	memset(prints, 0xff, (size_t)n * sizeof(*prints));
	walk(&w);
}

static bool is_clean(const struct verify *v, enum verify_accept accept, const void *block,
		     const uint8_t *print)
{
	uint8_t now[16];

	if (accept == VERIFY_ZEROS)
		return dio_all(block, VERIFY_BLOCK, 0);
	if (constant(block))
		return true;
	if (accept != VERIFY_CHANGED)
		return false;
	/* Noise is what a discarded key leaves.  At the edges there is no fingerprint: the canaries
	 * there speak for them. */
	if (!print)
		return true;
	fingerprint(v, block, now);
	return memcmp(now, print, sizeof(now)) != 0;
}

static void saw_after(struct walk *w, const void *block, int64_t at, int64_t i)
{
	(void)at;
	/* It may hold what it held before, which nobody saw. */
	if (!block || (w->old && !constant(block) && !memcmp(w->old[i], unread, sizeof(unread))))
		w->counts->unreadable++;
	else if (is_clean(w->v, w->accept, block, w->old ? w->old[i] : NULL))
		w->counts->clean++;
	else
		w->counts->dirty++;
}

static int64_t edge_place(const struct verify *v, int64_t i)
{
	int64_t at = i * VERIFY_BLOCK;

	return at < VERIFY_EDGE ? at : v->drive->bytes - 2 * (int64_t)VERIFY_EDGE + at;
}

void verify_sample(const struct verify *v, enum verify_accept accept, int64_t n,
		   const uint8_t (*prints)[16], struct verify_counts *out)
{
	struct walk edges = {.v = v,
			     .where = edge_place,
			     .saw = saw_after,
			     .n = 2 * VERIFY_EDGE / VERIFY_BLOCK,
			     .accept = accept,
			     .counts = out};
	struct walk samples = edges;

	memset(out, 0, sizeof(*out));
	walk(&edges);
	samples.where = sample_place;
	samples.n = n;
	samples.old = prints;
	samples.broken = edges.broken;
	walk(&samples);
}
