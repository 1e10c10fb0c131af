#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/httpd/httpd.h"
#include "base/httpd/httpd_target.h"
#include "tests/simulated/loop_sim.h"
#include "base/str.h"

/* --- targets ---------------------------------------------------------------------------------- */

static void a_target_is_decoded_once(void **state)
{
	static const char *const cases[][2] = {
		{"/", "/"},
		{"/a", "/a"},
		{"/a/", "/a"},
		{"/a/b%20c?x", "/a/b c"},
		{"/%2541", "/%41"},
		{"/a+b", "/a+b"},
		{"/.../..a/.b", "/.../..a/.b"},
		{"/%e2%82%ac", "/\xe2\x82\xac"},
		{"/a:b@c,d;e", "/a:b@c,d;e"},
		{"/?a/../b", "/"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct arena *a = arena_new();
		struct httpd_target t;
		struct err e;

		if (httpd_target_parse(&t, a, cases[i][0], &e) < 0)
			fail_msg("%s: %s", cases[i][0], e.text);
		assert_string_equal(t.path, cases[i][1]);
		arena_free(a);
	}
}

static void a_dangerous_target_is_refused(void **state)
{
	static const char *const targets[] = {
		"",	   "a",		"*",	      "http://host/a", "//",	  "//a",
		"/a//b",   "/a//",	"/..",	      "/../a",	       "/a/..",	  "/a/../b",
		"/./a",	   "/%2e%2e/a", "/%2E",	      "/.%2e/x",       "/a%2fb",  "/a%2Fb",
		"/a%00b",  "/a%",	"/a%4",	      "/a%zz",	       "/a%0ab",  "/a%7f",
		"/%ff",	   "/%c0%af",	"/%ed%a0%80", "/%f4%90%80%80", "/%e2%82", "/a\x01",
		"/?a=%00", "/?a=%",	"/?%zz=1",    "/?a=%ff",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
		struct arena *a = arena_new();
		struct httpd_target t;
		struct err e;

		if (httpd_target_parse(&t, a, targets[i], &e) == 0)
			fail_msg("%s was taken for %s", targets[i], t.path);
		assert_int_equal(e.code, 400);
		arena_free(a);
	}
}

static void a_target_has_limits(void **state)
{
	char *target = malloc(HTTPD_TARGET_MAX + 10);
	struct arena *a = arena_new();
	struct httpd_target t;
	struct err e;

	(void)state;
	memset(target, 'a', HTTPD_TARGET_MAX + 1);
	target[0] = '/';
	target[HTTPD_TARGET_MAX] = '\0';
	assert_int_equal(httpd_target_parse(&t, a, target, &e), 0);
	target[HTTPD_TARGET_MAX] = 'a';
	target[HTTPD_TARGET_MAX + 1] = '\0';
	assert_int_equal(httpd_target_parse(&t, a, target, &e), -1);
	assert_int_equal(e.code, 414);
	for (int i = 0; i <= HTTPD_SEGMENTS_MAX; i++)
		memcpy(target + 2 * i, "/a", 3);
	assert_int_equal(httpd_target_parse(&t, a, target, &e), -1);
	assert_int_equal(e.code, 414);
	target[2 * HTTPD_SEGMENTS_MAX] = '\0';
	assert_int_equal(httpd_target_parse(&t, a, target, &e), 0);
	strcpy(target, "/?");
	for (int i = 0; i <= HTTPD_PARAMS_MAX; i++)
		strcat(target, "a&");
	assert_int_equal(httpd_target_parse(&t, a, target, &e), -1);
	target[2 + 2 * HTTPD_PARAMS_MAX] = '\0';
	assert_int_equal(httpd_target_parse(&t, a, target, &e), 0);
	arena_free(a);
	free(target);
}

static void a_query_is_split_and_decoded(void **state)
{
	struct arena *a = arena_new();
	struct httpd_target t;
	struct err e;

	(void)state;
	assert_int_equal(httpd_target_parse(&t, a, "/?a=1&&b&c=x%3dy+z%2B%0A&d=e=f&=g", &e), 0);
	assert_int_equal(t.nparams, 5);
	assert_string_equal(t.params[0].value, "1");
	assert_string_equal(t.params[1].name, "b");
	assert_string_equal(t.params[1].value, "");
	assert_string_equal(t.params[2].value, "x=y z+\n");
	assert_string_equal(t.params[3].value, "e=f");
	assert_string_equal(t.params[4].name, "");
	arena_free(a);
}

/* --- a listener of the test ------------------------------------------------------------------- */

struct fake {
	int status;
	char headers[512], body[512];
	unsigned aborted;
};

static void fake_respond(void *conn, int status, const struct http_header *h, size_t n,
			 const struct httpd_reader *body)
{
	struct fake *f = conn;
	int64_t got;
	size_t at = 0;

	assert_int_equal(f->status, 0);
	f->status = status;
	for (size_t i = 0; i < n; i++) {
		size_t used = strlen(f->headers);

		snprintf(f->headers + used, sizeof(f->headers) - used, "%s: %s\n", h[i].name,
			 h[i].value);
	}
	while (body && (got = body->read(f->body + at, 7, at, body->arg)) > 0)
		at += (size_t)got;
	f->body[at] = '\0';
}

static void fake_wake(void *conn)
{
	(void)conn;
}

static void fake_abort(void *conn)
{
	struct fake *f = conn;

	f->aborted++;
}

static const struct httpd_listener_ops fake_ops = {fake_respond, fake_wake, fake_abort};

/* True: the next caller's address is exhausted. */
static bool exhausted;

static int64_t ask(struct httpd *d, struct fake *f, const char *method, const char *target,
		   const char *length, struct httpd_req **q)
{
	const struct httpd_identity who = {.address = "test"};
	const struct http_header header = {"content-length", length};
	struct httpd_incoming in = {
		.method = method,
		.target = target,
		.headers = &header,
		.nheaders = length ? 1 : 0,
		.identity = &who,
		.ops = &fake_ops,
		.conn = f,
	};
	int64_t rc;

	memset(f, 0, sizeof(*f));
	in.exhausted = exhausted;
	rc = httpd_begin(d, &in, q);
	if (rc >= 0)
		httpd_dispatch(*q);
	return rc;
}

static void serve_name(struct httpd_req *q, void *arg)
{
	char text[256];
	const char *segment;
	size_t n = 0;

	snprintf(text, sizeof(text), "%s", (const char *)arg);
	while ((segment = httpd_segment(q, n++))) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, " [%s]", segment);
	}
	httpd_reply(q, 200, "text/plain", text, strlen(text));
}

