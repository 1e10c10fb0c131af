#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/crypto.h"
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/bcm/client.h"
#include "providers/bcm/status.h"

/* An answer of the head node, which answers by script: one entry for each request, in order */
#define HEAD "https://head:8081"

struct line {
	int status;
	const char *body, *cookie;
};

struct rig {
	struct loop *loop;
	struct loop_group *server, *client;
	struct http_mem_net *net;
	struct httpd *httpd;
	struct http *http;
	struct bcm *bcm;
	const struct line *script;
	unsigned at, asked;
	/* Requests received, each as "METHOD path cookie|basic body" */
	char seen[16][400];
	/* Number of answers passed to the test */
	unsigned count;
	/* Number of answers passed to the test that were ERR_DENIED */
	unsigned denied;
	struct err err;
	char result[300];
	bool frees;
};

static void on_request(struct httpd_req *q, void *arg)
{
	struct rig *r = arg;
	const struct line *l = &r->script[r->at];
	size_t len;
	const char *body = httpd_body(q, &len);

	if (r->asked < 16)
		str_format(r->seen[r->asked], sizeof(r->seen[0]), "%s %s %s%s%s", httpd_method(q),
			   httpd_path(q), str_or(httpd_header(q, "Cookie"), ""),
			   httpd_header(q, "Authorization") ? "basic " : " ", len ? body : "");
	r->asked++;
	if (l[1].status)
		r->at++;
	if (l->cookie)
		httpd_reply_header(q, "Set-Cookie", l->cookie);
	httpd_reply(q, l->status, "application/json", l->body, strlen(l->body));
}

static void on_done(struct exact result, const struct err *e, void *arg)
{
	struct rig *r = arg;

	r->count++;
	err_clear(&r->err);
	if (e)
		r->err = *e;
	r->denied += e && e->kind == ERR_DENIED;
	str_format(r->result, sizeof(r->result), "%.*s", (int)result.len, str_or(result.at, ""));
	if (r->frees) {
		bcm_free(r->bcm);
		r->bcm = NULL;
	}
}

static void rig_start(struct rig *r, bool certificate)
{
	struct secret *s = secret_from_str("it's \"secret\""), *key = NULL;
	char *cert = NULL;
	struct bcm_spec spec = {.endpoint = HEAD, .user = "drover", .password = s};
	struct err e;

	*r = (struct rig){.loop = loop_sim_new(3, 1764000000000)};
	r->server = loop_group_new(r->loop, "head");
	r->client = loop_group_new(r->loop, "drover");
	r->net = http_mem_net_new(r->loop);
	r->httpd = httpd_new(r->server);
	httpd_route(r->httpd, "*", "/**", 1 << 20, on_request, r);
	http_mem_serve(r->net, HEAD, r->httpd);
	r->http = http_new(r->client, http_mem_transport(r->net, r->client, "10.0.0.1", NULL, NULL),
			   0);
	if (certificate) {
		assert_ok(crypto_ca_new("drover", 1764000000000, 30, &cert, &key, &e), &e);
		spec.cert_pem = cert;
		spec.key_pem = key;
		spec.user = NULL;
	}
	r->bcm = bcm_new(r->client, r->http, &spec, &e);
	if (!r->bcm)
		fail_msg("%s", e.text);
	secret_free(s);
	secret_free(key);
	free(cert);
}

static void rig_end(struct rig *r)
{
	bcm_free(r->bcm);
	http_free(r->http);
	httpd_free(r->httpd);
	http_mem_net_free(r->net);
	loop_group_free(r->client);
	loop_group_free(r->server);
	loop_free(r->loop);
}

static void play(struct rig *r, const struct line *script)
{
	r->script = script;
	r->at = 0;
}

static bool answered(void *arg)
{
	return *(unsigned *)arg > 0;
}

static enum err_kind ask(struct rig *r, const char *service, const char *name, bool null_is_none)
{
	struct bcm_call c = {.service = service,
			     .call = name,
			     .args = "[\"n1\"]",
			     .null_is_none = null_is_none,
			     .done = on_done,
			     .arg = r};

	r->count = 0;
	bcm_call(r->bcm, &c);
	assert_int_equal(r->count, 0);
	loop_sim_run_cond(r->loop, answered, &r->count, loop_now(r->loop) + 120000);
	assert_int_equal(r->count, 1);
	return r->err.kind;
}

#define VERSION                                                                                    \
	{                                                                                          \
		200, "{\"cm_version\":\"11.0\"}", NULL                                             \
	}
#define LOGIN                                                                                      \
	{                                                                                          \
		200, "true", "cm-login-token=abc123; Path=/; Secure; HttpOnly"                     \
	}

