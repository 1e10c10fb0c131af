#include "tests/unit/testing.h"

#include "tests/unit/base/http/http_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/crypto.h"
#include "base/http/http_curl.h"
#include "tests/simulated/loop_sim.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"

#define GUARD_MS 20000

static void on_guard(void *arg)
{
	struct rig *r = arg;

	r->late = true;
	loop_stop(r->loop);
}

static bool check(void *arg)
{
	struct rig *r = arg;

	return r->late || (r->until && r->until(r->until_arg));
}

/* The loops have no common "run until", so a timer checks the condition every millisecond. */
struct look {
	struct rig *r;
	struct loop_timer timer;
};

static void on_look(void *arg)
{
	struct look *l = arg;

	if (check(l->r))
		loop_stop(l->r->loop);
	else
		loop_timer_start(&l->timer, 1);
}

void rig_until(struct rig *r, bool (*cond)(void *arg), void *arg)
{
	struct look look = {.r = r};
	struct loop_group *g = loop_group_new(r->loop, "look");

	r->until = cond;
	r->until_arg = arg;
	r->late = false;
	loop_timer_init(&look.timer, g, on_look, &look);
	loop_timer_init(&r->guard, g, on_guard, r);
	loop_timer_start(&look.timer, 0);
	loop_timer_start(&r->guard, GUARD_MS);
	loop_run(r->loop);
	loop_group_free(g);
	if (r->late)
		fail_msg("what the test waits for did not happen");
}

struct clock {
	struct loop *loop;
	int64_t at;
};

static bool is_time(void *arg)
{
	struct clock *c = arg;

	return loop_now(c->loop) >= c->at;
}

void rig_run_ms(struct rig *r, int64_t ms)
{
	struct clock c = {r->loop, loop_now(r->loop) + ms};

	rig_until(r, is_time, &c);
}

bool rig_served(void *arg)
{
	struct rig *r = arg;

	return r->served > 0;
}

bool rig_gone(void *arg)
{
	struct rig *r = arg;

	return r->gone > 0;
}

bool got_piece(void *arg)
{
	struct got *g = arg;

	return g->pieces > 0;
}

static bool is_done(void *arg)
{
	struct got *g = arg;

	return g->done > 0;
}

void rig_done(struct rig *r, struct got *g)
{
	rig_until(r, is_done, g);
	assert_int_equal(g->done, 1);
}

/* --- results at the client -------------------------------------------------------------------- */

void got_done(const struct http_reply *reply, const struct err *e, void *arg)
{
	struct got *g = arg;
	const char *x;

	g->done++;
	g->req = NULL;
	g->failed = e != NULL;
	if (e) {
		assert_null(reply);
		g->err = *e;
		return;
	}
	g->status = reply->status;
	g->retry_after_ms = reply->retry_after_ms;
	g->len = reply->body_len;
	memcpy(g->body, reply->body, g->len < sizeof(g->body) ? g->len : sizeof(g->body) - 1);
	x = http_reply_header(reply, "x-test");
	str_copy(g->header, sizeof(g->header), x ? x : "");
}

int got_data(const char *data, size_t len, void *arg, struct err *e)
{
	struct got *g = arg;

	(void)data, (void)e;
	g->pieces++;
	g->streamed += len;
	return 0;
}

struct http_req *rig_call(struct rig *r, struct got *g, struct http_call c)
{
	memset(g, 0, sizeof(*g));
	g->rig = r;
	if (!c.done)
		c.done = got_done;
	c.arg = g;
	g->req = http_start(r->p, &c);
	assert_int_equal(g->done, 0);
	return g->req;
}

void rig_get(struct rig *r, struct got *g, const char *path)
{
	rig_call(r, g, (struct http_call){.path = path});
	rig_done(r, g);
}

/* --- the server ------------------------------------------------------------------------------- */

static void on_gone(void *arg)
{
	struct rig *r = arg;

	r->gone++;
	r->waiting = NULL;
}

static void serve_hello(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;

	r->served++;
	str_format(r->seen, sizeof(r->seen), "%s %s [%s] q=%s ua=%s", httpd_method(q),
		   httpd_path(q), httpd_segment(q, 0), str_or(httpd_query(q, "q"), "-"),
		   httpd_header(q, "user-agent") ? "yes" : "no");
	httpd_reply_header(q, "X-Test", "a value");
	httpd_reply(q, 200, "text/plain", r->seen, strlen(r->seen));
}

static void serve_echo(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;
	size_t len;
	const char *body = httpd_body(q, &len);

	r->served++;
	str_copy(r->seen, sizeof(r->seen), str_or(httpd_header(q, "content-type"), ""));
	httpd_reply(q, 200, "application/json", body, len);
}

