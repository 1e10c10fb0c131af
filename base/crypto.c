#include "base/crypto.h"

#include <arpa/inet.h>
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include "base/mem.h"
#include "base/str.h"

/* Aborts unless ok: for OpenSSL calls that fail only without memory or without a built-in
 * algorithm. */
static void must(bool ok)
{
	if (!ok)
		abort();
}

/* Sets *e to an error that foreign input was refused: `what`, followed by OpenSSL's reason. Empties
 * OpenSSL's error queue. Returns -1. */
static int refused(struct err *e, const char *what)
{
	unsigned long code = ERR_get_error();
	const char *reason = code ? ERR_reason_error_string(code) : NULL;

	ERR_clear_error();
	return err_set(e, ERR_INVALID, 0, "%s: %s", what, reason ? reason : "not understood");
}

/* Returns NULL whatever status is. For functions that return a pointer and fail with err_set(). */
static void *none(int status)
{
	(void)status;
	return NULL;
}

/* --- digests --- */

void crypto_sha256(const void *data, size_t len, uint8_t out[static CRYPTO_SHA256])
{
	must(EVP_Digest(data, len, out, NULL, EVP_sha256(), NULL) == 1);
}

void crypto_hmac_sha256(const struct secret *key, const void *data, size_t len,
			uint8_t out[static CRYPTO_SHA256])
{
	must(secret_len(key) <= INT_MAX &&
	     HMAC(EVP_sha256(), secret_expose(key), (int)secret_len(key), data, len, out, NULL));
}

static const char digest_prefix[] = "sha256:";
enum { DIGEST_PREFIX = sizeof(digest_prefix) - 1 };
static_assert(DIGEST_PREFIX + 2 * CRYPTO_SHA256 + 1 <= CRYPTO_DIGEST_TEXT, "room for the text");

const char *crypto_digest_text(const uint8_t d[static CRYPTO_SHA256],
			       char out[static CRYPTO_DIGEST_TEXT])
{
	memcpy(out, digest_prefix, DIGEST_PREFIX);
	str_hex(out + DIGEST_PREFIX, d, CRYPTO_SHA256);
	return out;
}

bool crypto_digest_parse(const char *text, uint8_t out[static CRYPTO_SHA256])
{
	return str_starts(text, digest_prefix) &&
	       str_unhex(out, text + DIGEST_PREFIX, CRYPTO_SHA256);
}

struct crypto_hash {
	EVP_MD_CTX *ctx;
};

struct crypto_hash *crypto_hash_new(void)
{
	struct crypto_hash *h = mem_new(struct crypto_hash);

	h->ctx = EVP_MD_CTX_new();
	must(h->ctx && EVP_DigestInit_ex(h->ctx, EVP_sha256(), NULL) == 1);
	return h;
}

void crypto_hash_add(struct crypto_hash *h, const void *data, size_t len)
{
	must(EVP_DigestUpdate(h->ctx, data, len) == 1);
}

void crypto_hash_end(struct crypto_hash *h, uint8_t out[static CRYPTO_SHA256])
{
	must(EVP_DigestFinal_ex(h->ctx, out, NULL) == 1);
}

void crypto_hash_free(struct crypto_hash *h)
{
	if (!h)
		return;
	EVP_MD_CTX_free(h->ctx);
	free(h);
}

/* --- Ed25519 --- */

enum { RAW_KEY = 32 };

struct crypto_key {
	EVP_PKEY *pkey;
	bool can_sign;
};

static struct crypto_key *key_of(EVP_PKEY *pkey, bool can_sign)
{
	struct crypto_key *k = mem_new(struct crypto_key);

	k->pkey = pkey;
	k->can_sign = can_sign;
	return k;
}

struct crypto_key *crypto_key_new(void)
{
	EVP_PKEY *pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");

	must(pkey);
	return key_of(pkey, true);
}

/* Password callback for OpenSSL that has no passphrase. Without a callback OpenSSL would ask on the
 * terminal. */
static int no_passphrase(char *b, int size, int rw, void *arg)
{
	(void)b;
	(void)size;
	(void)rw;
	(void)arg;
	return -1;
}

