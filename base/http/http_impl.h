#ifndef BASE_HTTP_HTTP_IMPL_H
#define BASE_HTTP_HTTP_IMPL_H

#include "base/http/http_transport.h"
#include "base/list.h"

/*
 * http_impl: what http.c, http_peer.c and http_reply.c share; nobody else includes it.
 *
 * A request is in exactly one of: its peer's `waiting`, its peer's `flying`,
 * the client's `ended` or `batch`; or it is the one whose done() runs, in none.
 * A request keeps its peer alive, because the transport reads the peer's spec
 * until the exchange is cancelled or over.
 */
struct http {
	struct loop_group *group;
	struct http_transport *transport;
	/* 0: no limit */
	unsigned max_in_flight;
	struct list peers;
	/* peers that have something waiting and room for it */
	struct list ready;
	/* requests that are over and whose owner has not heard yet */
	struct list ended;
	/* those being told in this turn */
	struct list batch;
	struct loop_defer turn;
	struct http_stats stats;
	/* calls from the transport that are on the stack */
	unsigned frames;
	bool in_turn, closed;
};

struct http_peer {
	/* NULL once the client is gone */
	struct http *h;
	/* the owner's, and one for each request */
	unsigned refs;
	struct list link, ready_link, waiting, flying;
	unsigned in_flight;
	/* of copies */
	struct http_peer_spec spec;
	struct secret *client_key;
	char *origin, *host, *prefix;
	/* given or learned; spec.pin_sha256 points here once there is one */
	char pin[65];
	bool learned;
	/* "": nobody yet */
	char reached[64];
};

void http_peer_unref(struct http_peer *p);

/* Cancel all requests of a peer. */
void http_cancel_all(struct http_peer *p);

/* "Sun, 06 Nov 1994 08:49:37 GMT" or seconds, as milliseconds from now, five minutes at most;
 * 0: neither. */
uint32_t http_retry_after_ms(const char *value, int64_t wall_ms);

/* RFC 9110 token: method or header name */
bool http_is_token(const char *s);
/* no control character but the tab */
bool http_is_header_value(const char *s);

#endif
