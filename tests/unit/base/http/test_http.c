#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/http/http.h"
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/str.h"
#include "tests/data/pems.h"

struct world {
	struct loop *loop;
	struct loop_group *g;
	struct http_mem_net *net;
	struct http *h;
};

static int start(void **state)
{
	struct world *w = malloc(sizeof(*w));

	w->loop = loop_sim_new(7, 0);
	w->g = loop_group_new(w->loop, "test");
	w->net = http_mem_net_new(w->loop);
	w->h = http_new(w->g, http_mem_transport(w->net, w->g, "test", NULL, NULL), 0);
	*state = w;
	return 0;
}

static int stop(void **state)
{
	struct world *w = *state;

	http_free(w->h);
	http_mem_net_free(w->net);
	loop_group_free(w->g);
	loop_free(w->loop);
	free(w);
	return 0;
}

static void a_base_url_gives_an_origin_with_a_port(void **state)
{
	static const char *const cases[][2] = {
		{"https://host", "https://host:443"},
		{"https://host/", "https://host:443"},
		{"http://host", "http://host:80"},
		{"https://10.0.0.1:6443/prefix/", "https://10.0.0.1:6443"},
		{"https://[fd00::1]", "https://[fd00::1]:443"},
		{"https://[fd00::1]:8443/x", "https://[fd00::1]:8443"},
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct http_peer_spec spec = {.base_url = cases[i][0], .plain_ok = true};
		struct err e;
		struct http_peer *p = http_peer_new(w->h, &spec, &e);
		char *origin = http_origin(cases[i][0]);

		if (!p)
			fail_msg("%s: %s", cases[i][0], e.text);
		assert_string_equal(http_peer_origin(p), cases[i][1]);
		assert_string_equal(origin, cases[i][1]);
		free(origin);
		http_peer_free(p);
	}
}

static void a_bad_base_url_is_refused(void **state)
{
	static const char *const urls[] = {
		"",
		"host",
		"ftp://host",
		"https://",
		"https://user@host",
		"https://a:b@host/",
		"https://host:0",
		"https://host:65536",
		"https://host:",
		"https://host:8x",
		"https://ho st",
		"https://host\r\nX: y",
		"https://host/a b",
		"https://host?x=1",
		"https://host/#x",
		"https://[fd00::1",
		"https://[x]y",
		"https://[::1]x",
		"https://host/a?b",
		"http://plain.example",
		"https://h\xc3\xb6st",
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		struct http_peer_spec spec = {.base_url = urls[i]};
		struct err e;

		if (http_peer_new(w->h, &spec, &e))
			fail_msg("\"%s\" was taken", urls[i]);
		assert_int_equal(e.kind, ERR_INVALID);
	}
}

static void a_bad_peer_spec_is_refused(void **state)
{
	OWN(secret) encrypted = secret_from_str(PEMS_KEY_ENCRYPTED);
	OWN(secret) other = secret_from_str(PEMS_KEY);
	const struct http_peer_spec specs[] = {
		{.base_url = "https://host", .pin_sha256 = "abc"},
		{.base_url = "https://host",
		 .pin_sha256 = "zz23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
		{.base_url = "https://host", .server_name = "a\nb"},
		{.base_url = "https://host", .server_name = "127.1"},
		{.base_url = "https://host", .ca_pem = "-----BEGIN CERTIFICATE-----\n"},
		{.base_url = "https://host",
		 .client_cert_pem = PEMS_CERT,
		 .client_key_pem = encrypted},
		{.base_url = "https://host", .client_cert_pem = PEMS_CA, .client_key_pem = other},
		{.base_url = "https://host", .user_agent = "a\r\nX: y"},
		{.base_url = "https://host", .client_cert_pem = "without key"},
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct err e;

		assert_null(http_peer_new(w->h, &specs[i], &e));
		assert_int_equal(e.kind, ERR_INVALID);
	}
}

/* With pem_read, the caller has validated the PEM, and it is not parsed again. */
static void what_pem_gave_is_not_read_once_more(void **state)
{
	const struct http_peer_spec s = {
		.base_url = "https://host", .ca_pem = "as it was written anew", .pem_read = true};
	struct world *w = *state;
	struct http_peer *p;
	struct err e;

	p = http_peer_new(w->h, &s, &e);
	assert_non_null(p);
	http_peer_free(p);
}

static void text_is_escaped_for_paths_and_queries(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 1000);
	http_escape(&b, "aZ09-._~/ ?&=+%\xc3\xb6\n");
	assert_string_equal(b.data, "aZ09-._~%2F%20%3F%26%3D%2B%25%C3%B6%0A");
	buf_done(&b);
}

