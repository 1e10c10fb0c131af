/* A server certificate that is renewed by age and with its CA, over real TLS. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/crypto.h"
#include "base/http/http_curl.h"
#include "base/httpd/httpd_cert.h"
#include "base/loop/loop_uv.h"
#include "base/str.h"

#define GUARD_MS 30000
#define ADDRESS "127.0.0.1:%u"

struct issuer {
	char *pem;
	struct secret *key;
};

struct rig {
	struct loop *loop;
	struct loop_group *g;
	struct httpd *d;
	struct httpd_cert *c;
	struct http *h;
	struct issuer first, second;
	/* NULL: no CA. */
	const struct issuer *now;
	/* Private key to use instead of the CA's own; the two do not match. */
	const char *key_of;
	unsigned port;
	struct http_req *q;
	bool done;
	int status;
	enum err_kind kind;
	char pin[65];
	struct httpd_req *waiting;
	bool gone;
	struct loop_timer look, guard;
	bool (*until)(struct rig *r);
};

static bool ca_of(void *arg, const char **pem, const struct secret **key)
{
	struct rig *r = arg;

	if (!r->now)
		return false;
	*pem = r->now->pem;
	*key = r->key_of ? r->second.key : r->now->key;
	return true;
}

static void on_hello(struct httpd_req *q, void *arg)
{
	(void)arg;
	httpd_reply(q, 200, "text/plain", "hello", 5);
}

static void on_gone(void *arg)
{
	((struct rig *)arg)->gone = true;
}

static void on_wait(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;

	r->waiting = q;
	httpd_on_gone(q, on_gone, r);
}

static void on_look(void *arg)
{
	struct rig *r = arg;

	if (r->until(r))
		loop_stop(r->loop);
	else
		loop_timer_start(&r->look, 5);
}

static void on_guard(void *arg)
{
	(void)arg;
	fail_msg("what the test waits for did not happen");
}

static void run_until(struct rig *r, bool (*until)(struct rig *r))
{
	r->until = until;
	loop_timer_start(&r->look, 0);
	loop_timer_start(&r->guard, GUARD_MS);
	loop_run(r->loop);
	loop_timer_stop(&r->look);
	loop_timer_stop(&r->guard);
}

static unsigned free_port(struct rig *r)
{
	struct httpd_mhd *m;
	unsigned port;
	struct err e;

	m = httpd_mhd_new(r->d, &(struct httpd_mhd_spec){.address = "127.0.0.1:0"}, &e);
	assert_non_null(m);
	port = httpd_mhd_port(m);
	httpd_mhd_free(m);
	return port;
}

static void make_ca(struct rig *r, struct issuer *i, const char *cn)
{
	struct err e;

	assert_ok(crypto_ca_new(cn, loop_wall(r->loop), 2, &i->pem, &i->key, &e), &e);
}

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));

	r->loop = loop_uv_new();
	r->g = loop_group_new(r->loop, "test");
	r->d = httpd_new(r->g);
	httpd_route(r->d, "GET", "/hello", 0, on_hello, r);
	httpd_route(r->d, "GET", "/wait", 0, on_wait, r);
	r->h = http_new(r->g, http_curl_new(r->g, 10), 0);
	loop_timer_init(&r->look, r->g, on_look, r);
	loop_timer_init(&r->guard, r->g, on_guard, r);
	make_ca(r, &r->first, "one");
	make_ca(r, &r->second, "two");
	r->now = &r->first;
	r->port = free_port(r);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	http_free(r->h);
	httpd_cert_free(r->c);
	httpd_free(r->d);
	loop_group_free(r->g);
	loop_free(r->loop);
	free(r->first.pem);
	free(r->second.pem);
	secret_free(r->first.key);
	secret_free(r->second.key);
	free(r);
	return 0;
}

static struct httpd_cert *serve(struct rig *r, int64_t renew_ms, struct err *e)
{
	static const char *const names[] = {"127.0.0.1", NULL};
	char address[40];
	struct httpd_cert_spec s = {.listener.address = address,
				    .names = names,
				    .ca = ca_of,
				    .arg = r,
				    .days = 2,
				    .look_ms = renew_ms ? 300 : 20,
				    .renew_ms = renew_ms};