static void a_certificate_is_the_login(void **state)
{
	static const struct line script[] = {VERSION, {200, "[]", NULL}, {0}};
	struct rig r;

	(void)state;
	rig_start(&r, true);
	play(&r, script);
	assert_int_equal(ask(&r, "cmdevice", "getNode", false), ERR_NONE);
	assert_string_equal(r.result, "[]");
	assert_int_equal(r.asked, 2);
	assert_string_equal(r.seen[0], "GET /rest/v1/version  ");
	assert_string_equal(
		r.seen[1],
		"POST /json  {\"service\":\"cmdevice\",\"call\":\"getNode\",\"args\":[\"n1\"]}");
	assert_string_equal(bcm_version(r.bcm), "11.0");
	rig_end(&r);
}

static void a_login_buys_a_cookie_that_is_renewed_once(void **state)
{
	static const struct line script[] = {
		VERSION, LOGIN, {200, "1", NULL}, {401, "", NULL}, LOGIN, {200, "2", NULL}, {0}};
	static const struct line denied[] = {
		{200, "{\"errormessage\":\"Certificate does not allow access\"}", NULL},
		LOGIN,
		{200, "{\"errormessage\":\"Certificate does not allow access\"}", NULL},
		{0}};
	struct rig r;

	(void)state;
	rig_start(&r, false);
	play(&r, script);
	assert_int_equal(ask(&r, "cmdevice", "getNode", false), ERR_NONE);
	assert_string_equal(r.seen[1], "POST /json  {\"service\":\"login\",\"username\":\"drover\","
				       "\"password\":\"it's \\\"secret\\\"\"}");
	assert_string_equal(r.seen[0], "GET /rest/v1/version basic ");
	assert_true(str_starts(r.seen[2], "POST /json cm-login-token=abc123 {"));
	assert_int_equal(ask(&r, "cmdevice", "getNode", false), ERR_NONE);
	assert_string_equal(r.result, "2");
	assert_int_equal(r.asked, 6);
	play(&r, denied);
	assert_int_equal(ask(&r, "cmdevice", "updateDevice", false), ERR_DENIED);
	assert_int_equal(r.err.code, 403);
	assert_non_null(strstr(r.err.text, "cmdevice.updateDevice"));
	assert_non_null(strstr(r.err.text, "profile"));
	assert_int_equal(r.asked, 9);
	rig_end(&r);
}

/* Several requests were sent with one cookie. The first reply reports that the cookie has expired;
 * each request is repeated with a new cookie. */
static void a_cookie_that_runs_out_under_several_is_renewed_for_each(void **state)
{
	static const struct line script[] = {VERSION,
					     LOGIN,
					     {200, "1", NULL},
					     {401, "", NULL},
					     {401, "", NULL},
					     {401, "", NULL},
					     LOGIN,
					     {200, "2", NULL},
					     {0}};
	struct rig r;
	const struct bcm_call c = {
		.service = "cmdevice", .call = "getNode", .args = "[]", .done = on_done, .arg = &r};

	(void)state;
	rig_start(&r, false);
	play(&r, script);
	assert_int_equal(ask(&r, "cmdevice", "getNode", false), ERR_NONE);
	r.count = 0;
	for (int i = 0; i < 3; i++)
		bcm_call(r.bcm, &c);
	loop_sim_run_until(r.loop, loop_now(r.loop) + 60000);
	assert_int_equal(r.count, 3);
	assert_int_equal(r.err.kind, ERR_NONE);
	assert_int_equal(r.denied, 0);
	assert_string_equal(r.result, "2");
	assert_int_equal(r.asked, 3 + 3 + 1 + 3);
	rig_end(&r);
}

static void a_wrong_password_is_tried_once(void **state)
{
	static const struct line script[] = {VERSION, {200, "false", NULL}, {0}};
	static const struct line bare[] = {VERSION, {200, "true", NULL}, {0}};
	struct rig r;

	(void)state;
	rig_start(&r, false);
	play(&r, script);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ask(&r, "cmdevice", "getNode", false), ERR_DENIED);
		assert_int_equal(r.err.code, 401);
		assert_null(strstr(r.err.text, "secret"));
	}
	assert_int_equal(r.asked, 2);
	rig_end(&r);
	rig_start(&r, false);
	play(&r, bare);
	assert_int_equal(ask(&r, "cmdevice", "getNode", false), ERR_PROTOCOL);
	assert_non_null(strstr(r.err.text, "client certificate"));
	rig_end(&r);
}