static EVP_PKEY *private_of_pem(const struct secret *pem)
{
	BIO *bio;
	EVP_PKEY *pkey;

	if (secret_len(pem) > INT_MAX)
		return NULL;
	bio = BIO_new_mem_buf(secret_expose(pem), (int)secret_len(pem));
	must(bio);
	pkey = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
	BIO_free(bio);
	return pkey;
}

struct crypto_key *crypto_key_from_pem(const struct secret *pem, struct err *e)
{
	EVP_PKEY *pkey = private_of_pem(pem);

	if (!pkey)
		return none(refused(e, "private key"));
	ERR_clear_error();
	if (EVP_PKEY_get_id(pkey) == EVP_PKEY_ED25519)
		return key_of(pkey, true);
	EVP_PKEY_free(pkey);
	return none(err_set(e, ERR_INVALID, 0, "private key: want Ed25519"));
}

static const char public_prefix[] = "ed25519:";
enum { PUBLIC_PREFIX = sizeof(public_prefix) - 1 };

static EVP_PKEY *public_of_text(const char *text)
{
	struct err ignored;
	EVP_PKEY *pkey = NULL;
	char *raw;
	size_t n;

	if (!str_starts(text, public_prefix))
		return NULL;
	text += PUBLIC_PREFIX;
	raw = crypto_base64_decode(text, strlen(text), &n, &ignored);
	if (raw && n == RAW_KEY)
		pkey = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, (unsigned char *)raw, n);
	free(raw);
	return pkey;
}

struct crypto_key *crypto_key_from_public(const char *text, struct err *e)
{
	EVP_PKEY *pkey = public_of_text(text);

	if (pkey)
		return key_of(pkey, false);
	ERR_clear_error();
	return none(err_set(e, ERR_INVALID, 0, "public key: want ed25519:<base64 of 32 bytes>"));
}

void crypto_key_free(struct crypto_key *k)
{
	if (!k)
		return;
	EVP_PKEY_free(k->pkey);
	free(k);
}

/* Returns the PEM of the private key. Uses secure memory, so that OpenSSL clears its buffer before
 * freeing it. */
static struct secret *pem_of_private(EVP_PKEY *pkey)
{
	BIO *bio = BIO_new(BIO_s_secmem());
	struct secret *s;
	char *data;
	long n;

	must(bio && PEM_write_bio_PKCS8PrivateKey(bio, pkey, NULL, NULL, 0, NULL, NULL) == 1);
	n = BIO_get_mem_data(bio, &data);
	must(n > 0);
	s = secret_new(data, (size_t)n);
	secret_wipe(data, (size_t)n);
	BIO_free(bio);
	return s;
}

struct secret *crypto_key_pem(const struct crypto_key *k)
{
	assert(k->can_sign);
	return pem_of_private(k->pkey);
}

const char *crypto_key_public(const struct crypto_key *k, char out[static CRYPTO_PUBLIC_TEXT])
{
	unsigned char raw[RAW_KEY];
	size_t n = sizeof(raw);
	char *text;

	must(EVP_PKEY_get_raw_public_key(k->pkey, raw, &n) == 1 && n == RAW_KEY);
	text = crypto_base64(raw, n);
	str_format(out, CRYPTO_PUBLIC_TEXT, "%s%s", public_prefix, text);
	free(text);
	return out;
}

void crypto_sign(const struct crypto_key *k, const void *data, size_t len,
		 uint8_t out[static CRYPTO_SIGNATURE])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t n = CRYPTO_SIGNATURE;

	assert(k->can_sign);
	must(ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, k->pkey) == 1 &&
	     EVP_DigestSign(ctx, out, &n, data, len) == 1 && n == CRYPTO_SIGNATURE);
	EVP_MD_CTX_free(ctx);
}

bool crypto_verify(const struct crypto_key *k, const void *data, size_t len,
		   const uint8_t sig[static CRYPTO_SIGNATURE])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool good;

	must(ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, k->pkey) == 1);
	good = EVP_DigestVerify(ctx, sig, CRYPTO_SIGNATURE, data, len) == 1;
	EVP_MD_CTX_free(ctx);
	ERR_clear_error();
	return good;
}

/* --- base64 --- */

