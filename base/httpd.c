#include "base/httpd.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/arena.h"
#include "base/httpd_target.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

#define HEADERS_MAX 100

struct route {
	char *method;
	char *text;                          /* the pattern, cut at its slashes */
	const char *segments[HTTPD_SEGMENTS_MAX]; /* NULL: any one segment */
	size_t nsegments;
	bool rest;
	size_t max_body;
	httpd_handler *fn;
	void *arg;
};

struct httpd {
	struct loop_group *group;
	struct route *routes;
	size_t nroutes, routes_cap;
	struct list requests, listeners;
};

struct httpd_req {
	struct list link;
	struct httpd *d;
	struct arena *arena;
	const struct httpd_listener_ops *ops;
	void *conn;
	struct httpd_identity identity;
	const char *method;
	struct httpd_target target;
	struct http_header *headers;
	size_t nheaders;
	struct route route; /* a copy: routes may be added while it waits */
	const char *matched[HTTPD_SEGMENTS_MAX];
	size_t nmatched;
	struct buf body;

	bool replied;
	struct http_header *reply_headers;
	size_t nreply_headers, reply_headers_cap;
	struct httpd_reader reader;  /* the handler's */
	struct httpd_reader guarded; /* what the listener reads */
	struct httpd_content content;
	uint64_t content_from;
	char *text;                  /* body of httpd_reply(), malloc'd */
	void (*gone)(void *arg);
	void *gone_arg;
};

struct httpd *httpd_new(struct loop_group *g)
{
	struct httpd *d = mem_new(struct httpd);

