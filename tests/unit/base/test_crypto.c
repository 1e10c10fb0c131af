#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void expect_hex(const void *data, size_t n, const char *want)
{
	char text[512];

	str_hex(text, data, n);
	assert_string_equal(text, want);
}

/* RFC 6234 section 8.5, TEST1 to TEST3 and the empty text. */
static void sha256_gives_the_values_of_the_rfc(void **state)
{
	static const struct {
		const char *text;
		int times;
		const char *want;
	} cases[] = {
		{"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
	};
	uint8_t out[CRYPTO_SHA256];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct crypto_hash *h = crypto_hash_new();

		for (int k = 0; k < cases[i].times; k++)
			crypto_hash_add(h, cases[i].text, strlen(cases[i].text));
		crypto_hash_end(h, out);
		crypto_hash_free(h);
		expect_hex(out, sizeof(out), cases[i].want);
		if (cases[i].times == 1) {
			crypto_sha256(cases[i].text, strlen(cases[i].text), out);
			expect_hex(out, sizeof(out), cases[i].want);
		}
	}
	crypto_hash_free(NULL);
}

static struct secret *repeated(int byte, size_t n)
{
	char bytes[256];

	memset(bytes, byte, n);
	return secret_new(bytes, n);
}

/* RFC 4231, cases 1 to 3, 6 and 7. */
static void hmac_gives_the_values_of_the_rfc(void **state)
{
	OWN(secret) k1 = repeated(0x0b, 20);
	OWN(secret) k2 = secret_from_str("Jefe");
	OWN(secret) k3 = repeated(0xaa, 20);
	OWN(secret) k6 = repeated(0xaa, 131);
	static const char d3[50] = {[0 ... 49] = (char)0xdd};
	const struct {
		const struct secret *key;
		const char *data;
		size_t len;
		const char *want;
	} cases[] = {
		{k1, "Hi There", 8,
		 "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
		{k2, "what do ya want for nothing?", 28,
		 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
		{k3, d3, 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
		{k6, "Test Using Larger Than Block-Size Key - Hash Key First", 54,
		 "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
		{k6,
		 "This is a test using a larger than block-size key and a larger than block-size "
		 "data. The key needs to be hashed before being used by the HMAC algorithm.",
		 152, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
	};
	uint8_t out[CRYPTO_SHA256];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		crypto_hmac_sha256(cases[i].key, cases[i].data, cases[i].len, out);
		expect_hex(out, sizeof(out), cases[i].want);
	}
}

static void digests_have_one_text(void **state)
{
	static const char text[] =
		"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
	char out[CRYPTO_DIGEST_TEXT], bad[80];
	uint8_t d[CRYPTO_SHA256], back[CRYPTO_SHA256];

	(void)state;
	crypto_sha256("abc", 3, d);
	assert_string_equal(crypto_digest_text(d, out), text);
	assert_true(crypto_digest_parse(text, back));
	assert_memory_equal(d, back, sizeof(d));
	assert_false(crypto_digest_parse(text + 7, back));
	assert_false(crypto_digest_parse("sha256:", back));
	assert_false(crypto_digest_parse(NULL, back));
	snprintf(bad, sizeof(bad), "%s0", text);
	assert_false(crypto_digest_parse(bad, back));
	snprintf(bad, sizeof(bad), "%.*sg", (int)strlen(text) - 1, text);
	assert_false(crypto_digest_parse(bad, back));
}

/* Returns a PEM in PKCS#8 form for a raw private key: RFC 8410 section 7. */
static struct secret *pem_of_raw(const char *hex)
{
	unsigned char der[48];
	struct secret *s;
	char *b64, *pem;

	assert_true(str_unhex(der, "302e020100300506032b657004220420", 16));
	assert_true(str_unhex(der + 16, hex, 32));
	b64 = crypto_base64(der, sizeof(der));
	pem = mem_printf("-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\n", b64);
	s = secret_from_str(pem);
	free(pem);
	free(b64);
	return s;
}

/* RFC 8032 section 7.1, TEST 1 to 3. */
static void ed25519_gives_the_values_of_the_rfc(void **state)
{
	static const struct {
		const char *key, *pub, *message;
		size_t len;
		const char *sig;
	} cases[] = {
		{"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
		 "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "", 0,
		 "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
		 "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"},
		{"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
		 "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "\x72", 1,
		 "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
		 "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
		{"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
		 "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "\xaf\x82", 2,
		 "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
		 "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"},
	};
	uint8_t sig[CRYPTO_SIGNATURE], raw[32];
	char text[CRYPTO_PUBLIC_TEXT];
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		OWN(secret) pem = pem_of_raw(cases[i].key);
		OWN(crypto_key) k = crypto_key_from_pem(pem, &e);
		OWN(crypto_key) pub = NULL;
		char *b64;

		assert_non_null(k);
		crypto_sign(k, cases[i].message, cases[i].len, sig);
		expect_hex(sig, sizeof(sig), cases[i].sig);

		assert_true(str_unhex(raw, cases[i].pub, sizeof(raw)));
		b64 = crypto_base64(raw, sizeof(raw));
		crypto_key_public(k, text);
		assert_memory_equal(text, "ed25519:", 8);
		assert_string_equal(text + 8, b64);
		free(b64);
		pub = crypto_key_from_public(text, &e);
		assert_non_null(pub);
		assert_true(crypto_verify(pub, cases[i].message, cases[i].len, sig));
		for (size_t bit = 0; bit < 8 * sizeof(sig); bit += 37) {
			sig[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_false(crypto_verify(pub, cases[i].message, cases[i].len, sig));
			sig[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		assert_false(crypto_verify(pub, "other", 5, sig));
	}
}

static void a_new_key_survives_its_pem(void **state)
{
	OWN(crypto_key) a = crypto_key_new();
	OWN(crypto_key) other = crypto_key_new();
	OWN(secret) pem = crypto_key_pem(a);
	OWN(crypto_key) b = NULL;
	char at[CRYPTO_PUBLIC_TEXT], bt[CRYPTO_PUBLIC_TEXT];
	uint8_t sig[CRYPTO_SIGNATURE];
	struct err e;

	(void)state;
	assert_true(str_starts(secret_expose(pem), "-----BEGIN PRIVATE KEY-----\n"));
	b = crypto_key_from_pem(pem, &e);
	assert_non_null(b);
	assert_string_equal(crypto_key_public(a, at), crypto_key_public(b, bt));
	assert_string_not_equal(crypto_key_public(other, bt), at);
	crypto_sign(b, "m", 1, sig);
	assert_true(crypto_verify(a, "m", 1, sig));
	assert_false(crypto_verify(other, "m", 1, sig));
	crypto_key_free(NULL);
}

static void wrong_keys_are_refused(void **state)
{
	static const char *const publics[] = {
		"",
		"ed25519:",
		"ed25519:AAAA",
		"rsa:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
		"ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"ed25519: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
	};
	OWN(secret) nonsense = secret_from_str("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END");
	OWN(secret) empty = secret_from_str("");
	OWN(secret) ec = NULL;
	char *cert;
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(publics); i++) {
		assert_null(crypto_key_from_public(publics[i], &e));
		assert_int_equal(e.kind, ERR_INVALID);
	}
	assert_null(crypto_key_from_public(NULL, &e));
	assert_null(crypto_key_from_pem(nonsense, &e));
	assert_null(crypto_key_from_pem(empty, &e));
	assert_ok(crypto_ca_new("x", 0, 1, &cert, &ec, &e), &e);
	assert_null(crypto_key_from_pem(ec, &e)); /* a key, but not of type Ed25519 */
	assert_non_null(strstr(e.text, "Ed25519"));
	free(cert);
	assert_int_equal(ERR_peek_error(), 0);
}

/* RFC 4648 section 10. */
static void base64_gives_the_values_of_the_rfc(void **state)
{
	static const struct {
		const char *plain, *text;
	} cases[] = {{"", ""},
		     {"f", "Zg=="},
		     {"fo", "Zm8="},
		     {"foo", "Zm9v"},
		     {"foob", "Zm9vYg=="},
		     {"fooba", "Zm9vYmE="},
		     {"foobar", "Zm9vYmFy"}};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *text = crypto_base64(cases[i].plain, strlen(cases[i].plain)), *plain;
		size_t n;

		assert_string_equal(text, cases[i].text);
		plain = crypto_base64_decode(text, strlen(text), &n, &e);
		assert_non_null(plain);
		assert_int_equal(n, strlen(cases[i].plain));
		assert_string_equal(plain, cases[i].plain);
		free(text);
		free(plain);
	}
}

static void base64_refuses_every_other_text_for_a_value(void **state)
{
	static const char *const bad[] = {
		"Z",	"Zg",	"Zg=",	    "Zg===",  "Zh==",  "Zm9=",	  "Zm8",
		"Z===", "====", "=",	    "Zm9v\n", " Zm9v", "Zm9v ",	  "Zm\n9",
		"Zm9-", "Zm9_", "Zg==Zg==", "Zm=v",   "Z=9v",  "Zm9v===="};
	unsigned char all[256];
	char *text, *back;
	struct err e;
	size_t n = 77;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (crypto_base64_decode(bad[i], strlen(bad[i]), &n, &e))
			fail_msg("\"%s\" was read", bad[i]);
		assert_int_equal(e.kind, ERR_INVALID);
	}
	assert_null(crypto_base64_decode("Zm\0v", 4, &n, &e));
	assert_int_equal(n, 77);
	for (int i = 0; i < 256; i++)
		all[i] = (unsigned char)i;
	text = crypto_base64(all, sizeof(all));
	back = crypto_base64_decode(text, strlen(text), &n, &e);
	assert_non_null(back);
	assert_int_equal(n, sizeof(all));
	assert_memory_equal(back, all, n);
	free(text);
	free(back);
}

static void base64url_has_its_own_characters_and_no_padding(void **state)
{
	static const char *const bad[] = {
		"Z", "Zm9vZ", "Zh", "Zm9=", "Zg==", "Z===", "-+__", "-/__", "Zm9v=", "Zm8\n", "!"};
	struct err e;
	size_t n = 77;
	char *bytes;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (crypto_base64url_decode(bad[i], strlen(bad[i]), &n, &e))
			fail_msg("\"%s\" was read", bad[i]);
		assert_int_equal(e.kind, ERR_INVALID);
	}
	assert_null(crypto_base64url_decode("Zm\0v", 4, &n, &e));
	assert_int_equal(n, 77);
	bytes = crypto_base64url_decode("-_8-Zm8x", 7, &n, &e);
	assert_non_null(bytes);
	assert_int_equal(n, 5);
	assert_memory_equal(bytes,
			    "\xfb\xff\x3e"
			    "fo",
			    6);
	free(bytes);
	bytes = crypto_base64url_decode("", 0, &n, &e);
	assert_non_null(bytes);
	assert_int_equal(n, 0);
	free(bytes);
}

/* Values computed by openssl x509 -pubkey, openssl pkey -pubin -outform der and sha256sum; and the
 * digest of the whole DER. */
static void pins_agree_with_the_openssl_program(void **state)
{
	static const char pem[] =
		"some text before\n"
		"-----BEGIN CERTIFICATE-----\n"
		"MIIBdjCCARugAwIBAgIUWgyAPSuheu6T4n6WpdcjJuWsY0QwCgYIKoZIzj0EAwIw\n"
		"DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjExODQ4MTVaGA8yMTI2MTAyODE4NDgx\n"
		"NVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNmq\n"
		"jaZn9INQ+NThbVOdZIjCCeQXYwbB+FbMHu6/L7UtkeFR8e9JMAmq/qu1ui16JX6Q\n"
		"nCgCYTY8LpAZoLDAXSSjUzBRMB0GA1UdDgQWBBRrjamafGWUk3gchNljPJXWAZn6\n"
		"5TAfBgNVHSMEGDAWgBRrjamafGWUk3gchNljPJXWAZn65TAPBgNVHRMBAf8EBTAD\n"
		"AQH/MAoGCCqGSM49BAMCA0kAMEYCIQDwO2CXogflUHkGkV8VQa2uNSsWYJGABr52\n"
		"sYxTCzp6bQIhALU3NseIstzwvxQvYTPDrTc+NY5InoBRNHKGjvnrs0EV\n"
		"-----END CERTIFICATE-----\n";
	uint8_t out[CRYPTO_SHA256];
	struct err e;

	(void)state;
	assert_ok(crypto_cert_spki_sha256(pem, out, &e), &e);
	expect_hex(out, 32, "2aa7b0f63aafbaf55338a7568080edb4a11b918800e24b13219cadef3ff62362");
	assert_ok(crypto_cert_sha256(pem, out, &e), &e);
	expect_hex(out, 32, "4dfc33abcd0a405e2c2d808889d5db21b61b1fa677a58f7ec3f0f7be06061734");
	assert_int_equal(crypto_cert_sha256("", out, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	assert_int_equal(crypto_cert_spki_sha256("-----BEGIN CERTIFICATE-----\nAAAA\n", out, &e),
			 -1);
	assert_int_equal(crypto_cert_spki_sha256(NULL, out, &e), -1);
}

static X509 *cert_of(const char *pem)
{
	BIO *bio = BIO_new_mem_buf(pem, -1);
	X509 *x = PEM_read_bio_X509(bio, NULL, NULL, NULL);

	BIO_free(bio);
	assert_non_null(x);
	return x;
}

/* Verifies with OpenSSL's chain building, as a client would verify a server. */
static int verify(X509 *ca, X509 *cert, int64_t at_s, const char *host, const char *ip)
{
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *ctx = X509_STORE_CTX_new();
	X509_VERIFY_PARAM *p;
	int result;

	X509_STORE_add_cert(store, ca);
	X509_STORE_CTX_init(ctx, store, cert, NULL);
	p = X509_STORE_CTX_get0_param(ctx);
	X509_VERIFY_PARAM_set_time(p, (time_t)at_s);
	X509_VERIFY_PARAM_set_purpose(p, X509_PURPOSE_SSL_SERVER);
	X509_VERIFY_PARAM_set_flags(p, X509_V_FLAG_X509_STRICT);
	if (host)
		X509_VERIFY_PARAM_set1_host(p, host, 0);
	if (ip)
		X509_VERIFY_PARAM_set1_ip_asc(p, ip);
	result = X509_verify_cert(ctx) == 1 ? X509_V_OK : X509_STORE_CTX_get_error(ctx);
	X509_STORE_CTX_free(ctx);
	X509_STORE_free(store);
	return result;
}

static void a_certificate_of_our_ca_is_good_for_its_names_and_times(void **state)
{
	static const char *const names[] = {"drover.example", "10.0.0.7", "fd00::7", NULL};
	const int64_t now_s = 1800000000;
	OWN(secret) ca_key = NULL;
	OWN(secret) other_key = NULL;
	OWN(secret) key = NULL;
	OWN(secret) unused = NULL;
	char *ca_pem, *other_pem, *pem, *none = NULL;
	X509 *ca, *other, *cert;
	struct err e;

	(void)state;
	assert_ok(crypto_ca_new("drover test CA", now_s * 1000, 10, &ca_pem, &ca_key, &e), &e);
	assert_ok(crypto_ca_new("drover test CA", now_s * 1000, 10, &other_pem, &other_key, &e),
		  &e);
	assert_ok(crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = ca_pem,
							       .ca_key = ca_key,
							       .cn = "drover",
							       .names = names,
							       .wall_ms = now_s * 1000,
							       .days = 5},
				    &pem, &key, &e),
		  &e);
	ca = cert_of(ca_pem);
	other = cert_of(other_pem);
	cert = cert_of(pem);
	assert_int_equal(verify(ca, cert, now_s, "drover.example", NULL), X509_V_OK);
	assert_int_equal(verify(ca, cert, now_s, NULL, "10.0.0.7"), X509_V_OK);
	assert_int_equal(verify(ca, cert, now_s, NULL, "fd00::7"), X509_V_OK);
	assert_int_equal(verify(ca, cert, now_s, "evil.example", NULL),
			 X509_V_ERR_HOSTNAME_MISMATCH);
	assert_int_equal(verify(ca, cert, now_s, NULL, "10.0.0.8"), X509_V_ERR_IP_ADDRESS_MISMATCH);
	assert_int_equal(verify(ca, cert, now_s - 3599, NULL, NULL), X509_V_OK);
	assert_int_equal(verify(ca, cert, now_s - 3601, NULL, NULL), X509_V_ERR_CERT_NOT_YET_VALID);
	assert_int_equal(verify(ca, cert, now_s + 5 * 86400 + 1, NULL, NULL),
			 X509_V_ERR_CERT_HAS_EXPIRED);
	assert_int_not_equal(verify(other, cert, now_s, NULL, NULL), X509_V_OK);

	/* The leaf cannot issue certificates; a different key is not the CA's; a certificate must
	 * have names. */
	assert_int_equal(X509_check_ca(cert), 0);
	assert_int_equal(crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = ca_pem,
								      .ca_key = other_key,
								      .cn = "x",
								      .names = names,
								      .wall_ms = 0,
								      .days = 1},
					   &none, &unused, &e),
			 -1);
	assert_int_equal(e.kind, ERR_INVALID);
	assert_int_equal(crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = "x",
								      .ca_key = ca_key,
								      .cn = "x",
								      .names = names,
								      .wall_ms = 0,
								      .days = 1},
					   &none, &unused, &e),
			 -1);
	assert_int_equal(crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = ca_pem,
								      .ca_key = ca_key,
								      .cn = "x",
								      .names = names + 3,
								      .wall_ms = 0,
								      .days = 1},
					   &none, &unused, &e),
			 -1);
	assert_int_equal(crypto_ca_new("x", 0, 0, &none, &unused, &e), -1);
	assert_null(none);
	assert_null(unused);
	X509_free(ca);
	X509_free(other);
	X509_free(cert);
	free(ca_pem);
	free(other_pem);
	free(pem);
}

