#ifndef BASE_HTTP_HTTP_IMPL_H
#define BASE_HTTP_HTTP_IMPL_H

#include "base/http/http_transport.h"
#include "base/list.h"

/*
 * http_impl: shared by http.c, http_peer.c and http_reply.c; not included elsewhere.
 *
 * A request is in exactly one list: its peer's `waiting` or `flying`, or the client's `ended` or
 * `batch`. The only exception is the request whose done() is running: it is in no list. A request
 * has a reference to its peer, because the transport reads the peer's spec until the exchange is
 * cancelled or over.
 */
struct http {
	struct loop_group *group;
	struct http_transport *transport;
	/* Maximum number of requests in flight, over all peers; 0 means no limit. */
	unsigned max_in_flight;
	struct list peers;
	/* Peers that have waiting requests and a free concurrency slot. */
	struct list ready;
	/* Finished requests whose done() has not been called yet. */
	struct list ended;
	/* Finished requests whose done() will be called in this turn. */
	struct list batch;
	struct loop_defer turn;
	struct http_stats stats;
	/* From http_on_ended(). */
	void (*on_ended)(const struct http_ended *x, void *arg);
	void *on_ended_arg;
	/* Number of http_transport_* calls that are on the stack now. */
	unsigned frames;
	bool in_turn, closed;
};

struct http_peer {
	/* The client; NULL once it is freed. */
	struct http *h;
	/* Number of references: the owner's, and one for each request. */
	unsigned refs;
	struct list link, ready_link, waiting, flying;
	unsigned in_flight;
	/* Copy of the caller's spec; its pointers point to copies too. */
	struct http_peer_spec spec;
	struct secret *client_key;
	char *origin, *host, *prefix;
	/* The pin, from the spec or learned; spec.pin_sha256 points here once the pin is known. */
	char pin[65];
	bool learned;
	/* Address from which the latest reply came; "": no reply yet. */
	char reached[64];
};

void http_peer_unref(struct http_peer *p);

/* Cancels all requests of a peer. */
void http_cancel_all(struct http_peer *p);

/* Returns the delay in ms that the value of a Retry-After header asks for. The value is a date
 * ("Sun, 06 Nov 1994 08:49:37 GMT") or a number of seconds. At most five minutes; 0: the value is
 * neither. */
uint32_t http_retry_after_ms(const char *value, int64_t wall_ms);

/* True if s is an RFC 9110 token, as a method or header name must be. */
bool http_is_token(const char *s);
/* True if s has no control character except the tab. */
bool http_is_header_value(const char *s);

#endif
