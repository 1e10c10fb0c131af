#include "wipe/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/crypto.h"
#include "base/mem.h"

_Static_assert(2 * VERIFY_EDGE / VERIFY_BLOCK == EVIDENCE_EDGE_READS, "as a record must show");

static void derive(const struct verify *v, const char *what, int64_t n, uint8_t out[CRYPTO_SHA256])
{
	char text[512];
	int len = snprintf(text, sizeof(text), "%s\n%" PRId64 "\n%s", what, n, v->wwn);

	if (len >= (int)sizeof(text))
		len = sizeof(text) - 1;
	crypto_hmac_sha256(v->nonce, text, (size_t)len, out);
}

/* Returns the byte offset of block n of the kind `what`; it depends only on nonce, drive, `what`
 * and n. */
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

/* All canaries of a drive, for finding them at any offset. */
struct canaries {
	uint8_t v[VERIFY_CANARIES][CRYPTO_SHA256];
	/* One bit for each pair of bytes; set if a canary begins with that pair. */
	uint8_t begins[65536 / 8];
};

static struct canaries *all_canaries(const struct verify *v)
{
	struct canaries *c = mem_new(struct canaries);

	for (int64_t i = 0; i < VERIFY_CANARIES; i++) {
		canary(v, canary_place(v, i), c->v[i]);
		c->begins[(c->v[i][0] | c->v[i][1] << 8) / 8] |= (uint8_t)(1 << c->v[i][0] % 8);
	}
	return c;
}

/* True if the block contains a canary at any offset. Every offset is searched, because a drive that
 * only moved its data did not erase it. A canary's bytes are repeated over its block, so that each
 * sector of the block contains the canary completely, wherever the sector begins. */
static bool holds_canary(const struct canaries *c, const uint8_t *block)
{
	for (size_t k = 0; k + CRYPTO_SHA256 <= VERIFY_BLOCK; k++) {
		unsigned two = block[k] | (unsigned)block[k + 1] << 8;

		if (!(c->begins[two / 8] >> two % 8 & 1))
			continue;
		for (size_t i = 0; i < VERIFY_CANARIES; i++)
			if (!memcmp(block + k, c->v[i], CRYPTO_SHA256))
				return true;
	}
	return false;
}

/* --- one pass over many blocks --------------------------------------------------------------- */

/* One pass over n blocks. where() returns the offset of block i. saw() processes the block (NULL:
 * unreadable). */
struct walk {
	const struct verify *v;
	int64_t (*where)(const struct verify *v, int64_t i);
	void (*saw)(struct walk *w, const void *block, int64_t at, int64_t i);
	int64_t n, given, ended;
	/* A read failed; *v->why has the first error. */
	bool broken;

