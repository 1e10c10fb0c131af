#include "tests/unit/testing.h"

#include "tests/unit/kube/fake_api.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/http/http_transport.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/simulated/loop_sim.h"

struct fake_watch {
	struct fake_api *f;
	struct httpd_req *q;
	struct buf out;
	/* State of the stream. 0: open; -1: ended properly; -2: connection broken. */
	int64_t end;
};

static void note(struct fake_api *f, struct httpd_req *q)
{
	struct secret *token = httpd_bearer(q);
	struct err e;
	const char *body;
	size_t len;
	int n;

	str_copy(f->path, sizeof(f->path), httpd_path(q));
	str_copy(f->content_type, sizeof(f->content_type),
		 str_or(httpd_header(q, "Content-Type"), ""));
	str_copy(f->agent, sizeof(f->agent), str_or(httpd_header(q, "User-Agent"), ""));
	str_copy(f->bearer, sizeof(f->bearer), token ? secret_expose(token) : "");
	secret_free(token);
	body = httpd_body(q, &len);
	json_decref(f->body);
	f->body = len ? json_parse(body, len, &e) : NULL;
	f->requests++;
	n = snprintf(f->log + f->log_len, sizeof(f->log) - f->log_len, "%s %s\n", httpd_method(q),
		     f->path);
	assert_true(n > 0 && (size_t)n < sizeof(f->log) - f->log_len);
	f->log_len += (size_t)n;
}

size_t fake_api_count(const struct fake_api *f, const char *line)
{
	size_t n = 0, len = strlen(line);

	for (const char *p = f->log; *p; p = strchr(p, '\n') + 1)
		n += !strncmp(p, line, len) && p[len] == '\n';
	return n;
}

void fake_api_status(struct httpd_req *q, int code, const char *reason, const char *message)
{
	OWN_JSON j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}", "kind", "Status", "apiVersion",
			       "v1", "status", code < 400 ? "Success" : "Failure", "reason", reason,
			       "message", message, "code", code);
	char *text = json_text(j);

	httpd_reply_json(q, code, text);
	free(text);
}

/* --- the store -------------------------------------------------------------------------------- */

static void stamp(struct fake_api *f, json_t *object)
{
	char rv[24];

	snprintf(rv, sizeof(rv), "%lld", (long long)++f->rv);
	json_object_set_new(json_object_get(object, "metadata"), "resourceVersion",
			    json_string(rv));
}

void fake_api_put(struct fake_api *f, const char *path, const char *json)
{
	struct err e;
	json_t *j = json_parse(json, strlen(json), &e);

	assert_non_null(j);
	stamp(f, j);
	json_object_set_new(f->objects, path, j);
}

json_t *fake_api_get(struct fake_api *f, const char *path)
{
	return json_object_get(f->objects, path);
}

static void reply_object(struct httpd_req *q, int status, const json_t *j)
{
	char *text = json_text(j);

	httpd_reply_json(q, status, text);
	free(text);
}

static void store_post(struct fake_api *f, struct httpd_req *q)
{
	const char *name = json_str_at(f->body, "metadata", "name");
	char *path = mem_printf("%s/%s", f->path, str_or(name, ""));
	json_t *j;

	if (!name) {
		fake_api_status(q, 422, "Invalid", "metadata.name: Required value");
	} else if (json_object_get(f->objects, path)) {
		fake_api_status(q, 409, "AlreadyExists", "it exists");
	} else {
		j = json_deep_copy(f->body);
		stamp(f, j);
		json_object_set_new(json_object_get(j, "metadata"), "uid", json_string(path));
		json_object_set_new(f->objects, path, j);
		reply_object(q, 201, j);
	}
	free(path);
}

static void store_serve(struct fake_api *f, struct httpd_req *q)
{
	json_t *old = json_object_get(f->objects, f->path);
	const char *want = json_str_at(f->body, "metadata", "resourceVersion");
	json_t *fresh;

	if (!strcmp(httpd_method(q), "POST")) {
		store_post(f, q);
	} else if (!old) {
		fake_api_status(q, 404, "NotFound", "no such object");
	} else if (!strcmp(httpd_method(q), "GET")) {
		reply_object(q, 200, old);
	} else if (!strcmp(httpd_method(q), "PATCH")) {
		if (want && !str_eq(want, json_str_at(old, "metadata", "resourceVersion"))) {
			fake_api_status(q, 409, "Conflict", "the object has been modified");
			return;
		}
		fresh = json_merge_apply(old, f->body);
		stamp(f, fresh);
		json_object_set_new(f->objects, f->path, fresh);
		reply_object(q, 200, fresh);
	} else {
		json_object_del(f->objects, f->path);
		fake_api_status(q, 200, "", "deleted");
	}
}

static void on_request(struct httpd_req *q, void *arg)
{
	struct fake_api *f = arg;

	note(f, q);
	if (!f->serve || !f->serve(f, q))
		store_serve(f, q);
}

/* --- watches ---------------------------------------------------------------------------------- */