static void serve_headers(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;
	struct secret *bearer = httpd_bearer(q);

	str_format(
		r->seen, sizeof(r->seen), "%s|%s|%s", str_or(httpd_header(q, "authorization"), ""),
		str_or(httpd_header(q, "x-auth-token"), ""), bearer ? secret_expose(bearer) : "");
	secret_free(bearer);
	httpd_reply_header(q, "X-Test", "one\r\nX-Test: two");
	httpd_reply(q, 204, NULL, NULL, 0);
}

static void serve_who(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;
	const struct httpd_identity *i = httpd_identity(q);

	str_format(r->seen, sizeof(r->seen), "%s/%s", str_or(i->cert_subject_cn, "-"),
		   str_or(i->cert_subject_o, "-"));
	httpd_reply(q, 204, NULL, NULL, 0);
}

static int64_t read_zeros(char *out, size_t max, uint64_t pos, void *arg)
{
	struct rig *r = arg;

	(void)pos;
	memset(out, '0', max);
	r->bytes_read += max;
	return (int64_t)max;
}

static int64_t read_once(char *out, size_t max, uint64_t pos, void *arg)
{
	struct rig *r = arg;

	(void)max;
	if (pos == 0) {
		memcpy(out, "first", 5);
		r->bytes_read += 5;
		return 5;
	}
	if (pos == 5 && r->inside == 77) { /* httpd_wake() was called */
		memcpy(out, "second", 6);
		return 6;
	}
	return pos == 5 ? 0 : -1;
}

static int64_t read_broken(char *out, size_t max, uint64_t pos, void *arg)
{
	(void)arg;
	if (pos >= 1000)
		return -2;
	max = max < 100 ? max : 100;
	memset(out, 'x', max);
	return (int64_t)max;
}

static void reader_done(void *arg)
{
	struct rig *r = arg;

	r->readers_done++;
}

static void serve_zeros(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;
	struct httpd_reader reader = {
		.read = read_zeros, .done = reader_done, .arg = r, .size = -1};
	const char *size = httpd_query(q, "size");

	r->served++;
	httpd_on_gone(q, on_gone, r);
	if (size)
		assert_true(str_to_i64(size, 0, INT64_MAX, &reader.size));
	httpd_reply_stream(q, 200, "text/plain", &reader);
}

static void serve_stall(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;
	struct httpd_reader reader = {.read = read_once, .done = reader_done, .arg = r, .size = -1};

	r->served++;
	r->waiting = q;
	httpd_on_gone(q, on_gone, r);
	httpd_reply_stream(q, 200, "text/plain", &reader);
}

static void serve_break(struct httpd_req *q, void *arg)
{
	struct httpd_reader reader = {
		.read = read_broken, .done = reader_done, .arg = arg, .size = -1};

	httpd_reply_stream(q, 200, "text/plain", &reader);
}

static void serve_wait(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;

	r->served++;
	r->waiting = q;
	httpd_on_gone(q, on_gone, r);
}

struct slow {
	struct rig *r;
	struct httpd_req *q;
	struct loop_timer timer;
};

static void on_slow(void *arg)
{
	struct slow *s = arg;

	s->r->inside--;
	/* removes the callback, since the client may disconnect while the reply is sent */
	httpd_on_gone(s->q, NULL, NULL);
	httpd_reply(s->q, 200, "text/plain", "slow", 4);
	free(s);
}

/* The client disconnected first, so no reply is needed. */
static void on_slow_gone(void *arg)
{
	struct slow *s = arg;

	s->r->inside--;
	loop_timer_stop(&s->timer);
	free(s);
}

static void serve_slow(struct httpd_req *q, void *arg)
{
	struct slow *s = mem_new(struct slow);

	s->r = arg;
	s->q = q;
	if (++s->r->inside > s->r->most_inside)
		s->r->most_inside = s->r->inside;
	s->r->served++;
	loop_timer_init(&s->timer, s->r->server_g, on_slow, s);
	loop_timer_start(&s->timer, 5);
	httpd_on_gone(q, on_slow_gone, s);
}

static void serve_busy(struct httpd_req *q, void *arg)
{
	const char *when = httpd_query(q, "when");
	struct err e;

	(void)arg;
	if (when) {
		httpd_reply_header(q, "Retry-After", when);
		httpd_reply(q, 503, "text/plain", "busy", 4);
		return;
	}
	err_note(&e, ERR_UNAVAILABLE, 429, "too many, \"please\" wait");
	e.retry_after_ms = 6500;
	httpd_reply_err(q, &e);
}

static int64_t read_letters(char *out, size_t max, uint64_t pos, void *arg)
{
	(void)arg;
	for (size_t i = 0; i < max; i++)
		out[i] = (char)('a' + (pos + i) % 26);
	return (int64_t)max;
}

static void serve_letters(struct httpd_req *q, void *arg)
{
	struct httpd_content c = {read_letters, reader_done, arg, 26, "text/plain", "\"v1\""};

	httpd_reply_content(q, &c);
}

static void serve_end(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;

	(void)q;
	httpd_free(r->d);
	r->d = NULL;
}

