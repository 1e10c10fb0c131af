#include "base/httpd/httpd_impl.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"

/* Tests: tests/unit/base/httpd/test_http_mem.c, tests/unit/base/http/test_http_curl.c */

void httpd_reply_header(struct httpd_req *q, const char *name, const char *value)
{
	char *copy = arena_strdup(q->arena, value);

	assert(!q->replied && *name && !name[strcspn(name, ":\r\n\t ")]);
	/* Replace control characters, because foreign text with a line break could begin a header
	 * of its own. */
	for (char *s = copy; *s; s++)
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

/* Calls the handler's reader for no more than the announced size. Breaks the connection if the
 * reader ends before that size, or returns more bytes than max. */
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
		q->guarded = (struct httpd_reader){
			.read = read_guarded, .arg = q, .size = r->size, .text = q->text};
	}
	q->ops->respond(q->conn, status, q->reply_headers, q->nreply_headers,
			r ? &q->guarded : NULL);
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

void httpd_reply(struct httpd_req *q, int status, const char *content_type, const void *body,
		 size_t len)
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
		[ERR_NONE] = 500,      [ERR_INVALID] = 400,  [ERR_DENIED] = 403,
		[ERR_NOT_FOUND] = 404, [ERR_CONFLICT] = 409, [ERR_UNSUPPORTED] = 501,
		[ERR_PROTOCOL] = 502,  [ERR_TIMEOUT] = 504,  [ERR_UNAVAILABLE] = 503,
		[ERR_CAPACITY] = 503,  [ERR_QUOTA] = 429,    [ERR_PRICE] = 409,
	};

	/* Use the status in the error's code if it fits the kind: it comes from an HTTP reply and
	 * is more exact than the kind. */
	if (e->code >= 400 && e->code <= 599 && err_kind_of_http(e->code) == e->kind)
		return e->code;
	return statuses[e->kind];
}

void httpd_reply_status(struct httpd_req *q, int status, const char *text)
{
	OWN_JSON j = json_object();
	json_t *value = json_string(text);
	char *body;

	json_object_set_new(j, "error",
			    value ? value : json_string("an error with unprintable text"));
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
	httpd_reply_status(q, status_of(e), e->text);
}

void httpd_wake(struct httpd_req *q)
{
	if (q->replied)
		q->ops->wake(q->conn);
}

/* --- ranges (RFC 9110 section 14) ------------------------------------------------------------- */

enum range { RANGE_NONE, RANGE_OK, RANGE_BAD };

/* Parses one range in bytes into *from and *to. Returns RANGE_NONE for several ranges or another
 * unit: RFC 9110 allows to ignore such a Range header and send the whole body. */
static enum range parse_range(const char *s, uint64_t size, uint64_t *from, uint64_t *to)
{
	char first[20] = "", last[20] = "";
	int64_t a = 0, b = INT64_MAX;
	int end = 0;

	if (!s || strncasecmp(s, "bytes=", 6) != 0)
		return RANGE_NONE;
	s += 6;
	if (sscanf(s, "%19[0-9]-%19[0-9]%n", first, last, &end) == 2 && end > 0 && !s[end]) {
		if (!str_to_i64(first, 0, INT64_MAX, &a) || !str_to_i64(last, 0, INT64_MAX, &b) ||
		    b < a)
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
		/* Set the reader only so that its done() is called; a 416 has no body to read. */
		q->reader = r;
		respond(q, 416, NULL, NULL);
		return;
	}
}
