#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "api/annotations.h"
#include "base/crypto.h"
#include "base/str.h"

#define BOOT "0123456789abcdef0123456789abcdef"

#define PATH "/api/v1/namespaces/" BENCH_NS "/secrets/"
#define RECORD                                                                                     \
	"{'kind': 'WipeRecord', 'metadata': {'name': 'm-1-1-1'}, "                                 \
	"'spec': {'machine': {'name': 'm-1', 'uid': 'u'},"                                         \
	" 'tenancy': 1, 'attempt': 1, 'startTime': '2026-12-01T09:00:00Z', "                       \
	"'endTime': '2026-12-01T09:01:10Z',"                                                       \
	" 'verdict': 'Purge', 'agentTrust': 'BootNetwork', "                                       \
	"'inventory': {'expected': 0, 'seen': 0},"                                                 \
	" 'devices': [], 'envelope': 'AAAA'}}"

static bool ready_after(struct bench *d, int64_t ms, const char **why)
{
	for (int64_t until = loop_now(d->l) + ms; loop_now(d->l) < until; bench_run(d, 500))
		if (keys_ready(d->c.keys, why))
			return true;
	return false;
}

static void missing_secrets_are_made_at_the_first_start(void **state)
{
	struct bench *d = *state;
	const char *why = NULL;
	size_t n;

	assert_false(keys_ready(d->c.keys, &why));
	assert_string_equal(why, "drover-boot-key");
	assert_true(ready_after(d, 30000, NULL));
	assert_int_equal(secret_len(keys_boot(d->c.keys)), 64);
	assert_non_null(keys_evidence(d->c.keys));
	assert_true(str_starts(keys_ca_pem(d->c.keys), "-----BEGIN CERTIFICATE-----"));
	assert_non_null(keys_ca_key(d->c.keys));
	assert_true(str_starts(keys_evidence_publics(d->c.keys, &n)[0], "ed25519:"));
	assert_int_equal(n, 1);
	OWN_JSON boot = bench_stored(&d->host, "secrets/" BENCH_NS "/drover-boot-key");
	OWN_JSON evidence = bench_stored(&d->host, "secrets/" BENCH_NS "/drover-evidence-key");
	OWN_JSON ca = bench_stored(&d->host, "secrets/" BENCH_NS "/drover-agent-ca");
	assert_non_null(boot);
	assert_non_null(evidence);
	assert_non_null(ca);
}

static void secrets_that_are_there_are_taken_as_they_are(void **state)
{
	struct bench *d = *state;
	OWN(crypto_key) mine = crypto_key_new();
	OWN(crypto_key) old = crypto_key_new();
	OWN(secret) pem = crypto_key_pem(mine);
	char public[CRYPTO_PUBLIC_TEXT], old_public[CRYPTO_PUBLIC_TEXT];
	const char *const *publics;
	size_t n;

	crypto_key_public(mine, public);
	crypto_key_public(old, old_public);
	bench_secret(d, "drover-boot-key", "key", BOOT, NULL, NULL);
	bench_secret(d, "drover-evidence-key", "private.pem", secret_expose(pem), "public-3",
		     old_public);
	bench_secret(d, "drover-agent-ca", "ca.crt", "CERT", "ca.key", "KEY");
	assert_true(ready_after(d, 30000, NULL));
	assert_string_equal(secret_expose(keys_boot(d->c.keys)), BOOT);
	assert_string_equal(keys_ca_pem(d->c.keys), "CERT");
	publics = keys_evidence_publics(d->c.keys, &n);
	assert_int_equal(n, 2);
	assert_string_equal(publics[0], public);
	assert_string_equal(publics[1], old_public);
}

static void no_evidence_key_is_made_once_a_record_exists(void **state)
{
	struct bench *d = *state;
	size_t n;

	bench_put(d, RECORD);
	/* Ready, although the evidence key is missing: only work that needs this key stops. */
	assert_true(ready_after(d, 60000, NULL));
	bench_run(d, 60000);
	assert_null(keys_evidence(d->c.keys));
	keys_evidence_publics(d->c.keys, &n);
	assert_int_equal(n, 0);
	OWN_JSON made = bench_stored(&d->host, "secrets/" BENCH_NS "/drover-evidence-key");
	assert_null(made);
	/* drover creates the other two Secrets if they are missing, even though records exist. */
	OWN_JSON boot = bench_stored(&d->host, "secrets/" BENCH_NS "/drover-boot-key");
	assert_non_null(boot);
	/* An operator restores the old key. */
	OWN(crypto_key) key = crypto_key_new();
	OWN(secret) pem = crypto_key_pem(key);
	bench_secret(d, "drover-evidence-key", "private.pem", secret_expose(pem), NULL, NULL);
	bench_run(d, 35000);
	assert_non_null(keys_evidence(d->c.keys));
}

