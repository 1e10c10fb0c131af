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
 * httpd: the HTTP server: routes, limits and the identity of callers. Connections are accepted by a
 * listener: libmicrohttpd with TLS on the loop (httpd_mhd.h), or a connection inside the process
 * (tests/simulated/http_mem.h).
 *
 * A handler is called on the loop once the request's body has arrived completely (at most max_body
 * bytes, 413 beyond). The handler must answer with exactly one httpd_reply*(), immediately or
 * later. Reply bodies are text, or are pulled through a reader, which returns 0 to wait until
 * httpd_wake().
 *
 * If the client disconnects first, the function set with httpd_on_gone() is called (once; never
 * after the reply is complete) and the request is over: the handler must not use it again.
 */
struct httpd;
struct httpd_req;

struct httpd *httpd_new(struct loop_group *g);
struct loop_group *httpd_group(const struct httpd *d);
/* Ends every request (calls its httpd_on_gone() function), stops the listeners and frees d. */
void httpd_free(struct httpd *d);
DEFINE_OWN(httpd)

typedef void httpd_handler(struct httpd_req *q, void *arg);

/* Adds a route. method: "GET" and so on; "*": any. pattern: literal segments, {} for any one
 * segment, a final ** for all remaining segments ("/agent/v1/hello", "/boot/{}/" and two stars).
 * The route added first wins; GET serves HEAD too. If no route has the path, the reply is 404; if
 * only the method differs, 405. */
void httpd_route(struct httpd *d, const char *method, const char *pattern, size_t max_body,
		 httpd_handler *fn, void *arg);

/* A route with an admission check. Members without a comment are parameters of httpd_route(). */
struct httpd_route_spec {
	const char *method, *pattern;
	size_t max_body;
	/* Called after the headers and before the body. False: the caller is refused; admit() must
	 * have replied. NULL: every caller is admitted. */
	bool (*admit)(struct httpd_req *q, void *arg);
	httpd_handler *fn;
	/* Argument of admit() and fn() */
	void *arg;
};
/* Adds a route whose bodies are read only if admit() admits the caller. */
void httpd_route_admit(struct httpd *d, const struct httpd_route_spec *s);

/* Sets the maximum number of body bytes in memory, over all requests; a request that would exceed
 * it gets 503. 0 means 64 MiB. When most of these bytes are freed, their memory is returned to the
 * system. */
void httpd_body_budget(struct httpd *d, size_t bytes);

/* Identity of the client, as proved by the transport. */
struct httpd_identity {
	/* Address and port, "10.1.0.17:5012"; in-process: the client's name. */
	const char *address;
	/* Common name of a verified client certificate; NULL: none. */
	const char *cert_subject_cn;
	const char *cert_subject_o;
	/* SHA-256 of the certificate, in hex. */
	const char *cert_sha256;
};

const char *httpd_method(const struct httpd_req *q);
/* Returns the path, decoded once; it contains no "..", no NUL and no empty segment. */
const char *httpd_path(const struct httpd_req *q);
/* Returns the text that the nth {} of the pattern (from 0) matched. If the pattern ends with **,
 * its text follows as one more part. NULL: there is no such part. */
const char *httpd_segment(const struct httpd_req *q, size_t n);
/* Returns the decoded value of a query parameter; NULL: absent. */
const char *httpd_query(const struct httpd_req *q, const char *name);
/* Returns the name of the nth query parameter, from 0; NULL: no more parameters. */
const char *httpd_query_name(const struct httpd_req *q, size_t n);
/* Returns the value of a header; upper and lower case in name do not matter. NULL: absent. */
const char *httpd_header(const struct httpd_req *q, const char *name);
/* Returns the body, NUL-terminated; *len is its length. */
const char *httpd_body(const struct httpd_req *q, size_t *len);
const struct httpd_identity *httpd_identity(const struct httpd_req *q);
/* Returns the token of the header Authorization: Bearer, which the caller owns; NULL: none. */
struct secret *httpd_bearer(const struct httpd_req *q);

