#include "tests/unit/controller/tiny.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

static void on_changed(void *arg)
{
	((struct tiny_desk *)arg)->changes++;
}

struct agents_seat *tiny_seat(struct tiny_desk *f, const char *machine)
{
	struct agents_seat_spec s = {
		.machine = machine,
		.uid = "uid-1",
		.endpoint = TINY_ORIGIN,
		.media_url = "http://10.0.8.2:8080",
		.changed = on_changed,
		.arg = f,
	};

	return agents_seat_new(f->agents, &s);
}

static void configure(struct tiny_desk *f)
{
	OWN(secret) key = secret_from_str("boot-key");
	struct agents_spec s = {.ca_pem = "-----CA-----", .boot_key = key};

	assert_ok(agents_configure(f->agents, &s, &f->e), &f->e);
}

int tiny_setup(void **state)
{
	struct tiny_desk *f = mem_new(struct tiny_desk);
	struct http_peer_spec peer = {.base_url = TINY_ORIGIN};

	f->a = arena_new();
	f->l = loop_sim_new(5, 1764000000000);
	f->g = loop_group_new(f->l, "drover");
	f->machine_g = loop_group_new(f->l, "machine");
	f->net = http_mem_net_new(f->l);
	f->d = httpd_new(f->g);
	f->agents = agents_new(f->g);
	agents_api_routes(f->agents, f->d);
	http_mem_serve(f->net, TINY_ORIGIN, f->d);
	f->h = http_new(f->machine_g,
			http_mem_transport(f->net, f->machine_g, "10.1.0.17", NULL, NULL), 0);
	f->p = http_peer_new(f->h, &peer, &f->e);
	assert_non_null(f->p);
	assert_false(agents_ready(f->agents));
	configure(f);
	assert_true(agents_ready(f->agents));
	f->seat = tiny_seat(f, "m-1");
	*state = f;
	return 0;
}

int tiny_teardown(void **state)
{
	struct tiny_desk *f = *state;

	agents_seat_free(f->seat);
	http_peer_free(f->p);
	http_free(f->h);
	httpd_free(f->d);
	agents_free(f->agents);
	http_mem_net_free(f->net);
	loop_group_free(f->machine_g);
	loop_group_free(f->g);
	loop_free(f->l);
	arena_free(f->a);
	free(f);
	return 0;
}

void tiny_run(struct tiny_desk *f, int64_t ms)
{
	loop_sim_run_until(f->l, loop_now(f->l) + ms);
}

/* --- the tiny agent -------------------------------------------------------------------------------- */

void tiny_init(struct tiny *t, struct tiny_desk *f, const char *boot_id)
{
	OWN(secret) key = secret_from_str("boot-key");

	*t = (struct tiny){.f = f, .boot = 1, .key = crypto_key_new()};
	crypto_key_public(t->key, t->public);
	proto_boot_secret(key, "uid-1", "op-1", 1, t->secret);
	str_copy(t->boot_id, sizeof(t->boot_id), boot_id);
}

void tiny_done(struct tiny *t)
{
	http_cancel(t->q);
	crypto_key_free(t->key);
}

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct tiny *t = arg;

	t->q = NULL;
	t->done = true;
	t->status = e ? -1 : r->status;
	str_copy(t->body, sizeof(t->body), e ? e->text : r->body);
}

void tiny_send(struct tiny *t, const char *method, const char *target, const void *body, size_t len,
	       const char *signature)
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
	t->q = http_start(t->f->p, &c);
	free(who);
	free(sig);
}

char *tiny_hello_text(struct tiny *t)
{
	struct proto_hello h = {
		.machine = "m-1",
		.operation = "op-1",
		.boot = t->boot,
		.secret = t->secret,
		.boot_id = t->boot_id,
		.public_key = t->public,
		.version = "1",
		.dmi = {.system_uuid = "uuid-1", .serial = "S1"},
		.trust = WIPE_SECURE_BOOT,
	};

	return proto_encode(proto_hello_fields, &h);
}

int tiny_hello(struct tiny *t)
{
	char *text = tiny_hello_text(t);

	tiny_send(t, "POST", PROTO_HELLO_PATH, text, strlen(text), NULL);
	free(text);
	tiny_run(t->f, 5000);
	assert_true(t->done);
	return t->status;
}

void tiny_poll(struct tiny *t, int64_t after)
{
	char *target = mem_printf("%s?after=%lld", PROTO_ORDER_PATH, (long long)after);

	tiny_send(t, "GET", target, NULL, 0, NULL);
	free(target);
	tiny_run(t->f, 2000);
}

int tiny_report(struct tiny *t, const struct proto_report *r)
{
	char *text = proto_encode(proto_report_fields, r);

	tiny_send(t, "POST", PROTO_REPORT_PATH, text, strlen(text), NULL);
	free(text);
	tiny_run(t->f, 5000);
	assert_true(t->done);
	return t->status;
}

struct proto_order tiny_got(struct tiny *t)
{
	struct proto_order o;

	if (!t->done || t->status != 200)
		fail_msg("no order: %d %s", t->status, t->body);
	assert_ok(proto_decode(proto_order_fields, t->body, strlen(t->body), &o, t->f->a, &t->f->e),
		  &t->f->e);
	return o;
}

void tiny_order(struct tiny_desk *f, const char *id, int kind)
{
	struct proto_order o = {.id = id, .kind = kind};

	agents_order(f->seat, &o);
}

void tiny_greeted(struct tiny_desk *f, struct tiny *t)
{
	agents_open(f->seat, "op-1", 1, 17);
	tiny_init(t, f, "boot-a");
	assert_int_equal(tiny_hello(t), 200);
	f->changes = 0;
}