static void add_routes(struct rig *r)
{
	httpd_route(r->d, "GET", "/hello/{}", 0, serve_hello, r);
	httpd_route(r->d, "POST", "/echo", 4 << 20, serve_echo, r);
	httpd_route(r->d, "PUT", "/small", 10, serve_echo, r);
	httpd_route(r->d, "GET", "/headers", 0, serve_headers, r);
	httpd_route(r->d, "GET", "/who", 0, serve_who, r);
	httpd_route(r->d, "GET", "/zeros", 0, serve_zeros, r);
	httpd_route(r->d, "GET", "/stall", 0, serve_stall, r);
	httpd_route(r->d, "GET", "/break", 0, serve_break, r);
	httpd_route(r->d, "GET", "/wait", 0, serve_wait, r);
	httpd_route(r->d, "GET", "/slow", 0, serve_slow, r);
	httpd_route(r->d, "GET", "/busy", 0, serve_busy, r);
	httpd_route(r->d, "GET", "/letters", 0, serve_letters, r);
	httpd_route(r->d, "GET", "/end", 0, serve_end, r);
}

/* --- setting up ------------------------------------------------------------------------------- */

static void start_real(struct rig *r)
{
	static const char *const names[] = {"localhost", "127.0.0.1", NULL};
	static const char *const no_names[] = {"nobody.example", NULL};
	uint8_t digest[CRYPTO_SHA256];
	int64_t now;
	struct err e;

	r->loop = loop_uv_new();
	now = loop_wall(r->loop);
	r->server_g = loop_group_new(r->loop, "server");
	r->d = httpd_new(r->server_g);
	assert_ok(crypto_ca_new("test CA", now, 2, &r->ca_pem, &r->ca_key, &e), &e);
	assert_ok(crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = r->ca_pem,
							       .ca_key = r->ca_key,
							       .cn = "server",
							       .names = names,
							       .wall_ms = now,
							       .days = 2},
				    &r->cert_pem, &r->key, &e),
		  &e);
	assert_ok(crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = r->ca_pem,
							       .ca_key = r->ca_key,
							       .cn = "tester",
							       .names = no_names,
							       .wall_ms = now,
							       .days = 2},
				    &r->client_pem, &r->client_key, &e),
		  &e);
	assert_ok(crypto_cert_sha256(r->cert_pem, digest, &e), &e);
	str_hex(r->pin, digest, sizeof(digest));
	r->mhd = httpd_mhd_new(r->d,
			       &(struct httpd_mhd_spec){
				       .address = "127.0.0.1:0",
				       .cert_pem = r->cert_pem,
				       .key_pem = r->key,
				       .client_ca_pem = r->ca_pem,
			       },
			       &e);
	if (!r->mhd)
		fail_msg("%s", e.text);
	str_format(r->url, sizeof(r->url), "https://localhost:%u", httpd_mhd_port(r->mhd));
}

static void start_sim(struct rig *r)
{
	memset(r->pin, 'a', 64);
	r->loop = loop_sim_new(1, 1764583200000);
	r->server_g = loop_group_new(r->loop, "server");
	r->d = httpd_new(r->server_g);
	r->net = http_mem_net_new(r->loop);
	str_copy(r->url, sizeof(r->url), "https://server");
	http_mem_serve(r->net, r->url, r->d);
	http_mem_pin(r->net, r->url, r->pin);
}

struct http *rig_client(struct rig *r, unsigned max_in_flight)
{
	struct http_transport *t =
		r->real ? http_curl_new(r->client_g, 100)
			: http_mem_transport(r->net, r->client_g, "client", "tester", NULL);

	return http_new(r->client_g, t, max_in_flight);
}

struct http_peer_spec rig_spec(const struct rig *r)
{
	return (struct http_peer_spec){
		.base_url = r->url,
		.ca_pem = r->ca_pem,
		.client_cert_pem = r->client_pem,
		.client_key_pem = r->client_key,
	};
}

void rig_start(struct rig *r, bool real)
{
	struct http_peer_spec spec;
	struct err e;

	memset(r, 0, sizeof(*r));
	r->real = real;
	if (real)
		start_real(r);
	else
		start_sim(r);
	add_routes(r);
	r->client_g = loop_group_new(r->loop, "client");
	r->h = rig_client(r, 0);
	spec = rig_spec(r);
	r->p = http_peer_new(r->h, &spec, &e);
	if (!r->p)
		fail_msg("%s", e.text);
}

void rig_stop(struct rig *r)
{
	http_free(r->h);
	http_peer_free(r->p);
	http_mem_net_free(r->net);
	httpd_free(r->d);
	httpd_mhd_free(r->mhd);
	loop_group_free(r->client_g);
	loop_group_free(r->server_g);
	loop_free(r->loop);
	free(r->ca_pem);
	free(r->cert_pem);
	free(r->client_pem);
	secret_free(r->ca_key);
	secret_free(r->key);
	secret_free(r->client_key);
}
