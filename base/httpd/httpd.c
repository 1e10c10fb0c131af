#include "base/httpd/httpd_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/str.h"

#define HEADERS_MAX 100
#define BODY_BUDGET (64u << 20)

struct httpd *httpd_new(struct loop_group *g)
{
	struct httpd *d = mem_new(struct httpd);

	d->group = g;
	d->body_budget = BODY_BUDGET;
	list_init(&d->requests);
	list_init(&d->listeners);
	return d;
}

void httpd_body_budget(struct httpd *d, size_t bytes)
{
	d->body_budget = bytes ? bytes : BODY_BUDGET;
}

struct loop_group *httpd_group(const struct httpd *d)
{
	return d->group;
}

void httpd_listener_add(struct httpd *d, struct httpd_listener *l)
{
	list_push_back(&d->listeners, &l->link);
}

void httpd_listener_remove(struct httpd_listener *l)
{
	list_remove(&l->link);
}

/* --- routes ----------------------------------------------------------------------------------- */

void httpd_route(struct httpd *d, const char *method, const char *pattern, size_t max_body,
		 httpd_handler *fn, void *arg)
{
	httpd_route_admit(d, &(struct httpd_route_spec){.method = method,
							.pattern = pattern,
							.max_body = max_body,
							.fn = fn,
							.arg = arg});
}

void httpd_route_admit(struct httpd *d, const struct httpd_route_spec *s)
{
	struct route r = {.max_body = s->max_body, .admit = s->admit, .fn = s->fn, .arg = s->arg};
	char *at;

	assert(*s->pattern == '/');
	r.method = mem_strdup(s->method);
	r.text = mem_strdup(s->pattern);
	for (at = r.text; *at == '/' && at[1];) {
		char *from = at + 1, *to = from + strcspn(from, "/");
		bool last = !*to;

		assert(to > from && r.nsegments < HTTPD_SEGMENTS_MAX && !r.rest);
		*at = '\0';
		if (last && !strcmp(from, "**"))
			r.rest = true;
		else
			r.segments[r.nsegments++] = from;
		at = to;
	}
	*at = '\0'; /* Drop a trailing slash, as is done for the path of a request. */
	for (size_t i = 0; i < r.nsegments; i++)
		if (!strcmp(r.segments[i], "{}"))
			r.segments[i] = NULL;
	mem_grow(d->routes, d->nroutes, d->routes_cap);
	d->routes[d->nroutes++] = r;
}

static bool path_matches(const struct route *r, const struct httpd_target *t)
{
	if (t->nsegments < r->nsegments || (!r->rest && t->nsegments > r->nsegments))
		return false;
	for (size_t i = 0; i < r->nsegments; i++)
		if (r->segments[i] && strcmp(r->segments[i], t->segments[i]))
			return false;
	return true;
}

static bool method_matches(const struct route *r, const char *method)
{
	return !strcmp(r->method, "*") || !strcmp(r->method, method) ||
	       (!strcmp(r->method, "GET") && !strcmp(method, "HEAD"));
}

/* Records the parts of the path that each {} and the ** of the route's pattern matched. */
static void keep_matches(struct httpd_req *q, const struct route *r)
{
	const struct httpd_target *t = &q->target;
	char *rest;
	size_t size = 1;

	for (size_t i = 0; i < r->nsegments; i++)
		if (!r->segments[i])
			q->matched[q->nmatched++] = t->segments[i];
	if (!r->rest)
		return;
	for (size_t i = r->nsegments; i < t->nsegments; i++)
		size += strlen(t->segments[i]) + 1;
	rest = arena_alloc(q->arena, size);
	for (size_t i = r->nsegments; i < t->nsegments; i++) {
		if (i > r->nsegments)
			strcat(rest, "/");
		strcat(rest, t->segments[i]);
	}
	q->matched[q->nmatched++] = rest;
}

/* Finds the route of a request. Returns 0, or the HTTP status with which to refuse the request. */
static int find_route(struct httpd_req *q)
{
	struct httpd *d = q->d;
	struct buf allow;

	buf_init(&allow, 256);
	for (size_t i = 0; i < d->nroutes; i++) {
		const struct route *r = &d->routes[i];

		if (!path_matches(r, &q->target))
			continue;
		if (method_matches(r, q->method)) {
			buf_done(&allow);
			q->admit = r->admit;
			q->fn = r->fn;
			q->fn_arg = r->arg;
			q->max_body = r->max_body;
			keep_matches(q, r);
			return 0;
		}
		if (!allow.len || !strstr(allow.data, r->method))
			buf_printf(&allow, "%s%s", allow.len ? ", " : "", r->method);
	}
	if (!allow.len) {
		buf_done(&allow);
		return 404;
	}
	httpd_reply_header(q, "Allow", allow.data);
	buf_done(&allow);
	return 405;
}

/* --- called by listeners ---------------------------------------------------------------------- */

