#ifndef BASE_HTTP_HTTP_TRANSPORT_H
#define BASE_HTTP_HTTP_TRANSPORT_H

#include "base/http/http.h"

/*
 * http_transport: interface of a transport, which carries exchanges (a request and its reply) for
 * the HTTP client. Implemented by http_curl.c and http_mem.c; used only by http.c.
 *
 * start() begins the exchange and must not call back. The transport then calls
 * http_transport_head() once if a reply arrives, http_transport_data() any number of times and
 * http_transport_end() exactly once, all from the loop, never inside start(), want() or cancel().
 * http.c implements timeouts and limits; the transport has none.
 */
struct http_exchange {
	/* Request that is passed to the http_transport_* functions. */
	struct http_req *req;
	/* Spec of the peer; its pin_sha256 is the pin from the spec or one learned from an earlier
	 * connection. */
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
	/* Maximum size of a piece to deliver; 0: the transport chooses. */
	size_t piece_bytes;
	/* The transport's own state of the exchange. */
	void *state;
};
struct http_transport_ops {
	int (*start)(struct http_transport *t, struct http_exchange *x, struct err *e);
	/* Allows the transport to deliver one more piece of a paced exchange, in a later turn. */
	void (*want)(struct http_transport *t, struct http_exchange *x);
	/* Ends the exchange: the transport makes no call for x afterwards. */
	void (*cancel)(struct http_transport *t, struct http_exchange *x);
	void (*free)(struct http_transport *t);
};
struct http_transport {
	const struct http_transport_ops *ops;
};

void http_transport_head(struct http_req *q, int status, const struct http_header *h, size_t n);
/* Reports a piece of the body. False: the transport must stop delivering, because the request is
 * over; http.c will call cancel(). */
bool http_transport_data(struct http_req *q, const char *data, size_t len);
/* Reports the end of the exchange; e NULL: the body is complete. */
void http_transport_end(struct http_req *q, const struct err *e);
/* Reports the remote address of the connection, without port; called before
 * http_transport_head(). */
void http_transport_reached(struct http_req *q, const char *address);
void http_transport_learned(struct http_req *q, const char *pin_sha256);

#endif
