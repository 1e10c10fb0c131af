#ifndef BASE_HTTP_HTTP_H
#define BASE_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/loop/loop.h"
#include "base/own.h"
#include "base/secret.h"

/*
 * http: the HTTP client. It implements the policy for both transports: deadline, idle limit, byte
 * limits, cancellation, Retry-After, concurrency limits per peer and in total, flow control. A
 * struct http_transport carries the exchanges: with libcurl (http_curl.h), or inside the process
 * (tests/simulated/http_mem.h).
 *
 * Everything runs on the loop thread. At its end a request is removed from every list, then done()
 * is called exactly once, then the request is freed. done() may start, cancel and close anything.
 * No callback runs inside http_start(), http_want() or http_cancel().
 *
 * The server's certificate is always verified, by CA or by the pinned certificate; this cannot be
 * disabled. Plain http:// is allowed only for peers created with plain_ok (image and media servers,
 * tests).
 */
struct http;
struct http_peer;
struct http_req;
/* Carries the exchanges; see http_transport.h. */
struct http_transport;

/* Creates a client and takes ownership of t. max_in_flight: limit over all peers; 0 means no
 * limit. */
struct http *http_new(struct loop_group *g, struct http_transport *t, unsigned max_in_flight);
/* Cancels all requests and frees the client. May be called inside done(), but not inside on_head()
 * or on_data(). The owners of the peers free them, before or after this call. */
void http_free(struct http *h);
DEFINE_OWN(http)

/* Describes one server (peer): its address, and how its certificate is verified. http_peer_new()
 * copies everything, and checks certificates and keys once with pem.h. */
struct http_peer_spec {
	/* scheme://host[:port][/prefix], without user and query. */
	const char *base_url;
	/* CAs to trust, as PEM; no other CA is trusted. NULL: the system's CAs. Not used if there
	 * is a pin (pin_sha256, learn_pin). */
	const char *ca_pem;
	/* Name that the certificate must have instead of the host (tls-server-name); see
	 * http_is_server_name(). NULL: the host. */
	const char *server_name;
	/* SHA-256 of the server certificate's DER form, 64 hex digits: only this certificate is
	 * accepted, whatever its CA and name. NULL: no pin. */
	const char *pin_sha256;
	/* True: trust on first use. The first certificate is accepted and http_peer_learned()
	 * returns its fingerprint; every later certificate must be equal. */
	bool learn_pin;
	const char *client_cert_pem;
	const struct secret *client_key_pem;
	/* True: certificates and key are results of pem.h and belong together, so they are not
	 * checked again. */
	bool pem_read;
	/* Maximum number of requests in flight to this peer; 0 means no limit. Use 1 for BMCs. */
	unsigned max_in_flight;
	bool plain_ok;
	/* True: the host's name may resolve to a loopback or link-local address (http_address.h).
	 * False: such an address is refused with ERR_DENIED. The check is done when a socket is
	 * opened and when an open connection is reused, so a change in DNS cannot avoid it. An
	 * address of this kind written in base_url itself is allowed. */
	bool local_ok;
	/* Called with address and port when a socket is opened and when an open connection is
	 * reused; false: the request fails with ERR_DENIED. NULL: every address is allowed. */
	bool (*may_reach)(const char *address, int port, void *arg);
	void *may_reach_arg;
	/* Value of the User-Agent header; NULL: "drover/VERSION". */
	const char *user_agent;
};
struct http_peer *http_peer_new(struct http *h, const struct http_peer_spec *spec, struct err *e);
/* Cancels the peer's requests and frees the peer. */
void http_peer_free(struct http_peer *p);
/* Returns the fingerprint that learn_pin has learned, in hex; NULL: none yet. */
const char *http_peer_learned(const struct http_peer *p);
/* Returns the address from which the latest reply came, without port; NULL: no reply yet. */
const char *http_peer_reached(const struct http_peer *p);
/* Returns the origin, "https://host:port". */
const char *http_peer_origin(const struct http_peer *p);

/* Returns the origin of a URL as http_peer_origin() does, malloc'd; the caller owns it. NULL: the
 * URL is not http:// or https://. */
char *http_origin(const char *url);

struct http_header {
	const char *name, *value;
};

struct http_reply {
	int status;
	/* Collected body, NUL-terminated; "" if the body was streamed. */
	const char *body;
	size_t body_len;
	/* Delay in ms that the header Retry-After (seconds or date) asks for, at most 5 min; 0: no
	 * such header. */
	uint32_t retry_after_ms;
	const struct http_header *headers;
	size_t nheaders;
};
/* Returns the value of a header; upper and lower case in name do not matter. NULL: no such
 * header. */
const char *http_reply_header(const struct http_reply *r, const char *name);
/* Returns "NAME=VALUE" of the first usable Set-Cookie header of this name, without attributes, as
 * the value of a Cookie header; the caller owns it. Unusable: an empty value, more than 4 KiB, or
 * characters that RFC 6265 section 4.1.1 excludes. NULL: no such header. */
