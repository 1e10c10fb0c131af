#include "wipe/agent.h"

#include "base/mem.h"
#include "tests/unit/wipe/agent_rig.h"

static void the_agent_says_who_it_is_and_takes_the_clock(void **state)
{
	(void)state;
	agent_rig_run_for(5000);
	assert_int_equal(agent_rig.hellos, 1);
	assert_string_equal(agent_rig.hello.machine, "gpu-1");
	assert_string_equal(agent_rig.hello.operation, "op-7");
	assert_string_equal(agent_rig.hello.secret, SECRET);
	assert_string_equal(agent_rig.hello.boot_id, "boot-a");
	assert_string_equal(agent_rig.hello.dmi.system_uuid,
			    "4c4c4544-0000-1000-8000-000000000001");
	assert_int_equal(agent_rig.hello.trust, WIPE_BOOT_NETWORK);
	assert_string_equal(agent_rig.hello.version, "test");
	assert_int_equal(agent_rig.hello.protocol, PROTO_VERSION);
	assert_true(agent_rig.clock == 1790000005000);
}

static void hello_is_repeated_until_it_is_answered(void **state)
{
	(void)state;
	agent_rig.hello_status = 503;
	agent_rig_run_for(60000);
	assert_true(agent_rig.hellos >= 6 && agent_rig.hellos < 60);
	assert_int_equal(agent_rig.polls, 0);
	agent_rig.hello_status = 0;
	agent_rig_run_for(20000);
	assert_true(agent_rig.polls > 0);
}

static void empty_answers_do_not_make_it_hurry(void **state)
{
	(void)state;
	agent_rig_run_for(60000);
	/* The server answers each poll at once; the agent polls at most once a second. */
	assert_true(agent_rig.polls > 30 && agent_rig.polls <= 61);
}

static void a_lost_connection_is_tried_again_for_ever(void **state)
{
	(void)state;
	agent_rig_run_for(2000);
	http_mem_serve(agent_rig.net, ORIGIN, NULL);
	agent_rig_run_for(3600 * 1000);
	unsigned polls = agent_rig.polls;

	assert_int_equal(agent_rig.off, 0);
	http_mem_serve(agent_rig.net, ORIGIN, agent_rig.httpd);
	agent_rig_run_for(30000);
	assert_true(agent_rig.polls > polls);
	assert_int_equal(agent_rig.hellos, 1);
}

static void where_it_hears_nothing_its_network_begins_anew(void **state)
{
	(void)state;
	agent_rig_run_for(2000);
	http_mem_serve(agent_rig.net, ORIGIN, NULL);
	agent_rig_run_for(50 * 1000);
	assert_int_equal(agent_rig.renewals, 0);
	agent_rig_run_for(40 * 1000);
	assert_int_equal(agent_rig.renewals, 1);
	/* Renewals are 1, 2, 4 ... 32 min apart, then one hour. */
	agent_rig_run_for(24 * 3600 * 1000);
	assert_in_range(agent_rig.renewals, 25, 31);
}

static void any_answer_is_heard(void **state)
{
	(void)state;
	agent_rig_run_for(2000);
	agent_rig.poll_status = 503;
	agent_rig_run_for(3600 * 1000);
	assert_int_equal(agent_rig.renewals, 0);
	http_mem_serve(agent_rig.net, ORIGIN, NULL);
	agent_rig_run_for(90 * 1000);
	assert_int_equal(agent_rig.renewals, 1);
	http_mem_serve(agent_rig.net, ORIGIN, agent_rig.httpd);
	agent_rig_run_for(60 * 1000);
	http_mem_serve(agent_rig.net, ORIGIN, NULL);
	/* The agent received an answer meanwhile, so the next renewal comes after a minute
	 * again. */
	agent_rig_run_for(90 * 1000);
	assert_int_equal(agent_rig.renewals, 2);
}

static void ten_minutes_of_denial_power_it_off(void **state)
{
	(void)state;
	agent_rig_run_for(2000);
	agent_rig.poll_status = agent_rig.hello_status = 403;
	int64_t since = loop_now(agent_rig.loop);

	agent_rig_run_for(595000);
	assert_int_equal(agent_rig.off, 0);
	agent_rig_run_for(60000);
	assert_int_equal(agent_rig.off, 1);
	assert_true(agent_rig.off_at - since >= 600000);
	unsigned hellos = agent_rig.hellos;

	agent_rig_run_for(60000);
	assert_int_equal(agent_rig.hellos, hellos);
}

static void a_denial_that_ends_in_time_is_forgotten(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		agent_rig.poll_status = agent_rig.hello_status = 401;
		agent_rig_run_for(400000);
		agent_rig.poll_status = agent_rig.hello_status = 0;
		agent_rig_run_for(60000);
	}
	assert_int_equal(agent_rig.off, 0);
}