static void free_body(struct httpd_req *q)
{
	size_t len = q->body.len;

	if (len)
		secret_wipe(q->body.data, len);
	buf_done(&q->body);
	q->d->body_bytes -= len;
}

static void req_free(struct httpd_req *q)
{
	list_remove(&q->link);
	if (q->reader.done)
		q->reader.done(q->reader.arg);
	/* Clear the headers, because they include tokens and passwords. */
	for (size_t i = 0; i < q->nheaders; i++)
		secret_wipe((char *)q->headers[i].value, strlen(q->headers[i].value));
	free_body(q);
	free(q->text);
	arena_free(q->arena);
	free(q);
}

void httpd_finished(struct httpd_req *q)
{
	req_free(q);
}

void httpd_gone(struct httpd_req *q)
{
	void (*gone)(void *) = q->gone;

	q->gone = NULL;
	list_remove(&q->link);
	if (gone)
		gone(q->gone_arg);
	req_free(q);
}

static void keep_request(struct httpd_req *q, const struct httpd_incoming *in)
{
	struct arena *a = q->arena;

	q->method = arena_strdup(a, in->method);
	q->headers = arena_calloc(a, in->nheaders + 1, sizeof(*q->headers));
	for (size_t i = 0; i < in->nheaders && i < HEADERS_MAX; i++)
		q->headers[q->nheaders++] =
			(struct http_header){arena_strdup(a, in->headers[i].name),
					     arena_strdup(a, in->headers[i].value)};
	q->identity = (struct httpd_identity){
		.address = arena_strdup(a, in->identity->address),
		.cert_subject_cn = arena_strdup(a, in->identity->cert_subject_cn),
		.cert_subject_o = arena_strdup(a, in->identity->cert_subject_o),
		.cert_sha256 = arena_strdup(a, in->identity->cert_sha256),
	};
}

int64_t httpd_begin(struct httpd *d, const struct httpd_incoming *in, struct httpd_req **out)
{
	struct httpd_req *q = mem_new(struct httpd_req);
	const char *length;
	int64_t announced = 0;
	int refused;
	struct err e;

	q->d = d;
	q->arena = arena_new();
	q->ops = in->ops;
	q->conn = in->conn;
	list_push_back(&d->requests, &q->link);
	buf_init(&q->body, 0);
	keep_request(q, in);
	*out = q;

	if (in->exhausted) {
		httpd_reply_header(q, "Retry-After", "5");
		httpd_reply_header(q, "Connection", "close");
		httpd_reply_status(q, 429, "too many refused requests from this address");
		return -1;
	}
	if (in->nheaders > HEADERS_MAX) {
		httpd_reply_status(q, 431, "too many headers");
		return -1;
	}
	if (httpd_target_parse(&q->target, q->arena, in->target, &e) < 0) {
		httpd_reply_status(q, e.code, e.text);
		return -1;
	}
	refused = find_route(q);
	if (refused) {
		httpd_reply_status(q, refused,
				   refused == 404 ? "no such path" : "method not allowed here");
		return -1;
	}
	length = httpd_header(q, "Content-Length");
	if (length &&
	    (!str_to_i64(length, 0, INT64_MAX, &announced) || (uint64_t)announced > q->max_body)) {
		httpd_reply_status(q, 413, "the request's body is too large");
		return -1;
	}
	if (q->admit && !q->admit(q, q->fn_arg))
		return -1;
	buf_init(&q->body, q->max_body);
	return (int64_t)q->max_body;
}

bool httpd_body_data(struct httpd_req *q, const char *data, size_t len)
{
	struct err e;

	if (q->replied)
		return false;
	if (len > q->d->body_budget - q->d->body_bytes) {
		free_body(q);
		httpd_reply_header(q, "Retry-After", "1");
		httpd_reply_status(
			q, 503, "the server is receiving too many bytes at once: try again later");
		return false;
	}
	if (buf_add(&q->body, data, len, &e) == 0) {
		q->d->body_bytes += len;
		return true;
	}
	free_body(q);
	httpd_reply_status(q, 413, "the request's body is too large");
	return false;
}

void httpd_dispatch(struct httpd_req *q)
{
	q->fn(q, q->fn_arg); /* The handler may free q: do not use q afterwards. */
}

void httpd_free(struct httpd *d)
{
	struct httpd_req *q;
	struct httpd_listener *l;

	if (!d)
		return;
	while ((l = list_first(&d->listeners, struct httpd_listener, link))) {
		list_remove(&l->link);
		l->stopped(l);
	}
	while ((q = list_first(&d->requests, struct httpd_req, link))) {
		list_remove(&q->link);
		q->ops->abort(q->conn);
		httpd_gone(q);
	}
	for (size_t i = 0; i < d->nroutes; i++) {
		free(d->routes[i].method);
		free(d->routes[i].text);
	}
	free(d->routes);
	free(d);
}
