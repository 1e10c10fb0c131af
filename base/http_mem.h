#ifndef BASE_HTTP_MEM_H
#define BASE_HTTP_MEM_H

#include "base/http.h"
#include "base/httpd.h"

/*
 * http_mem: client and server in one process, for tests and the simulated
 * world.  A net maps origins ("https://10.0.8.17", "https://host:6443") to
 * httpd handlers.  Bodies go in seeded chunks with seeded delays on the loop's clock.
 * An unknown origin is a refused connection (ERR_UNAVAILABLE).
 */
struct http_mem_net;

struct http_mem_net *http_mem_net_new(struct loop *l);
void http_mem_net_free(struct http_mem_net *n);
DEFINE_OWN(http_mem_net)

/* Serve an origin; NULL takes it away (connections in flight break). */
void http_mem_serve(struct http_mem_net *n, const char *origin, struct httpd *d);
/* The certificate fingerprint that the origin shows (64 hex); a peer with another pin is refused. */
void http_mem_pin(struct http_mem_net *n, const char *origin, const char *pin_sha256);
/* The origin swallows requests and never answers (true), or behaves again (false). */
void http_mem_hang(struct http_mem_net *n, const char *origin, bool on);

/* A transport for one client whose identity the servers see: address, and common name when it has a certificate. */
struct http_transport *http_mem_transport(struct http_mem_net *n, struct loop_group *g,
					  const char *address, const char *cert_cn, const char *cert_o);

#endif
