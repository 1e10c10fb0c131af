#include "sim/common/reply.h"

#include "base/str.h"
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "tests/unit/testing.h"

#define HOST "http://sim.test"

/* A simulator that answers each request as its path says. */
struct rig {
	struct loop *loop;
	struct loop_group *group;
	struct http_mem_net *net;
	struct httpd *httpd;
	struct http *http;
	struct http_peer *peer;
	struct sim_delays delays;
	/* Number of calls of answer(). */
	int answered;
	bool done;
	struct err e;
	char text[16];
	/* Text of the reply to /text. */
	char own[16];
};

static void answer(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;

	r->answered++;
	httpd_reply_json(q, 200, "\"called\"");
}

static void on_request(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;

	str_copy(r->own, sizeof(r->own), "\"text\"");
	if (str_eq(httpd_path(q), "/call"))
		sim_delay(&r->delays, q, 1000, answer, r);
	else if (str_eq(httpd_path(q), "/text"))
		sim_delay_reply(&r->delays, q, 1000, 200, "application/json", r->own);
	else if (str_eq(httpd_path(q), "/never"))
		sim_delay(&r->delays, q, SIM_DELAY_NEVER, answer, r);
	else
		sim_reply_lost(q, 200, "application/json");
	/* sim_delay_reply() has to copy the text. */
	str_copy(r->own, sizeof(r->own), "?");
}

static void on_done(const struct http_reply *reply, const struct err *e, void *arg)
{
	struct rig *r = arg;

	r->done = true;
	if (e)
		r->e = *e;
	if (reply)
		str_copy(r->text, sizeof(r->text), str_or(reply->body, ""));
}

static void begin(struct rig *r)
{
	struct err e;

	*r = (struct rig){.loop = loop_sim_new(7, 1764000000000)};
	r->group = loop_group_new(r->loop, "all");
	r->net = http_mem_net_new(r->loop);
	r->httpd = httpd_new(r->group);
	httpd_route(r->httpd, "GET", "/**", 0, on_request, r);
	http_mem_serve(r->net, HOST, r->httpd);
	r->http =
		http_new(r->group, http_mem_transport(r->net, r->group, "10.0.0.1", NULL, NULL), 0);
	r->peer = http_peer_new(
		r->http,
		&(struct http_peer_spec){.base_url = HOST, .max_in_flight = 8, .plain_ok = true},
		&e);
	assert_non_null(r->peer);
	sim_delays_init(&r->delays, r->group);
}

static void end(struct rig *r)
{
	http_peer_free(r->peer);
	http_free(r->http);
	httpd_free(r->httpd);
	http_mem_net_free(r->net);
	loop_group_free(r->group);
	loop_free(r->loop);
}

static struct http_req *ask(struct rig *r, const char *path)
{
	r->done = false;
	r->e = (struct err){0};
	r->text[0] = '\0';
	return http_start(
		r->peer,
		&(struct http_call){.path = path, .timeout_ms = 60000, .done = on_done, .arg = r});
}

static void pass(struct rig *r, int64_t ms)
{
	loop_sim_run_until(r->loop, loop_now(r->loop) + ms);
}

static void a_delayed_reply_comes_in_time(void **state)
{
	struct rig r;

	(void)state;
	begin(&r);
	ask(&r, "/call");
	pass(&r, 900);
	assert_int_equal(r.answered, 0);
	pass(&r, 1000);
	assert_string_equal(r.text, "\"called\"");
	ask(&r, "/text");
	pass(&r, 900);
	assert_false(r.done);
	pass(&r, 1000);
	assert_string_equal(r.text, "\"text\"");
	sim_delays_done(&r.delays);
	end(&r);
}

static void a_reply_that_never_comes_times_out(void **state)
{
	struct rig r;

	(void)state;
	begin(&r);
	ask(&r, "/never");
	pass(&r, 61000);
	assert_int_equal(r.e.kind, ERR_TIMEOUT);
	assert_int_equal(r.answered, 0);
	assert_true(list_empty(&r.delays.v));
	end(&r);
}

static void a_request_is_dropped_with_its_client_or_its_simulator(void **state)
{
	struct http_req *q;
	struct rig r;

	(void)state;
	begin(&r);
	http_cancel(ask(&r, "/call"));
	q = ask(&r, "/call");
	ask(&r, "/call");
	pass(&r, 500);
	http_cancel(q);
	pass(&r, 100);
	sim_delays_done(&r.delays);
	pass(&r, 10000);
	assert_int_equal(r.answered, 0);
	assert_false(r.done);
	end(&r);
}

static void a_lost_reply_breaks_the_connection_off(void **state)
{
	struct rig r;

	(void)state;
	begin(&r);
	ask(&r, "/lost");
	pass(&r, 1000);
	assert_true(r.done);
	assert_int_not_equal(r.e.kind, ERR_NONE);
	assert_string_equal(r.text, "");
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_delayed_reply_comes_in_time),
		cmocka_unit_test(a_reply_that_never_comes_times_out),
		cmocka_unit_test(a_request_is_dropped_with_its_client_or_its_simulator),
		cmocka_unit_test(a_lost_reply_breaks_the_connection_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
