#include "wipe/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/crypto.h"

#define SECTOR 512

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

static int64_t canary_place(const struct verify *v, int i)
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

int verify_plant(const struct verify *v, struct err *e)
{
	uint8_t c[CRYPTO_SHA256];

	for (int i = 0; i < VERIFY_CANARIES; i++) {
		int64_t at = canary_place(v, i);

		canary(v, at, c);
		for (size_t k = 0; k < VERIFY_BLOCK; k += sizeof(c))
			memcpy((char *)v->buf + k, c, sizeof(c));
		if (dio_write(v->drive, v->buf, VERIFY_BLOCK, at, e) < 0)
			return err_wrap(e, "canary");
	}
	if (dio_flush(v->drive, e) < 0)
		return err_wrap(e, "canary");
	return verify_find(v, NULL);
}

/* One sector of it is enough: an erase that leaves a sector leaves a tenant's sector too. */
static bool holds_canary(const struct verify *v, int64_t at)
{
	uint8_t c[CRYPTO_SHA256];

	canary(v, at, c);
	for (size_t k = 0; k < VERIFY_BLOCK; k += SECTOR)
		if (!memcmp((char *)v->buf + k, c, sizeof(c)))
			return true;
	return false;
}

int verify_find(const struct verify *v, int64_t *unreadable)
{
	int found = 0;

	for (int i = 0; i < VERIFY_CANARIES; i++) {
		int64_t at = canary_place(v, i);
		struct err e;

		/* What cannot be read was not proved gone; the caller may not call it clean. */
		memset(v->buf, 0, VERIFY_BLOCK);
		if (dio_read(v->drive, v->buf, VERIFY_BLOCK, at, &e) < 0) {
			if (unreadable)
				++*unreadable;
			continue;
		}
		found += holds_canary(v, at);
	}
	return found;
}

static bool constant(const void *buf)
{
	return dio_all(buf, VERIFY_BLOCK, 0) || dio_all(buf, VERIFY_BLOCK, 0xff);
}

static void fingerprint(const struct verify *v, uint8_t out[static 16])
{
	uint8_t d[CRYPTO_SHA256];

	crypto_hmac_sha256(v->nonce, v->buf, VERIFY_BLOCK, d);
	memcpy(out, d, 16);
}

void verify_fingerprint(const struct verify *v, int64_t n, uint8_t (*prints)[16])
{
	struct err e;

	for (int64_t i = 0; i < n; i++) {
		memset(prints[i], 0, 16);
		if (!dio_read(v->drive, v->buf, VERIFY_BLOCK, place(v, "sample", i), &e) &&
		    !constant(v->buf))
			fingerprint(v, prints[i]);
	}
}

static bool is_clean(const struct verify *v, enum verify_accept accept, const uint8_t *print)
{
	uint8_t now[16];

	if (accept == VERIFY_ZEROS)
		return dio_all(v->buf, VERIFY_BLOCK, 0);
	if (constant(v->buf))
		return true;
	if (accept != VERIFY_CHANGED)
		return false;
	/* Noise is what a discarded key leaves.  At the edges there is no fingerprint: the canaries
	 * there speak for them. */
	if (!print)
		return true;
	fingerprint(v, now);
	return memcmp(now, print, sizeof(now)) != 0;
}

static void look(const struct verify *v, enum verify_accept accept, int64_t at,
		 const uint8_t *print, struct verify_counts *out)
{
	struct err e;

	if (dio_read(v->drive, v->buf, VERIFY_BLOCK, at, &e) < 0)
		out->unreadable++;
	else if (is_clean(v, accept, print))
		out->clean++;
	else
		out->dirty++;
	if (v->done_bytes)
		atomic_fetch_add(v->done_bytes, VERIFY_BLOCK);
}

void verify_sample(const struct verify *v, enum verify_accept accept, int64_t n,
		   const uint8_t (*prints)[16], struct verify_counts *out)
{
	int64_t end = v->drive->bytes;

	memset(out, 0, sizeof(*out));
	for (int64_t at = 0; at < VERIFY_EDGE; at += VERIFY_BLOCK)
		look(v, accept, at, NULL, out);
	for (int64_t at = end - VERIFY_EDGE; at < end; at += VERIFY_BLOCK)
		look(v, accept, at, NULL, out);
	for (int64_t i = 0; i < n; i++)
		look(v, accept, place(v, "sample", i), prints ? prints[i] : NULL, out);
}
