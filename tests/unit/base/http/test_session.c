#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/http/session.h"
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"

#define ORIGIN "https://server.example"
#define PASSWORD "horse\"battery"
#define TIMEOUT_MS 10000
#define MAX_BODY 1000
#define CALLS 60

struct rig;
/* A call, and what became of it. */
struct call {
	struct session_call call;
	struct rig *rig;
	unsigned number;
};

struct rig {
	struct loop *loop;
	struct loop_group *server, *group;
	struct http_mem_net *net;
	struct httpd *httpd;
	struct http *http;
	struct secret *password;
	struct session_spec spec;
	struct session *s;
	/* The server: number of its valid session, and what it does. */
	unsigned session;
	int login_status;
	bool accepts_nobody;
	size_t reply_bytes;
	const char *login_body;
	/* Fault for logins or for other requests. */
	enum http_mem_fault_kind login_fault, fault;
	/* What the server received. changes: requests other than GET. */
	unsigned logins, requests, changes;
	/* The client. */
	struct call *calls[CALLS];
	unsigned started, ended, good, asked;
	/* Results by number of the call. sent: as in session_call. */
	struct err err[CALLS];
	bool sent[CALLS];
	int64_t refuse_ms;
	bool allowed;
	/* Called in done(); NULL: none. */
	void (*in_done)(struct rig *r, unsigned number);
};

/* --- the server ------------------------------------------------------------------------------- */

static void serve_login(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;
	char cookie[64];
	size_t len;

	r->logins++;
	assert_non_null(strstr(httpd_body(q, &len), "battery"));
	str_format(cookie, sizeof(cookie), "sid=token-%u; Path=/; HttpOnly", ++r->session);
	if (r->login_status == 200)
		httpd_reply_header(q, "Set-Cookie", cookie);
	httpd_reply_json(q, r->login_status, str_or(r->login_body, "{}"));
}

struct late {
	struct httpd_req *q;
	struct rig *rig;
	struct loop_timer timer;
	bool accepted;
};

static void answer(const struct rig *r, struct httpd_req *q, bool accepted)
{
	char *body = mem_alloc(r->reply_bytes + 1);

	memset(body, 'x', r->reply_bytes);
	if (accepted)
		httpd_reply(q, 200, "text/plain", body, r->reply_bytes);
	else
		httpd_reply_json(q, 401, "{}");
	free(body);
}

static void on_late(void *arg)
{
	struct late *l = arg;

	httpd_on_gone(l->q, NULL, NULL);
	answer(l->rig, l->q, l->accepted);
	free(l);
}

static void on_gone(void *arg)
{
	struct late *l = arg;

	loop_timer_stop(&l->timer);
	free(l);
}

/* Judges the cookie at once. The path /slow is answered 5 s later. */
static void serve(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;
	struct late *l;
	char cookie[64];
	bool accepted;

	r->requests++;
	r->changes += !str_eq(httpd_method(q), "GET");
	str_format(cookie, sizeof(cookie), "sid=token-%u", r->session);
	accepted = !r->accepts_nobody && str_eq(httpd_header(q, "Cookie"), cookie);
	if (!str_eq(httpd_path(q), "/slow")) {
		answer(r, q, accepted);
		return;
	}
	l = mem_new(struct late);
	*l = (struct late){.q = q, .rig = r, .accepted = accepted};
	httpd_on_gone(q, on_gone, l);
	loop_timer_init(&l->timer, r->server, on_late, l);
	loop_timer_start(&l->timer, 5000);
}

static enum http_mem_fault_kind fault(const char *origin, const char *method, const char *target,
				      void *arg)
{
	const struct rig *r = arg;

	(void)origin;
	(void)method;
	return str_eq(target, "/login") ? r->login_fault : r->fault;
}

/* --- the client ------------------------------------------------------------------------------- */

static void on_login(const struct http_reply *reply, const struct err *failed, void *client)
{
	struct rig *r = client;
	struct err e;

	if (failed)
		e = *failed;
	if (failed || http_err(reply, &e) < 0)
		session_login_failed(r->s, &e, r->refuse_ms);
	else
		session_logged_in(r->s, http_reply_cookie(reply, "sid"));
}