static void the_first_route_that_matches_serves(void **state)
{
	static struct {
		const char *method, *pattern;
		char name[8];
	} routes[] = {
		{"GET", "/a", "a"},
		{"POST", "/a", "post a"},
		{"GET", "/a/{}", "a one"},
		{"GET", "/a/{}/b/{}", "a two"},
		{"GET", "/files/{}/**", "files"},
		{"*", "/only/any", "any"},
		{"GET", "/slash/", "slash"},
		{"GET", "/**", "rest"},
		{"GET", "/a", "never"},
	};
	static const struct {
		const char *method, *target;
		int status;
		const char *body;
	} cases[] = {
		{"GET", "/", 200, "rest []"},
		{"GET", "/a", 200, "a"},
		{"GET", "/a/", 200, "a"},
		{"HEAD", "/a", 200, "a"},
		{"POST", "/a", 200, "post a"},
		{"GET", "/a/x", 200, "a one [x]"},
		{"GET", "/a/x/b/y", 200, "a two [x] [y]"},
		{"GET", "/files/x/1/2/3", 200, "files [x] [1/2/3]"},
		{"GET", "/files/x", 200, "files [x] []"},
		{"GET", "/slash", 200, "slash"},
		{"GET", "/z/z", 200, "rest [z/z]"},
		{"PUT", "/z/z", 405, "{\"error\":\"method not allowed here\"}"},
		{"PUT", "/only/any", 200, "any"},
		{"PUT", "/..", 400, "{\"error\":\"bad path\"}"},
	};
	struct loop *l = loop_sim_new(1, 0);
	struct loop_group *g = loop_group_new(l, "test");
	struct httpd *d = httpd_new(g);
	struct httpd_req *q;
	struct fake f;

	(void)state;
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++)
		httpd_route(d, routes[i].method, routes[i].pattern, 0, serve_name, routes[i].name);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ask(d, &f, cases[i].method, cases[i].target, NULL, &q);
		assert_int_equal(f.status, cases[i].status);
		assert_string_equal(f.body, cases[i].body);
		httpd_finished(q);
	}
	ask(d, &f, "DELETE", "/a", NULL, &q);
	assert_int_equal(f.status, 405);
	assert_non_null(strstr(f.headers, "Allow: GET, POST\n"));
	httpd_free(d);
	assert_int_equal(f.aborted, 1);
	loop_group_free(g);
	loop_free(l);
}