char *crypto_base64(const void *data, size_t len)
{
	char *out;

	must(len <= INT_MAX / 2);
	out = mem_alloc((len + 2) / 3 * 4 + 1);
	EVP_EncodeBlock((unsigned char *)out, data, (int)len);
	return out;
}

static int sextet(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/*
 * Decodes base64; false: invalid. EVP_DecodeBlock() is not used, because it accepts blanks and does
 * not report the padding. Each value must have exactly one accepted text: otherwise the text of a
 * signature could be altered and still verify.
 */
static bool decode64(const char *text, size_t n, size_t pad, unsigned char *out)
{
	uint32_t bits = 0;
	unsigned have = 0;

	for (size_t i = 0; i < n - pad; i++) {
		int v = sextet(text[i]);

		if (v < 0)
			return false;
		bits = bits << 6 | (uint32_t)v;
		have += 6;
		if (have >= 8) {
			have -= 8;
			*out++ = (unsigned char)(bits >> have);
			bits &= (1u << have) - 1;
		}
	}
	return bits == 0; /* Refuse the text if its unused trailing bits are not 0. */
}

char *crypto_base64_decode(const char *text, size_t text_len, size_t *len, struct err *e)
{
	size_t pad = 0, bytes;
	char *out;

	while (pad < 2 && pad < text_len && text[text_len - 1 - pad] == '=')
		pad++;
	if (text_len % 4 == 0) {
		bytes = text_len / 4 * 3 - pad;
		out = mem_alloc(bytes + 1);
		if (decode64(text, text_len, pad, (unsigned char *)out)) {
			*len = bytes;
			return out;
		}
		secret_wipe(out, bytes);
		free(out);
	}
	return none(err_set(e, ERR_INVALID, 0, "not base64"));
}

/* Returns the character of base64 for one of base64url; '!', which base64 refuses, for one that
 * base64url does not have. */
static char of_base64url(char c)
{
	return c == '-' ? '+' : c == '_' ? '/' : c == '+' || c == '/' || c == '=' ? '!' : c;
}

char *crypto_base64url_decode(const char *text, size_t text_len, size_t *len, struct err *e)
{
	const size_t padding = (4 - text_len % 4) % 4, n = text_len + padding;
	char *base64 = mem_alloc(n + 1), *out;

	for (size_t i = 0; i < text_len; i++)
		base64[i] = of_base64url(text[i]);
	memset(base64 + text_len, '=', padding);
	out = crypto_base64_decode(base64, n, len, e);
	secret_wipe(base64, n);
	free(base64);
	return out;
}

/* --- certificates --- */

static X509 *cert_of_pem(const char *pem)
{
	BIO *bio;
	X509 *x;

	if (!pem || strlen(pem) > INT_MAX)
		return NULL;
	bio = BIO_new_mem_buf(pem, -1);
	must(bio);
	x = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL);
	BIO_free(bio);
	return x;
}

static void spki_sha256(const X509_PUBKEY *key, uint8_t out[static CRYPTO_SHA256])
{
	unsigned char *der = NULL;
	int n = i2d_X509_PUBKEY(key, &der);

	must(n > 0);
	crypto_sha256(der, (size_t)n, out);
	OPENSSL_free(der);
}

int crypto_cert_spki_sha256(const char *pem, uint8_t out[static CRYPTO_SHA256], struct err *e)
{
	X509 *x = cert_of_pem(pem);

	if (!x)
		return refused(e, "certificate");
	spki_sha256(X509_get_X509_PUBKEY(x), out);
	X509_free(x);
	return 0;
}

int crypto_cert_sha256(const char *pem, uint8_t out[static CRYPTO_SHA256], struct err *e)
{
	X509 *x = cert_of_pem(pem);
	unsigned int n = CRYPTO_SHA256;

	if (!x)
		return refused(e, "certificate");
	must(X509_digest(x, EVP_sha256(), out, &n) == 1);
	X509_free(x);
	return 0;
}