static void log_in(void *client)
{
	struct rig *r = client;
	const char *word = secret_expose(session_password(r->s));

	session_ask_json(r->s, "/login", json_pack("{s:s}", "password", word), on_login);
}

static void on_done(void *client, struct session_call *q, const struct http_reply *reply,
		    const struct err *failed)
{
	struct rig *r = client;
	unsigned number = container_of(q, struct call, call)->number;

	assert_true((reply == NULL) == (failed != NULL));
	if (reply && reply->status == 401 && session_repeat(q))
		return;
	if (failed)
		r->err[number] = *failed;
	else if (http_err(reply, &r->err[number]) == 0)
		r->good++;
	r->sent[number] = q->sent;
	r->ended++;
	if (r->in_done)
		r->in_done(r, number);
	r->calls[number] = NULL;
}

static bool may(void *arg)
{
	struct rig *r = arg;

	r->asked++;
	return r->allowed;
}

static void start_at(struct rig *r, const char *method, const char *path)
{
	struct call *c = mem_new(struct call);

	c->rig = r;
	c->number = r->started++;
	c->call.method = method;
	c->call.path = mem_strdup(path);
	c->call.name = mem_strdup("things");
	c->call.body = str_eq(method, "GET") ? NULL : mem_strdup("{}");
	c->call.may_act = str_eq(method, "GET") ? NULL : may;
	c->call.may_act_arg = r;
	r->calls[c->number] = c;
	session_start(r->s, &c->call);
}

static void start(struct rig *r, const char *method)
{
	start_at(r, method, "/things");
}

static void start_n(struct rig *r, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		start(r, "GET");
}

static void pass(struct rig *r, int64_t ms)
{
	loop_sim_run_until(r->loop, loop_now(r->loop) + ms);
}

static void reopen(struct rig *r)
{
	struct err e;

	session_free(r->s);
	r->s = session_new(&r->spec, &e);
	if (!r->s)
		fail_msg("%s", e.text);
}

static int setup(void **state)
{
	static const struct session_ops ops = {.login = log_in, .done = on_done};
	struct rig *r = mem_new(struct rig);

	r->password = secret_from_str(PASSWORD);
	r->loop = loop_sim_new(7, 1764000000000);
	r->server = loop_group_new(r->loop, "server");
	r->group = loop_group_new(r->loop, "client");
	r->net = http_mem_net_new(r->loop);
	r->httpd = httpd_new(r->server);
	httpd_route(r->httpd, "POST", "/login", 4096, serve_login, r);
	httpd_route(r->httpd, "*", "/**", 4096, serve, r);
	http_mem_serve(r->net, ORIGIN, r->httpd);
	http_mem_fault(r->net, fault, r);
	r->http =
		http_new(r->group, http_mem_transport(r->net, r->group, "10.0.0.1", NULL, NULL), 0);
	r->login_status = 200;
	r->login_fault = r->fault = HTTP_MEM_WELL;
	r->allowed = true;
	r->spec = (struct session_spec){.group = r->group,
					.http = r->http,
					.peer = {.base_url = ORIGIN},
					.ops = &ops,
					.client = r,
					.password = r->password,
					.timeout_ms = TIMEOUT_MS,
					.max_body = MAX_BODY,
					.max_in_flight = 4};
	reopen(r);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	session_free(r->s);
	secret_free(r->password);
	http_free(r->http);
	httpd_free(r->httpd);
	http_mem_net_free(r->net);
	loop_group_free(r->group);
	loop_group_free(r->server);
	loop_free(r->loop);
	free(r);
	return 0;
}

/* Checks that n calls ended, all with this error. */
static void assert_all(const struct rig *r, unsigned n, enum err_kind kind, const char *text)
{
	assert_int_equal(r->ended, n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(r->err[i].kind, kind);
		if (!strstr(r->err[i].text, text))
			fail_msg("%s", r->err[i].text);
	}
}

/* --- the login -------------------------------------------------------------------------------- */

static void one_login_serves_all_waiting_calls(void **state)
{
	struct rig *r = *state;

	start_n(r, 20);
	assert_int_equal(r->ended, 0);
	pass(r, 60000);
	assert_int_equal(r->good, 20);
	start_n(r, 1);
	pass(r, 60000);
	assert_int_equal(r->good, 21);
	assert_int_equal(r->logins, 1);
	assert_int_equal(r->requests, 21);
}

