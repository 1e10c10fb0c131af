#ifndef BASE_HTTP_HTTP_TRANSPORT_H
#define BASE_HTTP_HTTP_TRANSPORT_H

#include "base/http/http.h"

/*
 * http_transport: carries one exchange. Implemented by http_curl.c and http_mem.c; called only by
 * http.c.
 *
 * start() begins the exchange and must not call back. The transport then calls
 * http_transport_head() once, http_transport_data() any number of times and http_transport_end()
 * exactly once, all from the loop, never inside start(), want() or cancel(). http.c implements
 * timeouts, limits and retries; the transport has none.
 */
struct http_exchange {
	/* Request that is passed to the http_transport_* functions. */
	struct http_req *req;
	/* Spec of the peer; its pin_sha256 may be a pin that was learned earlier. */
	const struct http_peer_spec *peer;
	const char *origin, *host;
	/* url: the full URL. */
	const char *method, *url;
	/* All headers, including secrets: never log them. */
	const struct http_header *headers;
	size_t nheaders;
	const void *body;
	size_t body_len;
	uint32_t connect_ms;
	bool paced, unpack;
	/* Largest piece to deliver; 0: the transport chooses. */
	size_t piece_bytes;
	/* State of the exchange, for the transport only. */
	void *state;
};
struct http_transport_ops {
	int (*start)(struct http_transport *t, struct http_exchange *x, struct err *e);
	/* Allows a paced exchange to deliver one more piece, later. */
	void (*want)(struct http_transport *t, struct http_exchange *x);
	/* Ends the exchange: the transport makes no call for x afterwards. */
	void (*cancel)(struct http_transport *t, struct http_exchange *x);
	void (*free)(struct http_transport *t);
};
struct http_transport {
	const struct http_transport_ops *ops;
};

void http_transport_head(struct http_req *q, int status, const struct http_header *h, size_t n);
/* Reports a piece of the body. False: stop delivering, because the request is over (http.c will
 * call cancel()). */
bool http_transport_data(struct http_req *q, const char *data, size_t len);
/* Reports the end of the exchange; e NULL: the body is complete. */
void http_transport_end(struct http_req *q, const struct err *e);
/* Reports the address, without port, to which the connection leads; called before
 * http_transport_head(). */
void http_transport_reached(struct http_req *q, const char *address);
void http_transport_learned(struct http_req *q, const char *pin_sha256);

#endif
