#ifndef TESTS_FUZZ_APISERVER_H
#define TESTS_FUZZ_APISERVER_H

/*
 * apiserver: an API server for the fuzz targets, on the memory store and the simulated loop. All
 * checks are enabled, there is no authentication, and requests reach the server without HTTP.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/httpd/httpd.h"
#include "base/data/json.h"
#include "tests/simulated/loop_sim.h"
#include "base/store/store.h"
#include "kube/apiserver/apiserver.h"

struct fuzz_api {
	struct loop *l;
	struct loop_group *g;
	struct store *s;
	struct httpd *d;
	struct apiserver *a;
};

static inline void fuzz_api_start(struct fuzz_api *f)
{
	static const struct apiserver_spec spec = {
		.controllers = true,
		.graceful_pods = true,
		.checks = true,
		.schemas = true,
	};

	f->l = loop_sim_new(1, 1700000000000);
	f->g = loop_group_new(f->l, "fuzz");
	f->s = store_mem_new(f->g, 100);
	f->d = httpd_new(f->g);
	f->a = apiserver_new(f->g, f->s, &spec);
	apiserver_routes(f->a, f->d);
}

static inline void fuzz_api_stop(struct fuzz_api *f)
{
	httpd_free(f->d);
	apiserver_free(f->a);
	store_free(f->s);
	loop_group_free(f->g);
	loop_free(f->l);
}

/* Answer to one request */
struct fuzz_reply {
	/* Number of answers begun; exactly one is allowed */
	unsigned replies;
	int status;
	bool is_json, ended;
	struct buf body;
	const struct httpd_reader *reader;
};

static inline void fuzz_api_read(struct fuzz_reply *r)
{
	char piece[4096];
	int64_t got;

	while (r->reader && !r->ended &&
	       (got = r->reader->read(piece, sizeof(piece), r->body.len, r->reader->arg)) != 0) {
		r->ended = got < 0;
		assert(got >= -1); /* An answer that has begun must be complete. */
		if (got > 0)
			buf_put(&r->body, piece, (size_t)got);
	}
}

static inline void fuzz_api_respond(void *conn, int status, const struct http_header *h, size_t n,
				    const struct httpd_reader *body)
{
	struct fuzz_reply *r = conn;

	r->replies++;
	r->status = status;
	r->reader = body;
	r->ended = !body;
	for (size_t i = 0; i < n; i++)
		if (!strcasecmp(h[i].name, "Content-Type"))
			r->is_json = !strncmp(h[i].value, "application/json", 16);
}

static inline void fuzz_api_nothing(void *conn)
{
	(void)conn;
}

/* Sends a request, waits, and checks what must hold for every answer. type and accept may be
 * NULL. Returns the HTTP status. If out is not NULL, *out is the body, or NULL if the body is
 * not JSON. */
static inline int fuzz_api_ask(struct fuzz_api *f, const char *method, const char *target,
			       const char *type, const char *accept, const char *body, size_t len,
			       json_t **out)
{
	static const struct httpd_listener_ops ops = {
		.respond = fuzz_api_respond, .wake = fuzz_api_nothing, .abort = fuzz_api_nothing};
	static const struct httpd_identity who = {.address = "fuzz"};
	struct http_header headers[2];
	struct fuzz_reply r = {0};
	struct httpd_incoming in = {
		.method = method,
		.target = target,
		.headers = headers,
		.identity = &who,
		.ops = &ops,
		.conn = &r,
	};
	struct httpd_req *q;
	struct err e;

	if (type)
		headers[in.nheaders++] = (struct http_header){"Content-Type", type};
	if (accept)
		headers[in.nheaders++] = (struct http_header){"Accept", accept};
	buf_init(&r.body, (size_t)64 << 20);
	if (httpd_begin(f->d, &in, &q) >= 0 && httpd_body_data(q, body, len))
		httpd_dispatch(q);
	for (int i = 0; i < 5 && !r.ended; i++) {
		loop_sim_run_until(f->l, loop_now(f->l) + 1000);
		fuzz_api_read(&r);
	}
	assert(r.replies == 1 && r.status >= 200 && r.status < 600 && r.status != 500);
	if (r.ended)
		httpd_finished(q);
	else
		httpd_gone(q);

	/* The answer to a watch is no single JSON value, because it has one line for each event. */
	OWN_JSON value =
		r.is_json && r.ended && r.body.len ? json_parse(r.body.data, r.body.len, &e) : NULL;

	assert(value || !r.is_json || !r.body.len || strstr(target, "watch"));
	buf_done(&r.body);
	if (out)
		*out = json_incref(value);
	return r.status;
}

static inline bool fuzz_api_check_one(const struct store_entry *entry, void *arg)
{
	struct err e;
	OWN_JSON obj = json_parse(entry->value, entry->value_len, &e);
	const char *name = json_str_at(obj, "metadata", "name"), *last = strrchr(entry->key, '/');

	(void)arg;
	assert(obj && name && last && !strcmp(last + 1, name));
	assert(json_str_at(obj, "metadata", "uid") && json_str_at(obj, "apiVersion") &&
	       json_str_at(obj, "kind") && json_str_at(obj, "metadata", "resourceVersion"));
	return true;
}

/* Asserts that every stored object can be read, and matches its key. */
static inline void fuzz_api_check(struct fuzz_api *f)
{
	store_list(f->s, "", NULL, 0, fuzz_api_check_one, NULL);
}

#endif
