#include "wipe/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/crypto.h"
#include "base/http_mem.h"
#include "base/json.h"
#include "base/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/machine.h"
#include "wipe/verify.h"

#define ORIGIN "https://drover:8443"
#define SECRET "0011223344556677889900112233445566778899001122334455667788990011"
#define NONCE "a1a2a3a4a5a6a7a8a9a0a1a2a3a4a5a6"
#define DIGEST "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define WALL 1790000000000
#define DRIVE (8 << 20)
#define MAX_REPORTS 64

/* A controller that says what it was told to say and writes down what it hears. */
static struct world {
	struct machine m;
	struct loop *loop;
	struct loop_group *agent_group, *server_group;
	struct http_mem_net *net;
	struct httpd *httpd;
	struct http *http;
	struct proto_boot boot;
	struct agent *agent;
	struct arena *arena;

	unsigned hellos, polls, off;
	int64_t off_at, clock;
	int hello_status, poll_status, report_status; /* 0: as it should be */
	unsigned fail_reports;			      /* how many to answer with 503 */
	const struct proto_order *order;	      /* the next to hand out */
	bool repeat;				      /* hand it out whatever `after` says */
	struct proto_hello hello;
	struct crypto_key *key;
	struct proto_report reports[MAX_REPORTS]; /* results and progress, in order */
	size_t nreports;
} w;

static const char *target(struct httpd_req *q)
{
	const char *after = httpd_query(q, "after");

	return after ? arena_printf(w.arena, "%s?after=%s", httpd_path(q), after) : httpd_path(q);
}

static void check_signature(struct httpd_req *q)
{
	size_t len;
	const char *body = httpd_body(q, &len);

	assert_string_equal(httpd_header(q, PROTO_HEADER_AGENT), "gpu-1/boot-a");
	assert_true(proto_signed(w.key, httpd_method(q), target(q), body, len,
				 httpd_header(q, PROTO_HEADER_SIGNATURE)));
}

static void on_hello(struct httpd_req *q, void *arg)
{
	size_t len;
	struct err e;
	const char *body = httpd_body(q, &len);

	(void)arg;
	w.hellos++;
	if (w.hello_status) {
		httpd_reply(q, w.hello_status, "text/plain", "no", 2);
		return;
	}
	assert_ok(proto_decode(proto_hello_fields, body, len, &w.hello, w.arena, &e), &e);
	crypto_key_free(w.key);
	w.key = crypto_key_from_public(w.hello.public_key, &e);
	assert_non_null(w.key);
	check_signature(q);
	httpd_reply_json(q, 200, "{\"wallTime\":1790000005000}");
}

