#ifndef BASE_CRYPTO_H
#define BASE_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/own.h"
#include "base/secret.h"

/*
 * crypto: digests, HMAC, Ed25519, base64, certificates and certificate requests, all computed by
 * OpenSSL.
 */
#define CRYPTO_SHA256 32
void crypto_sha256(const void *data, size_t len, uint8_t out[static CRYPTO_SHA256]);
void crypto_hmac_sha256(const struct secret *key, const void *data, size_t len,
			uint8_t out[static CRYPTO_SHA256]);
/* Size of the text "sha256:<64 hex digits>". */
#define CRYPTO_DIGEST_TEXT 72
const char *crypto_digest_text(const uint8_t d[static CRYPTO_SHA256],
			       char out[static CRYPTO_DIGEST_TEXT]);
bool crypto_digest_parse(const char *text, uint8_t out[static CRYPTO_SHA256]);

/* Computes the SHA-256 of data that arrives in pieces. */
struct crypto_hash;
struct crypto_hash *crypto_hash_new(void);
void crypto_hash_add(struct crypto_hash *h, const void *data, size_t len);
void crypto_hash_end(struct crypto_hash *h, uint8_t out[static CRYPTO_SHA256]);
void crypto_hash_free(struct crypto_hash *h);

/* An Ed25519 key. Keys are stored and sent as text: public keys as "ed25519:<base64 of 32 bytes>",
 * private keys as PEM (PKCS#8). */
struct crypto_key;
struct crypto_key *crypto_key_new(void);
struct crypto_key *crypto_key_from_pem(const struct secret *pem, struct err *e);
/* Returns a key that can only verify signatures. */
struct crypto_key *crypto_key_from_public(const char *text, struct err *e);
void crypto_key_free(struct crypto_key *k);
DEFINE_OWN(crypto_key)
struct secret *crypto_key_pem(const struct crypto_key *k);
#define CRYPTO_PUBLIC_TEXT 64
const char *crypto_key_public(const struct crypto_key *k, char out[static CRYPTO_PUBLIC_TEXT]);
#define CRYPTO_SIGNATURE 64
void crypto_sign(const struct crypto_key *k, const void *data, size_t len,
		 uint8_t out[static CRYPTO_SIGNATURE]);
bool crypto_verify(const struct crypto_key *k, const void *data, size_t len,
		   const uint8_t sig[static CRYPTO_SIGNATURE]);

/* Returns standard base64 with padding, malloc'd. */
char *crypto_base64(const void *data, size_t len);
/* Decodes standard base64 with padding and refuses anything else. Returns *len bytes, malloc'd and
 * followed by a NUL. */
char *crypto_base64_decode(const char *text, size_t text_len, size_t *len, struct err *e);
/* Decodes base64url without padding, as in a JWT, like crypto_base64_decode(). */
char *crypto_base64url_decode(const char *text, size_t text_len, size_t *len, struct err *e);

/* crypto_cert_spki_sha256() computes the SHA-256 of the SubjectPublicKeyInfo of the first
 * certificate in pem, as kubeadm pins a CA; crypto_cert_sha256() computes the SHA-256 of that
 * certificate's DER form, as drover pins a server certificate. */
int crypto_cert_spki_sha256(const char *pem, uint8_t out[static CRYPTO_SHA256], struct err *e);
int crypto_cert_sha256(const char *pem, uint8_t out[static CRYPTO_SHA256], struct err *e);
/* Reads the last common name and the last organization of the first certificate's subject,
 * malloc'd; each is NULL if not present. Returns -1 with *e if pem is no certificate. */
int crypto_cert_subject(const char *pem, char **cn, char **o, struct err *e);

/* Creates a self-signed CA certificate and its key (ECDSA P-256), both PEM. The certificate is
 * valid from one hour before wall_ms for the given number of days. */
int crypto_ca_new(const char *cn, int64_t wall_ms, int days, char **cert_pem,
		  struct secret **key_pem, struct err *e);
/* A certificate for servers and clients, to be signed by a CA. */
struct crypto_cert_spec {
	const char *ca_pem;
	const struct secret *ca_key;
	/* Common name of the subject */
	const char *cn;
	/* DNS names and IP addresses, NULL-terminated */
	const char *const *names;
	/* Valid from one hour before wall_ms, for this number of days */
	int64_t wall_ms;
	int days;
};
/* Creates the certificate and its key (ECDSA P-256), both PEM. */
int crypto_cert_issue(const struct crypto_cert_spec *s, char **cert_pem, struct secret **key_pem,
		      struct err *e);

/* crypto_ec_key_new() creates a private key (ECDSA P-256, PKCS#8). crypto_csr() creates a
 * certificate request (PKCS#10) for such a key, which a CA elsewhere signs. Both results are PEM;
 * the request is malloc'd. spki: SHA-256 of the public key, equal to crypto_cert_spki_sha256() of
 * the certificate that the CA will issue. */
struct secret *crypto_ec_key_new(void);
char *crypto_csr(const struct secret *key_pem, const char *cn, const char *o,
		 uint8_t spki[static CRYPTO_SHA256], struct err *e);

#endif
