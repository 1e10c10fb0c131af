#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "netris/netris.h"

#define ORIGIN "https://netris.example"
#define PASSWORD "cor\"rect horse"

/* A controller whose answers the test determines. */
struct rig {
	struct loop *loop;
	struct loop_group *server, *group;
	struct http_mem_net *net;
	struct httpd *httpd;
	struct http *http;
	struct secret *password;
	struct netris *n;
	unsigned logins, requests, changes;
	/* Number of the valid session; a request with a different cookie gets 401. */
	unsigned session;
	int login_status;
	/* cookie NULL: a valid one. */
	const char *login_body, *cookie;
	int status;
	const char *body, *location;
	int64_t slow_ms;
	/* False: every session is refused. */
	bool holds;
	bool allowed;
	/* Results at the client. */
	unsigned answers, good;
	struct err err;
	int64_t id;
	size_t n_objects;
	char first[64];
};

struct late {
	struct httpd_req *q;
	struct rig *r;
	struct loop_timer timer;
};

static void on_login(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;
	size_t len;
	struct err e;
	OWN_JSON j = json_parse(httpd_body(q, &len), strlen(httpd_body(q, &len)), &e);
	char cookie[64];

	r->logins++;
	assert_string_equal(json_str_at(j, "user"), "drover");
	assert_int_equal(json_int_at(j, "auth_scheme_id"), 1);
	if (r->login_status != 200 || !str_eq(json_str_at(j, "password"), PASSWORD)) {
		httpd_reply_json(q, r->login_status, str_or(r->login_body, "{}"));
		return;
	}
	r->session++;
	str_format(cookie, sizeof(cookie), "connect.sid=s%u; Path=/; HttpOnly", r->session);
	httpd_reply_header(q, "Set-Cookie", "other=1");
	httpd_reply_header(q, "Set-Cookie", str_or(r->cookie, cookie));
	httpd_reply_json(q, 200, str_or(r->login_body, "{\"isSuccess\":true}"));
}

static void answer(struct rig *r, struct httpd_req *q)
{
	char cookie[64];

	str_format(cookie, sizeof(cookie), "connect.sid=s%u", r->session);
	if (!r->holds || !str_eq(httpd_header(q, "Cookie"), cookie)) {
		httpd_reply_json(q, 401, "{\"message\":\"who?\"}");
		return;
	}
	if (r->location)
		httpd_reply_header(q, "Location", r->location);
	httpd_reply_json(q, r->status, r->body);
}

static void on_late(void *arg)
{
	struct late *l = arg;

	answer(l->r, l->q);
	free(l);
}

static void on_gone(void *arg)
{
	struct late *l = arg;

	loop_timer_stop(&l->timer);
	free(l);
}

static void on_any(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;
	struct late *l;

	r->requests++;
	r->changes += !str_eq(httpd_method(q), "GET");
	if (!r->slow_ms) {
		answer(r, q);
		return;
	}
	l = mem_new(struct late);
	l->q = q;
	l->r = r;
	httpd_on_gone(q, on_gone, l);
	loop_timer_init(&l->timer, r->server, on_late, l);
	loop_timer_start(&l->timer, r->slow_ms);
}

static int setup(void **state)
{
	struct rig *r = mem_new(struct rig);
	struct err e;

	mem_init();
	r->loop = loop_sim_new(7, 1764000000000);
	r->server = loop_group_new(r->loop, "netris");
	r->group = loop_group_new(r->loop, "client");
	r->net = http_mem_net_new(r->loop);
	r->httpd = httpd_new(r->server);
	httpd_route(r->httpd, "POST", "/api/auth", 4096, on_login, r);
	httpd_route(r->httpd, "*", "/**", 65536, on_any, r);
	http_mem_serve(r->net, ORIGIN, r->httpd);
	r->http = http_new(r->group, http_mem_transport(r->net, r->group, "10.0.0.1", NULL, NULL),
			   64);
	r->password = secret_from_str(PASSWORD);
	r->login_status = r->status = 200;
	r->holds = r->allowed = true;
	r->body = "{\"isSuccess\":true,\"data\":[{\"id\":4,\"name\":\"hall-a\"}]}";
	r->n = netris_new(&(struct netris_spec){.group = r->group,
						.http = r->http,
						.url = ORIGIN,
						.user = "drover",
						.password = r->password},
			  &e);
	assert_non_null(r->n);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	netris_free(r->n);
	http_free(r->http);
	secret_free(r->password);
	httpd_free(r->httpd);
	http_mem_net_free(r->net);
	loop_group_free(r->group);
	loop_group_free(r->server);
	loop_free(r->loop);
	free(r);
	return 0;
}

