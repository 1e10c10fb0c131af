#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/base/http/http_rig.h"

#include "base/str.h"

/* --- cancelling and closing ------------------------------------------------------------------- */

void a_cancelled_request_is_not_heard_of(struct rig *r)
{
	struct got g;

	http_cancel(NULL);
	http_cancel(rig_call(r, &g, (struct http_call){.path = "/wait"}));
	rig_run_ms(r, 20);
	assert_int_equal(r->served, 0);
	rig_call(r, &g, (struct http_call){.path = "/wait"});
	rig_until(r, rig_served, r);
	http_cancel(g.req);
	rig_until(r, rig_gone, r);
	assert_int_equal(g.done, 0);
	assert_int_equal(http_stats(r->h).in_flight, 0);
	assert_int_equal(http_stats(r->h).waiting, 0);
}

static void done_cancels(const struct http_reply *reply, const struct err *e, void *arg)
{
	struct got *g = arg;
	struct got *other = g + 1;

	got_done(reply, e, arg);
	http_cancel(other->req);
	other->req = NULL;
}

void done_may_cancel_another_request(struct rig *r)
{
	struct got g[2];

	rig_call(r, &g[0], (struct http_call){.path = "/hello/x", .done = done_cancels});
	rig_call(r, &g[1], (struct http_call){.path = "/wait"});
	rig_done(r, g);
	rig_run_ms(r, 10);
	assert_int_equal(g[1].done, 0);
	assert_int_equal(http_stats(r->h).in_flight, 0);
}

static void done_frees(const struct http_reply *reply, const struct err *e, void *arg)
{
	struct got *g = arg;

	got_done(reply, e, arg);
	http_peer_free(g->rig->p);
	g->rig->p = NULL;
	http_free(g->rig->h);
	g->rig->h = NULL;
}

void done_may_free_the_client(struct rig *r)
{
	struct got g[4];

	rig_call(r, &g[1], (struct http_call){.path = "/wait"});
	rig_call(r, &g[2], (struct http_call){.path = "not a path"});
	rig_call(r, &g[0], (struct http_call){.path = "/hello/x", .done = done_frees});
	rig_call(r, &g[3], (struct http_call){.path = "/slow"});
	rig_done(r, g);
	rig_run_ms(r, 10);
	assert_int_equal(g[1].done, 0);
	assert_int_equal(g[2].done, 1); /* the invalid call ended before http_free() */
	assert_int_equal(g[3].done, 0);
}

static void done_goes_on(const struct http_reply *reply, const struct err *e, void *arg)
{
	struct got *g = arg;
	struct rig *r = g->rig;

	got_done(reply, e, arg);
	if (g->heads++ == 0) {
		struct http_call c = {.path = "/hello/second", .done = done_goes_on, .arg = g};

		g->done = 0;
		g->req = http_start(r->p, &c);
		assert_int_equal(g->done, 0);
	}
}

void done_may_start_the_next_request(struct rig *r)
{
	struct got g;

	rig_call(r, &g, (struct http_call){.path = "/hello/first", .done = done_goes_on});
	rig_done(r, &g);
	assert_int_equal(r->served, 2);
	assert_non_null(strstr(g.body, "[second]"));
}

static int data_cancels(const char *data, size_t len, void *arg, struct err *e)
{
	struct got *g = arg;

	got_data(data, len, arg, e);
	http_cancel(g->req);
	return 0;
}

void data_may_cancel_its_request(struct rig *r)
{
	struct got g;

	rig_call(r, &g, (struct http_call){.path = "/zeros", .on_data = data_cancels});
	rig_until(r, rig_gone, r);
	rig_run_ms(r, 5);
	assert_int_equal(g.pieces, 1);
	assert_int_equal(g.done, 0);
	assert_int_equal(http_stats(r->h).in_flight, 0);
}

void a_peer_may_be_freed_with_requests_waiting(struct rig *r)
{
	struct http_peer_spec spec = rig_spec(r);
	struct http_peer *old = r->p;
	struct got g[5];
	struct err e;

	spec.max_in_flight = 1;
	r->p = http_peer_new(r->h, &spec, &e);
	for (int i = 0; i < 5; i++)
		rig_call(r, &g[i], (struct http_call){.path = i < 4 ? "/wait" : "bad"});
	rig_until(r, rig_served, r);
	assert_int_equal(http_stats(r->h).waiting, 3);
	http_peer_free(r->p);
	r->p = old;
	assert_int_equal(http_stats(r->h).waiting, 0);
	rig_run_ms(r, 10);
	for (int i = 0; i < 4; i++)
		assert_int_equal(g[i].done, 0);
}

