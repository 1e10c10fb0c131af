#ifndef BASE_HTTP_HTTP_TRANSPORT_H
#define BASE_HTTP_HTTP_TRANSPORT_H

#include "base/http/http.h"

/*
 * http_transport: what carries one exchange.  Implemented by http_curl.c and
 * http_mem.c; called by http.c alone.
 *
 * start() begins the exchange and may not call back.  The transport then calls
 * http_transport_head() once, http_transport_data() any number of times and
 * http_transport_end() exactly once, all from the loop, never inside start(),
 * want() or cancel().  Timeouts, limits and retries are http.c's: the transport
 * has none of its own.
 */
struct http_exchange {
	/* cookie for the http_transport_* calls */
	struct http_req *req;
	/* pin_sha256 holds what was learned before, if anything */
	const struct http_peer_spec *peer;
	const char *origin, *host;
	/* full URL */
	const char *method, *url;
	/* complete, secrets included: never logged */
	const struct http_header *headers;
	size_t nheaders;
	const void *body;
	size_t body_len;
	uint32_t connect_ms;
	bool paced, unpack;
	/* 0: the transport's own choice */
	size_t piece_bytes;
	/* the transport's own */
	void *state;
};
struct http_transport_ops {
	int (*start)(struct http_transport *t, struct http_exchange *x, struct err *e);
	/* paced: deliver one more piece, later */
	void (*want)(struct http_transport *t, struct http_exchange *x);
	/* no call for x after this */
	void (*cancel)(struct http_transport *t, struct http_exchange *x);
	void (*free)(struct http_transport *t);
};
struct http_transport {
	const struct http_transport_ops *ops;
};

void http_transport_head(struct http_req *q, int status, const struct http_header *h, size_t n);
/* False: stop delivering, the request is over (http.c will call cancel()). */
bool http_transport_data(struct http_req *q, const char *data, size_t len);
/* NULL: the body is complete */
void http_transport_end(struct http_req *q, const struct err *e);
/* Before the head: whom the connection leads to, an address without a port. */
void http_transport_reached(struct http_req *q, const char *address);
void http_transport_learned(struct http_req *q, const char *pin_sha256);

#endif