static void a_login_that_hangs_ends_the_waiting_calls_after_its_timeout(void **state)
{
	struct rig *r = *state;

	r->login_fault = HTTP_MEM_SILENT;
	start_n(r, 20);
	pass(r, TIMEOUT_MS - 1000);
	assert_int_equal(r->ended, 0);
	pass(r, 2000);
	assert_all(r, 20, ERR_TIMEOUT, ORIGIN);
	assert_false(r->sent[0]);
	assert_int_equal(r->requests, 0);
	r->login_fault = HTTP_MEM_WELL;
	start_n(r, 1);
	pass(r, 60000);
	assert_int_equal(r->good, 1);
}

static void a_refused_login_is_not_repeated_for_as_long_as_the_client_says(void **state)
{
	struct rig *r = *state;

	r->refuse_ms = 30000;
	r->login_status = 403;
	r->login_body = "{\"message\":\"horse\\\"battery is wrong\"}";
	start_n(r, 20);
	pass(r, 1000);
	start_n(r, 20);
	pass(r, 1000);
	assert_all(r, 40, ERR_DENIED, ORIGIN);
	assert_null(strstr(r->err[0].text, "battery"));
	assert_int_equal(r->logins, 1);
	r->refuse_ms = SESSION_FOREVER;
	pass(r, 30000);
	start_n(r, 1);
	pass(r, INT64_C(1000) * 86400 * 3650);
	start_n(r, 1);
	pass(r, 1000);
	assert_all(r, 42, ERR_DENIED, ORIGIN);
	assert_int_equal(r->logins, 2);
	assert_int_equal(r->requests, 0);
}

static void a_password_that_is_no_text_is_never_sent(void **state)
{
	struct rig *r = *state;
	OWN(secret) bad = secret_from_str("\xff\xfe");

	r->spec.password = bad;
	reopen(r);
	start_n(r, 3);
	pass(r, 60000);
	assert_all(r, 3, ERR_INVALID, "UTF-8");
	assert_int_equal(r->logins, 0);
}

