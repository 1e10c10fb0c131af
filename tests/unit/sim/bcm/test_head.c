/* Tests the simulated head node (BCM) with a client that shares no code with drover's client. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "sim/bcm/head.h"

#define HEAD "https://head:8081"

struct rig {
	struct loop *loop;
	struct loop_group *group, *client;
	struct http_mem_net *net;
	struct httpd *httpd;
	struct http *http;
	struct http_peer *peer;
	struct sim_head *head;
	struct sim_head_node *node;
	struct secret *password, *cookie;
	unsigned count;
	int status;
	char body[8192];
	enum err_kind failed;
};

static void start(struct rig *r)
{
	struct sim_head_spec s = {.user = "drover", .version = "10.25.3"};
	struct http_peer_spec p = {.base_url = HEAD};
	struct err e;

	*r = (struct rig){.loop = loop_sim_new(5, 1764000000000)};
	r->group = loop_group_new(r->loop, "head");
	r->client = loop_group_new(r->loop, "client");
	r->net = http_mem_net_new(r->loop);
	r->httpd = httpd_new(r->group);
	s.password = r->password = secret_from_str("correct horse");
	r->head = sim_head_new(r->group, &s);
	sim_head_routes(r->head, r->httpd);
	r->node = sim_head_add(r->head, "n1", "b8:ce:f6:00:00:01", "10.0.8.17", NULL, NULL);
	http_mem_serve(r->net, HEAD, r->httpd);
	r->http = http_new(r->client, http_mem_transport(r->net, r->client, "10.0.0.9", NULL, NULL),
			   0);
	r->peer = http_peer_new(r->http, &p, &e);
	assert_non_null(r->peer);
}

static void end(struct rig *r)
{
	secret_free(r->cookie);
	http_peer_free(r->peer);
	http_free(r->http);
	httpd_free(r->httpd);
	sim_head_free(r->head);
	secret_free(r->password);
	http_mem_net_free(r->net);
	loop_group_free(r->client);
	loop_group_free(r->group);
	loop_free(r->loop);
}

static void on_done(const struct http_reply *p, const struct err *e, void *arg)
{
	struct rig *r = arg;
	const char *cookie = p ? http_reply_header(p, "Set-Cookie") : NULL;

	r->count++;
	r->failed = e ? e->kind : ERR_NONE;
	r->status = p ? p->status : 0;
	str_copy(r->body, sizeof(r->body), p ? p->body : "");
	if (cookie) {
		secret_free(r->cookie);
		r->cookie = secret_new(cookie, strcspn(cookie, ";"));
	}
}

static bool answered(void *arg)
{
	return *(unsigned *)arg > 0;
}

static int ask(struct rig *r, const char *method, const char *path, const char *body)
{
	struct http_call c = {.method = method,
			      .path = path,
			      .body = body,
			      .body_len = body ? strlen(body) : 0,
			      .timeout_ms = 10000,
			      .done = on_done,
			      .arg = r};

	if (str_starts(path, "/rest")) {
		c.basic_user = "drover";
		c.basic_password = r->password;
	} else if (r->cookie) {
		c.secret_header = "Cookie";
		c.secret_value = r->cookie;
	}
	r->count = 0;
	http_start(r->peer, &c);
	loop_sim_run_cond(r->loop, answered, &r->count, loop_now(r->loop) + 20000);
	return r->status;
}

static int call(struct rig *r, const char *service, const char *name, const char *args)
{
	char body[8192];

	str_format(body, sizeof(body), "{\"service\":\"%s\",\"call\":\"%s\",\"args\":%s}", service,
		   name, args);
	return ask(r, "POST", "/json", body);
}

#define LOGIN "{\"service\":\"login\",\"username\":\"drover\",\"password\":\"correct horse\"}"

static void nobody_gets_in_without_a_login(void **state)
{
	struct rig r;

	(void)state;
	start(&r);
	assert_int_equal(call(&r, "cmdevice", "getDevices", "[]"), 401);
	ask(&r, "POST", "/json",
	    "{\"service\":\"login\",\"username\":\"drover\",\"password\":\"wrong\"}");
	assert_string_equal(r.body, "false");
	assert_int_equal(call(&r, "cmdevice", "getDevices", "[]"), 401);
	assert_int_equal(ask(&r, "POST", "/json", LOGIN), 200);
	assert_string_equal(r.body, "true");
	assert_int_equal(call(&r, "CMDevice", "getDevices", "[]"), 200);
	assert_int_equal(ask(&r, "GET", "/rest/v1/version", NULL), 200);
	assert_non_null(strstr(r.body, "\"cm_version\":\"10.25.3\""));
	assert_int_equal(ask(&r, "PUT", "/sim/version", "{\"version\":\"9.2\"}"), 200);
	ask(&r, "GET", "/rest/v1/version", NULL);
	assert_non_null(strstr(r.body, "\"cm_version\":\"9.2\""));
	assert_int_equal(ask(&r, "POST", "/sim/restart", "{\"ms\":1000}"), 200);
	assert_int_equal(call(&r, "cmdevice", "getDevices", "[]"), 503);
	loop_sim_run_until(r.loop, loop_now(r.loop) + 2000);
	assert_int_equal(call(&r, "cmdevice", "getDevices", "[]"), 401);
	end(&r);
}

static void a_device_is_kept_letter_for_letter_and_what_is_left_out_is_gone(void **state)
{
	struct rig r;
	const char *uuid = "d0000000-0000-4000-8000-000000000001";
	char args[2000];

	(void)state;
	start(&r);
	ask(&r, "POST", "/json", LOGIN);
	call(&r, "cmdevice", "getDevice", "[\"n1\"]");
	assert_non_null(strstr(r.body, "\"priority\":1.50"));
	assert_non_null(strstr(r.body, "\"tag\":")); /* Only BCM 10 has the member tag. */
	assert_null(strstr(r.body, "rackPosition"));
	call(&r, "cmdevice", "getDevice", "[\"nobody\"]");
	assert_string_equal(r.body, "null");
	str_format(args, sizeof(args), "[{\"uuid\":\"%s\",\"hostname\":\"n1\",\"mac\":\"m\"}]",
		   uuid);
	call(&r, "cmdevice", "updateDevice", args);
	assert_non_null(strstr(r.body, "\"success\":false"));
	assert_non_null(strstr(r.body, "NOT_NULL"));
	str_format(args, sizeof(args),
		   "[{\"uuid\":\"%s\", \"hostname\":\"n1\",\"mac\":\"m\",\"category\":\"c\","
		   "\"childType\":\"PhysicalNode\",\"x\":1e400}]",
		   uuid);
	call(&r, "cmdevice", "updateDevice", args);
	assert_non_null(strstr(r.body, "\"success\":true"));
	call(&r, "cmdevice", "getDevice", "[\"n1\"]");
	assert_non_null(strstr(r.body, "\"x\":1e400"));
	assert_null(strstr(r.body, "priority"));
	end(&r);
}