static char *member_of(const X509_NAME *name, int nid)
{
	int at = -1, last = -1, n;
	unsigned char *utf8 = NULL;
	char *text;

	while ((at = X509_NAME_get_index_by_NID(name, nid, at)) >= 0)
		last = at;
	if (last < 0)
		return NULL;
	n = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, last)));
	text = n < 0 ? NULL : mem_strndup((char *)utf8, (size_t)n);
	OPENSSL_free(utf8);
	return text;
}

int crypto_cert_subject(const char *pem, char **cn, char **o, struct err *e)
{
	X509 *x = cert_of_pem(pem);

	if (!x)
		return refused(e, "certificate");
	*cn = member_of(X509_get_subject_name(x), NID_commonName);
	*o = member_of(X509_get_subject_name(x), NID_organizationName);
	X509_free(x);
	return 0;
}

/* Returns the text written to bio, malloc'd, and frees bio. */
static char *text_of(BIO *bio)
{
	char *data, *text;
	long n = BIO_get_mem_data(bio, &data);

	text = mem_strndup(data, (size_t)n);
	BIO_free(bio);
	return text;
}

static char *pem_of_cert(X509 *x)
{
	BIO *bio = BIO_new(BIO_s_mem());

	must(bio && PEM_write_bio_X509(bio, x) == 1);
	return text_of(bio);
}

static bool add_extension(X509 *x, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *ext;
	bool ok;

	X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
	ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	ok = ext && X509_add_ext(x, ext, -1) == 1;
	X509_EXTENSION_free(ext);
	return ok;
}

/* Adds DNS names and IP addresses to the certificate (subjectAltName). Builds the values directly,
 * because in OpenSSL's configuration syntax a name could contain directives. */
static bool add_names(X509 *x, const char *const *names)
{
	GENERAL_NAMES *list = GENERAL_NAMES_new();
	bool ok = true;

	must(list);
	for (; ok && *names; names++) {
		GENERAL_NAME *g = GENERAL_NAME_new();
		ASN1_OCTET_STRING *ip = a2i_IPADDRESS(*names);
		ASN1_IA5STRING *dns = ip ? NULL : ASN1_IA5STRING_new();

		must(g && (ip || dns));
		if (ip) {
			GENERAL_NAME_set0_value(g, GEN_IPADD, ip);
		} else {
			ok = **names && ASN1_STRING_set(dns, *names, -1) == 1;
			GENERAL_NAME_set0_value(g, GEN_DNS, dns);
		}
		must(sk_GENERAL_NAME_push(list, g) > 0);
	}
	ok = ok && sk_GENERAL_NAME_num(list) > 0 &&
	     X509_add1_ext_i2d(x, NID_subject_alt_name, list, 0, X509V3_ADD_DEFAULT) == 1;
	GENERAL_NAMES_free(list);
	return ok;
}

/* Sets a random positive serial of 127 bits (RFC 5280: at most 20 bytes, not 0). */
static void set_serial(X509 *x)
{
	unsigned char raw[16];
	BIGNUM *n;

	must(RAND_bytes(raw, sizeof(raw)) == 1);
	raw[0] = (raw[0] & 0x7f) | 0x40;
	n = BN_bin2bn(raw, sizeof(raw), NULL);
	must(n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(x)));
	BN_free(n);
}

static bool add_member(X509_NAME *name, int nid, const char *text)
{
	return X509_NAME_add_entry_by_NID(name, nid, MBSTRING_UTF8, (const unsigned char *)text, -1,
					  -1, 0) == 1;
}

/* Sets all fields of the certificate except extensions and signature. */
static bool fill(X509 *x, EVP_PKEY *pkey, const char *cn, const X509_NAME *issuer, int64_t wall_ms,
		 int days)
{
	const int64_t hour = 3600;
	int64_t now = wall_ms / 1000;
	X509_NAME *name = X509_get_subject_name(x);

	set_serial(x);
	return days > 0 && X509_set_version(x, X509_VERSION_3) == 1 &&
	       X509_set_pubkey(x, pkey) == 1 && ASN1_TIME_set(X509_getm_notBefore(x), now - hour) &&
	       ASN1_TIME_set(X509_getm_notAfter(x), now + (int64_t)days * 24 * hour) &&
	       add_member(name, NID_commonName, cn) &&
	       X509_set_issuer_name(x, issuer ? issuer : name) == 1;
}