struct secret *http_reply_cookie(const struct http_reply *r, const char *name);

/* Reads an IMF-fixdate of RFC 9110 section 5.6.7 ("Sun, 06 Nov 1994 08:49:37 GMT") as Unix ms.
 * False: another format. */
bool http_date(const char *s, int64_t *wall_ms);

struct http_call {
	/* HTTP method; NULL means GET. */
	const char *method;
	/* Path with query, appended to the base URL's prefix: "/api/v1/pods?limit=500"; must begin
	 * with '/'. */
	const char *path;
	/* True: path is appended to the origin, without the base URL's prefix. */
	bool absolute;
	const struct http_header *headers;
	size_t nheaders;
	/* Token for the header Authorization: Bearer; NULL: none. */
	const struct secret *bearer;
	/* User and password for the header Authorization: Basic; NULL: none. */
	const char *basic_user;
	const struct secret *basic_password;
	/* Name of a header whose value is secret, for example X-Auth-Token; NULL: none. */
	const char *secret_header;
	const struct secret *secret_value;
	/* Body to send; copied. NULL: none. */
	const void *body;
	size_t body_len;
	/* Content-Type of the body; NULL means application/json. */
	const char *content_type;
	/* Limit of the whole exchange in ms, without the time in which the request waits for a
	 * concurrency slot; 0 means 30 s. */
	uint32_t timeout_ms;
	/* Limit for connecting in ms; 0 means 10 s. */
	uint32_t connect_ms;
	/* Longest time in ms without a received byte; 0 means no idle limit. */
	uint32_t idle_ms;
	/* True: the exchange as a whole has no time limit, as for watches; only idle_ms applies. */
	bool no_timeout;
	/* Maximum size of the body in bytes; 0 means 1 MiB, or no limit if on_data is set. A larger
	 * body is ERR_PROTOCOL; the bytes past the limit are not delivered. */
	size_t max_body;
	/* Set to receive the body in pieces instead of collecting it. Only the body of a 2xx reply
	 * goes to on_data(); any other body is collected for done(), so that http_err() can quote
	 * it. on_head() and on_data() return 0, or -1 with *e to end the request with that error.
	 * paced: delivery pauses after each call of on_data() until http_want(); the transport
	 * buffers at most 256 KiB. */
	int (*on_head)(const struct http_reply *r, void *arg, struct err *e);
	int (*on_data)(const char *data, size_t len, void *arg, struct err *e);
	bool paced;
	/* True: a body with a Content-Encoding is decompressed, although drover never requests an
	 * encoding; max_body then limits the decompressed size. False: the bytes are delivered as
	 * sent. */
	bool unpack;
	/* Maximum size of a piece for on_data(), and size of the transport's buffer: 1 KiB to 256
	 * KiB; 0 means 16 KiB. Use 4 KiB for thousands of idle watches, 64 KiB for images. */
	size_t piece_bytes;
	/* Called at the end. e: NULL if an HTTP reply arrived, whatever its status; otherwise the
	 * error. r: the reply; NULL if none arrived. */
	void (*done)(const struct http_reply *r, const struct err *e, void *arg);
	void *arg;
};
/* Starts a request. Never fails: a call that cannot be started ends in done() with an error. The
 * result is valid until done(). */
struct http_req *http_start(struct http_peer *p, const struct http_call *c);
/* Drops the request without done(); q may be NULL. */
void http_cancel(struct http_req *q);
/* Requests the next piece of a paced body. */
void http_want(struct http_req *q);

/* Sets *e from a reply whose status is not 2xx ("404 Not Found: text from the body") and returns
 * -1; returns 0 for 2xx. */
int http_err(const struct http_reply *r, struct err *e) __attribute__((warn_unused_result));

/* A request that has ended. */
struct http_ended {
	/* "https://host:port", as http_peer_origin(). */
	const char *origin;
	const char *method;
	/* Path without the query, which may contain a token. */
	const char *path;
	/* HTTP status; 0: no reply. */
	int status;
	/* Error because of which there was no complete reply; NULL: none. */
	const struct err *error;
	/* loop_now() when the request left the queue. */
	int64_t began;
};
/* Sets a function that is called once for each request that ends, before its done(); not for
 * requests that were cancelled, or never left the queue. fn must not start, cancel or close
 * anything. fn NULL: none. */
void http_on_ended(struct http *h, void (*fn)(const struct http_ended *x, void *arg), void *arg);

struct http_stats {
	uint64_t started, done, failed;
	unsigned in_flight, waiting;
};
struct http_stats http_stats(const struct http *h);

/* Appends s with RFC 3986 percent-encoding for a path segment or query value. */
void http_escape(struct buf *out, const char *s);

#endif
