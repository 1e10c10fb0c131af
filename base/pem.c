#include "base/pem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include "base/mem.h"
#include "base/str.h"

#define RSA_BITS_MIN 2048
#define RSA_BITS_MAX 4096

/* Aborts unless ok: for OpenSSL calls that fail only without memory. */
static void must(bool ok)
{
	if (!ok)
		abort();
}

static void *none(int status)
{
	(void)status;
	ERR_clear_error();
	return NULL;
}

/* One block of a PEM text, not decrypted. */
struct pem_block {
	char *name, *header;
	unsigned char *data;
	long len;
};

static void block_free(struct pem_block *b)
{
	OPENSSL_secure_clear_free(b->data, (size_t)b->len);
	OPENSSL_secure_free(b->name);
	OPENSSL_secure_free(b->header);
	*b = (struct pem_block){0};
}

/* Reads the next block. Returns 1: *b is the block; 0: end of text; -1 with *e: the rest of the
 * text is not PEM. */
static int block_next(BIO *in, struct pem_block *b, struct err *e)
{
	unsigned long code;

	*b = (struct pem_block){0};
	if (PEM_read_bio_ex(in, &b->name, &b->header, &b->data, &b->len, PEM_FLAG_SECURE) == 1)
		return 1;
	*b = (struct pem_block){0};
	code = ERR_peek_last_error();
	ERR_clear_error();
	if (ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE)
		return 0;
	return err_set(e, ERR_INVALID, 0, "is not PEM: a block is broken");
}

/* True if the block is encrypted: by its name, or because it has a header, which PEM uses for
 * encrypted blocks only. */
static bool is_encrypted(const struct pem_block *b)
{
	return !str_empty(b->header) || str_starts(b->name, "ENCRYPTED ");
}

static int encrypted(struct err *e)
{
	return err_set(
		e, ERR_INVALID, 0,
		"is encrypted, and drover cannot ask for the passphrase: want it unencrypted");
}

static BIO *reader(const char *text, size_t len, struct err *e)
{
	BIO *in;

	if (len > PEM_BYTES_MAX) {
		err_note(e, ERR_INVALID, 0, "has more than %zu bytes", PEM_BYTES_MAX);
		return NULL;
	}
	if (memchr(text, '\0', len)) {
		err_note(e, ERR_INVALID, 0, "is not PEM: has a NUL in it");
		return NULL;
	}
	in = BIO_new_mem_buf(text, (int)len);
	must(in);
	return in;
}

/* --- certificates ----------------------------------------------------------------------------- */

static bool is_cert(const struct pem_block *b)
{
	return str_eq(b->name, PEM_STRING_X509) || str_eq(b->name, PEM_STRING_X509_OLD) ||
	       str_eq(b->name, PEM_STRING_X509_TRUSTED) || str_eq(b->name, "ENCRYPTED CERTIFICATE");
}

static int add_cert(const struct pem_block *b, BIO *out, struct err *e)
{
	const unsigned char *p = b->data;
	X509 *x;

	if (is_encrypted(b))
		return encrypted(e);
	if (str_eq(b->name, PEM_STRING_X509_TRUSTED))
		return err_set(e, ERR_INVALID, 0,
			       "want certificates, got OpenSSL's TRUSTED CERTIFICATE");
	x = d2i_X509(NULL, &p, b->len);
	/* Parse the public key now, because OpenSSL otherwise parses it only at the key's first
	 * use. */
	if (!x || p != b->data + b->len || !X509_get0_pubkey(x)) {
		X509_free(x);
		ERR_clear_error();
		return err_set(e, ERR_INVALID, 0, "has a certificate that cannot be read");
	}
	must(PEM_write_bio_X509(out, x) == 1);
	X509_free(x);
	return 0;
}

static int add_certs(BIO *in, BIO *out, size_t max, struct err *e)
{
	struct pem_block b;
	size_t n = 0;
	int more, rc;

	while ((more = block_next(in, &b, e)) > 0) {
		rc = !is_cert(&b) ? 0
		     : n++ < max
			     ? add_cert(&b, out, e)
			     : err_set(e, ERR_INVALID, 0, "has more than %zu certificates", max);
		block_free(&b);
		if (rc < 0)
			return -1;
	}
	if (more < 0)
		return -1;
	return n ? 0 : err_set(e, ERR_INVALID, 0, "is not PEM of a certificate");
}

char *pem_certs(const char *text, size_t len, size_t max, struct err *e)
{
	BIO *in = reader(text, len, e), *out;
	char *data, *pem = NULL;
	long n;

	if (!in)
		return NULL;
	out = BIO_new(BIO_s_mem());
	must(out);
	if (add_certs(in, out, max, e) == 0) {
		n = BIO_get_mem_data(out, &data);
		pem = mem_strndup(data, (size_t)n);
	}
	BIO_free(in);
	BIO_free(out);
	return pem;
}

/* --- private keys ----------------------------------------------------------------------------- */

static EVP_PKEY *key_of(const struct pem_block *b)
{
	const unsigned char *p = b->data;
	EVP_PKEY *key = NULL;

	if (str_eq(b->name, PEM_STRING_PKCS8INF)) {
		PKCS8_PRIV_KEY_INFO *info = d2i_PKCS8_PRIV_KEY_INFO(NULL, &p, b->len);

		key = info ? EVP_PKCS82PKEY(info) : NULL;
		PKCS8_PRIV_KEY_INFO_free(info);
	} else if (str_eq(b->name, PEM_STRING_RSA)) {
		key = d2i_PrivateKey(EVP_PKEY_RSA, NULL, &p, b->len);
	} else if (str_eq(b->name, PEM_STRING_ECPRIVATEKEY)) {
		key = d2i_PrivateKey(EVP_PKEY_EC, NULL, &p, b->len);
	}
	ERR_clear_error();
	return key;
}