static void an_announced_length_is_checked_first(void **state)
{
	static const struct {
		const char *length;
		int64_t allowed;
	} cases[] = {{NULL, 100},
		     {"0", 100},
		     {"100", 100},
		     {"101", -1},
		     {"-1", -1},
		     {"x", -1},
		     {"99999999999999999999", -1}};
	struct loop *l = loop_sim_new(1, 0);
	struct loop_group *g = loop_group_new(l, "test");
	struct httpd *d = httpd_new(g);
	struct httpd_req *q;
	struct fake f;
	char name[] = "a";

	(void)state;
	httpd_route(d, "POST", "/a", 100, serve_name, name);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(ask(d, &f, "POST", "/a", cases[i].length, &q), cases[i].allowed);
		assert_int_equal(f.status, cases[i].allowed < 0 ? 413 : 200);
		httpd_finished(q);
	}
	httpd_free(d);
	loop_group_free(g);
	loop_free(l);
}

static void serve_err(struct httpd_req *q, void *arg)
{
	httpd_reply_err(q, arg);
}

static void an_error_has_the_status_of_its_kind_or_its_own(void **state)
{
	static const struct {
		enum err_kind kind;
		int code, status;
	} cases[] = {
		{ERR_INVALID, 0, 400},	   {ERR_INVALID, 422, 422},   {ERR_DENIED, 0, 403},
		{ERR_DENIED, 401, 401},	   {ERR_NOT_FOUND, 410, 410}, {ERR_NOT_FOUND, 2, 404},
		{ERR_CONFLICT, 0, 409},	   {ERR_CONFLICT, 500, 409},  {ERR_TIMEOUT, 0, 504},
		{ERR_UNAVAILABLE, 0, 503}, {ERR_QUOTA, 0, 429},	      {ERR_UNSUPPORTED, 0, 501},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct loop *l = loop_sim_new(1, 0);
		struct loop_group *g = loop_group_new(l, "test");
		struct httpd *d = httpd_new(g);
		struct httpd_req *q;
		struct fake f;
		struct err e;

		err_note(&e, cases[i].kind, cases[i].code, "text");
		httpd_route(d, "GET", "/", 0, serve_err, &e);
		ask(d, &f, "GET", "/", NULL, &q);
		assert_int_equal(f.status, cases[i].status);
		assert_string_equal(f.body, "{\"error\":\"text\"}");
		httpd_free(d);
		loop_group_free(g);
		loop_free(l);
	}
}

static void nothing(void *arg)
{
	++*(unsigned *)arg;
}

static int64_t read_short(char *out, size_t max, uint64_t pos, void *arg)
{
	(void)arg, (void)max;
	if (pos >= 3)
		return -1;
	memcpy(out, "abc", 3);
	return 3;
}

static int64_t last_read;

static void greedy_respond(void *conn, int status, const struct http_header *h, size_t n,
			   const struct httpd_reader *body)
{
	char out[16];

	(void)conn, (void)status, (void)h, (void)n;
	assert_int_equal(body->read(out, 2, 10, body->arg), -1); /* past the end of the body */
	last_read = body->read(out, sizeof(out), 3, body->arg);
}

static void serve_short(struct httpd_req *q, void *arg)
{
	struct httpd_reader r = {.read = read_short, .done = nothing, .arg = arg, .size = 10};

	httpd_reply_stream(q, 200, NULL, &r);
}

static void a_reader_that_ends_before_its_size_breaks_the_connection(void **state)
{
	static const struct httpd_listener_ops ops = {greedy_respond, fake_wake, fake_abort};
	const struct httpd_identity who = {.address = "test"};
	struct loop *l = loop_sim_new(1, 0);
	struct loop_group *g = loop_group_new(l, "test");
	struct httpd *d = httpd_new(g);
	struct httpd_incoming in = {.method = "GET", .target = "/", .identity = &who, .ops = &ops};
	struct httpd_req *q;
	unsigned done = 0, gone = 0;

	(void)state;
	httpd_route(d, "GET", "/", 0, serve_short, &done);
	httpd_begin(d, &in, &q);
	httpd_on_gone(q, nothing, &gone);
	httpd_dispatch(q);
	assert_int_equal(last_read, -2);
	assert_int_equal(done, 0);
	httpd_gone(q);
	assert_int_equal(done, 1);
	assert_int_equal(gone, 1);
	httpd_free(d);
	loop_group_free(g);
	loop_free(l);
}

/* --- memory limits of callers ----------------------------------------------------------------- */

static bool knows_it(struct httpd_req *q, void *arg)
{
	(*(unsigned *)arg)++;
	if (str_eq(httpd_header(q, "content-length"), "7"))
		return true;
	httpd_reply_json(q, 401, "{}");
	return false;
}

static void count(struct httpd_req *q, void *arg)
{
	(*(unsigned *)arg) += 100;
	httpd_reply_json(q, 200, "{}");
}

