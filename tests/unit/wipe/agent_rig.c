#include "tests/unit/wipe/agent_rig.h"

#include "base/data/json.h"
#include "base/mem.h"
#include "tests/data/pems.h"

struct agent_rig agent_rig;

static const char *target(struct httpd_req *q)
{
	const char *after = httpd_query(q, "after");

	return after ? arena_printf(agent_rig.arena, "%s?after=%s", httpd_path(q), after)
		     : httpd_path(q);
}

static void check_signature(struct httpd_req *q)
{
	size_t len;
	const char *body = httpd_body(q, &len);

	assert_string_equal(httpd_header(q, PROTO_HEADER_AGENT), "gpu-1/boot-a");
	assert_true(proto_signed(agent_rig.key, httpd_method(q), target(q), body, len,
				 httpd_header(q, PROTO_HEADER_SIGNATURE)));
}

static void on_hello(struct httpd_req *q, void *arg)
{
	size_t len;
	struct err e;
	const char *body = httpd_body(q, &len);

	(void)arg;
	agent_rig.hellos++;
	if (agent_rig.hello_status) {
		httpd_reply(q, agent_rig.hello_status, "text/plain", "no", 2);
		return;
	}
	assert_ok(
		proto_decode(proto_hello_fields, body, len, &agent_rig.hello, agent_rig.arena, &e),
		&e);
	crypto_key_free(agent_rig.key);
	agent_rig.key = crypto_key_from_public(agent_rig.hello.public_key, &e);
	assert_non_null(agent_rig.key);
	check_signature(q);
	httpd_reply_json(q, 200, "{\"wallTime\":1790000005000}");
}

static void on_poll(struct httpd_req *q, void *arg)
{
	int64_t after;

	(void)arg;
	agent_rig.polls++;
	if (agent_rig.poll_status) {
		httpd_reply(q, agent_rig.poll_status, "text/plain", "no", 2);
		return;
	}
	check_signature(q);
	assert_true(str_to_i64(httpd_query(q, "after"), 0, INT64_MAX, &after));
	if (agent_rig.order && (agent_rig.repeat || agent_rig.order->seq > after)) {
		char *text = proto_encode(proto_order_fields, agent_rig.order);

		httpd_reply_json(q, 200, text);
		free(text);
	} else {
		httpd_reply(q, 204, NULL, NULL, 0);
	}
}

static void on_report(struct httpd_req *q, void *arg)
{
	size_t len;
	struct err e;
	const char *body = httpd_body(q, &len);

	(void)arg;
	if (agent_rig.fail_reports) {
		agent_rig.fail_reports--;
		httpd_reply(q, 503, "text/plain", "no", 2);
		return;
	}
	if (agent_rig.report_status) {
		httpd_reply(q, agent_rig.report_status, "text/plain", "no", 2);
		return;
	}
	check_signature(q);
	assert_true(agent_rig.nreports < MAX_REPORTS);
	assert_ok(proto_decode(proto_report_fields, body, len,
			       &agent_rig.reports[agent_rig.nreports++], agent_rig.arena, &e),
		  &e);
	httpd_reply(q, 204, NULL, NULL, 0);
}

static void power_off(void *arg)
{
	(void)arg;
	agent_rig.off++;
	agent_rig.off_at = loop_now(agent_rig.loop);
}

static void renew_network(void *arg)
{
	(void)arg;
	agent_rig.renewals++;
}

static void set_clock(int64_t wall_ms, void *arg)
{
	(void)arg;
	agent_rig.clock = wall_ms;
}

int agent_rig_setup(void **state)
{
	struct err e;

	(void)state;
	memset(&agent_rig, 0, sizeof(agent_rig));
	machine_init(&agent_rig.m);
	machine_drive(&agent_rig.m, "nvme0n1", "eui.1\n", DRIVE);
	machine_drive(&agent_rig.m, "nvme1n1", "eui.2\n", DRIVE);
	agent_rig.arena = arena_new();
	agent_rig.loop = loop_sim_new(11, WALL);
	agent_rig.agent_group = loop_group_new(agent_rig.loop, "agent");
	agent_rig.server_group = loop_group_new(agent_rig.loop, "server");
	agent_rig.net = http_mem_net_new(agent_rig.loop);
	agent_rig.httpd = httpd_new(agent_rig.server_group);
	httpd_route(agent_rig.httpd, "POST", PROTO_HELLO_PATH, PROTO_MAX_MESSAGE, on_hello, NULL);
	httpd_route(agent_rig.httpd, "GET", PROTO_ORDER_PATH, 0, on_poll, NULL);
	httpd_route(agent_rig.httpd, "POST", PROTO_REPORT_PATH, PROTO_MAX_MESSAGE, on_report, NULL);
	http_mem_serve(agent_rig.net, ORIGIN, agent_rig.httpd);
	agent_rig.http = http_new(
		agent_rig.agent_group,
		http_mem_transport(agent_rig.net, agent_rig.agent_group, "10.1.0.17", NULL, NULL),
		8);
	agent_rig.boot = (struct proto_boot){.endpoint = ORIGIN,
					     .ca_pem = PEMS_CA,
					     .machine = "gpu-1",
					     .operation = "op-7",
					     .boot = 2,
					     .secret = SECRET};
	struct agent_config c = {.group = agent_rig.agent_group,
				 .http = agent_rig.http,
				 .host = &agent_rig.m.host,
				 .boot = &agent_rig.boot,
				 .boot_id = "boot-a",
				 .version = "test",
				 .power_off = power_off,
				 .set_clock = set_clock,
				 .renew_network = renew_network};

	agent_rig.agent = agent_new(&c, &e);
	assert_non_null(agent_rig.agent);
	agent_start(agent_rig.agent);
	return 0;
}

int agent_rig_teardown(void **state)
{
	(void)state;
	agent_free(agent_rig.agent);
	http_free(agent_rig.http);
	http_mem_serve(agent_rig.net, ORIGIN, NULL);
	httpd_free(agent_rig.httpd);
	loop_run(agent_rig.loop);
	loop_group_free(agent_rig.agent_group);
	loop_group_free(agent_rig.server_group);
	http_mem_net_free(agent_rig.net);
	loop_free(agent_rig.loop);
	crypto_key_free(agent_rig.key);
	arena_free(agent_rig.arena);
	machine_done(&agent_rig.m);
	return 0;
}

void agent_rig_run_for(int64_t ms)
{
	loop_sim_run_until(agent_rig.loop, loop_now(agent_rig.loop) + ms);
}

const struct proto_report *agent_rig_order(const struct proto_order *o)
{
	size_t from = agent_rig.nreports;

	agent_rig.order = o;
	agent_rig_run_for(30000);
	for (size_t i = from; i < agent_rig.nreports; i++)
		if (agent_rig.reports[i].state != PROTO_PROGRESS)
			return &agent_rig.reports[i];
	return NULL;
}