static void a_cookie_is_used_only_if_it_can_be_sent_back(void **state)
{
	static const struct {
		const char *set, *want;
	} rows[] = {
		{"sid=a.b%20c; Path=/; HttpOnly", "sid=a.b%20c"},
		{"sid=a", "sid=a"},
		{"sid=", NULL},
		{"sid=a b; Path=/", NULL},
		{"sid=\"a\"", NULL},
		{"sid=a,b", NULL},
		{"sidney=a", NULL},
		{"other=1; sid=2", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct http_header h[] = {
			{"Set-Cookie", "sid="}, {"Cookie", "sid=x"}, {"set-cookie", rows[i].set}};
		const struct http_reply reply = {.headers = h, .nheaders = 3};
		OWN(secret) got = http_reply_cookie(&reply, "sid");

		if (!str_eq(got ? secret_expose(got) : NULL, rows[i].want))
			fail_msg("%s", rows[i].set);
	}
}

/* --- refused calls ---------------------------------------------------------------------------- */

static void many_calls_that_meet_a_401_share_one_login(void **state)
{
	struct rig *r = *state;

	start_n(r, 1);
	pass(r, 60000);
	r->session++;
	start_n(r, 40);
	pass(r, 60000);
	assert_int_equal(r->good, 41);
	assert_int_equal(r->logins, 2);
	assert_true(r->requests > 41);
}

/* The 401 of one call arrives after another call has already caused a new login. */
static void a_late_refusal_of_an_old_login_leaves_the_new_one(void **state)
{
	struct rig *r = *state;

	start_n(r, 1);
	pass(r, 60000);
	r->session++;
	start_at(r, "GET", "/slow");
	start_n(r, 1);
	pass(r, 60000);
	assert_int_equal(r->good, 3);
	assert_int_equal(r->logins, 2);
}

static void a_401_after_a_fresh_login_ends_the_call(void **state)
{
	struct rig *r = *state;

	r->accepts_nobody = true;
	start_n(r, 1);
	pass(r, 60000);
	assert_all(r, 1, ERR_DENIED, "401");
	assert_true(r->sent[0]);
	assert_int_equal(r->logins, 2);
	assert_int_equal(r->requests, 2);
}

static void a_401_and_then_no_login_ends_the_call_as_not_sent(void **state)
{
	struct rig *r = *state;

	start_n(r, 1);
	pass(r, 60000);
	r->session++;
	r->login_status = 403;
	start(r, "POST");
	pass(r, 60000);
	assert_int_equal(r->ended, 2);
	assert_int_equal(r->err[1].kind, ERR_DENIED);
	assert_false(r->sent[1]);
}

/* --- permission ------------------------------------------------------------------------------- */

static void a_change_is_asked_for_its_right_when_it_is_sent(void **state)
{
	struct rig *r = *state;

	start(r, "POST");
	r->allowed = false;
	pass(r, 60000);
	assert_all(r, 1, ERR_CONFLICT, "no longer allowed");
	assert_false(r->sent[0]);
	assert_int_equal(r->changes, 0);
	/* Four slots are taken by calls without an answer; the change waits for one of them. */
	r->allowed = true;
	r->fault = HTTP_MEM_SILENT;
	start_n(r, 4);
	pass(r, 1000);
	start(r, "POST");
	pass(r, 1000);
	assert_int_equal(r->asked, 1);
	r->allowed = false;
	pass(r, 60000);
	assert_int_equal(r->err[5].kind, ERR_CONFLICT);
	assert_int_equal(r->asked, 2);
	assert_int_equal(r->changes, 0);
}

/* The leader loses its right after the change has met a 401. */
static void a_change_is_asked_for_its_right_again_before_a_repeat(void **state)
{
	struct rig *r = *state;

	start_n(r, 1);
	pass(r, 60000);
	r->session++;
	start(r, "DELETE");
	while (r->changes < 1)
		pass(r, 1);
	r->allowed = false;
	pass(r, 60000);
	assert_int_equal(r->err[1].kind, ERR_CONFLICT);
	assert_false(r->sent[1]);
	assert_int_equal(r->changes, 1);
	assert_int_equal(r->logins, 2);
}

/* --- the queue -------------------------------------------------------------------------------- */

static void a_queue_has_its_bound(void **state)
{
	struct rig *r = *state;

	r->spec.max_waiting = 5;
	reopen(r);
	start_n(r, 8);
	assert_int_equal(r->ended, 0);
	pass(r, 60000);
	assert_int_equal(r->ended, 8);
	assert_int_equal(r->good, 5);
	for (unsigned i = 5; i < 8; i++) {
		assert_int_equal(r->err[i].kind, ERR_UNAVAILABLE);
		assert_non_null(strstr(r->err[i].text, "5 calls already wait for " ORIGIN));
		assert_false(r->sent[i]);
	}
}

static void calls_are_sent_no_faster_than_allowed(void **state)
{
	struct rig *r = *state;

	r->spec.per_s = 2;
	r->spec.burst = 3;
	reopen(r);
	start_n(r, 13);
	pass(r, 2900);
	assert_true(r->requests >= 3 && r->requests <= 9);
	pass(r, 60000);
	assert_int_equal(r->good, 13);
}

static void a_reply_above_its_bound_is_an_error(void **state)
{
	struct rig *r = *state;
	char *large = mem_alloc(70000);

	r->reply_bytes = MAX_BODY + 1;
	start(r, "POST");
	pass(r, 60000);
	assert_all(r, 1, ERR_PROTOCOL, "more than 1000 bytes");
	assert_true(r->sent[0]);
	r->session++;
	memset(large, ' ', 69999);
	r->login_body = large;
	start_n(r, 1);
	pass(r, 60000);
	assert_int_equal(r->err[1].kind, ERR_PROTOCOL);
	assert_false(r->sent[1]);
	assert_non_null(strstr(r->err[1].text, ORIGIN));
	free(large);
}

/* --- cancelling and freeing ------------------------------------------------------------------- */

static void cancel_all(struct rig *r, unsigned number)
{
	(void)number;
	for (unsigned i = 0; i < r->started; i++) {
		session_cancel(r->calls[i] ? &r->calls[i]->call : NULL);
		if (i != number)
			r->calls[i] = NULL;
	}
}

/* done() cancels its own call, and with it all calls that wait, are in flight, or have failed. */
static void a_callback_may_cancel_its_own_call_and_all_others(void **state)
{
	struct rig *r = *state;

	r->in_done = cancel_all;
	start_n(r, 20);
	pass(r, 60000);
	assert_int_equal(r->ended, 1);
	r->login_status = 403;
	reopen(r);
	start_n(r, 20);
	pass(r, 60000);
	assert_int_equal(r->ended, 2);
	r->in_done = NULL;
	r->login_status = 200;
	start_n(r, 1);
	pass(r, 60000);
	assert_int_equal(r->good, 2);
}

static void free_session(struct rig *r, unsigned number)
{
	struct call *own = r->calls[number];

	session_free(r->s);
	r->s = NULL;
	session_cancel(&own->call);
}

static void a_callback_may_free_the_session(void **state)
{
	struct rig *r = *state;

	r->in_done = free_session;
	start_n(r, 20);
	pass(r, 60000);
	assert_int_equal(r->ended, 1);
	r->login_status = 403;
	reopen(r);
	start_n(r, 20);
	pass(r, 60000);
	assert_int_equal(r->ended, 2);
}

static void start_next(struct rig *r, unsigned number)
{
	(void)number;
	if (r->started < CALLS)
		start_n(r, 1);
}

static void a_callback_may_start_the_next_call(void **state)
{
	struct rig *r = *state;

	r->in_done = start_next;
	start_n(r, 2);
	pass(r, 600000);
	assert_int_equal(r->good, CALLS);
}

/* Cancels a call at each moment of its life; the others are served. */
static void a_call_may_be_cancelled_at_any_moment(void **state)
{
	struct rig *r = *state;

	for (int64_t ms = 0; ms < 30; ms++) {
		unsigned before = r->ended, first = r->started;
		struct call *c;

		r->session++;
		start_n(r, 2);
		pass(r, ms * 10);
		c = r->calls[first];
		session_cancel(c ? &c->call : NULL);
		r->calls[first] = NULL;
		pass(r, 60000);
		assert_int_equal(r->ended - before, c ? 1 : 2);
		assert_int_equal(r->err[first + 1].kind, ERR_NONE);
	}
}

/* Frees the session at each moment between the first login and the last reply. */
static void a_freed_session_ends_without_an_answer(void **state)
{
	struct rig *r = *state;

	for (int64_t ms = 0; ms < 15; ms++) {
		unsigned before;

		r->started = 0;
		start_n(r, 20);
		pass(r, ms * 10);
		before = r->ended;
		reopen(r);
		pass(r, 60000);
		assert_int_equal(r->ended, before);
	}
	start_n(r, 1);
	pass(r, 60000);
	assert_int_equal(r->err[20].kind, ERR_NONE);
}

#define session_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		session_test(one_login_serves_all_waiting_calls),
		session_test(a_login_that_hangs_ends_the_waiting_calls_after_its_timeout),
		session_test(a_refused_login_is_not_repeated_for_as_long_as_the_client_says),
		session_test(a_password_that_is_no_text_is_never_sent),
		cmocka_unit_test(a_cookie_is_used_only_if_it_can_be_sent_back),
		session_test(many_calls_that_meet_a_401_share_one_login),
		session_test(a_late_refusal_of_an_old_login_leaves_the_new_one),
		session_test(a_401_after_a_fresh_login_ends_the_call),
		session_test(a_401_and_then_no_login_ends_the_call_as_not_sent),
		session_test(a_change_is_asked_for_its_right_when_it_is_sent),
		session_test(a_change_is_asked_for_its_right_again_before_a_repeat),
		session_test(a_queue_has_its_bound),
		session_test(calls_are_sent_no_faster_than_allowed),
		session_test(a_reply_above_its_bound_is_an_error),
		session_test(a_callback_may_cancel_its_own_call_and_all_others),
		session_test(a_callback_may_free_the_session),
		session_test(a_callback_may_start_the_next_call),
		session_test(a_call_may_be_cancelled_at_any_moment),
		session_test(a_freed_session_ends_without_an_answer),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