static void on_done(struct netris_objects *o, const struct err *e, void *arg)
{
	struct rig *r = arg;

	r->answers++;
	err_clear(&r->err);
	assert_true((o == NULL) == (e != NULL));
	if (e) {
		r->err = *e;
		assert_null(strstr(e->text, "horse"));
		return;
	}
	r->good++;
	r->id = o->id;
	r->n_objects = o->n;
	if (o->n)
		str_copy(r->first, sizeof(r->first), o->site[0].name);
}

static bool may(void *arg)
{
	return ((struct rig *)arg)->allowed;
}

static struct netris_call call(struct rig *r)
{
	return (struct netris_call){.done = on_done, .may_act = may, .arg = r};
}

static enum err_kind wait_(struct rig *r)
{
	unsigned before = r->answers;

	loop_sim_run_until(r->loop, loop_now(r->loop) + 40000);
	assert_int_equal(r->answers, before + 1);
	return r->err.kind;
}

static enum err_kind list(struct rig *r)
{
	struct netris_call c = call(r);

	netris_list(r->n, NETRIS_SITE, &c);
	return wait_(r);
}

static enum err_kind get(struct rig *r)
{
	struct netris_call c = call(r);

	netris_get(r->n, NETRIS_SITE, 4, &c);
	return wait_(r);
}

static enum err_kind make(struct rig *r)
{
	struct netris_call c = call(r);

	netris_change(r->n, "POST", NETRIS_VPC, 0, json_pack("{s:s}", "name", "v"), &c);
	return wait_(r);
}

static void the_first_request_logs_in_and_the_rest_use_the_session(void **state)
{
	struct rig *r = *state;

	assert_int_equal(list(r), ERR_NONE);
	assert_string_equal(r->first, "hall-a");
	assert_int_equal(list(r), ERR_NONE);
	assert_int_equal(r->logins, 1);
	assert_int_equal(r->requests, 2);
}

/* Answers are slow, and several requests get a 401: all of them wait for the same new login. */
static void a_session_that_ends_under_all_is_renewed_once(void **state)
{
	struct rig *r = *state;
	struct netris_call c = call(r);

	assert_int_equal(list(r), ERR_NONE);
	r->slow_ms = 3000;
	for (int i = 0; i < 40; i++)
		netris_list(r->n, NETRIS_SITE, &c);
	loop_sim_run_until(r->loop, loop_now(r->loop) + 1000);
	r->session += 100; /* The session expires while eight requests are in flight. */
	loop_sim_run_until(r->loop, loop_now(r->loop) + 60000);
	assert_int_equal(r->good, 41);
	assert_int_equal(r->logins, 2);
}

static void a_session_that_never_holds_is_an_error_and_no_storm(void **state)
{
	struct rig *r = *state;

	r->holds = false;
	assert_int_equal(list(r), ERR_DENIED);
	assert_int_equal(r->logins, 2);
	assert_int_equal(r->requests, 2);
}

static void a_refused_login_is_not_tried_again_by_anybody(void **state)
{
	static const struct {
		int status;
		const char *body;
	} forms[] = {
		{401, "{}"},
		{403, "{}"},
		{400, "{\"isSuccess\":false,\"message\":\"no\"}"},
	};
	struct rig *r = *state;
	struct netris_call c = call(r);

	r->login_status = forms[0].status;
	r->login_body = "{\"message\":\"cor\\\"rect horse is wrong\"}";
	for (int i = 0; i < 20; i++)
		netris_list(r->n, NETRIS_SITE, &c);
	loop_sim_run_until(r->loop, loop_now(r->loop) + 1000);
	assert_int_equal(r->answers, 20);
	assert_int_equal(r->err.kind, ERR_DENIED);
	assert_int_equal(r->err.code, NETRIS_LOGIN_REFUSED);
	assert_int_equal(list(r), ERR_DENIED);
	assert_int_equal(r->logins, 1);
	assert_int_equal(r->requests, 0);
	for (size_t i = 1; i < 3; i++) {
		r->login_status = forms[i].status;
		r->login_body = forms[i].body;
		loop_sim_run_until(r->loop, loop_now(r->loop) + NETRIS_REFUSED_MS);
		assert_int_equal(list(r), ERR_DENIED);
		assert_int_equal(r->logins, 1 + i);
	}
	r->login_status = 200;
	r->login_body = NULL;
	loop_sim_run_until(r->loop, loop_now(r->loop) + NETRIS_REFUSED_MS);
	assert_int_equal(list(r), ERR_NONE);
}