static void what_is_no_result_is_an_error_of_its_kind(void **state)
{
	static const struct {
		int status;
		const char *body;
		enum err_kind want;
	} rows[] = {
		{200, "{\"errormessage\":\"no such call: cmdevice.x\"}", ERR_UNSUPPORTED},
		{200, "{\"errormessage\":\"Certificate does not allow access to x\"}", ERR_DENIED},
		{200, "{\"errormessage\":\"Node n1 not found\"}", ERR_NOT_FOUND},
		{200, "{\"errormessage\":\"Operation in progress\"}", ERR_UNAVAILABLE},
		{200, "{\"errormessage\":\"boom\"}", ERR_PROTOCOL},
		{200, "{\"errormessage\":\"\"}", ERR_NONE},
		{200, "null", ERR_PROTOCOL},
		{200, "", ERR_PROTOCOL},
		{200, "<html>", ERR_PROTOCOL},
		{403, "", ERR_DENIED},
		{401, "", ERR_DENIED},
		{500, "oops", ERR_UNAVAILABLE},
		{503, "", ERR_UNAVAILABLE},
		{200, "18446744073709551616", ERR_NONE},
	};
	struct line script[3] = {VERSION};
	struct rig r;

	(void)state;
	rig_start(&r, true);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		script[i ? 0 : 1] = (struct line){rows[i].status, rows[i].body, NULL};
		if (i)
			script[1] = (struct line){0};
		play(&r, script);
		if (ask(&r, "cmdevice", "x", false) != rows[i].want)
			fail_msg("%s: %s", rows[i].body, r.err.text);
	}
	script[0] = (struct line){200, "null", NULL};
	play(&r, script);
	assert_int_equal(ask(&r, "cmdevice", "getDevice", true), ERR_NOT_FOUND);
	rig_end(&r);
}

static void what_it_quotes_is_no_password(void **state)
{
	struct line script[] = {VERSION,
				LOGIN,
				{200, "{\"errormessage\":\"boom: it's \\\"secret\\\"\"}", NULL},
				{0}};
	struct rig r;

	(void)state;
	rig_start(&r, false);
	play(&r, script);
	assert_int_equal(ask(&r, "cmdevice", "x", false), ERR_PROTOCOL);
	assert_null(strstr(r.err.text, "secret"));
	assert_non_null(strstr(r.err.text, "boom: ****"));
	rig_end(&r);
}

static void on_state(const struct bcm_state *state, const struct err *e, void *arg)
{
	struct rig *r = arg;

	assert_null(e);
	r->count++;
	str_format(r->result, sizeof(r->result), "%s: %s", state->name, str_or(state->text, ""));
}

/* The state text must not contain the password, because it is shown in the status of the node's
 * Machine. */
static void a_state_that_quotes_the_password_is_shown_without_it(void **state)
{
	struct line script[] = {VERSION,
				LOGIN,
				{200,
				 "[{\"uuid\":\"u-1\",\"status\":\"INSTALLING\",\"message\":"
				 "\"drover:it's \\\"secret\\\"@head\"}]",
				 NULL},
				{0}};
	struct bcm_statuses *s;
	struct rig r;

	(void)state;
	rig_start(&r, false);
	play(&r, script);
	s = bcm_statuses_new(r.client, r.bcm);
	(void)bcm_status_ask(s, "u-1", "n1", on_state, &r);
	loop_sim_run_until(r.loop, loop_now(r.loop) + 60000);
	assert_int_equal(r.count, 1);
	assert_true(str_starts(r.result, "INSTALLING: drover:****"));
	assert_null(strstr(r.result, "secret"));
	bcm_statuses_free(s);
	rig_end(&r);
}

static void versions_are_gated(void **state)
{
	static const struct {
		const char *body;
		enum err_kind want;
	} rows[] = {
		{"{\"cm_version\":\"10.25.03\"}", ERR_NONE},
		{"{\"cm_version\":\"10.25.3-rc1\"}", ERR_NONE},
		{"{\"cm_version\":\"11.0\"}", ERR_NONE},
		{"{\"cm_version\":\"12.1\"}", ERR_NONE},
		{"{\"cm_version\":\"10.25\"}", ERR_UNSUPPORTED},
		{"{\"cm_version\":\"9.2\"}", ERR_UNSUPPORTED},
		{"{\"cm_version\":\"10.9.99\"}", ERR_UNSUPPORTED},
		{"{\"cm_version\":\"eleven\"}", ERR_PROTOCOL},
		{"{\"cm_version\":11}", ERR_PROTOCOL},
		{"[]", ERR_PROTOCOL},
		{"null", ERR_PROTOCOL},
	};
	int64_t parts[3];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct line script[] = {{200, rows[i].body, NULL}, {200, "1", NULL}, {0}};
		struct rig r;

		rig_start(&r, true);
		play(&r, script);
		if (ask(&r, "cmdevice", "x", false) != rows[i].want)
			fail_msg("%s: %s", rows[i].body, r.err.text);
		assert_int_equal(r.asked, rows[i].want == ERR_NONE ? 2 : 1);
		rig_end(&r);
	}
	assert_true(bcm_version_parts("10.25.03", parts));
	assert_true(parts[0] == 10 && parts[1] == 25 && parts[2] == 3);
	assert_false(bcm_version_parts("10.", parts));
	assert_false(bcm_version_parts("10000000000", parts));
}

