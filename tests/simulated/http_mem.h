#ifndef TESTS_SIMULATED_HTTP_MEM_H
#define TESTS_SIMULATED_HTTP_MEM_H

#include "base/http/http.h"
#include "base/httpd/httpd.h"

/*
 * http_mem: HTTP client and server in one process, for tests and the simulated world. A net maps
 * origins ("https://10.0.8.17", "https://host:6443") to httpd servers. Bodies are sent in pieces of
 * random size with random delays on the loop's clock, both determined by the loop's seed. An
 * unknown origin refuses connections (ERR_UNAVAILABLE).
 *
 * The client's callbacks run in the client's loop group, handlers and readers in the server's
 * group. Dropping one of the groups silences that end only, as a crash does; the other end notices
 * when the objects of the dropped group are freed. An https origin shows a certificate fingerprint
 * derived from its name unless http_mem_pin() has set one.
 */
struct http_mem_net;

struct http_mem_net *http_mem_net_new(struct loop *l);
/* Frees the net. Transports may outlive the net; their connections are then refused. */
void http_mem_net_free(struct http_mem_net *n);
DEFINE_OWN(http_mem_net)

/* Makes d the server of an origin. d NULL: removes the origin; its connections in progress
 * break. */
void http_mem_serve(struct http_mem_net *n, const char *origin, struct httpd *d);
/* Sets the certificate fingerprint that the origin shows (64 hex digits); a peer with another pin
 * refuses it. */
void http_mem_pin(struct http_mem_net *n, const char *origin, const char *pin_sha256);
/* on true: makes the origin hang: it accepts requests and never replies. on false: the origin
 * replies again. */
void http_mem_hang(struct http_mem_net *n, const char *origin, bool on);

/* What happens to a request; returned by the fault function that http_mem_fault() sets. The
 * function is called once for each request that reaches a served origin. It must decide with a
 * generator of its own or by counting, so that a scenario can be repeated exactly. */
enum http_mem_fault_kind {
	HTTP_MEM_WELL,
	/* Connection refused; the request has no effect. */
	HTTP_MEM_REFUSED,
	/* The server acts, then the connection breaks before its reply. */
	HTTP_MEM_REPLY_LOST,
	/* The server acts, but its reply never arrives. */
	HTTP_MEM_SILENT,
	/* A proxy repeats the request: the server acts twice, and the second reply arrives. */
	HTTP_MEM_TWICE,
};
void http_mem_fault(struct http_mem_net *n,
		    enum http_mem_fault_kind (*fate)(const char *origin, const char *method,
						     const char *target, void *arg),
		    void *arg);

/* Sets how far the clocks of the servers (Date header) are ahead of the loop's clock, in ms;
 * initially 0. */
void http_mem_clock(struct http_mem_net *n, int64_t ahead_ms);

/* Returns a transport for one client. Servers see the client's address, and the names cert_cn and
 * cert_o as those of its certificate (cert_cn NULL: no certificate). If the client's http_peer has
 * a client certificate of its own, the servers see the names of that certificate instead, and do
 * not verify it. */
struct http_transport *http_mem_transport(struct http_mem_net *n, struct loop_group *g,
					  const char *address, const char *cert_cn,
					  const char *cert_o);

#endif
