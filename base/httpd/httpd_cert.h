#ifndef BASE_HTTPD_HTTPD_CERT_H
#define BASE_HTTPD_HTTPD_CERT_H

#include "base/httpd/httpd_mhd.h"

/*
 * httpd_cert: a TLS listener (httpd_mhd.h) whose certificate is issued in this process, by a CA
 * that the caller provides.
 *
 * A new certificate is issued after two thirds of its lifetime, and when the CA has changed.
 * libmicrohttpd accepts a certificate only at its start, so the listener is closed and opened again
 * on the same port: requests in progress end, and clients must connect again. If the CA cannot
 * issue a certificate, the previous one stays in use until the next check succeeds.
 * Tests: tests/unit/base/httpd/test_httpd_cert.c
 */
struct httpd_cert;

struct httpd_cert_spec {
	/* Listener settings without the certificate; address is copied, client_ca_pem is not
	 * used. */
	struct httpd_mhd_spec listener;
	/* Names in the certificate, NULL-terminated; copied. */
	const char *const *names;
	/* Returns the current CA in *cert_pem and *key_pem; false: no CA is available. */
	bool (*ca)(void *arg, const char **cert_pem, const struct secret **key_pem);
	void *arg;
	/* Lifetime of a certificate in days. */
	int days;
	/* Interval in ms between checks of the CA and of the certificate's age; 0 means 10 s. */
	int64_t look_ms;
	/* Age of a certificate at renewal, in ms; 0 means two thirds of its lifetime. */
	int64_t renew_ms;
};

/* Issues a certificate and opens the listener. NULL with *e: one of the two failed. */
struct httpd_cert *httpd_cert_new(struct httpd *d, const struct httpd_cert_spec *s, struct err *e);
/* Closes the listener as httpd_mhd_free() does, and frees c. */
void httpd_cert_free(struct httpd_cert *c);

#endif