static void on_poll(struct httpd_req *q, void *arg)
{
	int64_t after;

	(void)arg;
	w.polls++;
	if (w.poll_status) {
		httpd_reply(q, w.poll_status, "text/plain", "no", 2);
		return;
	}
	check_signature(q);
	assert_true(str_to_i64(httpd_query(q, "after"), 0, INT64_MAX, &after));
	if (w.order && (w.repeat || w.order->seq > after)) {
		char *text = proto_encode(proto_order_fields, w.order);

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
	if (w.fail_reports) {
		w.fail_reports--;
		httpd_reply(q, 503, "text/plain", "no", 2);
		return;
	}
	if (w.report_status) {
		httpd_reply(q, w.report_status, "text/plain", "no", 2);
		return;
	}
	check_signature(q);
	assert_true(w.nreports < MAX_REPORTS);
	assert_ok(
		proto_decode(proto_report_fields, body, len, &w.reports[w.nreports++], w.arena, &e),
		&e);
	httpd_reply(q, 204, NULL, NULL, 0);
}

static void power_off(void *arg)
{
	(void)arg;
	w.off++;
	w.off_at = loop_now(w.loop);
}

static void set_clock(int64_t wall_ms, void *arg)
{
	(void)arg;
	w.clock = wall_ms;
}

static int setup(void **state)
{
	struct err e;

	(void)state;
	memset(&w, 0, sizeof(w));
	machine_init(&w.m);
	machine_drive(&w.m, "nvme0n1", "eui.1\n", DRIVE);
	machine_drive(&w.m, "nvme1n1", "eui.2\n", DRIVE);
	w.arena = arena_new();
	w.loop = loop_sim_new(11, WALL);
	w.agent_group = loop_group_new(w.loop, "agent");
	w.server_group = loop_group_new(w.loop, "server");
	w.net = http_mem_net_new(w.loop);
	w.httpd = httpd_new(w.server_group);
	httpd_route(w.httpd, "POST", PROTO_HELLO_PATH, PROTO_MAX_MESSAGE, on_hello, NULL);
	httpd_route(w.httpd, "GET", PROTO_ORDER_PATH, 0, on_poll, NULL);
	httpd_route(w.httpd, "POST", PROTO_REPORT_PATH, PROTO_MAX_MESSAGE, on_report, NULL);
	http_mem_serve(w.net, ORIGIN, w.httpd);
	w.http = http_new(w.agent_group,
			  http_mem_transport(w.net, w.agent_group, "10.1.0.17", NULL, NULL), 8);
	w.boot = (struct proto_boot){.endpoint = ORIGIN,
				     .ca_pem = "unused in process",
				     .machine = "gpu-1",
				     .operation = "op-7",
				     .boot = 2,
				     .secret = SECRET};
	struct agent_config c = {.group = w.agent_group,
				 .http = w.http,
				 .host = &w.m.host,
				 .boot = &w.boot,
				 .boot_id = "boot-a",
				 .version = "test",
				 .power_off = power_off,
				 .set_clock = set_clock};

	w.agent = agent_new(&c, &e);
	assert_non_null(w.agent);
	agent_start(w.agent);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	agent_free(w.agent);
	http_free(w.http);
	http_mem_serve(w.net, ORIGIN, NULL);
	httpd_free(w.httpd);
	loop_run(w.loop);
	loop_group_free(w.agent_group);
	loop_group_free(w.server_group);
	http_mem_net_free(w.net);
	loop_free(w.loop);
	crypto_key_free(w.key);
	arena_free(w.arena);
	machine_done(&w.m);
	return 0;
}

static void run_for(int64_t ms)
{
	loop_sim_run_until(w.loop, loop_now(w.loop) + ms);
}

/* Hand out an order and wait; the result, or NULL if none came. */
static const struct proto_report *give_order(const struct proto_order *o)
{
	size_t from = w.nreports;

	w.order = o;
	run_for(30000);
	for (size_t i = from; i < w.nreports; i++)
		if (w.reports[i].state != PROTO_PROGRESS)
			return &w.reports[i];
	return NULL;
}

static void the_agent_says_who_it_is_and_takes_the_clock(void **state)
{
	(void)state;
	run_for(5000);
	assert_int_equal(w.hellos, 1);
	assert_string_equal(w.hello.machine, "gpu-1");
	assert_string_equal(w.hello.operation, "op-7");
	assert_string_equal(w.hello.secret, SECRET);
	assert_string_equal(w.hello.boot_id, "boot-a");
	assert_string_equal(w.hello.dmi.system_uuid, "4c4c4544-0000-1000-8000-000000000001");
	assert_int_equal(w.hello.trust, WIPE_BOOT_NETWORK);
	assert_true(w.clock == 1790000005000);
}

static void hello_is_repeated_until_it_is_answered(void **state)
{
	(void)state;
	w.hello_status = 503;
	run_for(60000);
	assert_true(w.hellos >= 6 && w.hellos < 60);
	assert_int_equal(w.polls, 0);
	w.hello_status = 0;
	run_for(20000);
	assert_true(w.polls > 0);
}

static void empty_answers_do_not_make_it_hurry(void **state)
{
	(void)state;
	run_for(60000);
	/* The fake answers at once: not more than one a second. */
	assert_true(w.polls > 30 && w.polls <= 61);
}

static void a_lost_connection_is_tried_again_for_ever(void **state)
{
	(void)state;
	run_for(2000);
	http_mem_serve(w.net, ORIGIN, NULL);
	run_for(3600 * 1000);
	unsigned polls = w.polls;

	assert_int_equal(w.off, 0);
	http_mem_serve(w.net, ORIGIN, w.httpd);
	run_for(30000);
	assert_true(w.polls > polls);
	assert_int_equal(w.hellos, 1);
}

static void ten_minutes_of_denial_power_it_off(void **state)
{
	(void)state;
	run_for(2000);
	w.poll_status = w.hello_status = 403;
	int64_t since = loop_now(w.loop);

	run_for(595000);
	assert_int_equal(w.off, 0);
	run_for(60000);
	assert_int_equal(w.off, 1);
	assert_true(w.off_at - since >= 600000);
	unsigned hellos = w.hellos;

	run_for(60000);
	assert_int_equal(w.hellos, hellos);
}

static void a_denial_that_ends_in_time_is_forgotten(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		w.poll_status = w.hello_status = 401;
		run_for(400000);
		w.poll_status = w.hello_status = 0;
		run_for(60000);
	}
	assert_int_equal(w.off, 0);
}

