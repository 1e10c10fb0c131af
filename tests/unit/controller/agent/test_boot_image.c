#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/crypto.h"
#include "base/str.h"
#include "controller/agent/boot_image.h"
#include "controller/agent/boot_media.h"
#include "wipe/proto.h"

#define SIZE (2 * PROTO_BOOT_BLOCK)

struct rig {
	char folder[64], path[96];
	char image[SIZE];
	char sums[200];
	struct crypto_key *key;
	char public[CRYPTO_PUBLIC_TEXT];
	struct err e;
};

static void put(const struct rig *r, const char *suffix, const void *data, size_t len)
{
	char name[128];
	FILE *f;

	str_format(name, sizeof(name), "%s%s", r->path, suffix);
	f = fopen(name, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void take(const struct rig *r, const char *suffix)
{
	char name[128];

	str_format(name, sizeof(name), "%s%s", r->path, suffix);
	(void)unlink(name);
}

static void sign(struct rig *r, const char *text, const struct crypto_key *key)
{
	uint8_t raw[CRYPTO_SIGNATURE];
	char line[200], *b64;

	crypto_sign(key, text, strlen(text), raw);
	b64 = crypto_base64(raw, sizeof(raw));
	str_format(line, sizeof(line), "%s\n", b64);
	put(r, ".sig", line, strlen(line));
	free(b64);
}

/* Creates the image files as `make image` does. */
static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));
	uint8_t d[CRYPTO_SHA256];
	char digest[CRYPTO_DIGEST_TEXT];

	assert_non_null(r);
	str_copy(r->folder, sizeof(r->folder), "/tmp/drover-image-XXXXXX");
	assert_non_null(mkdtemp(r->folder));
	str_format(r->path, sizeof(r->path), "%s/drover-agent.iso", r->folder);
	memset(r->image, '.', SIZE);
	memset(r->image + 100, ' ', PROTO_BOOT_BLOCK);
	memcpy(r->image + 100, PROTO_BOOT_MARK, strlen(PROTO_BOOT_MARK));
	put(r, "", r->image, SIZE);
	crypto_sha256(r->image, SIZE, d);
	crypto_digest_text(d, digest);
	str_format(r->sums, sizeof(r->sums), "%s  drover-agent.iso\n%s  drover-agent.efi\n",
		   digest + strlen("sha256:"), digest + strlen("sha256:"));
	put(r, ".sha256", r->sums, strlen(r->sums));
	r->key = crypto_key_new();
	crypto_key_public(r->key, r->public);
	sign(r, r->sums, r->key);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	take(r, "");
	take(r, ".sha256");
	take(r, ".sig");
	(void)rmdir(r->folder);
	crypto_key_free(r->key);
	free(r);
	return 0;
}

static int load(struct rig *r)
{
	OWN(boot_media) m = boot_media_new();

	return boot_media_load(m, r->path, r->public, &r->e);
}

static void refused(struct rig *r, enum err_kind kind, const char *says)
{
	assert_int_equal(load(r), -1);
	assert_int_equal(r->e.kind, kind);
	if (!strstr(r->e.text, says))
		fail_msg("%s, want: %s", r->e.text, says);
}

static void the_image_that_was_signed_is_offered(void **state)
{
	struct rig *r = *state;

	assert_ok(load(r), &r->e);
}

static void another_image_is_not(void **state)
{
	struct rig *r = *state;

	for (size_t at = 0; at < SIZE; at += SIZE - 1) {
		r->image[at] ^= 1;
		put(r, "", r->image, SIZE);
		refused(r, ERR_DENIED, "is not the signed image");
		r->image[at] ^= 1;
	}
	put(r, "", r->image, SIZE - 1);
	refused(r, ERR_DENIED, r->path);
}

static void a_digest_that_nobody_signed_is_not_believed(void **state)
{
	struct rig *r = *state;
	OWN(crypto_key) other = crypto_key_new();
	char changed[200];

	sign(r, r->sums, other);
	refused(r, ERR_DENIED, ".sig: not a signature of");
	sign(r, r->sums, r->key);
	str_copy(changed, sizeof(changed), r->sums);
	changed[strlen(changed) - 2] ^= 1;
	put(r, ".sha256", changed, strlen(changed));
	refused(r, ERR_DENIED, ".sig: not a signature of");
	put(r, ".sha256", r->sums, strlen(r->sums));
	assert_ok(load(r), &r->e);
	put(r, ".sig", "", 0);
	refused(r, ERR_DENIED, ".sig: not a signature of");
	put(r, ".sig", "!!!!", 4);
	refused(r, ERR_DENIED, ".sig: not a signature of");
	put(r, ".sig", "AAAA", 4);
	refused(r, ERR_DENIED, ".sig: not a signature of");
}

static void without_either_file_nothing_is_offered(void **state)
{
	struct rig *r = *state;

	take(r, ".sig");
	refused(r, ERR_NOT_FOUND, ".sig: ");
	take(r, ".sha256");
	refused(r, ERR_NOT_FOUND, ".sha256: ");
}

static void what_is_signed_has_to_be_a_digest(void **state)
{
	static const char *const bad[] = {
		"", "\n", "deadbeef  drover-agent.iso\n",
		("zz23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef  "
		 "drover-agent.iso\n"),
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};
	struct rig *r = *state;
	char large[5000];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		put(r, ".sha256", bad[i], strlen(bad[i]));
		sign(r, bad[i], r->key);
		refused(r, ERR_DENIED, ".sha256: not in the format of sha256sum");
	}
	memset(large, 'a', sizeof(large));
	put(r, ".sha256", large, sizeof(large));
	refused(r, ERR_DENIED, ".sha256: must be smaller than");
}

static void a_key_that_is_none_is_named(void **state)
{
	struct rig *r = *state;

	str_copy(r->public, sizeof(r->public), "ed25519:AAAA");
	refused(r, ERR_INVALID, "the agent image's key");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_image_that_was_signed_is_offered),
		T(another_image_is_not),
		T(a_digest_that_nobody_signed_is_not_believed),
		T(without_either_file_nothing_is_offered),
		T(what_is_signed_has_to_be_a_digest),
		T(a_key_that_is_none_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