/* Covers a status 200 whose body refuses the login, a login that succeeds without a valid cookie,
 * and a cookie that would forge a header. */
static void a_login_is_judged_by_what_it_gives(void **state)
{
	static const char *const cookies[] = {"sid=1", "connect.sid=", "connect.sid=a b; Path=/"};
	struct rig *r = *state;

	for (size_t i = 0; i < 3; i++) {
		r->cookie = cookies[i];
		assert_int_equal(list(r), ERR_PROTOCOL);
	}
	r->cookie = NULL;
	r->login_body = "{\"isSuccess\":false,\"meta\":{\"statusCode\":\"503\"}}";
	assert_int_equal(list(r), ERR_UNAVAILABLE);
	r->login_body = "{\"isSuccess\":\"no\"}";
	assert_int_equal(list(r), ERR_DENIED);
	assert_int_equal(r->requests, 0);
}

static void both_forms_of_failure_are_errors(void **state)
{
	static const struct {
		int status;
		const char *body;
		enum err_kind kind;
		const char *says;
	} cases[] = {
		{400, "{\"message\":\"bad vlan\"}", ERR_INVALID, "bad vlan"},
		{403, "{\"errors\":{\"name\":\"E\",\"error\":\"not your server\"}}", ERR_DENIED,
		 "not your server"},
		{500, "<html>", ERR_UNAVAILABLE, "500"},
		{404, "", ERR_NOT_FOUND, "404"},
		{200, "{\"isSuccess\":false,\"message\":\"taken\",\"meta\":{\"statusCode\":409}}",
		 ERR_CONFLICT, "taken"},
		{200, "{\"isSuccess\":0,\"message\":\"no\",\"data\":[]}", ERR_INVALID, "no"},
		{200, "{\"isSuccess\":\"false\",\"errors\":[{\"error\":\"x y\"}]}", ERR_INVALID,
		 "x y"},
		{200, "not json", ERR_PROTOCOL, "line 1"},
		{200, "", ERR_PROTOCOL, ""},
		{200, "{\"isSuccess\":true}", ERR_PROTOCOL, "not a list"},
		{200, "{\"isSuccess\":true,\"data\":null}", ERR_PROTOCOL, "not a list"},
		{200, "null", ERR_PROTOCOL, "not a list"},
	};
	struct rig *r = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		r->status = cases[i].status;
		r->body = cases[i].body;
		assert_int_equal(list(r), cases[i].kind);
		assert_non_null(strstr(r->err.text, cases[i].says));
		assert_non_null(strstr(r->err.text, "GET /api/v2/sites"));
	}
}

/* The controller's error text quotes the request's login, and contains control sequences for a
 * terminal. */
static void what_it_quotes_is_no_password(void **state)
{
	static const struct {
		int status;
		const char *body;
	} cases[] = {
		{400, "{\"message\":\"\\u001b[31muser drover, password cor\\\"rect horse\"}"},
		{500, "{\"message\":\"\\u001b[31mY29yInJlY3QgaG9yc2U= is no login\"}"},
		{200, "{\"isSuccess\":false,\"message\":\"q=cor%22rect%20horse\"}"},
	};
	struct rig *r = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		r->status = cases[i].status;
		r->body = cases[i].body;
		assert_true(list(r) != ERR_NONE);
		assert_null(strstr(r->err.text, "rect"));
		assert_null(strstr(r->err.text, "JlY3"));
		assert_null(strchr(r->err.text, '\x1b'));
		assert_non_null(strstr(r->err.text, "****"));
	}
}

static void nothing_and_not_found_are_told_apart(void **state)
{
	struct rig *r = *state;

	r->body = "{\"isSuccess\":true,\"data\":[]}";
	assert_int_equal(list(r), ERR_NONE);
	assert_int_equal(r->n_objects, 0);
	r->body = "{\"isSuccess\":true,\"data\":null}";
	assert_int_equal(get(r), ERR_NOT_FOUND);
	r->body = "{\"isSuccess\":true,\"data\":{\"id\":\"4\",\"name\":\"x\"}}";
	assert_int_equal(get(r), ERR_NONE);
	r->body = "[{\"id\":4,\"name\":\"x\"},{\"id\":5,\"name\":\"y\"}]";
	assert_int_equal(get(r), ERR_PROTOCOL);
	assert_int_equal(list(r), ERR_NONE);
}