static int finish(struct err *e, bool ok, X509 *x, EVP_PKEY *pkey, char **cert_pem,
		  struct secret **key_pem)
{
	if (ok) {
		*cert_pem = pem_of_cert(x);
		*key_pem = pem_of_private(pkey);
	}
	X509_free(x);
	EVP_PKEY_free(pkey);
	if (!ok)
		return refused(e, "certificate to issue");
	ERR_clear_error();
	return 0;
}

int crypto_ca_new(const char *cn, int64_t wall_ms, int days, char **cert_pem,
		  struct secret **key_pem, struct err *e)
{
	EVP_PKEY *pkey = EVP_EC_gen("P-256");
	X509 *x = X509_new();
	bool ok;

	must(pkey && x);
	ok = fill(x, pkey, cn, NULL, wall_ms, days) &&
	     add_extension(x, x, NID_basic_constraints, "critical,CA:TRUE") &&
	     add_extension(x, x, NID_key_usage, "critical,keyCertSign,cRLSign,digitalSignature") &&
	     add_extension(x, x, NID_subject_key_identifier, "hash") &&
	     X509_sign(x, pkey, EVP_sha256()) > 0;
	return finish(e, ok, x, pkey, cert_pem, key_pem);
}

int crypto_cert_issue(const struct crypto_cert_spec *s, char **cert_pem, struct secret **key_pem,
		      struct err *e)
{
	X509 *ca = cert_of_pem(s->ca_pem), *x;
	EVP_PKEY *signer = private_of_pem(s->ca_key), *pkey;
	bool ok;

	if (!ca || !signer || X509_check_private_key(ca, signer) != 1) {
		X509_free(ca);
		EVP_PKEY_free(signer);
		return refused(e, "CA certificate and key");
	}
	pkey = EVP_EC_gen("P-256");
	x = X509_new();
	must(pkey && x);
	ok = fill(x, pkey, s->cn, X509_get_subject_name(ca), s->wall_ms, s->days) &&
	     add_extension(x, ca, NID_basic_constraints, "critical,CA:FALSE") &&
	     add_extension(x, ca, NID_key_usage, "critical,digitalSignature") &&
	     add_extension(x, ca, NID_ext_key_usage, "serverAuth,clientAuth") &&
	     add_extension(x, ca, NID_subject_key_identifier, "hash") &&
	     add_extension(x, ca, NID_authority_key_identifier, "keyid") &&
	     add_names(x, s->names) && X509_sign(x, signer, EVP_sha256()) > 0;
	X509_free(ca);
	EVP_PKEY_free(signer);
	return finish(e, ok, x, pkey, cert_pem, key_pem);
}

struct secret *crypto_ec_key_new(void)
{
	EVP_PKEY *pkey = EVP_EC_gen("P-256");
	struct secret *pem;

	must(pkey);
	pem = pem_of_private(pkey);
	EVP_PKEY_free(pkey);
	return pem;
}

char *crypto_csr(const struct secret *key_pem, const char *cn, const char *o,
		 uint8_t spki[static CRYPTO_SHA256], struct err *e)
{
	EVP_PKEY *pkey = private_of_pem(key_pem);
	X509_REQ *q = X509_REQ_new();
	BIO *bio = BIO_new(BIO_s_mem());
	X509_NAME *name;
	char *pem = NULL;

	must(q && bio);
	name = X509_REQ_get_subject_name(q);
	if (pkey && add_member(name, NID_organizationName, o) &&
	    add_member(name, NID_commonName, cn) &&
	    X509_REQ_set_version(q, X509_REQ_VERSION_1) == 1 && X509_REQ_set_pubkey(q, pkey) == 1 &&
	    X509_REQ_sign(q, pkey, EVP_sha256()) > 0) {
		spki_sha256(X509_REQ_get_X509_PUBKEY(q), spki);
		must(PEM_write_bio_X509_REQ(bio, q) == 1);
		pem = text_of(bio);
		ERR_clear_error();
	} else {
		BIO_free(bio);
		(void)!refused(e, "certificate request");
	}
	X509_REQ_free(q);
	EVP_PKEY_free(pkey);
	return pem;
}