static void inspect_reports_the_inventory(void **state)
{
	struct proto_order o = {.seq = 1, .id = "op/inspect", .fence = 3, .kind = PROTO_INSPECT};
	const struct proto_report *r = give_order(&o);

	(void)state;
	assert_non_null(r);
	assert_int_equal(r->state, PROTO_DONE);
	assert_string_equal(r->id, "op/inspect");
	assert_int_equal(r->fence, 3);
	assert_non_null(r->inventory);
	assert_int_equal(r->inventory->drives.n, 2);
}

static void the_same_order_gets_the_same_result_without_being_done_again(void **state)
{
	struct proto_order o = {.seq = 1, .id = "op/inspect", .fence = 3};
	const struct proto_report *r = give_order(&o);

	(void)state;
	assert_int_equal(r->inventory->drives.n, 2);
	/* Were it done again it would see a third drive. */
	machine_drive(&w.m, "nvme2n1", "eui.3\n", DRIVE);
	o.seq = 2;
	o.fence = 5;
	r = give_order(&o);
	assert_non_null(r);
	assert_int_equal(r->inventory->drives.n, 2);
	assert_int_equal(r->fence, 5);
	assert_int_equal(r->seq, 2);
}

static void an_order_that_the_server_repeats_for_ever_does_no_harm(void **state)
{
	struct proto_order o = {.seq = 1, .id = "op/inspect", .fence = 3};

	(void)state;
	w.repeat = true;
	assert_non_null(give_order(&o));
	assert_true(w.nreports <= 35);
}

static void a_lower_fence_is_refused_and_the_order_stays_possible(void **state)
{
	struct proto_order first = {.seq = 1, .id = "op/a", .fence = 5};
	struct proto_order stale = {
		.seq = 2, .id = "op/wipe", .fence = 4, .kind = PROTO_WIPE, .nonce = NONCE};
	const struct proto_report *r;

	(void)state;
	assert_int_equal(give_order(&first)->state, PROTO_DONE);
	r = give_order(&stale);
	assert_int_equal(r->state, PROTO_FAILED);
	assert_string_equal(r->reason, "StaleFence");
	assert_int_equal(machine_residue(&w.m, "nvme0n1"), DRIVE >> 20);
	stale.seq = 3;
	stale.fence = 6;
	assert_int_equal(give_order(&stale)->state, PROTO_DONE);
	assert_int_equal(machine_residue(&w.m, "nvme0n1"), 0);
}

static void a_result_is_kept_until_it_is_taken(void **state)
{
	struct proto_order o = {.seq = 1, .id = "op/inspect", .fence = 1};

	(void)state;
	w.fail_reports = 5;
	assert_non_null(give_order(&o));
	assert_int_equal(w.nreports, 1);
}

