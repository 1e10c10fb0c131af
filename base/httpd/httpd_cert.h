#ifndef BASE_HTTPD_HTTPD_CERT_H
#define BASE_HTTPD_HTTPD_CERT_H

#include "base/httpd/httpd_mhd.h"

/*
 * httpd_cert: a TLS listener (httpd_mhd.h) whose certificate is issued here, by a CA that is asked
 * for.
 *
 * A new one is issued when two thirds of its time are over, and when the CA is another one.
 * libmicrohttpd takes a certificate at its start alone, so the listener is opened anew on the same
 * port: requests that are under way end, and clients come again. Where the CA cannot issue, the
 * certificate of before goes on, and it is tried again at the next look.
 * Tests: tests/unit/base/httpd/test_httpd_cert.c
 */
struct httpd_cert;

struct httpd_cert_spec {
	/* without a certificate; address copied, client_ca_pem not used */
	struct httpd_mhd_spec listener;
	/* of the certificate, NULL-terminated; copied */
	const char *const *names;
	/* The CA as it is now; false: there is none. */
	bool (*ca)(void *arg, const char **cert_pem, const struct secret **key_pem);
	void *arg;
	/* how long a certificate is good */
	int days;
	/* between two looks at CA and time; 0: 10 s */
	int64_t look_ms;
	/* the age at which it is renewed; 0: two thirds of days */
	int64_t renew_ms;
};

/* NULL: no certificate could be issued, or there is no listening there. */
struct httpd_cert *httpd_cert_new(struct httpd *d, const struct httpd_cert_spec *s, struct err *e);
/* as httpd_mhd_free() */
void httpd_cert_free(struct httpd_cert *c);

#endif
