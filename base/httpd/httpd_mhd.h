#ifndef BASE_HTTPD_HTTPD_MHD_H
#define BASE_HTTPD_HTTPD_MHD_H

#include "base/httpd/httpd.h"

/*
 * httpd_mhd: a listener with libmicrohttpd (TLS through GnuTLS) on the real loop. Several listeners
 * may serve one httpd. After 30 s without progress a connection is closed, idle or slow; a
 * connection whose handler or reader waits has no limit. A request's headers may have 8 KiB. A
 * client that shuts down its sending side while it waits counts as disconnected.
 *
 * A request has to arrive within head_ms and body_ms, however steadily its bytes trickle in; a
 * connection that exceeds a limit is closed without a reply. Replies have no such limit.
 */
struct httpd_mhd;
struct httpd_mhd_spec {
	/* Address to listen on: "127.0.0.1:8443", "[::]:8443"; port 0: any free port. */
	const char *address;
	/* Certificate chain of the server; NULL: plain HTTP. */
	const char *cert_pem;
	const struct secret *key_pem;
	/* CA of client certificates, which are then requested; httpd_identity has their names.
	 * NULL: none. */
	const char *client_ca_pem;
	/* Most connections; 0 means 1024. */
	unsigned max_connections;
	/* Limit of connections per address (base/httpd/httpd_callers.h); 0 means no limit. */
	unsigned per_address;
	/* head_ms: limit for a request's head, TLS handshake included, from the accept or the end
	 * of the previous request; 0 means 60 s. body_ms: limit for its body, from the end of the
	 * head; 0 means 120 s. */
	int64_t head_ms, body_ms;
};
struct httpd_mhd *httpd_mhd_new(struct httpd *d, const struct httpd_mhd_spec *s, struct err *e);
/* Ends the listener's requests, then frees it. Must not be called from a handler; may be called
 * before or after httpd_free(). */
void httpd_mhd_free(struct httpd_mhd *m);
DEFINE_OWN(httpd_mhd)
unsigned httpd_mhd_port(const struct httpd_mhd *m);

#endif