static void a_result_that_is_refused_for_good_is_dropped(void **state)
{
	struct proto_order o = {.seq = 1, .id = "op/a", .fence = 1},
			   p = {.seq = 2, .id = "op/b", .fence = 1};

	(void)state;
	w.report_status = 409;
	assert_null(give_order(&o));
	w.report_status = 0;
	assert_string_equal(give_order(&p)->id, "op/b");
}

static struct evidence evidence = {
	.machine = {"gpu-1", "uid-1", "4c4c4544-0000-1000-8000-000000000001", "J7XK2T3"},
	.tenancy = 41,
	.attempt = 1,
	.policy_digest = DIGEST,
};

static void wipe_verify_and_stamp_follow_one_another(void **state)
{
	const char *wwns[] = {"eui.1", "eui.2"};
	struct proto_order wipe = {.seq = 1,
				   .id = "op/wipe",
				   .fence = 1,
				   .kind = PROTO_WIPE,
				   .nonce = NONCE,
				   .expected = {wwns, 2},
				   .samples = 100};
	struct proto_order verify = wipe, stamp = {.seq = 3,
						   .id = "op/stamp",
						   .fence = 1,
						   .kind = PROTO_WRITE,
						   .what = PROTO_WRITE_STAMP,
						   .record = "gpu-1-41-1",
						   .stamp = DIGEST};
	struct proto_order look = {.seq = 4, .id = "op/look", .fence = 1};
	struct proto_order unstamp = {.seq = 5,
				      .id = "op/unstamp",
				      .fence = 1,
				      .kind = PROTO_WRITE,
				      .what = PROTO_WRITE_UNSTAMP};
	const struct proto_report *r;
	struct evidence got;
	struct err e;
	char block[PROTO_STAMP_SIZE];

	(void)state;
	machine_file(&w.m, "sys/bus/pci/devices/0000:00:0e.0/class", "0x010400\n");
	machine_file(&w.m, "sys/bus/pci/devices/0000:00:0e.0/vendor", "0x8086\n");
	machine_file(&w.m, "sys/bus/pci/devices/0000:00:0e.0/device", "0x201d\n");
	machine_file(&w.m, "sys/block/mmcblk0boot0/size", "8192\n");
	r = give_order(&wipe);
	assert_int_equal(r->state, PROTO_DONE);
	assert_int_equal(r->devices.n, 2);
	assert_int_equal(r->devices.v[1].level, WIPE_CLEAR);
	assert_int_equal(machine_residue(&w.m, "nvme0n1") + machine_residue(&w.m, "nvme1n1"), 0);

	verify.seq = 2;
	verify.id = "op/verify";
	verify.kind = PROTO_VERIFY;
	verify.evidence = &evidence;
	r = give_order(&verify);
	assert_int_equal(r->state, PROTO_DONE);
	assert_non_null(r->envelope);
	assert_ok(evidence_open(r->envelope, w.hello.public_key, NULL, 0, w.arena, &got, &e), &e);
	assert_int_equal(got.verdict, WIPE_CLEAR);
	assert_int_equal(got.tenancy, 41);
	assert_int_equal(got.devices.n, 2);
	assert_int_equal(got.devices.v[0].reads.clean, 100 + 512);
	assert_int_equal(got.inventory.expected, 2);
	assert_int_equal(got.inventory.seen, 2);
	assert_int_equal(got.start_time % 1000, 0);
	assert_true(got.end_time >= got.start_time);
	assert_int_equal(got.not_covered.n, 10);
	assert_string_equal(got.not_covered.v[9], "BootPartition mmcblk0boot0");
	assert_string_equal(got.not_covered.v[0], "GPUMemory");
	assert_string_equal(got.not_covered.v[8], "StorageController 8086:201d 0000:00:0e.0");

	r = give_order(&stamp);
	assert_int_equal(r->state, PROTO_DONE);
	r = give_order(&look);
	assert_string_equal(r->inventory->drives.v[0].stamp, DIGEST);
	assert_string_equal(r->inventory->drives.v[1].stamp_record, "gpu-1-41-1");
	r = give_order(&unstamp);
	assert_int_equal(r->state, PROTO_DONE);
	machine_peek(&w.m, "nvme1n1", block, sizeof(block), 0);
	for (size_t i = 0; i < sizeof(block); i++)
		assert_int_equal(block[i], 0);
}

