/* Runs drover-agent as a program, on a machine that consists of files: it connects over TLS and
 * carries out orders. */
#include "tests/unit/testing.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/crypto.h"
#include "base/httpd/httpd_mhd.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/cli/verb.h"
#include "tests/unit/wipe/machine.h"
#include "wipe/proto.h"

#define SECRET "0011223344556677889900112233445566778899001122334455667788990011"
#define LIMIT_MS 60000
#define AGENT(...) verb_run("drover-agent", agent, NULL, (const char *const[]){__VA_ARGS__, NULL})

static int agent(int argc, char **argv)
{
	(void)argc;
	return program_exec("drover-agent", argv);
}

/* --- a controller with two orders: inspect, then power off ------------------------------------ */

struct home {
	struct loop *loop;
	struct loop_group *group;
	struct loop_signal *child;
	struct loop_timer limit;
	struct httpd *httpd;
	struct httpd_mhd *listener;
	struct arena *arena;
	char *ca_pem, *cert_pem;
	struct secret *ca_key, *key;
	char endpoint[64];
	struct proto_hello hello;
	struct proto_report inspected;
};

static void on_hello(struct httpd_req *q, void *arg)
{
	struct home *h = arg;
	size_t len;
	const char *body = httpd_body(q, &len);
	struct err e;

	assert_ok(proto_decode(proto_hello_fields, body, len, &h->hello, h->arena, &e), &e);
	httpd_reply_json(q, 200, "{\"wallTime\":1790000005000}");
}

static void on_poll(struct httpd_req *q, void *arg)
{
	static const struct proto_order orders[] = {
		{.seq = 1, .id = "op-7/inspect", .fence = 1, .kind = PROTO_INSPECT},
		{.seq = 2, .id = "op-7/poweroff", .fence = 1, .kind = PROTO_POWEROFF}};
	const struct home *h = arg;
	int64_t after;
	char *text;

	assert_true(str_to_i64(httpd_query(q, "after"), 0, 2, &after));
	/* Sends poweroff only after the result of inspect has arrived, because the agent would
	 * carry out poweroff first. */
	if (after == 2 || (after == 1 && h->inspected.state != PROTO_DONE)) {
		httpd_reply(q, 204, NULL, NULL, 0);
		return;
	}
	text = proto_encode(proto_order_fields, &orders[after]);
	httpd_reply_json(q, 200, text);
	free(text);
}

static void on_report(struct httpd_req *q, void *arg)
{
	struct home *h = arg;
	struct proto_report r;
	size_t len;
	const char *body = httpd_body(q, &len);
	struct err e;

	assert_ok(proto_decode(proto_report_fields, body, len, &r, h->arena, &e), &e);
	if (str_eq(r.id, "op-7/inspect") && r.state != PROTO_PROGRESS)
		h->inspected = r;
	httpd_reply(q, 204, NULL, NULL, 0);
}

static void on_child(int signum, void *arg)
{
	(void)signum;
	loop_stop(((struct home *)arg)->loop);
}

static void on_limit(void *arg)
{
	loop_stop(((struct home *)arg)->loop);
}

static void home_start(struct home *h)
{
	static const char *const names[] = {"127.0.0.1", NULL};
	struct httpd_mhd_spec s = {.address = "127.0.0.1:0"};
	struct err e;

	*h = (struct home){.loop = loop_uv_new(), .arena = arena_new()};
	h->group = loop_group_new(h->loop, "home");
	h->child = loop_signal(h->group, SIGCHLD, on_child, h);
	loop_timer_init(&h->limit, h->group, on_limit, h);
	h->httpd = httpd_new(h->group);
	httpd_route(h->httpd, "POST", PROTO_HELLO_PATH, PROTO_MAX_MESSAGE, on_hello, h);
	httpd_route(h->httpd, "GET", PROTO_ORDER_PATH, 0, on_poll, h);
	httpd_route(h->httpd, "POST", PROTO_REPORT_PATH, PROTO_MAX_MESSAGE, on_report, h);
	assert_ok(crypto_ca_new("home", loop_wall(h->loop), 2, &h->ca_pem, &h->ca_key, &e), &e);
	assert_ok(crypto_cert_issue(&(struct crypto_cert_spec){.ca_pem = h->ca_pem,
							       .ca_key = h->ca_key,
							       .cn = "home",
							       .names = names,
							       .wall_ms = loop_wall(h->loop),
							       .days = 2},
				    &h->cert_pem, &h->key, &e),
		  &e);
	s.cert_pem = h->cert_pem;
	s.key_pem = h->key;
	h->listener = httpd_mhd_new(h->httpd, &s, &e);
	assert_non_null(h->listener);
	str_format(h->endpoint, sizeof(h->endpoint), "https://127.0.0.1:%u",
		   httpd_mhd_port(h->listener));
}

