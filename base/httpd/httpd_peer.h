#ifndef BASE_HTTPD_HTTPD_PEER_H
#define BASE_HTTPD_HTTPD_PEER_H

#include <gnutls/gnutls.h>
#include <sys/socket.h>
#include "base/httpd/httpd.h"

/*
 * httpd_peer: identity of the peer of one httpd_mhd connection.
 *
 * A client certificate counts if its chain leads to the listener's client CA, it is in date, and
 * its purpose is client authentication; any other is ignored. It is checked once, after the
 * handshake, and the result is valid for the connection.
 * Tests: tests/unit/base/http/test_http_curl.c
 */
struct httpd_peer;

/* address NULL: unknown. */
struct httpd_peer *httpd_peer_new(const struct sockaddr *address);
void httpd_peer_free(struct httpd_peer *p);
/* session NULL: certificates do not count here. p NULL: an unknown peer. */
const struct httpd_identity *httpd_peer_identity(struct httpd_peer *p, gnutls_session_t session);

#endif