static void a_create_tells_its_id_in_two_forms_or_not_at_all(void **state)
{
	static const struct {
		const char *body;
		int64_t id;
	} forms[] = {{"{\"isSuccess\":true,\"data\":{\"id\":\"12\"}}", 12},
		     {"{\"isSuccess\":true,\"data\":12}", 12},
		     {"{\"isSuccess\":true}", 0},
		     {"", 0}};
	struct rig *r = *state;

	for (size_t i = 0; i < 4; i++) {
		r->body = forms[i].body;
		assert_int_equal(make(r), ERR_NONE);
		assert_int_equal(r->id, forms[i].id);
	}
}

/* may_act() is called again after a new login, because the login may take long and the lease may be
 * lost meanwhile. */
static void what_is_not_allowed_any_more_is_not_sent(void **state)
{
	struct rig *r = *state;
	struct netris_call c = call(r);

	assert_int_equal(list(r), ERR_NONE);
	r->allowed = false;
	assert_int_equal(make(r), ERR_CONFLICT);
	assert_int_equal(r->changes, 0);
	r->allowed = true;
	r->session++; /* The session expires, so the request is sent again. */
	r->slow_ms = 1000;
	netris_change(r->n, "PUT", NETRIS_CLUSTER, 3, json_object(), &c);
	loop_sim_run_until(r->loop, loop_now(r->loop) + 500);
	r->allowed = false;
	assert_int_equal(wait_(r), ERR_CONFLICT);
	assert_int_equal(r->changes, 1);
	assert_int_equal(list(r), ERR_NONE); /* Reads are always allowed. */
}

static void a_redirect_is_named_and_not_followed(void **state)
{
	struct rig *r = *state;

	r->status = 301;
	r->location = "http://evil.example/api";
	assert_int_equal(list(r), ERR_PROTOCOL);
	assert_non_null(strstr(r->err.text, "evil.example"));
}

static enum http_mem_fault_kind lost(const char *origin, const char *method, const char *target,
				     void *arg)
{
	(void)origin;
	(void)method;
	(void)target;
	return *(enum http_mem_fault_kind *)arg;
}

static void a_controller_that_is_away_is_asked_again_later(void **state)
{
	enum http_mem_fault_kind fate = HTTP_MEM_REFUSED;
	struct rig *r = *state;

	http_mem_fault(r->net, lost, &fate);
	assert_int_equal(list(r), ERR_UNAVAILABLE);
	fate = HTTP_MEM_SILENT;
	assert_int_equal(list(r), ERR_TIMEOUT);
	fate = HTTP_MEM_WELL;
	assert_int_equal(list(r), ERR_NONE);
}

static void freeing_and_cancelling_end_without_an_answer(void **state)
{
	struct rig *r = *state;
	struct netris_call c = call(r);
	struct netris_request *q = netris_list(r->n, NETRIS_SITE, &c);

	netris_cancel(q);
	assert_int_equal(list(r), ERR_NONE);
	r->slow_ms = 3000;
	netris_list(r->n, NETRIS_SITE, &c);
	netris_list(r->n, NETRIS_SITE, &c);
	loop_sim_run_until(r->loop, loop_now(r->loop) + 1000);
	netris_free(r->n);
	r->n = NULL;
	loop_sim_run_until(r->loop, loop_now(r->loop) + 30000);
	assert_int_equal(r->answers, 1);
}

#define netris_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		netris_test(the_first_request_logs_in_and_the_rest_use_the_session),
		netris_test(a_session_that_ends_under_all_is_renewed_once),
		netris_test(a_session_that_never_holds_is_an_error_and_no_storm),
		netris_test(a_refused_login_is_not_tried_again_by_anybody),
		netris_test(a_login_is_judged_by_what_it_gives),
		netris_test(both_forms_of_failure_are_errors),
		netris_test(what_it_quotes_is_no_password),
		netris_test(nothing_and_not_found_are_told_apart),
		netris_test(a_create_tells_its_id_in_two_forms_or_not_at_all),
		netris_test(what_is_not_allowed_any_more_is_not_sent),
		netris_test(a_redirect_is_named_and_not_followed),
		netris_test(a_controller_that_is_away_is_asked_again_later),
		netris_test(freeing_and_cancelling_end_without_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
