#include "wipe/readback.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "wipe/ring.h"

struct readback {
	uint8_t seed[32];
	uint64_t state;
	size_t n;
	uint64_t seen;
	struct {
		int64_t at;
		uint8_t digest[CRYPTO_SHA256];
	} v[READBACK_MAX];
};

/* Returns the next value of splitmix64 with a random seed. The drive must not be able to predict
 * the chosen blocks. No protection is needed against an attacker who can read the program's memory,
 * so the generator need not be cryptographic. */
static uint64_t next(struct readback *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

struct readback *readback_new(const uint8_t seed[static 32])
{
	struct readback *r = mem_new(struct readback);

	memcpy(r->seed, seed, sizeof(r->seed));
	memcpy(&r->state, seed, sizeof(r->state));
	return r;
}

void readback_free(struct readback *r)
{
	free(r);
}

static void keep(struct readback *r, size_t slot, const uint8_t *data, int64_t at)
{
	r->v[slot].at = at;
	crypto_sha256(data, VERIFY_BLOCK, r->v[slot].digest);
}

void readback_note(struct readback *r, const uint8_t *data, size_t len, int64_t at)
{
	size_t blocks = len / VERIFY_BLOCK, pick;
	uint64_t slot;

	if (!blocks)
		return;
	pick = r->seen ? next(r) % blocks * VERIFY_BLOCK : 0;
	/* Selects blocks by reservoir sampling, but slot 0 always keeps the first block. */
	r->seen++;
	slot = r->n < READBACK_MAX ? r->n++ : next(r) % r->seen;
	if (slot < READBACK_MAX && (slot || r->seen == 1))
		keep(r, slot, data + pick, at + (int64_t)pick);
}

struct check {
	const struct readback *r;
	size_t next;
	/* Offset of a block that differs; -1: none. */
	int64_t wrong;
};

static bool next_block(struct ring_piece *p, void *arg)
{
	struct check *c = arg;

	if (c->next == c->r->n)
		return false;
	p->tag = (int64_t)c->next;
	p->off = c->r->v[c->next++].at;
	p->len = VERIFY_BLOCK;
	return true;
}

static int block_read(const struct ring_piece *p, struct err *e, void *arg)
{
	struct check *c = arg;
	uint8_t got[CRYPTO_SHA256];

	if (e)
		return -1;
	crypto_sha256(p->buf, VERIFY_BLOCK, got);
	if (memcmp(got, c->r->v[p->tag].digest, sizeof(got)) != 0)
		c->wrong = p->off;
	return 0;
}

int readback_check(const struct readback *r, const struct host *h, struct dio *d, struct err *e)
{
	struct check c = {.r = r, .wrong = -1};
	struct ring_job j = {.next = next_block, .done = block_read, .arg = &c};
	struct ring *ring = ring_new(h, RING_DEPTH, VERIFY_BLOCK, false);
	int rc = ring_run(ring, d, &j, e);

	ring_free(ring);
	if (!rc && c.wrong >= 0)
		rc = err_set(e, ERR_PROTOCOL, 0,
			     "the block at %" PRId64 " reads back different from what was written",
			     c.wrong);
	return rc;
}