static void an_error_takes_its_text_from_the_body(void **state)
{
	static const struct {
		int status;
		const char *body, *text;
		enum err_kind kind;
	} cases[] = {
		{404, "{\"kind\":\"Status\",\"message\":\"pods \\\"x\\\" not found\"}",
		 "404 Not Found: pods \"x\" not found", ERR_NOT_FOUND},
		{400,
		 "{\"error\":{\"message\":\"general\","
		 "\"@Message.ExtendedInfo\":[{\"Message\":\"no slot 7\"}]}}",
		 "400 Bad Request: no slot 7", ERR_INVALID},
		{400, "{\"error\":{\"message\":\"general\"}}", "400 Bad Request: general",
		 ERR_INVALID},
		{409, "{\"error\":\"busy\"}", "409 Conflict: busy", ERR_CONFLICT},
		{403, "no\nentry", "403 Forbidden: no entry", ERR_DENIED},
		{502, "<html>bad gateway</html>", "502 Bad Gateway", ERR_UNAVAILABLE},
		{503, "", "503 Service Unavailable", ERR_UNAVAILABLE},
		{404, "{\"error\":[1]}", "404 Not Found", ERR_NOT_FOUND},
		{404, "\xef\xbb\xbf{\"error\":{\"message\":\"general\"}}", "404 Not Found: general",
		 ERR_NOT_FOUND},
		{500, "\r\n <!DOCTYPE html>", "500 Internal Server Error", ERR_UNAVAILABLE},
		{404, "{broken", "404 Not Found: {broken", ERR_NOT_FOUND},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct http_reply r = {
			.status = cases[i].status,
			.body = cases[i].body,
			.body_len = strlen(cases[i].body),
			.retry_after_ms = 17,
		};
		struct err e;

		assert_int_equal(http_err(&r, &e), -1);
		/* err_set() replaces control characters by one of its choice */
		for (char *s = e.text; (s = strchr(s, '?'));)
			*s = ' ';
		assert_string_equal(e.text, cases[i].text);
		assert_int_equal(e.kind, cases[i].kind);
		assert_int_equal(e.code, cases[i].status);
		assert_int_equal(e.retry_after_ms, 17);
	}
}

static void success_is_no_error(void **state)
{
	struct http_reply r = {.status = 204, .body = ""};
	struct err e;

	(void)state;
	assert_int_equal(http_err(&r, &e), 0);
	r.status = 302; /* redirects are not followed */
	assert_int_equal(http_err(&r, &e), -1);
	assert_int_equal(e.kind, ERR_PROTOCOL);
	r.headers = (const struct http_header[]){{"Location", "https://u:p@other/x"}};
	r.nheaders = 1;
	assert_int_equal(http_err(&r, &e), -1);
	assert_non_null(strstr(e.text, "@other/x"));
	assert_null(strstr(e.text, "u:p"));
}

static unsigned told[3];

static void on_done(const struct http_reply *r, const struct err *e, void *arg)
{
	(void)r;
	assert_non_null(e);
	told[*(int *)arg]++;
}

static void peers_take_turns_for_the_places(void **state)
{
	struct world *w = *state;
	struct http *h = http_new(w->g, http_mem_transport(w->net, w->g, "test", NULL, NULL), 1);
	struct http_peer_spec spec[2] = {{.base_url = "https://a"}, {.base_url = "https://b"}};
	static int who[2] = {0, 1};
	struct http_peer *p[2];
	struct err e;

	memset(told, 0, sizeof(told));
	for (int i = 0; i < 2; i++)
		p[i] = http_peer_new(h, &spec[i], &e);
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 100; k++)
			http_start(p[i], &(struct http_call){
						 .path = "/", .done = on_done, .arg = &who[i]});
	loop_sim_run_until(w->loop, 100); /* no server: each call takes a few ms to fail */
	assert_true(told[0] + told[1] > 10);
	assert_in_range(told[0], told[1], told[1] + 1);
	assert_int_equal(http_stats(h).waiting + http_stats(h).in_flight + told[0] + told[1], 200);
	http_peer_free(p[0]);
	http_free(h);
	http_peer_free(p[1]); /* works before and after http_free() */
}

static char ended[256];

static void on_ended(const struct http_ended *x, void *arg)
{
	const size_t n = strlen(ended);

	str_format(ended + n, sizeof(ended) - n, "%s %s%s %d %s at %lld\n", x->method, x->origin,
		   x->path, x->status, x->error ? "failed" : "",
		   (long long)(x->began - *(int64_t *)arg));
}

static void a_request_that_was_sent_is_reported_once_without_its_query(void **state)
{
	struct world *w = *state;
	struct http_peer_spec spec = {.base_url = "https://a/b"};
	struct err e;
	struct http_peer *p = http_peer_new(w->h, &spec, &e);
	int64_t began;
	int who = 0;
	struct http_call c = {.method = "POST", .path = "/x?token=s", .done = on_done, .arg = &who};
	struct http_req *q;

	memset(told, 0, sizeof(told));
	loop_sim_run_until(w->loop, 100);
	began = loop_now(w->loop);
	http_on_ended(w->h, on_ended, &began);
	http_start(p, &c);
	c.path = "never sent";
	http_start(p, &c);
	c.path = "/cancelled";
	q = http_start(p, &c);
	http_cancel(q);
	while (!*ended)
		loop_sim_run_until(w->loop, loop_now(w->loop) + 1);
	assert_string_equal(ended, "POST https://a:443/b/x 0 failed at 0\n");
	loop_sim_run_until(w->loop, 1000);
	assert_int_equal(told[0], 2);
	assert_string_equal(ended, "POST https://a:443/b/x 0 failed at 0\n");
	http_on_ended(w->h, NULL, NULL);
	c.path = "/";
	http_start(p, &c);
	loop_sim_run_until(w->loop, 2000);
	assert_int_equal(told[0], 3);
	assert_string_equal(ended, "POST https://a:443/b/x 0 failed at 0\n");
	http_peer_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_base_url_gives_an_origin_with_a_port, start,
						stop),
		cmocka_unit_test_setup_teardown(a_bad_base_url_is_refused, start, stop),
		cmocka_unit_test_setup_teardown(a_bad_peer_spec_is_refused, start, stop),
		cmocka_unit_test_setup_teardown(what_pem_gave_is_not_read_once_more, start, stop),
		cmocka_unit_test(text_is_escaped_for_paths_and_queries),
		cmocka_unit_test(an_error_takes_its_text_from_the_body),
		cmocka_unit_test(success_is_no_error),
		cmocka_unit_test_setup_teardown(peers_take_turns_for_the_places, start, stop),
		cmocka_unit_test_setup_teardown(
			a_request_that_was_sent_is_reported_once_without_its_query, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
