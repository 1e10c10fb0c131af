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
 * httpd: the HTTP server. Routes, limits and the caller's identity are here; below stands a
 * listener: libmicrohttpd with TLS on the loop's epoll (httpd_mhd.h), or in-process (http_mem.h).
 *
 * A handler is called on the loop once the request's body has arrived whole (max_body bytes at
 * most, 413 beyond). It answers with exactly one httpd_reply*(), at once or later. Reply bodies are
 * text, or pulled through a reader that answers 0 to wait until httpd_wake().
 *
 * If the client goes away first, on_gone is called (once; never after the reply is complete) and
 * the request is over: the handler must not touch it again.
 */
struct httpd;
struct httpd_req;

struct httpd *httpd_new(struct loop_group *g);
struct loop_group *httpd_group(const struct httpd *d);
/* ends every request (on_gone) and listener */
void httpd_free(struct httpd *d);
DEFINE_OWN(httpd)

typedef void httpd_handler(struct httpd_req *q, void *arg);

/* method "GET", "*": any. pattern: literal segments, {} for one segment, a final ** for the rest
 * ("/agent/v1/hello", "/boot/{}/" and two stars). First match in order of adding wins; GET serves
 * HEAD. No match: 404; path matches, method does not: 405. */
void httpd_route(struct httpd *d, const char *method, const char *pattern, size_t max_body,
		 httpd_handler *fn, void *arg);

/* The same for a route that does not take a body from everybody: admit() is called when the headers
 * are in and none of the body is; false: it has answered. */
void httpd_route_admit(struct httpd *d, const char *method, const char *pattern, size_t max_body,
		       bool (*admit)(struct httpd_req *q, void *arg), httpd_handler *fn, void *arg);

/* Bytes of bodies that are held at once, those of all requests together; what goes beyond is
 * answered 503 (0: the default, 64 MiB). When most of them are freed, their memory goes back to the
 * system. */
void httpd_body_budget(struct httpd *d, size_t bytes);

/* Who is at the other end, as the transport proved it. */
struct httpd_identity {
	/* "10.1.0.17:5012"; in-process: the peer's name */
	const char *address;
	/* verified client certificate; NULL: none */
	const char *cert_subject_cn;
	const char *cert_subject_o;
	/* hex */
	const char *cert_sha256;
};

const char *httpd_method(const struct httpd_req *q);
/* decoded once; no "..", no NUL, no empty segment */
const char *httpd_path(const struct httpd_req *q);
/* what the nth {} (from 0) or the ** matched; NULL: none */
const char *httpd_segment(const struct httpd_req *q, size_t n);
/* decoded; NULL: absent */
const char *httpd_query(const struct httpd_req *q, const char *name);
/* of the nth parameter, from 0; NULL: there are no more */
const char *httpd_query_name(const struct httpd_req *q, size_t n);
/* any case */
const char *httpd_header(const struct httpd_req *q, const char *name);
/* NUL-terminated */
const char *httpd_body(const struct httpd_req *q, size_t *len);
const struct httpd_identity *httpd_identity(const struct httpd_req *q);
/* gives; NULL: none */
struct secret *httpd_bearer(const struct httpd_req *q);

void httpd_on_gone(struct httpd_req *q, void (*fn)(void *arg), void *arg);

/* copied */
void httpd_reply(struct httpd_req *q, int status, const char *content_type, const void *body,
		 size_t len);
void httpd_reply_json(struct httpd_req *q, int status, const char *json);
/* status from the kind, text as {"error": ...} */
void httpd_reply_err(struct httpd_req *q, const struct err *e);
/* before the reply */
void httpd_reply_header(struct httpd_req *q, const char *name, const char *value);

/* read: fill up to max bytes, return how many; 0: nothing now, httpd_wake() when there is; -1: end;
 * -2: break the connection (the client must not take it for whole). done(arg) exactly once at the
 * end, whatever happened. */
struct httpd_reader {
	int64_t (*read)(char *out, size_t max, uint64_t pos, void *arg);
	void (*done)(void *arg);
	void *arg;
	/* -1: unknown, chunked */
	int64_t size;
};
void httpd_reply_stream(struct httpd_req *q, int status, const char *content_type,
			const struct httpd_reader *r);
void httpd_wake(struct httpd_req *q);

/* Serve size bytes with Range support (single range, 206, 416) from a pure function of the
 * position. */
struct httpd_content {
	/* > 0, or -2 */
	int64_t (*read)(char *out, size_t max, uint64_t pos, void *arg);
	void (*done)(void *arg);
	void *arg;
	uint64_t size;
	const char *content_type;
	/* NULL: none */
	const char *etag;
};
void httpd_reply_content(struct httpd_req *q, const struct httpd_content *c);

/* --- for listeners (httpd_mhd.c, http_mem.c) --- */
/* One place that feeds d.  stopped() is called when d is freed: nothing may be begun after. */
struct httpd_listener {
	struct list link;
	void (*stopped)(struct httpd_listener *l);
};
void httpd_listener_add(struct httpd *d, struct httpd_listener *l);
void httpd_listener_remove(struct httpd_listener *l);

/* respond: keep what it needs of headers and *body (they are httpd's; body is NULL for none, its
 * done is not the listener's business); it may not call httpd_finished() or httpd_gone() from
 * inside. body->read may be called until httpd_finished(), httpd_gone() or abort. */
struct httpd_listener_ops {
	void (*respond)(void *conn, int status, const struct http_header *h, size_t n,
			const struct httpd_reader *body);
	void (*wake)(void *conn);
	/* close without an answer; httpd has forgotten the request */
	void (*abort)(void *conn);
};
struct httpd_incoming {
	/* target: path?query, raw */
	const char *method, *target;
	const struct http_header *headers;
	size_t nheaders;
	const struct httpd_identity *identity;
	const struct httpd_listener_ops *ops;
	void *conn;
	/* its address has used up its share: 429 */
	bool exhausted;
};
/* Headers are in: how many body bytes may come (0 is fine), or -1 when it was answered already.
 * *out is the request for the calls below. */
int64_t httpd_begin(struct httpd *d, const struct httpd_incoming *in, struct httpd_req **out);
/* Too much: false, 413 was answered. */
bool httpd_body_data(struct httpd_req *q, const char *data, size_t len);
/* body complete: calls the handler */
void httpd_dispatch(struct httpd_req *q);
/* reply sent whole, or */
void httpd_finished(struct httpd_req *q);
/* client went away: q is freed */
void httpd_gone(struct httpd_req *q);

#endif
