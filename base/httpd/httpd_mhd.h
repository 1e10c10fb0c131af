#ifndef BASE_HTTPD_HTTPD_MHD_H
#define BASE_HTTPD_HTTPD_MHD_H

#include "base/httpd/httpd.h"

/*
 * httpd_mhd: libmicrohttpd (TLS through GnuTLS) on the real loop.
 * Several listeners may feed one httpd.  30 s without progress end a connection,
 * idle or slow; one whose handler or reader has nothing to say yet may wait for ever.  A request's
 * headers may have 8 KiB.  A client that shuts its sending side down while it waits counts as gone.
 *
 * A request has to arrive within head_ms and body_ms, however steadily its bytes drip; a connection
 * that exceeds them is closed without an answer.  Answers have no such limit.
 */
struct httpd_mhd;
struct httpd_mhd_spec {
	/* "127.0.0.1:8443", "[::]:8443"; port 0: any free one */
	const char *address;
	/* NULL: plain HTTP */
	const char *cert_pem;
	const struct secret *key_pem;
	/* ask for client certificates of this CA; identity carries them */
	const char *client_ca_pem;
	/* 0: 1024 */
	unsigned max_connections;
	/* base/httpd/httpd_callers.h; 0: no limit */
	unsigned per_address;
	/* For a request's head, handshake included, from when the connection was accepted or the
	 * request before was over; 0: 60 s.  For its body, from the end of the head; 0: 120 s. */
	int64_t head_ms, body_ms;
};
struct httpd_mhd *httpd_mhd_new(struct httpd *d, const struct httpd_mhd_spec *s, struct err *e);
/* ends its requests first; not from a handler; before or after its httpd */
void httpd_mhd_free(struct httpd_mhd *m);
DEFINE_OWN(httpd_mhd)
unsigned httpd_mhd_port(const struct httpd_mhd *m);

#endif