static void a_route_may_ask_who_it_is_before_the_body(void **state)
{
	struct loop *l = loop_sim_new(1, 0);
	struct loop_group *g = loop_group_new(l, "server");
	struct httpd *d = httpd_new(g);
	struct httpd_req *q;
	unsigned asked = 0;
	struct fake f;

	(void)state;
	httpd_route_admit(d, &(struct httpd_route_spec){.method = "POST",
							.pattern = "/known",
							.max_body = 100,
							.admit = knows_it,
							.fn = count,
							.arg = &asked});
	assert_int_equal(ask(d, &f, "POST", "/known", "8", &q), -1);
	assert_int_equal(f.status, 401);
	assert_int_equal(asked, 1);
	httpd_finished(q);
	assert_int_equal(ask(d, &f, "POST", "/known", "7", &q), 100);
	assert_int_equal(f.status, 200);
	assert_int_equal(asked, 102);
	httpd_finished(q);
	/* The body is too long, whoever the caller is. */
	assert_int_equal(ask(d, &f, "POST", "/known", "700", &q), -1);
	assert_int_equal(f.status, 413);
	assert_int_equal(asked, 102);
	httpd_finished(q);
	httpd_free(d);
	loop_group_free(g);
	loop_free(l);
}

static struct httpd_req *sending(struct httpd *d, struct fake *f)
{
	const struct httpd_identity who = {.address = "test"};
	struct httpd_incoming in = {.method = "POST",
				    .target = "/known",
				    .identity = &who,
				    .ops = &fake_ops,
				    .conn = f};
	struct httpd_req *q;

	memset(f, 0, sizeof(*f));
	assert_int_equal(httpd_begin(d, &in, &q), 60);
	return q;
}

static void bodies_share_one_budget(void **state)
{
	static const char bytes[60] = "x";
	struct loop *l = loop_sim_new(1, 0);
	struct loop_group *g = loop_group_new(l, "server");
	struct httpd *d = httpd_new(g);
	struct httpd_req *a, *b, *c;
	unsigned asked = 0;
	struct fake fa, fb, fc;

	(void)state;
	httpd_body_budget(d, 100);
	httpd_route(d, "POST", "/known", 60, count, &asked);
	a = sending(d, &fa);
	b = sending(d, &fb);
	assert_true(httpd_body_data(a, bytes, 60));
	assert_true(httpd_body_data(b, bytes, 40));
	assert_false(httpd_body_data(b, bytes, 1));
	assert_int_equal(fb.status, 503);
	assert_non_null(strstr(fb.headers, "Retry-After: 1"));
	assert_false(httpd_body_data(b, bytes, 1)); /* the client sends on anyway */
	/* The memory of its partial body is free again. */
	c = sending(d, &fc);
	assert_true(httpd_body_data(c, bytes, 40));
	httpd_dispatch(a);
	assert_int_equal(fa.status, 200);
	httpd_finished(a);
	assert_true(httpd_body_data(c, bytes, 20));
	httpd_gone(c);
	httpd_finished(b);
	a = sending(d, &fa);
	assert_true(httpd_body_data(a, bytes, 60));
	httpd_gone(a);
	httpd_free(d);
	loop_group_free(g);
	loop_free(l);
}

static void an_address_without_tokens_is_refused_unread(void **state)
{
	struct loop *l = loop_sim_new(1, 0);
	struct loop_group *g = loop_group_new(l, "server");
	struct httpd *d = httpd_new(g);
	struct httpd_req *q;
	unsigned asked = 0;
	struct fake f;

	(void)state;
	httpd_route(d, "POST", "/known", 60, count, &asked);
	exhausted = true;
	assert_int_equal(ask(d, &f, "POST", "/known", "8", &q), -1);
	exhausted = false;
	assert_int_equal(f.status, 429);
	assert_int_equal(asked, 0);
	assert_non_null(strstr(f.headers, "Connection: close"));
	httpd_finished(q);
	httpd_free(d);
	loop_group_free(g);
	loop_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_target_is_decoded_once),
		cmocka_unit_test(a_dangerous_target_is_refused),
		cmocka_unit_test(a_target_has_limits),
		cmocka_unit_test(a_query_is_split_and_decoded),
		cmocka_unit_test(the_first_route_that_matches_serves),
		cmocka_unit_test(an_announced_length_is_checked_first),
		cmocka_unit_test(an_error_has_the_status_of_its_kind_or_its_own),
		cmocka_unit_test(a_reader_that_ends_before_its_size_breaks_the_connection),
		cmocka_unit_test(a_route_may_ask_who_it_is_before_the_body),
		cmocka_unit_test(bodies_share_one_budget),
		cmocka_unit_test(an_address_without_tokens_is_refused_unread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