static void a_write_is_judged_by_what_it_says(void **state)
{
	static const struct {
		const char *result;
		enum err_kind want;
	} rows[] = {
		{"{\"success\":true,\"validation\":[]}", ERR_NONE},
		{"{\"success\":true,\"validation\":[{\"severity\":\"WARNING\"}]}", ERR_NONE},
		{"{\"success\":true}", ERR_NONE},
		{"{\"success\":true,\"validation\":[{\"severity\":\"ERROR\",\"field\":\"mac\"}]}",
		 ERR_INVALID},
		{"{\"success\":false,\"validation\":[]}", ERR_PROTOCOL},
		{"{\"success\":\"true\"}", ERR_PROTOCOL},
		{"true", ERR_PROTOCOL},
		{"{}", ERR_PROTOCOL},
	};
	struct exact v;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_ok(exact_read(rows[i].result, strlen(rows[i].result), &v, &e), &e);
		err_clear(&e);
		(void)!bcm_written(v, &e);
		if (e.kind != rows[i].want)
			fail_msg("%s: %s", rows[i].result, e.text);
	}
}

static bool may(void *arg)
{
	return *(const bool *)arg;
}

/* The right to write is lost while the write waits for the login, and then before its repeat. */
static void a_write_that_is_no_longer_allowed_is_not_sent(void **state)
{
	static const struct line script[] = {
		VERSION, LOGIN, {200, "1", NULL}, {401, "", NULL}, LOGIN, {200, "2", NULL}, {0}};
	bool allowed = true;
	struct rig r;
	const struct bcm_call c = {.service = "cmdevice",
				   .call = "updateDevice",
				   .args = "[]",
				   .may_act = may,
				   .may_act_arg = &allowed,
				   .done = on_done,
				   .arg = &r};

	(void)state;
	rig_start(&r, false);
	play(&r, script);
	bcm_call(r.bcm, &c);
	allowed = false;
	loop_sim_run_until(r.loop, loop_now(r.loop) + 60000);
	assert_int_equal(r.err.kind, ERR_CONFLICT);
	assert_int_equal(r.asked, 2);
	assert_int_equal(ask(&r, "cmdevice", "getNode", false), ERR_NONE);
	allowed = true;
	bcm_call(r.bcm, &c);
	while (r.asked < 4)
		loop_sim_run_until(r.loop, loop_now(r.loop) + 1);
	allowed = false;
	loop_sim_run_until(r.loop, loop_now(r.loop) + 60000);
	assert_int_equal(r.err.kind, ERR_CONFLICT);
	assert_int_equal(r.asked, 5);
	rig_end(&r);
}

static void it_may_be_freed_in_an_answer(void **state)
{
	static const struct line refused[] = {{500, "", NULL}, {0}};
	struct rig r;
	struct bcm_call c = {.service = "a", .call = "b", .args = "[]", .done = on_done, .arg = &r};

	(void)state;
	rig_start(&r, true);
	play(&r, refused);
	r.frees = true;
	bcm_call(r.bcm, &c);
	bcm_call(r.bcm, &c);
	loop_sim_run_until(r.loop, loop_now(r.loop) + 120000);
	assert_int_equal(r.count, 1);
	rig_end(&r);
	rig_start(&r, true);
	play(&r, refused);
	bcm_cancel(bcm_call(r.bcm, &c));
	bcm_call(r.bcm, &c);
	loop_sim_run_until(r.loop, loop_now(r.loop) + 120000);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.err.scope, ERR_PROVIDER);
	rig_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_certificate_is_the_login),
		cmocka_unit_test(a_login_buys_a_cookie_that_is_renewed_once),
		cmocka_unit_test(a_cookie_that_runs_out_under_several_is_renewed_for_each),
		cmocka_unit_test(a_wrong_password_is_tried_once),
		cmocka_unit_test(what_is_no_result_is_an_error_of_its_kind),
		cmocka_unit_test(what_it_quotes_is_no_password),
		cmocka_unit_test(a_state_that_quotes_the_password_is_shown_without_it),
		cmocka_unit_test(versions_are_gated),
		cmocka_unit_test(a_write_is_judged_by_what_it_says),
		cmocka_unit_test(a_write_that_is_no_longer_allowed_is_not_sent),
		cmocka_unit_test(it_may_be_freed_in_an_answer),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
