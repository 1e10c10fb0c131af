#ifndef BASE_HTTPD_HTTPD_H
#define BASE_HTTPD_HTTPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/http/http.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "base/own.h"
#include "base/secret.h"

/*
 * httpd: the HTTP server. It implements routes, limits and the caller's identity; a listener
 * accepts connections: libmicrohttpd with TLS on the loop's epoll (httpd_mhd.h), or in-process
 * (http_mem.h).
 *
 * A handler is called on the loop once the request's body has arrived completely (at most max_body
 * bytes, 413 beyond). It answers with exactly one httpd_reply*(), immediately or later. Reply
 * bodies are text, or are pulled through a reader that returns 0 to wait until httpd_wake().
 *
 * If the client disconnects first, on_gone is called (once; never after the reply is complete) and
 * the request is over: the handler must not use it again.
 */
struct httpd;
struct httpd_req;

struct httpd *httpd_new(struct loop_group *g);
struct loop_group *httpd_group(const struct httpd *d);
/* Ends every request (on_gone) and listener. */
void httpd_free(struct httpd *d);
DEFINE_OWN(httpd)

typedef void httpd_handler(struct httpd_req *q, void *arg);

/* method: "GET" and so on; "*": any. pattern: literal segments, {} for one segment, a final ** for
 * the rest ("/agent/v1/hello", "/boot/{}/" and two stars). The first match in order of adding wins;
 * GET serves HEAD too. No match: 404; the path matches but not the method: 405. */
void httpd_route(struct httpd *d, const char *method, const char *pattern, size_t max_body,
		 httpd_handler *fn, void *arg);

/* As httpd_route(), for a route that accepts bodies only from admitted callers: admit() is called
 * after the headers and before the body; false: admit() has replied. */
void httpd_route_admit(struct httpd *d, const char *method, const char *pattern, size_t max_body,
		       bool (*admit)(struct httpd_req *q, void *arg), httpd_handler *fn, void *arg);

/* Limit of body bytes held at once, over all requests; beyond it requests get 503. 0 means 64 MiB.
 * When most bodies are freed, their memory is returned to the system. */
void httpd_body_budget(struct httpd *d, size_t bytes);

/* The peer's identity, as proved by the transport. */
struct httpd_identity {
	/* "10.1.0.17:5012"; in-process: the peer's name. */
	const char *address;
	/* Common name of a verified client certificate; NULL: none. */
	const char *cert_subject_cn;
	const char *cert_subject_o;
	/* In hex. */
	const char *cert_sha256;
};

const char *httpd_method(const struct httpd_req *q);
/* Decoded once; no "..", no NUL, no empty segment. */
const char *httpd_path(const struct httpd_req *q);
/* What the nth {} (from 0) or the ** matched; NULL: none. */
const char *httpd_segment(const struct httpd_req *q, size_t n);
/* Decoded; NULL: absent. */
const char *httpd_query(const struct httpd_req *q, const char *name);
/* Name of the nth parameter, from 0; NULL: no more parameters. */
const char *httpd_query_name(const struct httpd_req *q, size_t n);
/* The name is matched in any case. */
const char *httpd_header(const struct httpd_req *q, const char *name);
/* NUL-terminated. */
const char *httpd_body(const struct httpd_req *q, size_t *len);
const struct httpd_identity *httpd_identity(const struct httpd_req *q);
/* Returns the bearer token, which the caller owns; NULL: none. */
struct secret *httpd_bearer(const struct httpd_req *q);

void httpd_on_gone(struct httpd_req *q, void (*fn)(void *arg), void *arg);

/* Copies the body. */
void httpd_reply(struct httpd_req *q, int status, const char *content_type, const void *body,
		 size_t len);
void httpd_reply_json(struct httpd_req *q, int status, const char *json);
/* Derives the status from the error's kind; the body is {"error": ...}. */
void httpd_reply_err(struct httpd_req *q, const struct err *e);
/* Adds a header; call it before the reply. */
void httpd_reply_header(struct httpd_req *q, const char *name, const char *value);

/* Source of a streamed body. read() fills up to max bytes and returns their number; 0: none now,
 * httpd_wake() follows; -1: end; -2: break the connection, so that the client cannot mistake the
 * body for complete. done(arg) is called exactly once at the end, whatever happened. */
struct httpd_reader {
	int64_t (*read)(char *out, size_t max, uint64_t pos, void *arg);
	void (*done)(void *arg);
	void *arg;
	/* -1: unknown; the reply is chunked. */
	int64_t size;
};
void httpd_reply_stream(struct httpd_req *q, int status, const char *content_type,
			const struct httpd_reader *r);
void httpd_wake(struct httpd_req *q);

/* Serves size bytes with Range support (single range, 206, 416) from a pure function of the
 * position. */
struct httpd_content {
	/* Returns the bytes read (> 0), or -2 to break the connection. */
	int64_t (*read)(char *out, size_t max, uint64_t pos, void *arg);
	void (*done)(void *arg);
	void *arg;
	uint64_t size;
	const char *content_type;
	/* NULL: none. */
	const char *etag;
};
void httpd_reply_content(struct httpd_req *q, const struct httpd_content *c);

/* --- for listeners (httpd_mhd.c, http_mem.c) --- */
/* A listener of d. stopped() is called when d is freed: no request may begin afterwards. */
struct httpd_listener {
	struct list link;
	void (*stopped)(struct httpd_listener *l);
};
void httpd_listener_add(struct httpd *d, struct httpd_listener *l);
void httpd_listener_remove(struct httpd_listener *l);

/* respond(): copies what it needs of the headers and *body (httpd owns them; body NULL: none; the
 * listener never calls body->done). It must not call httpd_finished() or httpd_gone() from inside.
 * body->read may be called until httpd_finished(), httpd_gone() or abort(). */
struct httpd_listener_ops {
	void (*respond)(void *conn, int status, const struct http_header *h, size_t n,
			const struct httpd_reader *body);
	void (*wake)(void *conn);
	/* Closes the connection without a reply; httpd has released the request. */
	void (*abort)(void *conn);
};
struct httpd_incoming {
	/* target: path?query, not decoded. */
	const char *method, *target;
	const struct http_header *headers;
	size_t nheaders;
	const struct httpd_identity *identity;
	const struct httpd_listener_ops *ops;
	void *conn;
	/* The caller's address has used up its share: 429. */
	bool exhausted;
};
/* Call when the headers have arrived. Returns how many body bytes are accepted (0 is valid), or -1
 * if the request was already answered. *out is the request for the calls below. */
int64_t httpd_begin(struct httpd *d, const struct httpd_incoming *in, struct httpd_req **out);
/* False: the body is too large and 413 was answered. */
bool httpd_body_data(struct httpd_req *q, const char *data, size_t len);
/* Call when the body is complete: calls the handler. */
void httpd_dispatch(struct httpd_req *q);
/* Call when the whole reply was sent; frees q. */
void httpd_finished(struct httpd_req *q);
/* Call when the client has disconnected; frees q. */
void httpd_gone(struct httpd_req *q);

#endif