/* A record counts even if this version cannot read it. */
static void no_evidence_key_is_made_over_a_record_that_cannot_be_read(void **state)
{
	struct bench *d = *state;

	d->c.records_unread = true;
	bench_run(d, 60000);
	assert_true(ready_after(d, 60000, NULL));
	assert_null(keys_evidence(d->c.keys));
	OWN_JSON made = bench_stored(&d->host, "secrets/" BENCH_NS "/drover-evidence-key");
	assert_null(made);
}

static void an_evidence_key_that_is_deleted_under_us_signs_no_more(void **state)
{
	struct bench *d = *state;
	char before[CRYPTO_PUBLIC_TEXT];
	size_t n;

	bench_keys(d);
	str_copy(before, sizeof(before), keys_evidence_publics(d->c.keys, &n)[0]);
	OWN_JSON kept = bench_stored(&d->host, "secrets/" BENCH_NS "/drover-evidence-key");
	bench_put(d, RECORD);
	bench_must(d, &d->host, "DELETE", PATH "drover-evidence-key", NULL);
	bench_run(d, 60000);
	assert_null(keys_evidence(d->c.keys));
	/* Records signed by the old key are still accepted. */
	assert_string_equal(keys_evidence_publics(d->c.keys, &n)[0], before);
	assert_int_equal(n, 1);
	OWN_JSON made = bench_stored(&d->host, "secrets/" BENCH_NS "/drover-evidence-key");
	assert_null(made);
	json_object_del(json_at(kept, "metadata"), "resourceVersion");
	json_object_del(json_at(kept, "metadata"), "uid");
	char *text = json_text(kept);
	bench_must(d, &d->host, "POST", "/api/v1/namespaces/" BENCH_NS "/secrets", text);
	free(text);
	bench_run(d, 35000);
	assert_non_null(keys_evidence(d->c.keys));
}

static unsigned published(struct bench *d, const char *public)
{
	OWN_JSON o = bench_stored(&d->host, "configmaps/" BENCH_NS "/" KEYS_PUBLISHED);
	const char *key;
	unsigned n = 0;
	json_t *v;

	json_object_foreach (json_at(o, "data"), key, v)
		n += str_eq(json_string_value(v), public) << str_eq(key, "current");
	/* 0: the key is not published; 1: it is published as an old key; 3: it is also the current
	 * key */
	return n;
}

static void public_keys_are_published_and_stay_so(void **state)
{
	struct bench *d = *state;
	OWN(crypto_key) key = crypto_key_new();
	OWN(secret) pem = crypto_key_pem(key);
	char before[CRYPTO_PUBLIC_TEXT], after[CRYPTO_PUBLIC_TEXT];
	size_t n;

	bench_keys(d);
	str_copy(before, sizeof(before), keys_evidence_publics(d->c.keys, &n)[0]);
	d->c.leading = false;
	keys_publish(d->c.keys);
	bench_run(d, 1000);
	/* Nothing is published, because this replica does not lead. */
	assert_int_equal(published(d, before), 0);
	d->c.leading = true;
	keys_publish(d->c.keys);
	bench_run(d, 1000);
	assert_int_equal(published(d, before), 3);
	crypto_key_public(key, after);
	bench_secret(d, "drover-evidence-key", "private.pem", secret_expose(pem), NULL, NULL);
	bench_run(d, 35000);
	keys_publish(d->c.keys);
	bench_run(d, 1000);
	assert_int_equal(published(d, after), 3);
	assert_int_equal(published(d, before), 1);
	bench_must(d, &d->host, "DELETE",
		   "/api/v1/namespaces/" BENCH_NS "/configmaps/" KEYS_PUBLISHED, NULL);
	bench_run(d, 3700000);
	assert_int_equal(published(d, after), 3);
	OWN_JSON o = bench_stored(&d->host, "configmaps/" BENCH_NS "/" KEYS_PUBLISHED);
	char *text = json_text(o);
	assert_null(strstr(text, "PRIVATE"));
	free(text);
	d->c.leading = false;
}

static void an_evidence_key_that_is_none_is_named_and_not_replaced(void **state)
{
	struct bench *d = *state;
	const char *why = NULL;

	bench_secret(d, "drover-evidence-key", "private.pem", "no key", NULL, NULL);
	assert_false(ready_after(d, 30000, &why));
	assert_non_null(strstr(why, "private.pem is not an Ed25519 key"));
	assert_null(keys_evidence(d->c.keys));
	OWN_JSON o = bench_stored(&d->host, "secrets/" BENCH_NS "/drover-evidence-key");
	assert_string_equal(json_str_at(o, "data", "private.pem"), "bm8ga2V5");
}