/* A name is only a value, never parsed as OpenSSL configuration syntax. */
static void a_name_cannot_smuggle_in_another(void **state)
{
	static const char *const names[] = {"a.example,DNS:evil.example", NULL};
	OWN(secret) ca_key = NULL;
	OWN(secret) key = NULL;
	char *ca_pem, *pem;
	X509 *cert;
	struct err e;

	(void)state;
	assert_ok(crypto_ca_new("CA", 0, 10, &ca_pem, &ca_key, &e), &e);
	assert_ok(crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = ca_pem,
							       .ca_key = ca_key,
							       .cn = "x",
							       .names = names,
							       .wall_ms = 0,
							       .days = 5},
				    &pem, &key, &e),
		  &e);
	cert = cert_of(pem);
	assert_int_not_equal(X509_check_host(cert, "evil.example", 0, 0, NULL), 1);
	assert_int_not_equal(X509_check_host(cert, "a.example", 0, 0, NULL), 1);
	X509_free(cert);
	free(ca_pem);
	free(pem);
}

/* OpenSSL parses the request; the certificate signed for it belongs to its key. */
static void a_request_names_its_subject_and_proves_its_key(void **state)
{
	OWN(secret) key = crypto_ec_key_new();
	OWN(secret) ca_key = NULL;
	uint8_t spki[CRYPTO_SHA256], again[CRYPTO_SHA256];
	char *pem, *other, *ca, *cn, *o, subject[200] = "";
	struct secret *bad = secret_from_str("no key");
	struct err e;
	X509_REQ *q;
	EVP_PKEY *own;
	BIO *bio;

	(void)state;
	pem = crypto_csr(key, "system:node:n1", "system:nodes", spki, &e);
	assert_non_null(pem);
	bio = BIO_new_mem_buf(pem, -1);
	q = PEM_read_bio_X509_REQ(bio, NULL, NULL, NULL);
	assert_non_null(q);
	own = X509_REQ_get_pubkey(q);
	assert_int_equal(X509_REQ_verify(q, own), 1);
	X509_NAME_oneline(X509_REQ_get_subject_name(q), subject, sizeof(subject));
	assert_string_equal(subject, "/O=system:nodes/CN=system:node:n1");
	assert_int_equal(EVP_PKEY_get_bits(own), 256);
	other = crypto_csr(key, "b", "o", again, &e);
	assert_memory_equal(spki, again, sizeof(spki));
	assert_null(crypto_csr(bad, "a", "b", spki, &e));
	assert_int_equal(e.kind, ERR_INVALID);

	assert_ok(crypto_ca_new("system:node:n1", 0, 10, &ca, &ca_key, &e), &e);
	assert_ok(crypto_cert_subject(ca, &cn, &o, &e), &e);
	assert_string_equal(cn, "system:node:n1");
	assert_null(o);
	assert_int_equal(crypto_cert_subject("no certificate", &cn, &o, &e), -1);
	X509_REQ_free(q);
	EVP_PKEY_free(own);
	BIO_free(bio);
	secret_free(bad);
	free(pem);
	free(other);
	free(ca);
	free(cn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_gives_the_values_of_the_rfc),
		cmocka_unit_test(hmac_gives_the_values_of_the_rfc),
		cmocka_unit_test(digests_have_one_text),
		cmocka_unit_test(ed25519_gives_the_values_of_the_rfc),
		cmocka_unit_test(a_new_key_survives_its_pem),
		cmocka_unit_test(wrong_keys_are_refused),
		cmocka_unit_test(base64_gives_the_values_of_the_rfc),
		cmocka_unit_test(base64_refuses_every_other_text_for_a_value),
		cmocka_unit_test(base64url_has_its_own_characters_and_no_padding),
		cmocka_unit_test(pins_agree_with_the_openssl_program),
		cmocka_unit_test(a_certificate_of_our_ca_is_good_for_its_names_and_times),
		cmocka_unit_test(a_name_cannot_smuggle_in_another),
		cmocka_unit_test(a_request_names_its_subject_and_proves_its_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