static void home_stop(struct home *h)
{
	loop_timer_stop(&h->limit);
	loop_signal_free(h->child);
	httpd_mhd_free(h->listener);
	httpd_free(h->httpd);
	secret_free(h->key);
	secret_free(h->ca_key);
	free(h->ca_pem);
	free(h->cert_pem);
	arena_free(h->arena);
	loop_group_free(h->group);
	loop_free(h->loop);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void it_calls_home_as_its_boot_block_says_and_ends_when_told(void **state)
{
	struct program p;
	struct machine m;
	struct home h;
	struct proto_boot boot;
	char path[128], *block = mem_alloc(PROTO_BOOT_BLOCK);
	struct err e;
	FILE *f;

	(void)state;
	machine_init(&m);
	machine_drive(&m, "nvme0n1", "eui.1\n", 1 << 20);
	machine_file(&m, "proc/sys/kernel/random/boot_id", "boot-a\n");
	home_start(&h);
	boot = (struct proto_boot){.endpoint = h.endpoint,
				   .ca_pem = h.ca_pem,
				   .machine = "gpu-1",
				   .operation = "op-7",
				   .boot = 2,
				   .secret = SECRET,
				   .wall_time = 1790000000000};
	assert_ok(proto_boot_write(&boot, block, &e), &e);
	str_format(path, sizeof(path), "%s/drover.cred", m.dir);
	f = fopen(path, "we");
	assert_int_equal(fwrite(block, PROTO_BOOT_BLOCK, 1, f), 1);
	fclose(f);
	free(block);

	loop_timer_start(&h.limit, LIMIT_MS);
	program_start(&p, "drover-agent", agent,
		      (const char *const[]){"--pretend", m.dir, path, NULL});
	loop_run(h.loop);
	assert_true(loop_timer_active(&h.limit)); /* The program ended before the time limit. */
	assert_int_equal(program_end(&p, 0), 0);
	assert_string_equal(h.hello.machine, "gpu-1");
	assert_string_equal(h.hello.secret, SECRET);
	assert_string_equal(h.hello.boot_id, "boot-a");
	assert_string_equal(h.hello.dmi.serial, "J7XK2T3");
	assert_int_equal(h.inspected.state, PROTO_DONE);
	assert_int_equal(h.inspected.inventory->drives.n, 1);
	assert_string_equal(h.inspected.inventory->drives.v[0].wwn, "eui.1");
	home_stop(&h);
	machine_done(&m);
}

static void typed_by_itself_it_refuses(void **state)
{
	(void)state;
	assert_int_equal(verb_run("drover-agent", agent, NULL, (const char *const[]){NULL}), 2);
	verb_assert_said("only as process 1 of its boot image");
	assert_int_equal(AGENT("--pretend", "/tmp"), 2);
	assert_int_equal(AGENT("--wipe", "/tmp", "/dev/null"), 2);
}

static void a_boot_block_that_cannot_be_used_is_named(void **state)
{
	(void)state;
	assert_int_equal(AGENT("--pretend", "/nonexistent", "/nonexistent/drover.cred"), 1);
	verb_assert_said("no boot block at /nonexistent/drover.cred");
	assert_int_equal(AGENT("--pretend", "/nonexistent", "/proc/self/status"), 1);
	verb_assert_said("cannot start");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_calls_home_as_its_boot_block_says_and_ends_when_told),
		cmocka_unit_test(typed_by_itself_it_refuses),
		cmocka_unit_test(a_boot_block_that_cannot_be_used_is_named),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