/* Flash has to be purged, and what spins cannot be: each by its own medium. */
static void each_medium_has_its_own_minimum(void **state)
{
	const char *wwns[] = {"eui.1", "eui.2"};
	struct proto_order wipe = {.seq = 1,
				   .id = "op/wipe",
				   .fence = 1,
				   .kind = PROTO_WIPE,
				   .nonce = NONCE,
				   .expected = {wwns, 2},
				   .minimum_level = WIPE_PURGE,
				   .minimum_level_hdd = WIPE_CLEAR};
	struct proto_order verify = wipe, stamp = {.seq = 3,
						   .id = "op/stamp",
						   .fence = 1,
						   .kind = PROTO_WRITE,
						   .what = PROTO_WRITE_STAMP,
						   .record = "gpu-1-41-1",
						   .stamp = DIGEST};
	const struct proto_report *r;

	(void)state;
	verify.seq = 2;
	verify.id = "op/verify";
	verify.kind = PROTO_VERIFY;
	verify.evidence = &evidence;
	machine_file(&w.m, "sys/block/nvme1n1/queue/rotational", "1\n");
	r = give_order(&wipe);
	assert_int_equal(r->devices.v[0].level, WIPE_CLEAR);
	assert_string_equal(r->devices.v[0].reason, "EraseBelowPolicy");
	assert_int_equal(r->devices.v[1].level, WIPE_CLEAR);
	assert_null(r->devices.v[1].reason);
	assert_int_equal(give_order(&verify)->state, PROTO_DONE);
	r = give_order(&stamp);
	assert_string_equal(r->reason, "NotWiped");
	assert_non_null(strstr(r->message, "eui.1"));

	machine_file(&w.m, "sys/block/nvme0n1/queue/rotational", "1\n");
	wipe.seq = 4;
	wipe.id = "op/wipe2";
	verify.seq = 5;
	verify.id = "op/verify2";
	stamp.seq = 6;
	stamp.id = "op/stamp2";
	assert_null(give_order(&wipe)->devices.v[0].reason);
	assert_int_equal(give_order(&verify)->state, PROTO_DONE);
	assert_int_equal(give_order(&stamp)->state, PROTO_DONE);
}

/* All that were to be wiped are clean, and one more is there. */
static void a_machine_with_a_drive_too_many_is_not_clean(void **state)
{
	const char *wwns[] = {"eui.1"};
	struct proto_order wipe = {.seq = 1,
				   .id = "op/wipe",
				   .fence = 1,
				   .kind = PROTO_WIPE,
				   .nonce = NONCE,
				   .expected = {wwns, 1}};
	struct proto_order verify = wipe, stamp = {.seq = 3,
						   .id = "op/stamp",
						   .fence = 1,
						   .kind = PROTO_WRITE,
						   .what = PROTO_WRITE_STAMP,
						   .record = "gpu-1-41-1",
						   .stamp = DIGEST};
	const struct proto_report *r;
	struct evidence got;
	struct err e;

	(void)state;
	verify.seq = 2;
	verify.id = "op/verify";
	verify.kind = PROTO_VERIFY;
	verify.evidence = &evidence;
	assert_int_equal(give_order(&wipe)->devices.v[0].level, WIPE_CLEAR);
	r = give_order(&verify);
	assert_ok(evidence_open(r->envelope, w.hello.public_key, NULL, 0, w.arena, &got, &e), &e);
	assert_int_equal(got.devices.v[0].level, WIPE_CLEAR);
	assert_string_equal(got.inventory.extra.v[0], "eui.2");
	assert_int_equal(got.verdict, WIPE_FAIL);
	assert_string_equal(give_order(&stamp)->reason, "NotWiped");
}

