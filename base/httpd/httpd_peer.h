#ifndef BASE_HTTPD_HTTPD_PEER_H
#define BASE_HTTPD_HTTPD_PEER_H

#include <gnutls/gnutls.h>
#include <sys/socket.h>
#include "base/httpd/httpd.h"

/*
 * httpd_peer: identity of the client of one httpd_mhd connection.
 *
 * A client certificate is used only if its chain leads to the listener's client CA, it is within
 * its validity period, and its purpose is client authentication; any other certificate is ignored.
 * The certificate is checked once, after the handshake, and the result is valid as long as the
 * connection.
 * Tests: tests/unit/base/http/test_http_curl.c
 */
struct httpd_peer;

/* Creates the identity of a new connection; address NULL: unknown. */
struct httpd_peer *httpd_peer_new(const struct sockaddr *address);
void httpd_peer_free(struct httpd_peer *p);
/* Returns the identity, valid as long as p. session NULL: certificates are not checked. p NULL:
 * returns an identity with the address "unknown". */
const struct httpd_identity *httpd_peer_identity(struct httpd_peer *p, gnutls_session_t session);

#endif
