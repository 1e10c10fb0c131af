#ifndef BASE_HTTPD_HTTPD_MHD_H
#define BASE_HTTPD_HTTPD_MHD_H

#include "base/httpd/httpd.h"

/*
 * httpd_mhd: a listener with libmicrohttpd (TLS through GnuTLS) on the real loop. Several listeners
 * may serve one httpd. A connection without progress for 30 s is closed, whether it is idle or
 * slow. A connection that waits for a handler or reader has no such limit. A request's headers may
 * have 8 KiB. A client that shuts down its sending side before it has the reply counts as
 * disconnected.
 *
 * The head of a request has to arrive completely within head_ms and its body within body_ms,
 * however steadily the bytes arrive. A connection that exceeds one of these limits is closed
 * without a reply. Sending a reply has no such limit.
 */
struct httpd_mhd;
struct httpd_mhd_spec {
	/* Address to listen on: "127.0.0.1:8443", "[::]:8443"; port 0: any free port. */
	const char *address;
	/* Certificate chain of the server; NULL: plain HTTP. */
	const char *cert_pem;
	const struct secret *key_pem;
	/* CA of client certificates. If it is set, client certificates are requested, and
	 * httpd_identity has the names in them. NULL: no client certificates. */
	const char *client_ca_pem;
	/* Maximum number of connections; 0 means 1024. */
	unsigned max_connections;
	/* Limit of connections per address (base/httpd/httpd_callers.h); 0 means no limit. */
	unsigned per_address;
	/* head_ms: time limit in ms for a request's head, TLS handshake included, from the accept
	 * or from the end of the previous request; 0 means 60 s. body_ms: time limit in ms for the
	 * body, from the end of the head; 0 means 120 s. */
	int64_t head_ms, body_ms;
};
struct httpd_mhd *httpd_mhd_new(struct httpd *d, const struct httpd_mhd_spec *s, struct err *e);
/* Ends the listener's requests, then frees it. Must not be called from a handler; may be called
 * before or after httpd_free(). */
void httpd_mhd_free(struct httpd_mhd *m);
DEFINE_OWN(httpd_mhd)
unsigned httpd_mhd_port(const struct httpd_mhd *m);

#endif
