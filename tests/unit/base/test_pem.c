#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/pem.h"
#include "base/str.h"
#include "tests/data/pems.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void certificates_are_written_anew(void **state)
{
	struct err e;
	char *pem = pem_certs(PEMS_CA, strlen(PEMS_CA), 1, &e);

	(void)state;
	assert_non_null(pem);
	assert_string_equal(pem, PEMS_CA);
	free(pem);
	/* Text between the blocks and blocks of other types are dropped. */
	pem = pem_certs("a: b\n" PEMS_CERT "text\n" PEMS_KEY PEMS_CA "end",
			strlen("a: b\n" PEMS_CERT "text\n" PEMS_KEY PEMS_CA "end"), 2, &e);
	assert_non_null(pem);
	assert_string_equal(pem, PEMS_CERT PEMS_CA);
	free(pem);
}

struct refusal {
	const char *pem, *text;
};

static void what_is_no_certificate_is_refused(void **state)
{
	static const struct refusal cases[] = {
		{"", "is not PEM of a certificate"},
		{"hello", "is not PEM of a certificate"},
		{PEMS_KEY, "is not PEM of a certificate"},
		{"-----BEGIN CERTIFICATE-----\n", "is not PEM: a block is broken"},
		{"-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
		 "is not PEM: a block is broken"},
		{"-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n",
		 "has a certificate that cannot be read"},
		{PEMS_CA "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n",
		 "has a certificate that cannot be read"},
		{"-----BEGIN CERTIFICATE-----\nProc-Type: 4,ENCRYPTED\n"
		 "DEK-Info: AES-256-CBC,00000000000000000000000000000000\n\n"
		 "aGVsbG8=\n-----END CERTIFICATE-----\n",
		 "is encrypted"},
		{PEMS_TRUSTED, "want certificates, got OpenSSL's TRUSTED"},
		{PEMS_CA PEMS_CA PEMS_CA, "has more than 2 certificates"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct err e;

		assert_null(pem_certs(cases[i].pem, strlen(cases[i].pem), 2, &e));
		assert_int_equal(e.kind, ERR_INVALID);
		if (!str_starts(e.text, cases[i].text))
			fail_msg("case %zu: %s", i, e.text);
	}
}

static struct secret *key(const char *pem, struct err *e)
{
	return pem_key(pem, strlen(pem), e);
}

static void keys_become_pkcs8(void **state)
{
	static const char *const fine[] = {PEMS_KEY, PEMS_KEY_SEC1, PEMS_CERT PEMS_KEY};
	struct secret *s;
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(fine); i++) {
		s = key(fine[i], &e);
		assert_non_null(s);
		assert_string_equal(secret_expose(s), PEMS_KEY);
		secret_free(s);
	}
	s = key(PEMS_RSA_2048, &e);
	assert_non_null(s);
	assert_true(str_starts(secret_expose(s), "-----BEGIN PRIVATE KEY-----"));
	secret_free(s);
}

static void what_is_no_usable_key_is_refused(void **state)
{
	static const struct refusal cases[] = {
		{"", "is not PEM of a private key"},
		{PEMS_CERT, "is not PEM of a private key"},
		{PEMS_KEY_ENCRYPTED, "is encrypted, and "},
		{PEMS_KEY_SEC1_ENCRYPTED, "is encrypted, and "},
		{"-----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n",
		 "has a private key that cannot be read"},
		{"-----BEGIN OPENSSH PRIVATE KEY-----\naGVsbG8=\n"
		 "-----END OPENSSH PRIVATE KEY-----\n",
		 "has a private key that cannot be read"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMII\n", "is not PEM: a block is broken"},
		{PEMS_RSA_1024, "want a key for RSA of 2048 to 4096 bits"},
		{PEMS_SECP256K1, "want a key for RSA of 2048 to 4096 bits"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct err e;

		if (key(cases[i].pem, &e))
			fail_msg("case %zu: accepted", i);
		assert_int_equal(e.kind, ERR_INVALID);
		if (!str_starts(e.text, cases[i].text))
			fail_msg("case %zu: %s", i, e.text);
	}
}

static void bytes_are_bounded(void **state)
{
	size_t n = PEM_BYTES_MAX + 1;
	char *big = mem_alloc(n);
	struct err e;

	(void)state;
	memset(big, '\n', n);
	assert_null(pem_certs(big, n, 1, &e));
	assert_true(str_starts(e.text, "has more than"));
	assert_null(pem_key(big, n, &e));
	assert_null(pem_certs("\0", 1, 1, &e));
	assert_true(str_starts(e.text, "is not PEM: has a NUL"));
	free(big);
}

static void a_key_has_to_be_that_of_the_certificate(void **state)
{
	struct err e;
	struct secret *own = key(PEMS_KEY, &e), *other = key(PEMS_OTHER_KEY, &e),
		      *rsa = key(PEMS_RSA_2048, &e);

	(void)state;
	assert_true(own && other && rsa);
	assert_int_equal(pem_pair(PEMS_CERT PEMS_CA, own, &e), 0);
	assert_int_equal(pem_pair(PEMS_CA PEMS_CERT, own, &e), -1);
	assert_int_equal(pem_pair(PEMS_CERT, other, &e), -1);
	assert_int_equal(pem_pair(PEMS_CERT, rsa, &e), -1);
	assert_string_equal(e.text, "is not the key of the certificate");
	secret_free(own);
	secret_free(other);
	secret_free(rsa);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(certificates_are_written_anew),
		cmocka_unit_test(what_is_no_certificate_is_refused),
		cmocka_unit_test(keys_become_pkcs8),
		cmocka_unit_test(what_is_no_usable_key_is_refused),
		cmocka_unit_test(bytes_are_bounded),
		cmocka_unit_test(a_key_has_to_be_that_of_the_certificate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
