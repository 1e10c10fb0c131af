#ifndef BASE_HTTPD_HTTP_MEM_H
#define BASE_HTTPD_HTTP_MEM_H

#include "base/http/http.h"
#include "base/httpd/httpd.h"

/*
 * http_mem: client and server in one process, for tests and the simulated
 * world.  A net maps origins ("https://10.0.8.17", "https://host:6443") to
 * httpd handlers.  Bodies go in seeded chunks with seeded delays on the loop's clock.
 * An unknown origin is a refused connection (ERR_UNAVAILABLE).
 *
 * The client's callbacks run in the client's group, handlers and readers in
 * the server's: dropping either silences that side only, as a crash does; the
 * other side notices when its objects are freed.  An https origin shows a
 * fingerprint made from its name unless http_mem_pin() gave it one.
 */
struct http_mem_net;

struct http_mem_net *http_mem_net_new(struct loop *l);
/* transports may outlive it: they find nobody */
void http_mem_net_free(struct http_mem_net *n);
DEFINE_OWN(http_mem_net)

/* Serve an origin; NULL takes it away (connections in flight break). */
void http_mem_serve(struct http_mem_net *n, const char *origin, struct httpd *d);
/* The certificate fingerprint that the origin shows (64 hex); a peer with another pin is
 * refused. */
void http_mem_pin(struct http_mem_net *n, const char *origin, const char *pin_sha256);
/* The origin swallows requests and never answers (true), or behaves again (false). */
void http_mem_hang(struct http_mem_net *n, const char *origin, bool on);

/* Faults: asked once for each request that reaches a served origin. The function decides, with a
 * generator of its own or by counting, so that a scenario can be run once for each request. */
enum http_mem_fate {
	HTTP_MEM_WELL,
	/* connection refused: no effect */
	HTTP_MEM_REFUSED,
	/* the server acts, then the connection breaks before its answer */
	HTTP_MEM_REPLY_LOST,
	/* the server acts, its answer never comes */
	HTTP_MEM_SILENT,
	/* a proxy sends it again: the server acts twice, the second answer comes */
	HTTP_MEM_TWICE,
};
void http_mem_fault(struct http_mem_net *n,
		    enum http_mem_fate (*fate)(const char *origin, const char *method,
					       const char *target, void *arg),
		    void *arg);

/* The servers' clocks, as Date in their answers tells, are ahead of the loop's by so much; 0 at
 * first. */
void http_mem_clock(struct http_mem_net *n, int64_t ahead_ms);

/* A transport for one client whose identity the servers see: address, and common name when it has a
 * certificate. A peer that was given a client certificate shows that one's names in their place;
 * the servers believe them. */
struct http_transport *http_mem_transport(struct http_mem_net *n, struct loop_group *g,
					  const char *address, const char *cert_cn,
					  const char *cert_o);

#endif