/* --- concurrency ------------------------------------------------------------------------------ */

static bool six_served(void *arg)
{
	struct rig *r = arg;

	return r->served == 6 && http_stats(r->h).in_flight == 0;
}

static void six_slow(struct rig *r)
{
	struct got g[6];

	for (int i = 0; i < 6; i++)
		rig_call(r, &g[i], (struct http_call){.path = "/slow"});
	rig_until(r, six_served, r);
	for (int i = 0; i < 6; i++)
		assert_int_equal(g[i].status, 200);
	assert_int_equal(r->most_inside, 2);
}

void a_peer_has_no_more_in_flight_than_allowed(struct rig *r)
{
	struct http_peer_spec spec = rig_spec(r);
	struct http_peer *old = r->p;
	struct err e;

	spec.max_in_flight = 2;
	r->p = http_peer_new(r->h, &spec, &e);
	six_slow(r);
	http_peer_free(r->p);
	r->p = old;
}

void a_client_has_no_more_in_flight_than_allowed(struct rig *r)
{
	struct http_peer_spec spec = rig_spec(r);
	struct http *h = r->h;
	struct http_peer *p = r->p;
	struct err e;

	r->h = rig_client(r, 2);
	r->p = http_peer_new(r->h, &spec, &e);
	six_slow(r);
	http_free(r->h);
	http_peer_free(r->p);
	r->h = h;
	r->p = p;
}

/* --- trust ------------------------------------------------------------------------------------ */

static void get_from(struct rig *r, const struct http_peer_spec *spec, struct got *g,
		     char learned[65])
{
	struct http_peer *old = r->p;
	struct err e;

	r->p = http_peer_new(r->h, spec, &e);
	if (!r->p)
		fail_msg("%s", e.text);
	rig_get(r, g, "/hello/x");
	if (learned)
		str_copy(learned, 65, str_or(http_peer_learned(r->p), ""));
	http_peer_free(r->p);
	r->p = old;
}

void a_wrong_pin_is_refused(struct rig *r)
{
	struct http_peer_spec spec = rig_spec(r);
	char wrong[65];
	struct got g;

	/* A request with a different trust setting must not use the open connection. */
	rig_get(r, &g, "/hello/x");
	assert_int_equal(r->served, 1);
	spec.ca_pem = NULL;
	spec.pin_sha256 = r->pin;
	get_from(r, &spec, &g, NULL);
	assert_int_equal(r->served, 2);
	memcpy(wrong, r->pin, sizeof(wrong));
	wrong[63] = wrong[63] == '0' ? '1' : '0';
	spec.pin_sha256 = wrong;
	get_from(r, &spec, &g, NULL);
	assert_true(g.failed);
	assert_int_equal(g.err.kind, ERR_DENIED);
	assert_int_equal(r->served, 2);
}

void the_right_pin_is_enough(struct rig *r)
{
	struct http_peer_spec spec = rig_spec(r);
	struct got g;

	spec.ca_pem = NULL;
	spec.pin_sha256 = r->pin;
	get_from(r, &spec, &g, NULL);
	assert_false(g.failed);
	assert_int_equal(g.status, 200);
}

void a_learned_pin_is_reported_and_kept(struct rig *r)
{
	struct http_peer_spec spec = rig_spec(r);
	struct got g;
	char learned[65];

	spec.ca_pem = NULL;
	spec.learn_pin = true;
	get_from(r, &spec, &g, learned);
	assert_false(g.failed);
	assert_string_equal(learned, r->pin);
	assert_null(http_peer_learned(r->p));
}

void nobody_there_is_unavailable(struct rig *r)
{
	struct got g;

	httpd_free(r->d);
	r->d = NULL;
	httpd_mhd_free(r->mhd);
	r->mhd = NULL;
	rig_get(r, &g, "/hello/x");
	assert_true(g.failed);
	assert_int_equal(g.err.kind, ERR_UNAVAILABLE);
	assert_int_equal(http_stats(r->h).failed, 1);
}