/* However the orders come: a clean stamp means that nothing was written since. */
static void what_was_written_after_the_verification_is_not_stamped(void **state)
{
	const char *wwns[] = {"eui.1", "eui.2"};
	struct proto_order o = {.seq = 1,
				.id = "op/wipe",
				.fence = 1,
				.kind = PROTO_WIPE,
				.nonce = NONCE,
				.expected = {wwns, 2}};
	struct proto_order image = {.seq = 3,
				    .id = "op/image",
				    .fence = 1,
				    .kind = PROTO_WRITE,
				    .what = PROTO_WRITE_IMAGE,
				    .drive = "eui.2",
				    .url = "ftp://nowhere",
				    .digest = DIGEST};
	struct proto_order stamp = {.seq = 4,
				    .id = "op/stamp",
				    .fence = 1,
				    .kind = PROTO_WRITE,
				    .what = PROTO_WRITE_STAMP,
				    .record = "gpu-1-41-1",
				    .stamp = DIGEST};
	const struct proto_report *r;
	struct evidence got;
	struct err e;

	(void)state;
	assert_int_equal(give_order(&o)->state, PROTO_DONE);
	o.seq = 2;
	o.id = "op/verify";
	o.kind = PROTO_VERIFY;
	o.evidence = &evidence;
	r = give_order(&o);
	assert_ok(evidence_open(r->envelope, w.hello.public_key, NULL, 0, w.arena, &got, &e), &e);
	/* No number of samples is not none. */
	assert_int_equal(got.devices.v[0].reads.clean, VERIFY_SAMPLES + 512);
	assert_int_equal(give_order(&image)->state, PROTO_FAILED);
	r = give_order(&stamp);
	assert_string_equal(r->reason, "NotWiped");
	assert_non_null(strstr(r->message, "eui.2"));
}

static void a_drive_that_was_not_expected_is_reported_and_left_alone(void **state)
{
	const char *wwns[] = {"eui.1", "eui.9"};
	struct proto_order wipe = {.seq = 1,
				   .id = "op/wipe",
				   .fence = 1,
				   .kind = PROTO_WIPE,
				   .nonce = NONCE,
				   .expected = {wwns, 2}};
	struct proto_order verify = {.seq = 2,
				     .id = "op/verify",
				     .fence = 1,
				     .kind = PROTO_VERIFY,
				     .nonce = NONCE,
				     .evidence = &evidence};
	struct proto_order stamp = {.seq = 3,
				    .id = "op/stamp",
				    .fence = 1,
				    .kind = PROTO_WRITE,
				    .what = PROTO_WRITE_STAMP,
				    .record = "r",
				    .stamp = DIGEST};
	const struct proto_report *r = give_order(&wipe);
	struct evidence got;
	struct err e;

	(void)state;
	assert_int_equal(r->state, PROTO_DONE);
	assert_int_equal(r->devices.n, 2);
	assert_string_equal(r->devices.v[1].wwn, "eui.9");
	assert_int_equal(r->devices.v[1].level, WIPE_FAIL);
	assert_string_equal(r->devices.v[1].reason, "DriveMissing");
	assert_int_equal(machine_residue(&w.m, "nvme0n1"), 0);
	assert_int_equal(machine_residue(&w.m, "nvme1n1"), DRIVE >> 20);

	r = give_order(&verify);
	assert_ok(evidence_open(r->envelope, w.hello.public_key, NULL, 0, w.arena, &got, &e), &e);
	assert_int_equal(got.verdict, WIPE_FAIL);
	assert_int_equal(got.inventory.missing.n, 1);
	assert_string_equal(got.inventory.missing.v[0], "eui.9");
	assert_string_equal(got.inventory.extra.v[0], "eui.2");
	/* And nothing of it may be called clean. */
	r = give_order(&stamp);
	assert_int_equal(r->state, PROTO_FAILED);
	assert_string_equal(r->reason, "NotWiped");
}