/* True if the key is on one of the known curves and names the curve. A key with explicit curve
 * parameters is refused, because its author could choose weak ones. */
static bool curve_is_known(const EVP_PKEY *key)
{
	static const char *const known[] = {"prime256v1", "P-256",     "secp384r1",
					    "P-384",	  "secp521r1", "P-521"};
	char name[64] = "";
	size_t n;

	if (EVP_PKEY_get_group_name(key, name, sizeof(name), &n) != 1)
		return false;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (str_eq(name, known[i]))
			return true;
	return false;
}

static bool is_usable(const EVP_PKEY *key)
{
	switch (EVP_PKEY_get_base_id(key)) {
	case EVP_PKEY_RSA:
		return EVP_PKEY_get_bits(key) >= RSA_BITS_MIN &&
		       EVP_PKEY_get_bits(key) <= RSA_BITS_MAX;
	case EVP_PKEY_EC:
		return curve_is_known(key);
	case EVP_PKEY_ED25519:
	case EVP_PKEY_ED448:
		return true;
	default:
		return false;
	}
}

static struct secret *text_of(EVP_PKEY *key, struct err *e)
{
	BIO *out = BIO_new(BIO_s_secmem());
	struct secret *s = NULL;
	char *data;
	long n;

	must(out);
	if (PEM_write_bio_PKCS8PrivateKey(out, key, NULL, NULL, 0, NULL, NULL) == 1) {
		n = BIO_get_mem_data(out, &data);
		s = secret_new(data, (size_t)n);
		secret_wipe(data, (size_t)n);
	} else {
		err_note(e, ERR_INVALID, 0, "has a private key that cannot be read");
	}
	BIO_free(out);
	return s;
}

static struct secret *key_text(const struct pem_block *b, struct err *e)
{
	struct secret *s = NULL;
	EVP_PKEY *key;

	if (is_encrypted(b))
		return none(encrypted(e));
	key = key_of(b);
	if (!key)
		err_note(e, ERR_INVALID, 0, "has a private key that cannot be read");
	else if (!is_usable(key))
		err_note(e, ERR_INVALID, 0,
			 "want a key for RSA of %d to %d bits, P-256, P-384, P-521, Ed25519 "
			 "or Ed448",
			 RSA_BITS_MIN, RSA_BITS_MAX);
	else
		s = text_of(key, e);
	EVP_PKEY_free(key);
	ERR_clear_error();
	return s;
}

struct secret *pem_key(const char *text, size_t len, struct err *e)
{
	BIO *in = reader(text, len, e);
	struct secret *s = NULL;
	bool found = false;
	struct pem_block b;
	int more = 0;

	if (!in)
		return NULL;
	while (!found && (more = block_next(in, &b, e)) > 0) {
		found = str_ends(b.name, PEM_STRING_PKCS8INF);
		if (found)
			s = key_text(&b, e);
		block_free(&b);
	}
	BIO_free(in);
	if (!found && more == 0)
		err_note(e, ERR_INVALID, 0, "is not PEM of a private key");
	return s;
}

/* --- certificate and key together ------------------------------------------------------------- */

/* True if the key can sign a test text and the public key verifies the signature. Comparing the
 * keys' numbers is not enough: a damaged key may match its certificate and still not work. */
static bool signs_for(EVP_PKEY *key, EVP_PKEY *public_key)
{
	static const unsigned char text[] = "drover";
	bool plain = EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA ||
		     EVP_PKEY_get_base_id(key) == EVP_PKEY_EC;
	const EVP_MD *md = plain ? EVP_sha256() : NULL;
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned char sig[RSA_BITS_MAX / 8];
	size_t n = sizeof(sig);
	bool ok;

	must(ctx);
	ok = EVP_DigestSignInit(ctx, NULL, md, NULL, key) == 1 &&
	     EVP_DigestSign(ctx, sig, &n, text, sizeof(text)) == 1;
	EVP_MD_CTX_reset(ctx);
	ok = ok && EVP_DigestVerifyInit(ctx, NULL, md, NULL, public_key) == 1 &&
	     EVP_DigestVerify(ctx, sig, n, text, sizeof(text)) == 1;
	EVP_MD_CTX_free(ctx);
	return ok;
}

/* Both texts must come from pem_certs() and pem_key(), so no block is encrypted and OpenSSL asks
 * for no passphrase. */
int pem_pair(const char *cert, const struct secret *key, struct err *e)
{
	BIO *cert_in = BIO_new_mem_buf(cert, -1);
	BIO *key_in = BIO_new_mem_buf(secret_expose(key), (int)secret_len(key));
	struct pem_block cert_b = {0}, key_b = {0};
	EVP_PKEY *pkey = NULL;
	X509 *x = NULL;
	bool ok = false;

	must(cert_in && key_in);
	if (block_next(cert_in, &cert_b, e) > 0 && block_next(key_in, &key_b, e) > 0) {
		const unsigned char *p = cert_b.data;

		x = d2i_X509(NULL, &p, cert_b.len);
		pkey = key_of(&key_b);
		ok = x && pkey && X509_check_private_key(x, pkey) == 1 &&
		     signs_for(pkey, X509_get0_pubkey(x));
	}
	X509_free(x);
	EVP_PKEY_free(pkey);
	block_free(&cert_b);
	block_free(&key_b);
	BIO_free(cert_in);
	BIO_free(key_in);
	ERR_clear_error();
	return ok ? 0 : err_set(e, ERR_INVALID, 0, "is not the key of the certificate");
}