static void inspect_reports_the_inventory(void **state)
{
	struct proto_order o = {.seq = 1, .id = "op/inspect", .fence = 3, .kind = PROTO_INSPECT};
	const struct proto_report *r = agent_rig_order(&o);

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
	const struct proto_report *r = agent_rig_order(&o);

	(void)state;
	assert_int_equal(r->inventory->drives.n, 2);
	/* A third drive: the agent would report it if it carried out the order again. */
	machine_drive(&agent_rig.m, "nvme2n1", "eui.3\n", DRIVE);
	o.seq = 2;
	o.fence = 5;
	r = agent_rig_order(&o);
	assert_non_null(r);
	assert_int_equal(r->inventory->drives.n, 2);
	assert_int_equal(r->fence, 5);
	assert_int_equal(r->seq, 2);
}

static void an_order_that_the_server_repeats_for_ever_does_no_harm(void **state)
{
	struct proto_order o = {.seq = 1, .id = "op/inspect", .fence = 3};

	(void)state;
	agent_rig.repeat = true;
	assert_non_null(agent_rig_order(&o));
	assert_true(agent_rig.nreports <= 35);
}

static void a_lower_fence_is_refused_and_the_order_stays_possible(void **state)
{
	struct proto_order first = {.seq = 1, .id = "op/a", .fence = 5};
	struct proto_order stale = {
		.seq = 2, .id = "op/wipe", .fence = 4, .kind = PROTO_WIPE, .nonce = NONCE};
	const struct proto_report *r;

	(void)state;
	assert_int_equal(agent_rig_order(&first)->state, PROTO_DONE);
	r = agent_rig_order(&stale);
	assert_int_equal(r->state, PROTO_FAILED);
	assert_string_equal(r->reason, "StaleFence");
	assert_int_equal(machine_residue(&agent_rig.m, "nvme0n1"), DRIVE >> 20);
	stale.seq = 3;
	stale.fence = 6;
	assert_int_equal(agent_rig_order(&stale)->state, PROTO_DONE);
	assert_int_equal(machine_residue(&agent_rig.m, "nvme0n1"), 0);
}

static void a_result_is_kept_until_it_is_taken(void **state)
{
	struct proto_order o = {.seq = 1, .id = "op/inspect", .fence = 1};

	(void)state;
	agent_rig.fail_reports = 5;
	assert_non_null(agent_rig_order(&o));
	assert_int_equal(agent_rig.nreports, 1);
}

static void a_result_that_is_refused_for_good_is_dropped(void **state)
{
	struct proto_order o = {.seq = 1, .id = "op/a", .fence = 1},
			   p = {.seq = 2, .id = "op/b", .fence = 1};

	(void)state;
	agent_rig.report_status = 409;
	assert_null(agent_rig_order(&o));
	agent_rig.report_status = 0;
	assert_string_equal(agent_rig_order(&p)->id, "op/b");
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
		r = agent_rig_order(&o);
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
	const struct proto_report *r = agent_rig_order(&o);

	(void)state;
	assert_int_equal(r->state, PROTO_FAILED);
}

static void power_off_is_reported_and_done(void **state)
{
	struct proto_order o = {.seq = 1, .id = "op/off", .fence = 1, .kind = PROTO_POWEROFF};

	(void)state;
	assert_int_equal(agent_rig_order(&o)->state, PROTO_DONE);
	assert_int_equal(agent_rig.off, 1);
}

static void power_off_does_not_wait_for_a_server_that_is_gone(void **state)
{
	struct proto_order o = {.seq = 1, .id = "op/off", .fence = 1, .kind = PROTO_POWEROFF};

	(void)state;
	agent_rig.fail_reports = 1000;
	assert_null(agent_rig_order(&o));
	assert_int_equal(agent_rig.off, 1);
}

static void the_agent_can_go_at_any_moment(void **state)
{
	struct proto_order wipe = {
		.seq = 1, .id = "op/wipe", .fence = 1, .kind = PROTO_WIPE, .nonce = NONCE};

	agent_rig.order = &wipe;
	for (int64_t ms = 1; ms < 200; ms += 9) {
		agent_rig_run_for(ms);
		agent_rig_teardown(state);
		agent_rig_setup(state);
		agent_rig.order = &wipe;
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, agent_rig_setup, agent_rig_teardown)
	const struct CMUnitTest tests[] = {
		T(the_agent_says_who_it_is_and_takes_the_clock),
		T(hello_is_repeated_until_it_is_answered),
		T(empty_answers_do_not_make_it_hurry),
		T(a_lost_connection_is_tried_again_for_ever),
		T(where_it_hears_nothing_its_network_begins_anew),
		T(any_answer_is_heard),
		T(ten_minutes_of_denial_power_it_off),
		T(a_denial_that_ends_in_time_is_forgotten),
		T(inspect_reports_the_inventory),
		T(the_same_order_gets_the_same_result_without_being_done_again),
		T(an_order_that_the_server_repeats_for_ever_does_no_harm),
		T(a_lower_fence_is_refused_and_the_order_stays_possible),
		T(a_result_is_kept_until_it_is_taken),
		T(a_result_that_is_refused_for_good_is_dropped),
		T(orders_that_lack_something_are_refused),
		T(a_config_drive_needs_an_image),
		T(power_off_is_reported_and_done),
		T(power_off_does_not_wait_for_a_server_that_is_gone),
		T(the_agent_can_go_at_any_moment),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