static void one_failed_drive_does_not_stop_the_others(void **state)
{
	struct proto_order wipe = {
		.seq = 1, .id = "op/wipe", .fence = 1, .kind = PROTO_WIPE, .nonce = NONCE};
	const struct proto_report *r;

	(void)state;
	machine_file(&w.m, "sys/block/nvme0n1/ro", "1\n");
	r = give_order(&wipe);
	assert_int_equal(r->state, PROTO_DONE);
	assert_int_equal(r->devices.v[0].level, WIPE_FAIL);
	assert_string_equal(r->devices.v[0].reason, "ReadOnly");
	assert_non_null(strstr(r->message, "nvme0n1 is read-only"));
	assert_int_equal(r->devices.v[1].level, WIPE_CLEAR);
	assert_int_equal(machine_residue(&w.m, "nvme1n1"), 0);
}

static void nothing_is_verified_that_was_not_wiped_in_this_boot(void **state)
{
	struct proto_order verify = {.seq = 1,
				     .id = "op/verify",
				     .fence = 1,
				     .kind = PROTO_VERIFY,
				     .nonce = NONCE,
				     .evidence = &evidence};
	struct proto_order wipe = {
		.seq = 2, .id = "op/wipe", .fence = 1, .kind = PROTO_WIPE, .nonce = NONCE};
	const struct proto_report *r = give_order(&verify);

	(void)state;
	assert_int_equal(r->state, PROTO_FAILED);
	assert_string_equal(r->reason, "NotWiped");
	assert_int_equal(give_order(&wipe)->state, PROTO_DONE);
	verify.seq = 3;
	verify.id = "op/verify2";
	verify.nonce = "b1b2b3b4b5b6b7b8b9b0b1b2b3b4b5b6";
	assert_string_equal(give_order(&verify)->reason, "NotWiped");
}

static void evidence_for_another_machine_is_not_signed(void **state)
{
	struct evidence other = evidence;
	struct proto_order wipe = {
		.seq = 1, .id = "op/wipe", .fence = 1, .kind = PROTO_WIPE, .nonce = NONCE};
	struct proto_order verify = {.seq = 2,
				     .id = "op/verify",
				     .fence = 1,
				     .kind = PROTO_VERIFY,
				     .nonce = NONCE,
				     .evidence = &other};

	(void)state;
	other.machine.system_uuid = "4c4c4544-0000-1000-8000-000000000002";
	assert_int_equal(give_order(&wipe)->state, PROTO_DONE);
	assert_string_equal(give_order(&verify)->reason, "IdentityMismatch");
}

static void a_machine_without_drives_was_not_wiped(void **state)
{
	struct proto_order wipe = {
		.seq = 1, .id = "op/wipe", .fence = 1, .kind = PROTO_WIPE, .nonce = NONCE};

	(void)state;
	machine_file(&w.m, "sys/block/nvme0n1/hidden", "1\n");
	machine_file(&w.m, "sys/block/nvme1n1/hidden", "1\n");
	assert_string_equal(give_order(&wipe)->reason, "NoDrives");
}

/* It was found with no size already: named, wiped by nobody, and never stamped. */
static void a_drive_without_a_size_fails_the_wipe(void **state)
{
	struct proto_order wipe = {
		.seq = 1, .id = "op/wipe", .fence = 1, .kind = PROTO_WIPE, .nonce = NONCE};
	const struct proto_report *r;

	(void)state;
	machine_file(&w.m, "sys/block/nvme1n1/size", "0\n");
	r = give_order(&wipe);
	assert_int_equal(r->devices.n, 2);
	assert_int_equal(r->devices.v[0].level, WIPE_CLEAR);
	assert_int_equal(r->devices.v[1].level, WIPE_FAIL);
	assert_string_equal(r->devices.v[1].reason, "DriveFailed");
	assert_true(machine_residue(&w.m, "nvme1n1") > 0);
}