	enum verify_accept accept;
	const struct canaries *canaries;
	/* Fingerprints of the blocks of this pass before the erase, in the same sequence; NULL:
	 * none. */
	const uint8_t (*old)[16];
	/* All fingerprints from before the erase, sorted. */
	const uint8_t (*remembered)[16];
	size_t nremembered;
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

/* Passes each of the n blocks to saw() once; after a stall of the drive, passes the remaining
 * blocks as unreadable. */
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

/* Counts the block if its contents are exactly the canary for its position. */
static void saw_planted(struct walk *w, const void *block, int64_t at, int64_t i)
{
	uint8_t c[CRYPTO_SHA256];
	bool same = block != NULL;

	(void)i;
	canary(w->v, at, c);
	for (size_t k = 0; same && k < VERIFY_BLOCK; k += sizeof(c))
		same = !memcmp((const char *)block + k, c, sizeof(c));
	w->found += same;
}

int verify_plant(const struct verify *v, struct err *e)
{
	struct walk w = {.v = v, .where = canary_place, .n = VERIFY_CANARIES};
	struct walk back = {
		.v = v, .where = canary_place, .saw = saw_planted, .n = VERIFY_CANARIES};
	struct ring_job j = {.write = true, .next = next_canary, .done = canary_written, .arg = &w};

	if (ring_run(v->ring, v->drive, &j, e) < 0 || dio_flush(v->drive, e) < 0)
		return err_wrap(e, "canary");
	walk(&back);
	return back.found;
}

static void saw_canary_place(struct walk *w, const void *block, int64_t at, int64_t i)
{
	(void)at;
	(void)i;
	/* Counts an unreadable position separately: a canary that cannot be read was not proved
	 * erased, and the caller must not count it as clean. */
	if (!block)
		w->unreadable++;
	else
		w->found += holds_canary(w->canaries, block);
}

int verify_find(const struct verify *v, int64_t *unreadable)
{
	struct canaries *all = all_canaries(v);
	struct walk w = {.v = v,
			 .where = canary_place,
			 .saw = saw_canary_place,
			 .n = VERIFY_CANARIES,
			 .canaries = all};

	walk(&w);
	free(all);
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

/* Fingerprint of a block that could not be read. */
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

static int64_t edge_place(const struct verify *v, int64_t i)
{
	int64_t at = i * VERIFY_BLOCK;

	return at < VERIFY_EDGE ? at : v->drive->bytes - 2 * (int64_t)VERIFY_EDGE + at;
}

void verify_fingerprint(const struct verify *v, int64_t n, uint8_t (*prints)[16])
{
	struct walk edges = {.v = v,
			     .where = edge_place,
			     .saw = saw_before,
			     .n = EVIDENCE_EDGE_READS,
			     .prints = prints};
	struct walk samples = {.v = v,
			       .where = sample_place,
			       .saw = saw_before,
			       .n = n,
			       .prints = prints + EVIDENCE_EDGE_READS};

	memset(prints, 0xff, (size_t)(EVIDENCE_EDGE_READS + n) * sizeof(*prints));
	walk(&edges);
	walk(&samples);
}

/* True if each byte value occurs about as often as in random data: chi-square with 255 degrees of
 * freedom over 4096 bytes, with 16 of each value expected. By chance one block in 10^15 is outside
 * these bounds. Blocks of file systems, programs and text are outside, and so are blocks that count
 * up and blocks that contain a sector of a canary. Compressed or encrypted data is inside. */
#define CHI_LEAST 110
#define CHI_MOST 512

static bool noise(const uint8_t *block)
{
	unsigned counts[256] = {0}, squares = 0;

	for (size_t i = 0; i < VERIFY_BLOCK; i++)
		counts[block[i]]++;
	for (size_t i = 0; i < 256; i++)
		squares += counts[i] * counts[i];
	return squares >= (VERIFY_BLOCK + CHI_LEAST) * 16u &&
	       squares <= (VERIFY_BLOCK + CHI_MOST) * 16u;
}

static int by_print(const void *a, const void *b)
{
	return memcmp(a, b, 16);
}

static bool is_clean(const struct walk *w, const void *block)
{
	uint8_t now[16];

	if (w->accept == VERIFY_ZEROS)
		return dio_all(block, VERIFY_BLOCK, 0);
	if (constant(block))
		return true;
	if (w->accept == VERIFY_CONSTANT)
		return false;
	/* After a discarded key, blocks read as noise (random-looking data). Accepts noise only if
	 * no fingerprint shows that the block was on the drive before the erase. */
	if (!noise(block))
		return false;
	if (w->accept == VERIFY_NOISE)
		return true;
	fingerprint(w->v, block, now);
	return !bsearch(now, w->remembered, w->nremembered, sizeof(now), by_print);
}

static void saw_after(struct walk *w, const void *block, int64_t at, int64_t i)
{
	(void)at;
	/* Also counts a block as unreadable if it could not be read before the erase and is not
	 * constant now, because it may still have its earlier contents. */
	if (!block || (w->old && !constant(block) && !memcmp(w->old[i], unread, sizeof(unread))))
		w->counts->unreadable++;
	else if (is_clean(w, block))
		w->counts->clean++;
	else
		w->counts->dirty++;
}

void verify_sample(const struct verify *v, enum verify_accept accept, int64_t n,
		   const uint8_t (*prints)[16], size_t nprints, struct verify_counts *out)
{
	uint8_t(*sorted)[16] = mem_calloc(nprints + 1, sizeof(*sorted));
	struct walk edges = {.v = v,
			     .where = edge_place,
			     .saw = saw_after,
			     .n = EVIDENCE_EDGE_READS,
			     .accept = accept,
			     .old = prints,
			     .remembered = (const uint8_t(*)[16])sorted,
			     .nremembered = nprints,
			     .counts = out};
	struct walk samples = edges;

	if (nprints)
		memcpy(sorted, prints, nprints * sizeof(*sorted));
	qsort(sorted, nprints, sizeof(*sorted), by_print);
	memset(out, 0, sizeof(*out));
	walk(&edges);
	samples.where = sample_place;
	samples.n = n;
	samples.old = prints ? prints + EVIDENCE_EDGE_READS : NULL;
	samples.broken = edges.broken;
	walk(&samples);
	free(sorted);
}

/* Returns the offset of edge block i + 1: the first block is left out, because it has the stamp. */
static int64_t edge_place_again(const struct verify *v, int64_t i)
{
	return edge_place(v, i + 1);
}

static int64_t canary_place_again(const struct verify *v, int64_t i)
{
	return canary_place(v, i + 1);
}

static int64_t sample_place_again(const struct verify *v, int64_t i)
{
	return place(v, "sample again", i + 1);
}

void verify_again(const struct verify *v, enum verify_accept accept, struct verify_counts *out)
{
	struct walk parts[] = {
		{.where = edge_place_again, .n = EVIDENCE_EDGE_READS - 1},
		{.where = canary_place_again, .n = VERIFY_CANARIES - 1},
		{.where = sample_place_again, .n = EVIDENCE_AGAIN_SAMPLES},
	};

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		parts[i].v = v;
		parts[i].saw = saw_after;
		parts[i].accept = accept;
		parts[i].counts = out;
		walk(&parts[i]);
	}
}