	d->group = g;
	list_init(&d->requests);
	list_init(&d->listeners);
	return d;
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

/* --- routes --------------------------------------------------------------------------------------- */

void httpd_route(struct httpd *d, const char *method, const char *pattern, size_t max_body,
		 httpd_handler *fn, void *arg)
{
	struct route r = {.max_body = max_body, .fn = fn, .arg = arg};
	char *at;

	assert(*pattern == '/');
	r.method = mem_strdup(method);
	r.text = mem_strdup(pattern);
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

/* What stands in the place of each {} and of the two stars. */
static void keep_matches(struct httpd_req *q)
{
	const struct route *r = &q->route;
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

/* The status to refuse with, 0 when q->route is set. */
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
			q->route = *r;
			keep_matches(q);
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

/* --- the request ---------------------------------------------------------------------------------- */

const char *httpd_method(const struct httpd_req *q)
{
	return q->method;
}

const char *httpd_path(const struct httpd_req *q)
{
	return q->target.path;
}

const char *httpd_segment(const struct httpd_req *q, size_t n)
{
	return n < q->nmatched ? q->matched[n] : NULL;
}

const char *httpd_query(const struct httpd_req *q, const char *name)
{
	for (size_t i = 0; i < q->target.nparams; i++)
		if (!strcmp(q->target.params[i].name, name))
			return q->target.params[i].value;
	return NULL;
}

const char *httpd_header(const struct httpd_req *q, const char *name)
{
	for (size_t i = 0; i < q->nheaders; i++)
		if (!strcasecmp(q->headers[i].name, name))
			return q->headers[i].value;
	return NULL;
}

const char *httpd_body(const struct httpd_req *q, size_t *len)
{
	if (len)
		*len = q->body.len;
	return q->body.data;
}

const struct httpd_identity *httpd_identity(const struct httpd_req *q)
{
	return &q->identity;
}

struct secret *httpd_bearer(const struct httpd_req *q)
{
	const char *value = httpd_header(q, "Authorization");

	if (!value || strncasecmp(value, "Bearer ", 7) != 0)
		return NULL;
	value += 7;
	value += strspn(value, " ");
	return *value ? secret_from_str(value) : NULL;
}

void httpd_on_gone(struct httpd_req *q, void (*fn)(void *arg), void *arg)
{
	q->gone = fn;
	q->gone_arg = arg;
}

/* --- the reply ------------------------------------------------------------------------------------ */

void httpd_reply_header(struct httpd_req *q, const char *name, const char *value)
{
	char *copy = arena_strdup(q->arena, value);

	assert(!q->replied && *name && !name[strcspn(name, ":\r\n\t ")]);
	for (char *s = copy; *s; s++) /* foreign text may not start a header of its own */
		if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f)
			*s = '?';
	if (q->nreply_headers == q->reply_headers_cap) {
		size_t cap = q->reply_headers_cap ? q->reply_headers_cap * 2 : 4;
		struct http_header *more = arena_calloc(q->arena, cap, sizeof(*more));

		if (q->nreply_headers)
			memcpy(more, q->reply_headers, q->nreply_headers * sizeof(*more));
		q->reply_headers = more;
		q->reply_headers_cap = cap;
	}
	q->reply_headers[q->nreply_headers++] =
		(struct http_header){arena_strdup(q->arena, name), copy};
}

/* Keeps the handler's reader to what it promised. */
static int64_t read_guarded(char *out, size_t max, uint64_t pos, void *arg)
{
	struct httpd_req *q = arg;
	int64_t n;

	if (q->reader.size >= 0) {
		uint64_t left = (uint64_t)q->reader.size > pos ? (uint64_t)q->reader.size - pos : 0;

		if (!left)
			return -1;
		max = max > left ? (size_t)left : max;
	}
	n = q->reader.read(out, max, pos, q->reader.arg);
	if (n > (int64_t)max || n < -2)
		return -2;
	return n == -1 && q->reader.size >= 0 ? -2 : n;
}

static void respond(struct httpd_req *q, int status, const char *content_type,
		    const struct httpd_reader *r)
{
	assert(!q->replied);
	if (content_type)
		httpd_reply_header(q, "Content-Type", content_type);
	q->replied = true;
	if (r) {
		q->reader = *r;
		q->guarded = (struct httpd_reader){.read = read_guarded, .arg = q, .size = r->size};
	}
	q->ops->respond(q->conn, status, q->reply_headers, q->nreply_headers, r ? &q->guarded : NULL);
}

void httpd_reply_stream(struct httpd_req *q, int status, const char *content_type,
			const struct httpd_reader *r)
{
	respond(q, status, content_type, r);
}

static int64_t read_text(char *out, size_t max, uint64_t pos, void *arg)
{
	struct httpd_req *q = arg;
	size_t left = (size_t)q->reader.size - (size_t)pos;
	size_t n = max < left ? max : left;

	memcpy(out, q->text + pos, n);
	return (int64_t)n;
}

void httpd_reply(struct httpd_req *q, int status, const char *content_type, const void *body, size_t len)
{
	struct httpd_reader r = {.read = read_text, .arg = q, .size = (int64_t)len};

	if (!len) {
		respond(q, status, content_type, NULL);
		return;
	}
	q->text = mem_alloc(len);
	memcpy(q->text, body, len);
	respond(q, status, content_type, &r);
}

void httpd_reply_json(struct httpd_req *q, int status, const char *json)
{
	httpd_reply(q, status, "application/json", json, strlen(json));
}

static int status_of(const struct err *e)
{
	static const int statuses[ERR_KINDS] = {
		[ERR_NONE] = 500,
		[ERR_INVALID] = 400,
		[ERR_DENIED] = 403,
		[ERR_NOT_FOUND] = 404,
		[ERR_CONFLICT] = 409,
		[ERR_UNSUPPORTED] = 501,
		[ERR_PROTOCOL] = 502,
		[ERR_TIMEOUT] = 504,
		[ERR_UNAVAILABLE] = 503,
		[ERR_CAPACITY] = 503,
		[ERR_QUOTA] = 429,
		[ERR_PRICE] = 409,
	};

	/* A more exact one, when the error came from HTTP or was made for it. */
	if (e->code >= 400 && e->code <= 599 && err_kind_of_http(e->code) == e->kind)
		return e->code;
	return statuses[e->kind];
}

static void reply_status(struct httpd_req *q, int status, const char *text)
{
	OWN_JSON j = json_object();
	json_t *value = json_string(text);
	char *body;

	json_object_set_new(j, "error", value ? value : json_string("an error with unprintable text"));
	body = json_text(j);
	httpd_reply_json(q, status, body);
	free(body);
}

void httpd_reply_err(struct httpd_req *q, const struct err *e)
{
	char seconds[16];

	if (e->retry_after_ms) {
		snprintf(seconds, sizeof(seconds), "%u", (e->retry_after_ms + 999) / 1000);
		httpd_reply_header(q, "Retry-After", seconds);
	}
	reply_status(q, status_of(e), e->text);
}

void httpd_wake(struct httpd_req *q)
{
	if (q->replied)
		q->ops->wake(q->conn);
}

/* --- ranges (RFC 9110 section 14) ----------------------------------------------------------------- */

enum range { RANGE_NONE, RANGE_OK, RANGE_BAD };

/* One range in bytes; several, or another unit, are answered with the whole, as the RFC allows. */
static enum range parse_range(const char *s, uint64_t size, uint64_t *from, uint64_t *to)
{
	char first[20] = "", last[20] = "";
	int64_t a = 0, b = INT64_MAX;
	int end = 0;

	if (!s || strncasecmp(s, "bytes=", 6) != 0)
		return RANGE_NONE;
	s += 6;
	if (sscanf(s, "%19[0-9]-%19[0-9]%n", first, last, &end) == 2 && end > 0 && !s[end]) {
		if (!str_to_i64(first, 0, INT64_MAX, &a) || !str_to_i64(last, 0, INT64_MAX, &b) || b < a)
			return RANGE_NONE;
	} else if (end = 0, sscanf(s, "-%19[0-9]%n", last, &end) == 1 && end > 0 && !s[end]) {
		if (!str_to_i64(last, 0, INT64_MAX, &b))
			return RANGE_NONE;
		if (b == 0 || size == 0)
			return RANGE_BAD;
		*from = (uint64_t)b < size ? size - (uint64_t)b : 0;
		*to = size - 1;
		return RANGE_OK;
	} else if (end = 0, sscanf(s, "%19[0-9]-%n", first, &end) == 1 && end > 0 && !s[end]) {
		if (!str_to_i64(first, 0, INT64_MAX, &a))
			return RANGE_NONE;
	} else {
		return RANGE_NONE;
	}
	if ((uint64_t)a >= size)
		return RANGE_BAD;
	*from = (uint64_t)a;
	*to = (uint64_t)b < size - 1 ? (uint64_t)b : size - 1;
	return RANGE_OK;
}

static int64_t read_content(char *out, size_t max, uint64_t pos, void *arg)
{
	struct httpd_req *q = arg;
	int64_t n = q->content.read(out, max, q->content_from + pos, q->content.arg);

	return n > 0 ? n : -2;
}

static void content_done(void *arg)
{
	struct httpd_req *q = arg;

	if (q->content.done)
		q->content.done(q->content.arg);
}

void httpd_reply_content(struct httpd_req *q, const struct httpd_content *c)
{
	const char *if_range = httpd_header(q, "If-Range");
	enum range range = RANGE_NONE;
	uint64_t from = 0, to = 0;
	char text[80];
	struct httpd_reader r = {.read = read_content, .done = content_done, .arg = q};

	q->content = *c;
	httpd_reply_header(q, "Accept-Ranges", "bytes");
	if (c->etag)
		httpd_reply_header(q, "ETag", c->etag);
	if (!if_range || str_eq(if_range, c->etag))
		range = parse_range(httpd_header(q, "Range"), c->size, &from, &to);

	switch (range) {
	case RANGE_NONE:
		r.size = (int64_t)c->size;
		respond(q, 200, c->content_type, &r);
		return;
	case RANGE_OK:
		snprintf(text, sizeof(text), "bytes %llu-%llu/%llu", (unsigned long long)from,
			 (unsigned long long)to, (unsigned long long)c->size);
		httpd_reply_header(q, "Content-Range", text);
		q->content_from = from;
		r.size = (int64_t)(to - from + 1);
		respond(q, 206, c->content_type, &r);
		return;
	case RANGE_BAD:
		snprintf(text, sizeof(text), "bytes */%llu", (unsigned long long)c->size);
		httpd_reply_header(q, "Content-Range", text);
		q->reader = r; /* for its done; nothing of it is read */
		respond(q, 416, NULL, NULL);
		return;
	}
}

/* --- for listeners -------------------------------------------------------------------------------- */

static void req_free(struct httpd_req *q)
{
	list_remove(&q->link);
	if (q->reader.done)
		q->reader.done(q->reader.arg);
	for (size_t i = 0; i < q->nheaders; i++) /* tokens and passwords are among them */
		secret_wipe((char *)q->headers[i].value, strlen(q->headers[i].value));
	if (q->body.len)
		secret_wipe(q->body.data, q->body.len);
	buf_done(&q->body);
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
		q->headers[q->nheaders++] = (struct http_header){arena_strdup(a, in->headers[i].name),
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

	if (in->nheaders > HEADERS_MAX) {
		reply_status(q, 431, "too many headers");
		return -1;
	}
	if (httpd_target_parse(&q->target, q->arena, in->target, &e) < 0) {
		reply_status(q, e.code, e.text);
		return -1;
	}
	refused = find_route(q);
	if (refused) {
		reply_status(q, refused, refused == 404 ? "no such path" : "method not allowed here");
		return -1;
	}
	length = httpd_header(q, "Content-Length");
	if (length && (!str_to_i64(length, 0, INT64_MAX, &announced) ||
		       (uint64_t)announced > q->route.max_body)) {
		reply_status(q, 413, "the request's body is too large");
		return -1;
	}
	buf_init(&q->body, q->route.max_body);
	return (int64_t)q->route.max_body;
}

bool httpd_body_data(struct httpd_req *q, const char *data, size_t len)
{
	struct err e;

	if (q->replied)
		return false;
	if (buf_add(&q->body, data, len, &e) == 0)
		return true;
	reply_status(q, 413, "the request's body is too large");
	return false;
}

void httpd_dispatch(struct httpd_req *q)
{
	q->route.fn(q, q->route.arg); /* q may be gone when it returns */
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