static void orders_that_lack_something_are_refused(void **state)
{
	static const struct proto_order bad[] = {
		{.kind = PROTO_WIPE},
		{.kind = PROTO_VERIFY, .nonce = NONCE},
		{.kind = PROTO_WRITE, .what = PROTO_WRITE_IMAGE, .url = "http://x/"},
		{.kind = PROTO_WRITE, .what = PROTO_WRITE_CONFIG, .drive = "eui.1"},
		{.kind = PROTO_WRITE, .what = PROTO_WRITE_STAMP, .record = "r"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct proto_order o = bad[i];
		const struct proto_report *r;
		char id[16];

		snprintf(id, sizeof(id), "op/%zu", i);
		o.seq = (int64_t)i + 1;
		o.id = id;
		o.fence = 1;
		r = give_order(&o);
		assert_non_null(r);
		assert_string_equal(r->reason, "OrderInvalid");
	}
}

static void a_config_drive_needs_an_image(void **state)
{
	struct proto_file f = {"meta-data", "x"};
	struct proto_order o = {.seq = 1,
				.id = "op/config",
				.fence = 1,
				.kind = PROTO_WRITE,
				.what = PROTO_WRITE_CONFIG,
				.drive = "eui.1",
				.files = {&f, 1}};
	const struct proto_report *r = give_order(&o);

	(void)state;
	assert_int_equal(r->state, PROTO_FAILED);
}

static void power_off_is_reported_and_done(void **state)
{
	struct proto_order o = {.seq = 1, .id = "op/off", .fence = 1, .kind = PROTO_POWEROFF};

	(void)state;
	assert_int_equal(give_order(&o)->state, PROTO_DONE);
	assert_int_equal(w.off, 1);
}

static void power_off_does_not_wait_for_a_server_that_is_gone(void **state)
{
	struct proto_order o = {.seq = 1, .id = "op/off", .fence = 1, .kind = PROTO_POWEROFF};

	(void)state;
	w.fail_reports = 1000;
	assert_null(give_order(&o));
	assert_int_equal(w.off, 1);
}

static void the_agent_can_go_at_any_moment(void **state)
{
	struct proto_order wipe = {
		.seq = 1, .id = "op/wipe", .fence = 1, .kind = PROTO_WIPE, .nonce = NONCE};

	w.order = &wipe;
	for (int64_t ms = 1; ms < 200; ms += 9) {
		run_for(ms);
		teardown(state);
		setup(state);
		w.order = &wipe;
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(the_agent_says_who_it_is_and_takes_the_clock),
		T(hello_is_repeated_until_it_is_answered),
		T(empty_answers_do_not_make_it_hurry),
		T(a_lost_connection_is_tried_again_for_ever),
		T(ten_minutes_of_denial_power_it_off),
		T(a_denial_that_ends_in_time_is_forgotten),
		T(inspect_reports_the_inventory),
		T(the_same_order_gets_the_same_result_without_being_done_again),
		T(an_order_that_the_server_repeats_for_ever_does_no_harm),
		T(a_lower_fence_is_refused_and_the_order_stays_possible),
		T(a_result_is_kept_until_it_is_taken),
		T(a_result_that_is_refused_for_good_is_dropped),
		T(wipe_verify_and_stamp_follow_one_another),
		T(each_medium_has_its_own_minimum),
		T(a_machine_with_a_drive_too_many_is_not_clean),
		T(what_was_written_after_the_verification_is_not_stamped),
		T(a_drive_that_was_not_expected_is_reported_and_left_alone),
		T(one_failed_drive_does_not_stop_the_others),
		T(nothing_is_verified_that_was_not_wiped_in_this_boot),
		T(evidence_for_another_machine_is_not_signed),
		T(a_machine_without_drives_was_not_wiped),
		T(a_drive_without_a_size_fails_the_wipe),
		T(orders_that_lack_something_are_refused),
		T(a_config_drive_needs_an_image),
		T(power_off_is_reported_and_done),
		T(power_off_does_not_wait_for_a_server_that_is_gone),
		T(the_agent_can_go_at_any_moment),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