static int64_t watch_read(char *out, size_t max, uint64_t pos, void *arg)
{
	struct fake_watch *w = arg;
	size_t n = w->out.len < max ? w->out.len : max;

	(void)pos;
	if (!n)
		return w->end;
	memcpy(out, w->out.data, n);
	buf_drop(&w->out, n);
	return (int64_t)n;
}

static void watch_done(void *arg)
{
	struct fake_watch *w = arg;

	if (w->f->watch == w)
		w->f->watch = NULL;
	buf_done(&w->out);
	free(w);
}

struct fake_watch *fake_api_watch(struct fake_api *f, struct httpd_req *q)
{
	struct fake_watch *w = mem_new(struct fake_watch);
	struct httpd_reader r = {.read = watch_read, .done = watch_done, .arg = w, .size = -1};

	w->f = f;
	w->q = q;
	buf_init(&w->out, (size_t)64 << 20);
	f->watch = w;
	f->watches++;
	httpd_reply_stream(q, 200, "application/json", &r);
	return w;
}

void fake_watch_send(struct fake_watch *w, const char *text)
{
	assert_non_null(w);
	buf_puts(&w->out, text);
	httpd_wake(w->q);
}

static void watch_over(struct fake_watch *w, int64_t how)
{
	assert_non_null(w);
	w->end = how;
	if (w->f->watch == w)
		w->f->watch = NULL;
	httpd_wake(w->q);
}

void fake_watch_end(struct fake_watch *w)
{
	watch_over(w, -1);
}

void fake_watch_break(struct fake_watch *w)
{
	watch_over(w, -2);
}

/* --- life ------------------------------------------------------------------------------------- */

struct kube_client *fake_api_client(struct fake_api *f, struct loop_group *g, struct http *h,
				    const struct kube_client_spec *spec)
{
	struct kube_client_spec s = spec ? *spec : (struct kube_client_spec){0};
	struct kube_config *plain = mem_new(struct kube_config);
	struct kube_client *c;
	struct err e;

	(void)f;
	plain->server = mem_strdup(FAKE_API_ORIGIN);
	plain->token = secret_from_str("first");
	if (!s.config)
		s.config = plain;
	if (!s.name)
		s.name = "host";
	c = kube_client_new(g, h, &s, &e);
	kube_config_free(plain);
	if (!c)
		fail_msg("%s", e.text);
	return c;
}

/* A transport that records the buffer sizes of watches. */
struct spy {
	struct http_transport base;
	struct http_transport *below;
	struct fake_api *f;
};

static int spy_start(struct http_transport *t, struct http_exchange *x, struct err *e)
{
	struct spy *s = (struct spy *)t;

	if (strstr(x->url, "watch=true"))
		s->f->watch_buffer = x->piece_bytes;
	return s->below->ops->start(s->below, x, e);
}

static void spy_want(struct http_transport *t, struct http_exchange *x)
{
	struct spy *s = (struct spy *)t;

	s->below->ops->want(s->below, x);
}

static void spy_cancel(struct http_transport *t, struct http_exchange *x)
{
	struct spy *s = (struct spy *)t;

	s->below->ops->cancel(s->below, x);
}

static void spy_free(struct http_transport *t)
{
	struct spy *s = (struct spy *)t;

	s->below->ops->free(s->below);
	free(s);
}

static struct http_transport *spy_new(struct fake_api *f, struct http_transport *below)
{
	static const struct http_transport_ops ops = {spy_start, spy_want, spy_cancel, spy_free};
	struct spy *s = mem_new(struct spy);

	s->base.ops = &ops;
	s->below = below;
	s->f = f;
	return &s->base;
}

void fake_api_start(struct fake_api *f, const struct kube_client_spec *spec)
{
	*f = (struct fake_api){.loop = loop_sim_new(7, 1764000000000)};
	f->server_g = loop_group_new(f->loop, "server");
	f->client_g = loop_group_new(f->loop, "client");
	f->net = http_mem_net_new(f->loop);
	f->d = httpd_new(f->server_g);
	httpd_route(f->d, "*", "/**", (size_t)4 << 20, on_request, f);
	http_mem_serve(f->net, FAKE_API_ORIGIN, f->d);
	f->http = http_new(
		f->client_g,
		spy_new(f, http_mem_transport(f->net, f->client_g, "10.0.0.1", NULL, NULL)), 0);
	f->objects = json_object();
	f->rv = 100;
	f->c = fake_api_client(f, f->client_g, f->http, spec);
}

void fake_api_stop(struct fake_api *f)
{
	kube_client_free(f->c);
	http_free(f->http);
	httpd_free(f->d);
	http_mem_net_free(f->net);
	loop_group_free(f->client_g);
	loop_group_free(f->server_g);
	loop_free(f->loop);
	json_decref(f->body);
	json_decref(f->objects);
}

void fake_api_run(struct fake_api *f, int64_t ms)
{
	loop_sim_run_until(f->loop, loop_now(f->loop) + ms);
}

bool fake_api_until(struct fake_api *f, bool (*cond)(void *arg), void *arg, int64_t ms)
{
	return loop_sim_run_cond(f->loop, cond, arg, loop_now(f->loop) + ms);
}