static void a_new_evidence_key_is_taken_over(void **state)
{
	struct bench *d = *state;
	OWN(crypto_key) key = crypto_key_new();
	OWN(secret) pem = crypto_key_pem(key);
	char before[CRYPTO_PUBLIC_TEXT], after[CRYPTO_PUBLIC_TEXT];
	const char *const *publics;
	size_t n;

	bench_keys(d);
	str_copy(before, sizeof(before), keys_evidence_publics(d->c.keys, &n)[0]);
	crypto_key_public(key, after);
	bench_secret(d, "drover-evidence-key", "private.pem", secret_expose(pem), "public-1",
		     before);
	bench_run(d, 35000);
	assert_true(keys_ready(d->c.keys, NULL));
	publics = keys_evidence_publics(d->c.keys, &n);
	assert_int_equal(n, 2);
	assert_string_equal(publics[0], after);
	assert_string_equal(publics[1], before);
}

static void nothing_is_made_while_it_is_not_known_what_is_missing(void **state)
{
	struct bench *d = *state;
	const char *why = NULL;

	d->host.denied = true;
	assert_false(ready_after(d, 20000, &why));
	assert_string_equal(why, "drover-boot-key");
	d->host.denied = false;
	OWN_JSON boot = bench_stored(&d->host, "secrets/" BENCH_NS "/drover-boot-key");
	assert_null(boot);
	assert_true(ready_after(d, 30000, NULL));
}

static void keys_once_known_stay_while_the_api_is_away(void **state)
{
	struct bench *d = *state;

	bench_keys(d);
	bench_away(d, &d->host, true);
	bench_run(d, 120000);
	assert_true(keys_ready(d->c.keys, NULL));
	assert_non_null(keys_boot(d->c.keys));
}

static void a_boot_key_that_is_deleted_under_us_is_kept(void **state)
{
	struct bench *d = *state;
	char before[65], after[65];

	bench_keys(d);
	keys_derive(d->c.keys, "x", before);
	bench_must(d, &d->host, "DELETE", PATH "drover-boot-key", NULL);
	bench_run(d, 40000);
	assert_int_equal(secrets_want(d->c.secrets, NULL, "drover-boot-key"), SECRET_ABSENT);
	keys_derive(d->c.keys, "x", after);
	assert_string_equal(before, after);
}

static void a_short_boot_key_is_not_taken_and_the_one_before_stays(void **state)
{
	struct bench *d = *state;
	const char *why = "";

	bench_secret(d, "drover-boot-key", "key", "0123", NULL, NULL);
	assert_false(ready_after(d, 5000, &why));
	assert_string_equal(why, "drover-boot-key (key has less than 32 characters)");
	bench_secret(d, "drover-boot-key", "key", BOOT, NULL, NULL);
	assert_true(ready_after(d, 35000, NULL));
	bench_secret(d, "drover-boot-key", "key", "0123", NULL, NULL);
	bench_run(d, 35000);
	assert_string_equal(secret_expose(keys_boot(d->c.keys)), BOOT);
	bench_secret(d, "drover-boot-key", "key", BOOT "+", NULL, NULL);
	bench_run(d, 35000);
	assert_string_equal(secret_expose(keys_boot(d->c.keys)), BOOT "+");
}

static void what_is_derived_depends_on_text_and_key_alone(void **state)
{
	struct bench *d = *state;
	char one[65], two[65], other[65];

	bench_secret(d, "drover-boot-key", "key", "0123456789abcdef0123456789abcdef", NULL, NULL);
	bench_keys(d);
	/* The expected value was computed in Python: hmac.new(key, text, "sha256") */
	keys_derive(d->c.keys, "what do ya want for nothing?", one);
	assert_string_equal(one,
			    "137e6557c3c13a1ca5dc7e52a389a0f86be8cb4db4ae61c62396058b00acacd0");
	keys_derive(d->c.keys, "what do ya want for nothing?", two);
	keys_derive(d->c.keys, "what do ya want for nothing", other);
	assert_string_equal(one, two);
	assert_string_not_equal(one, other);
}

#define T(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(missing_secrets_are_made_at_the_first_start),
		T(secrets_that_are_there_are_taken_as_they_are),
		T(no_evidence_key_is_made_once_a_record_exists),
		T(no_evidence_key_is_made_over_a_record_that_cannot_be_read),
		T(an_evidence_key_that_is_deleted_under_us_signs_no_more),
		T(public_keys_are_published_and_stay_so),
		T(an_evidence_key_that_is_none_is_named_and_not_replaced),
		T(a_new_evidence_key_is_taken_over),
		T(nothing_is_made_while_it_is_not_known_what_is_missing),
		T(keys_once_known_stay_while_the_api_is_away),
		T(a_boot_key_that_is_deleted_under_us_is_kept),
		T(a_short_boot_key_is_not_taken_and_the_one_before_stays),
		T(what_is_derived_depends_on_text_and_key_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
