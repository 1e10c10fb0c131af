#include "tests/unit/controller/agent/fake_agent.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

static void on_changed(void *arg)
{
	((struct fake_agent_bench *)arg)->changes++;
}

struct agent_session *fake_agent_seat(struct fake_agent_bench *f, const char *machine)
{
	struct agent_session_spec s = {
		.machine = machine,
		.uid = "uid-1",
		.endpoint = TINY_ORIGIN,
		.media_url = "http://10.0.8.2:8080",
		.changed = on_changed,
		.arg = f,
	};

	return agent_session_new(f->agents, &s);
}

static void configure(struct fake_agent_bench *f)
{
	OWN(secret) key = secret_from_str("boot-key");
	struct agent_endpoint_spec s = {.ca_pem = "-----CA-----", .boot_key = key};

	assert_ok(agent_endpoint_configure(f->agents, &s, &f->e), &f->e);
}

int fake_agent_setup(void **state)
{
	struct fake_agent_bench *f = mem_new(struct fake_agent_bench);
	struct http_peer_spec peer = {.base_url = TINY_ORIGIN};

	f->a = arena_new();
	f->l = loop_sim_new(5, 1764000000000);
	f->g = loop_group_new(f->l, "drover");
	f->machine_g = loop_group_new(f->l, "machine");
	f->net = http_mem_net_new(f->l);
	f->d = httpd_new(f->g);
	f->agents = agent_endpoint_new(f->g);
	agent_endpoint_api_routes(f->agents, f->d);
	http_mem_serve(f->net, TINY_ORIGIN, f->d);
	f->h = http_new(f->machine_g,
			http_mem_transport(f->net, f->machine_g, "10.1.0.17:5012", NULL, NULL), 0);
	f->p = http_peer_new(f->h, &peer, &f->e);
	assert_non_null(f->p);
	f->away =
		http_new(f->machine_g,
			 http_mem_transport(f->net, f->machine_g, "10.66.6.6:999", NULL, NULL), 0);
	f->q = http_peer_new(f->away, &peer, &f->e);
	assert_false(agent_endpoint_ready(f->agents));
	configure(f);
	assert_true(agent_endpoint_ready(f->agents));
	f->seat = fake_agent_seat(f, "m-1");
	*state = f;
	return 0;
}

int fake_agent_teardown(void **state)
{
	struct fake_agent_bench *f = *state;

	agent_session_free(f->seat);
	http_peer_free(f->p);
	http_peer_free(f->q);
	http_free(f->h);
	http_free(f->away);
	httpd_free(f->d);
	agent_endpoint_free(f->agents);
	http_mem_net_free(f->net);
	loop_group_free(f->machine_g);
	loop_group_free(f->g);
	loop_free(f->l);
	arena_free(f->a);
	free(f);
	return 0;
}

void fake_agent_run(struct fake_agent_bench *f, int64_t ms)
{
	loop_sim_run_until(f->l, loop_now(f->l) + ms);
}

void fake_agent_due(struct fake_agent_bench *f, const char *operation, int64_t boot, int64_t fence)
{
	agent_session_open(f->seat, operation, boot, fence);
	agent_session_await(f->seat, AGENT_DUE);
}

/* --- the fake agent --------------------------------------------------------------------------- */

void fake_agent_init(struct fake_agent *t, struct fake_agent_bench *f, const char *boot_id)
{
	OWN(secret) key = secret_from_str("boot-key");

	*t = (struct fake_agent){.f = f,
				 .boot = 1,
				 .protocol = PROTO_VERSION,
				 .version = "1",
				 .key = crypto_key_new()};
	crypto_key_public(t->key, t->public);
	proto_boot_secret(key, "uid-1", "op-1", 1, t->secret);
	str_copy(t->boot_id, sizeof(t->boot_id), boot_id);
}

void fake_agent_done(struct fake_agent *t)
{
	http_cancel(t->q);
	crypto_key_free(t->key);
}

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct fake_agent *t = arg;

	t->q = NULL;
	t->done = true;
	t->status = e ? -1 : r->status;
	t->closed = r && str_eq(http_reply_header(r, "Connection"), "close");
	str_copy(t->body, sizeof(t->body), e ? e->text : r->body);
}

void fake_agent_send(struct fake_agent *t, const char *method, const char *target, const void *body,
		     size_t len, const char *signature)
{
	char *who = mem_printf("m-1/%s", t->boot_id),
	     *sig = proto_sign(t->key, method, target, body, len);
	struct http_header headers[] = {{PROTO_HEADER_AGENT, who},
					{PROTO_HEADER_SIGNATURE, signature ? signature : sig}};
	struct http_call c = {
		.method = method,
		.path = target,
		.headers = headers,
		.nheaders = 2,
		.body = body,
		.body_len = len,
		.timeout_ms = 60000,
		.done = on_reply,
		.arg = t,
	};

	t->done = false;
	t->q = http_start(t->elsewhere ? t->f->q : t->f->p, &c);
	free(who);
	free(sig);
}

char *fake_agent_hello_text(struct fake_agent *t)
{
	struct proto_hello h = {
		.machine = "m-1",
		.operation = "op-1",
		.boot = t->boot,
		.secret = t->secret,
		.boot_id = t->boot_id,
		.public_key = t->public,
		.version = t->version,
		.protocol = t->protocol,
		.dmi = {.system_uuid = "uuid-1", .serial = "S1"},
		.trust = WIPE_SECURE_BOOT,
	};

	return proto_encode(proto_hello_fields, &h);
}

int fake_agent_hello(struct fake_agent *t)
{
	char *text = fake_agent_hello_text(t);

	fake_agent_send(t, "POST", PROTO_HELLO_PATH, text, strlen(text), NULL);
	free(text);
	fake_agent_run(t->f, 5000);
	assert_true(t->done);
	return t->status;
}

void fake_agent_poll(struct fake_agent *t, int64_t after)
{
	char *target = mem_printf("%s?after=%lld", PROTO_ORDER_PATH, (long long)after);

	fake_agent_send(t, "GET", target, NULL, 0, NULL);
	free(target);
	fake_agent_run(t->f, 2000);
}

int fake_agent_report(struct fake_agent *t, const struct proto_report *r)
{
	char *text = proto_encode(proto_report_fields, r);

	fake_agent_send(t, "POST", PROTO_REPORT_PATH, text, strlen(text), NULL);
	free(text);
	fake_agent_run(t->f, 5000);
	assert_true(t->done);
	return t->status;
}

struct proto_order fake_agent_got(struct fake_agent *t)
{
	struct proto_order o;

	if (!t->done || t->status != 200)
		fail_msg("no order: %d %s", t->status, t->body);
	assert_ok(proto_decode(proto_order_fields, t->body, strlen(t->body), &o, t->f->a, &t->f->e),
		  &t->f->e);
	return o;
}

void fake_agent_order(struct fake_agent_bench *f, const char *id, int kind)
{
	struct proto_order o = {.id = id, .kind = kind};

	agent_session_order(f->seat, &o);
}

void fake_agent_greeted(struct fake_agent_bench *f, struct fake_agent *t)
{
	fake_agent_due(f, "op-1", 1, 17);
	fake_agent_init(t, f, "boot-a");
	assert_int_equal(fake_agent_hello(t), 200);
	f->changes = 0;
}
