#ifndef BASE_PEM_H
#define BASE_PEM_H

#include <stddef.h>
#include "base/err.h"
#include "base/secret.h"

/*
 * pem: reads foreign certificates and private keys before a TLS library sees them.
 *
 * The result is written anew from the parsed contents, so a TLS library reads only bytes that
 * drover wrote. This matters for encrypted keys and certificates: OpenSSL asks for their passphrase
 * through a callback. A missing callback crashes libcurl, and OpenSSL's default callback waits for
 * a terminal.
 *
 * Blocks of other types are skipped, because kubelet stores key and certificate in one file. Errors
 * are ERR_INVALID and quote nothing of the input. Formats: RFC 7468; encrypted keys: RFC 1421
 * section 4.6.1.1 ("Proc-Type: 4,ENCRYPTED") and RFC 5958 section 3 ("ENCRYPTED PRIVATE KEY").
 */
#define PEM_BYTES_MAX ((size_t)1 << 20)
#define PEM_CERTS_MAX 512

/* Returns all certificates in text, at least one and at most max, as malloc'd PEM; NULL with *e on
 * error. */
char *pem_certs(const char *text, size_t len, size_t max, struct err *e);

/* Returns the first private key in text, as PKCS#8; NULL with *e on error. Accepts RSA of 2,048 to
 * 4,096 bits (a larger one would block the loop for more than 20 ms at each handshake), ECDSA on
 * P-256, P-384 or P-521, Ed25519 and Ed448. */
struct secret *pem_key(const char *text, size_t len, struct err *e);

/* Returns 0 if the key belongs to the first certificate; otherwise -1 with *e. cert must be a
 * result of pem_certs(), key a result of pem_key(). */
int pem_pair(const char *cert, const struct secret *key, struct err *e)
	__attribute__((warn_unused_result));

#endif