	str_format(address, sizeof(address), ADDRESS, r->port);
	r->c = httpd_cert_new(r->d, &s, e);
	return r->c;
}

static void on_reply(const struct http_reply *p, const struct err *e, void *arg)
{
	struct rig *r = arg;

	r->q = NULL;
	r->done = true;
	r->status = p ? p->status : -1;
	r->kind = e ? e->kind : ERR_NONE;
}

static bool is_done(struct rig *r)
{
	return r->done;
}

/* Sends a GET over a new connection; ca NULL: the certificate's pin is stored in r->pin. */
static int get(struct rig *r, const struct issuer *ca)
{
	char url[64];
	struct http_peer_spec s = {
		.base_url = url, .ca_pem = ca ? ca->pem : NULL, .learn_pin = !ca};
	struct http_call c = {.path = "/hello", .done = on_reply, .arg = r};
	struct http_peer *p;
	struct err e;

	str_format(url, sizeof(url), "https://" ADDRESS, r->port);
	p = http_peer_new(r->h, &s, &e);
	assert_non_null(p);
	r->done = false;
	r->q = http_start(p, &c);
	run_until(r, is_done);
	str_copy(r->pin, sizeof(r->pin), str_or(http_peer_learned(p), ""));
	http_peer_free(p);
	return r->status;
}

static bool waits(struct rig *r)
{
	return r->waiting != NULL;
}

static void another_ca_ends_what_is_open_and_issues_from_then_on(void **state)
{
	struct rig *r = *state;
	struct http_call c = {.path = "/wait", .done = on_reply, .arg = r};
	char url[64];
	struct http_peer_spec s = {.base_url = url, .ca_pem = r->first.pem};
	struct http_peer *p;
	struct err e;

	assert_non_null(serve(r, 0, &e));
	assert_int_equal(get(r, &r->first), 200);
	assert_int_equal(get(r, &r->second), -1);
	str_format(url, sizeof(url), "https://" ADDRESS, r->port);
	p = http_peer_new(r->h, &s, &e);
	r->done = false;
	http_start(p, &c);
	run_until(r, waits);
	assert_false(r->gone);
	r->now = &r->second;
	run_until(r, is_done);
	assert_true(r->gone);
	assert_int_equal(r->status, -1);
	http_peer_free(p);
	assert_int_equal(get(r, &r->second), 200);
	assert_int_equal(get(r, &r->first), -1);
	assert_int_equal(r->kind, ERR_DENIED);
}

static void a_certificate_is_renewed_before_its_end(void **state)
{
	struct rig *r = *state;
	char first[65];
	struct err e;

	assert_non_null(serve(r, 1, &e));
	/* A renewal closes open connections, and here every check renews, so a GET may fail. */
	do
		(void)get(r, NULL);
	while (r->status != 200);
	str_copy(first, sizeof(first), r->pin);
	do
		(void)get(r, NULL);
	while (r->status != 200 || str_eq(first, r->pin));
}

static void a_ca_that_cannot_issue_changes_nothing(void **state)
{
	struct rig *r = *state;
	char first[65];
	struct err e;

	assert_non_null(serve(r, 0, &e));
	assert_int_equal(get(r, NULL), 200);
	str_copy(first, sizeof(first), r->pin);
	r->key_of = "another";
	for (int i = 0; i < 20; i++)
		assert_int_equal(get(r, NULL), 200);
	assert_string_equal(r->pin, first);
	r->now = NULL; /* the CA's Secret cannot be read */
	r->key_of = NULL;
	for (int i = 0; i < 20; i++)
		assert_int_equal(get(r, NULL), 200);
	assert_string_equal(r->pin, first);
}

static void without_a_ca_or_a_port_there_is_no_listener(void **state)
{
	struct rig *r = *state;
	struct err e;

	r->now = NULL;
	assert_null(serve(r, 0, &e));
	assert_string_equal(e.text, "there is no CA");
	r->now = &r->first;
	r->key_of = "another";
	assert_null(serve(r, 0, &e));
	assert_int_equal(e.kind, ERR_INVALID);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(another_ca_ends_what_is_open_and_issues_from_then_on),
		T(a_certificate_is_renewed_before_its_end),
		T(a_ca_that_cannot_issue_changes_nothing),
		T(without_a_ca_or_a_port_there_is_no_listener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
