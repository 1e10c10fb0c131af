#ifndef BASE_HTTPD_HTTPD_PEER_H
#define BASE_HTTPD_HTTPD_PEER_H

#include <gnutls/gnutls.h>
#include <sys/socket.h>
#include "base/httpd/httpd.h"

/*
 * httpd_peer: who is at the other end of one connection of httpd_mhd.
 *
 * A client certificate counts when its chain leads to the listener's client CA,
 * it is in date and meant for clients; any other is as good as none.  It is
 * looked at once, after the handshake, and kept for the connection.
 * Tests: tests/unit/base/http/test_http_curl.c
 */
struct httpd_peer;

/* NULL: unknown */
struct httpd_peer *httpd_peer_new(const struct sockaddr *address);
void httpd_peer_free(struct httpd_peer *p);
/* session: NULL when certificates do not count here.  p NULL: nobody known. */
const struct httpd_identity *httpd_peer_identity(struct httpd_peer *p, gnutls_session_t session);

#endif
