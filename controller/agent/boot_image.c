/* boot_image: checks digest and signature of an ISO that is already in memory. Does not read the
 * ISO file again, so that the bytes checked are the bytes served. */
#include "controller/agent/boot_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/crypto.h"
#include "base/str.h"

#define BESIDE_MAX 4096
#define HEX (2 * CRYPTO_SHA256)

/* Reads file "path.suffix" into text as a string; *len: its length. Errors: ERR_NOT_FOUND, or
 * ERR_DENIED if the file has BESIDE_MAX bytes or more. */
static int read_beside(const char *path, const char *suffix, char text[static BESIDE_MAX],
		       size_t *len, struct err *e)
{
	OWN(arena) a = arena_new();
	const char *name = arena_printf(a, "%s.%s", path, suffix);
	FILE *f = fopen(name, "rb");

	if (!f)
		return err_set(e, ERR_NOT_FOUND, errno, "%s: %s; `make image` writes it", name,
			       strerror(errno));
	*len = fread(text, 1, BESIDE_MAX, f);
	fclose(f);
	if (*len == BESIDE_MAX)
		return err_set(e, ERR_DENIED, 0,
			       "%s: must be smaller than "
			       "%d bytes",
			       name, BESIDE_MAX);
	text[*len] = '\0';
	return 0;
}

int boot_image_check(const char *path, const void *data, size_t size, const char *key,
		     struct err *e)
{
	OWN(crypto_key) k = crypto_key_from_public(key, e);
	char sums[BESIDE_MAX], sig[BESIDE_MAX], digest[CRYPTO_DIGEST_TEXT];
	uint8_t want[CRYPTO_SHA256], got[CRYPTO_SHA256];
	size_t sums_len, sig_len, raw_len = 0;
	char *raw;
	bool good;

	if (!k)
		return err_wrap(e, "the agent image's key");
	if (read_beside(path, "sha256", sums, &sums_len, e) < 0 ||
	    read_beside(path, "sig", sig, &sig_len, e) < 0)
		return -1;
	while (sig_len && sig[sig_len - 1] == '\n')
		sig_len--;
	raw = crypto_base64_decode(sig, sig_len, &raw_len, e);
	good = raw && raw_len == CRYPTO_SIGNATURE &&
	       crypto_verify(k, sums, sums_len, (const uint8_t *)raw);
	free(raw);
	if (!good)
		return err_set(e, ERR_DENIED, 0, "%s.sig: not a signature of %s.sha256 by %s", path,
			       path, key);
	str_format(digest, sizeof(digest), "sha256:%.*s", HEX, sums);
	if (!crypto_digest_parse(digest, want) || sums[HEX] != ' ')
		return err_set(e, ERR_DENIED, 0, "%s.sha256: not in the format of sha256sum", path);
	crypto_sha256(data, size, got);
	if (memcmp(want, got, sizeof(got)) != 0)
		return err_set(e, ERR_DENIED, 0, "%s is not the signed image: its digest is %s",
			       path, crypto_digest_text(got, digest));
	return 0;
}