void httpd_on_gone(struct httpd_req *q, void (*fn)(void *arg), void *arg);

/* Replies with a body; body is copied. */
void httpd_reply(struct httpd_req *q, int status, const char *content_type, const void *body,
		 size_t len);
void httpd_reply_json(struct httpd_req *q, int status, const char *json);
/* Replies with {"error": TEXT} and the HTTP status for the error's kind or code. */
void httpd_reply_err(struct httpd_req *q, const struct err *e);
/* Adds a header to the reply; must be called before the reply is sent. */
void httpd_reply_header(struct httpd_req *q, const char *name, const char *value);

/* Source of a streamed body. read() writes up to max bytes to out and returns their number. It
 * returns 0 if no data is available yet (httpd_wake() must follow), -1 at the end, and -2 to break
 * the connection, so that the client cannot mistake the body for complete. done(arg) is called
 * exactly once at the end, on success and on failure. */
struct httpd_reader {
	int64_t (*read)(char *out, size_t max, uint64_t pos, void *arg);
	void (*done)(void *arg);
	void *arg;
	/* Size of the body in bytes; -1: unknown, the reply is chunked. */
	int64_t size;
	/* The whole body in memory, for listeners: httpd_reply() sets it. It is valid as long as
	 * read() may be called. NULL: read() must be called. */
	const char *text;
};
void httpd_reply_stream(struct httpd_req *q, int status, const char *content_type,
			const struct httpd_reader *r);
void httpd_wake(struct httpd_req *q);

/* A body of known size with Range support (single range, 206, 416), for httpd_reply_content(). The
 * result of read() must depend only on pos, because ranges may be read in any order. */
struct httpd_content {
	/* Returns the bytes read (> 0), or -2 to break the connection. */
	int64_t (*read)(char *out, size_t max, uint64_t pos, void *arg);
	void (*done)(void *arg);
	void *arg;
	uint64_t size;
	const char *content_type;
	/* ETag header; NULL: none. */
	const char *etag;
};
void httpd_reply_content(struct httpd_req *q, const struct httpd_content *c);

/* --- functions for listeners (httpd_mhd.c, http_mem.c) ---------------------------------------- */
/* A listener of an httpd. stopped() is called when the httpd is freed: afterwards the listener must
 * not begin a request. */
struct httpd_listener {
	struct list link;
	void (*stopped)(struct httpd_listener *l);
};
void httpd_listener_add(struct httpd *d, struct httpd_listener *l);
void httpd_listener_remove(struct httpd_listener *l);

/* Functions of a listener that httpd calls. respond() must copy what it needs of the headers and of
 * *body, which httpd owns; body NULL: no body. The listener never calls body->done(). It may call
 * body->read() until httpd_finished(), httpd_gone() or abort(). respond() must not call
 * httpd_finished() or httpd_gone() itself. */
struct httpd_listener_ops {
	void (*respond)(void *conn, int status, const struct http_header *h, size_t n,
			const struct httpd_reader *body);
	void (*wake)(void *conn);
	/* Closes the connection without a reply. httpd has already released the request. */
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
	/* True: the caller's address has used up its tokens (httpd_callers.h), so httpd answers
	 * with 429. */
	bool exhausted;
};
/* Begins a request when its headers have arrived. Returns the number of body bytes that are
 * accepted (0 is valid); -1 if httpd has already answered the request. *out: the request, for the
 * functions below. */
int64_t httpd_begin(struct httpd *d, const struct httpd_incoming *in, struct httpd_req **out);
/* Adds a piece of the body. False: the body is too large; httpd has answered with 413. */
bool httpd_body_data(struct httpd_req *q, const char *data, size_t len);
/* Ends the body and calls the handler. */
void httpd_dispatch(struct httpd_req *q);
/* Ends a request whose whole reply was sent; frees q. */
void httpd_finished(struct httpd_req *q);
/* Ends a request whose client has disconnected; frees q. */
void httpd_gone(struct httpd_req *q);

#endif