static void power_and_an_install_take_their_time(void **state)
{
	static const char status[] = "[[\"d0000000-0000-4000-8000-000000000001\"]]";
	static const char on[] =
		"[{\"baseType\":\"PowerOperation\",\"devices\":"
		"[\"d0000000-0000-4000-8000-000000000001\"],\"operation\":\"ON\"}]";
	struct rig r;

	(void)state;
	start(&r);
	ask(&r, "POST", "/json", LOGIN);
	sim_head_set(r.node, "nextBootInstallMode", "\"FULL\"");
	call(&r, "cmdevice", "powerOperation", on);
	assert_string_equal(r.body, "{\"count\":1,\"index\":1}");
	loop_sim_run_until(r.loop, loop_now(r.loop) + 4000);
	call(&r, "cmstatus", "getStatusForDevices", status);
	assert_non_null(
		strstr(r.body, "\"status\":\"INSTALLING\",\"message\":\"installer started\""));
	loop_sim_run_until(r.loop, loop_now(r.loop) + 40000);
	call(&r, "cmstatus", "getStatusForDevices", status);
	assert_non_null(strstr(r.body, "\"status\":\"UP\""));
	assert_non_null(strstr(sim_head_device(r.node), "\"nextBootInstallMode\":\"\""));
	sim_head_set(r.node, "powerControl", "\"none\"");
	call(&r, "cmdevice", "powerOperation", on);
	assert_string_equal(r.body, "{\"count\":0,\"index\":2}");
	ask(&r, "GET", "/sim/nodes", NULL);
	assert_non_null(strstr(r.body, "\"hostname\":\"n1\",\"on\":true"));
	assert_int_equal(ask(&r, "POST", "/sim/nodes/n1/close", "{}"), 200);
	call(&r, "cmstatus", "getStatusForDevices", status);
	assert_non_null(strstr(r.body, "\"status\":\"UP/CLOSED\""));
	assert_int_equal(ask(&r, "POST", "/sim/nodes/n1/close", "{\"closed\":false}"), 200);
	call(&r, "cmstatus", "getStatusForDevices", status);
	assert_non_null(strstr(r.body, "\"status\":\"UP\""));
	assert_int_equal(ask(&r, "GET", "/sim/nodes/n1", NULL), 200);
	assert_string_equal(r.body, sim_head_device(r.node));
	assert_int_equal(ask(&r, "GET", "/sim/nodes/n9", NULL), 404);
	end(&r);
}

static void what_goes_wrong_is_asked_for(void **state)
{
	struct rig r;

	(void)state;
	start(&r);
	ask(&r, "POST", "/json", LOGIN);
	assert_int_equal(ask(&r, "POST", "/sim/faults", "{\"what\":\"Nonsense\"}"), 400);
	ask(&r, "POST", "/sim/faults",
	    "{\"what\":\"Null\",\"call\":\"cmdevice.getDevices\",\"count\":1}");
	call(&r, "cmnet", "getNetworks", "[]");
	assert_non_null(strstr(r.body, "internalnet"));
	call(&r, "cmdevice", "getDevices", "[]");
	assert_string_equal(r.body, "null");
	call(&r, "cmdevice", "getDevices", "[]");
	assert_true(r.body[0] == '[');
	ask(&r, "POST", "/sim/faults", "{\"what\":\"ErrorMessage\",\"text\":\"boom\"}");
	call(&r, "cmdevice", "getDevices", "[]");
	assert_string_equal(r.body, "{\"errormessage\":\"boom\"}");
	ask(&r, "DELETE", "/sim/faults", NULL);
	ask(&r, "POST", "/sim/faults", "{\"what\":\"LostReply\",\"count\":1}");
	assert_int_equal(call(&r, "cmdevice", "getDevices", "[]"), 0);
	assert_int_equal(r.failed, ERR_UNAVAILABLE);
	ask(&r, "POST", "/sim/faults", "{\"what\":\"Hang\",\"count\":1}");
	call(&r, "cmdevice", "getDevices", "[]");
	assert_int_equal(r.failed, ERR_TIMEOUT);
	call(&r, "cmdevice", "nothing", "[]");
	assert_non_null(strstr(r.body, "no such call: cmdevice.nothing"));
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_gets_in_without_a_login),
		cmocka_unit_test(a_device_is_kept_letter_for_letter_and_what_is_left_out_is_gone),
		cmocka_unit_test(power_and_an_install_take_their_time),
		cmocka_unit_test(what_goes_wrong_is_asked_for),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
