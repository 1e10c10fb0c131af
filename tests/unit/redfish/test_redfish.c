#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "tests/simulated/loop_sim.h"
#include "base/str.h"
#include "tests/unit/redfish/bmc_rig.h"

#define PIN_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define PIN_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* --- hostile BMCs ----------------------------------------------------------------------------- */

static void a_hundred_megabytes_are_cut_off(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.huge = true;
	assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
	assert_non_null(strstr(f->err.text, "more than 1048576 bytes"));
}

static void a_reply_that_is_too_deep_is_refused(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.deep = true;
	assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
}

static void a_reply_that_is_not_json_is_refused(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.garbage = true;
	assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
}

static void a_link_to_another_server_is_not_followed(void **state)
{
	struct bmc_rig *f = *state;
	struct fake_bmc other;

	fake_bmc_init(&other, f->bmc_group);
	http_mem_serve(f->net, "https://10.6.6.6", other.httpd);
	f->bmc.foreign_link = true;
	assert_int_equal(bmc_read_system(f), ERR_PROTOCOL);
	assert_int_equal(other.njournal, 0);
	http_mem_serve(f->net, "https://10.6.6.6", NULL);
	fake_bmc_done(&other);
}

static void a_loop_of_next_links_ends(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.next_loop = f->bmc.managers_media = f->bmc.no_cd = true;
	assert_int_equal(bmc_read_media(f), ERR_UNSUPPORTED);
	assert_true(f->bmc.njournal < 12);
}

static void a_bmc_that_hangs_costs_one_exchange(void **state)
{
	struct bmc_rig *f = *state;
	int64_t from = loop_now(f->loop);

	http_mem_hang(f->net, ORIGIN, true);
	assert_int_equal(bmc_read_system(f), ERR_TIMEOUT);
	assert_true(loop_now(f->loop) - from <= 16000);
	http_mem_hang(f->net, ORIGIN, false);
	assert_done(bmc_read_system(f));
}

static void operations_behind_a_hanging_one_end_too(void **state)
{
	struct bmc_rig *f = *state;
	int64_t from = loop_now(f->loop);

	http_mem_hang(f->net, ORIGIN, true);
	for (int i = 0; i < 8; i++)
		redfish_read_system(bmc_client(f), bmc_on_system, f);
	loop_sim_run_until(f->loop, from + REDFISH_OP_MS + 1000);
	assert_int_equal(f->answers, 8);
	assert_int_equal(f->err.kind, ERR_UNAVAILABLE);
}

/* --- pauses after failures -------------------------------------------------------------------- */

static void a_bmc_that_does_not_answer_is_left_alone_for_a_while(void **state)
{
	struct bmc_rig *f = *state;
	int64_t from;

	http_mem_hang(f->net, ORIGIN, true);
	for (int i = 0; i < 3; i++)
		assert_int_equal(bmc_read_system(f), ERR_TIMEOUT);
	from = loop_now(f->loop);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(i % 2 ? bmc_read_system(f) : bmc_power(f, true), ERR_UNAVAILABLE);
		assert_in_range(f->err.retry_after_ms, 1, 5000);
	}
	assert_true(loop_now(f->loop) - from < 100);
	/* After the pause one request is sent, and the operations queued behind it get the same
	 * result. */
	loop_sim_run_until(f->loop, from + 5001);
	redfish_read_system(f->r, bmc_on_system, f);
	redfish_read_system(f->r, bmc_on_system, f);
	loop_sim_run_until(f->loop, from + 5001 + 14000);
	assert_int_equal(f->answers, 0);
	loop_sim_run_until(f->loop, from + 5001 + 16000);
	assert_int_equal(f->answers, 2);
	assert_int_equal(f->err.kind, ERR_UNAVAILABLE);
	assert_true(f->err.retry_after_ms > 4000);
	f->answers = 0;
	/* As soon as one operation succeeds, all others are sent too. */
	http_mem_hang(f->net, ORIGIN, false);
	loop_sim_run_until(f->loop, loop_now(f->loop) + 10001);
	for (int i = 0; i < 5; i++)
		assert_done(bmc_read_system(f));
}

static void the_pause_grows_to_a_minute_and_no_further(void **state)
{
	struct bmc_rig *f = *state;
	uint32_t longest = 0;

	f->bmc.unavailable = true;
	for (int i = 0; i < 300; i++) {
		assert_int_equal(bmc_read_system(f), ERR_UNAVAILABLE);
		if (f->err.retry_after_ms > longest)
			longest = f->err.retry_after_ms;
		loop_sim_run_until(f->loop, loop_now(f->loop) + 2000);
	}
	assert_in_range(longest, 40000, 60000);
	assert_true(f->bmc.njournal < 80);
}

static void failures_with_a_success_between_them_are_not_in_a_row(void **state)
{
	struct bmc_rig *f = *state;

	for (int i = 0; i < 8; i++) {
		f->bmc.unavailable = i % 3 != 2;
		assert_int_equal(bmc_read_system(f), i % 3 != 2 ? ERR_UNAVAILABLE : ERR_NONE);
		assert_int_equal(f->err.retry_after_ms, 0);
	}
}

static void a_refused_request_is_no_reason_to_leave_it_alone(void **state)
{
	struct bmc_rig *f = *state;
	struct bmc_selective s = {&f->bmc, "POST /redfish/v1/Systems", 400, NULL};

	f->bmc.tamper = bmc_select_tamper;
	f->bmc.tamper_arg = &s;
	for (int i = 0; i < 6; i++)
		assert_int_equal(bmc_power(f, true), ERR_INVALID);
	/* The status is the same, but the message means a temporary error, which is retried in some
	 * seconds. */
	s.id = "iLO.2.14.UnableToModifyDuringSystemPOST";
	for (int i = 0; i < 6; i++)
		assert_int_equal(bmc_power(f, true), ERR_UNAVAILABLE);
	assert_done(bmc_read_system(f));
}

static void a_bmc_that_asks_for_time_gets_it(void **state)
{
	struct bmc_rig *f = *state;
	unsigned before;

	f->bmc.unavailable = true;
	f->bmc.unavailable_s = "40";
	assert_int_equal(bmc_read_system(f), ERR_UNAVAILABLE);
	assert_int_equal(f->err.retry_after_ms, 40000);
	f->bmc.unavailable = false;
	before = f->bmc.njournal;
	loop_sim_run_until(f->loop, loop_now(f->loop) + 39000);
	assert_int_equal(bmc_read_system(f), ERR_UNAVAILABLE);
	assert_in_range(f->err.retry_after_ms, 1, 1000);
	assert_int_equal(f->bmc.njournal, before);
	loop_sim_run_until(f->loop, loop_now(f->loop) + 1001);
	assert_done(bmc_read_system(f));
}

static void a_new_client_does_not_wait(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.unavailable = true;
	f->bmc.unavailable_s = "250";
	assert_int_equal(bmc_read_system(f), ERR_UNAVAILABLE);
	f->bmc.unavailable = false;
	assert_int_equal(bmc_read_system(f), ERR_UNAVAILABLE);
	bmc_drop_client(f);
	assert_done(bmc_read_system(f));
}

static void operations_run_in_the_order_of_asking(void **state)
{
	struct bmc_rig *f = *state;

	redfish_power(bmc_client(f), true, bmc_on_plain, f);
	redfish_boot(bmc_client(f), REDFISH_BOOT_CD, NULL, bmc_on_plain, f);
	redfish_power(bmc_client(f), false, bmc_on_plain, f);
	loop_sim_run_until(f->loop, loop_now(f->loop) + 20000);
	assert_int_equal(f->answers, 3);
	assert_false(f->bmc.on);
	assert_string_equal(f->bmc.boot_target, "Cd");
}

static void a_changed_certificate_stops_everything(void **state)
{
	struct bmc_rig *f = *state;
	unsigned before;

	http_mem_pin(f->net, ORIGIN, PIN_A);
	assert_done(bmc_read_system(f));
	assert_string_equal(redfish_learned_pin(f->r), PIN_A);
	http_mem_pin(f->net, ORIGIN, PIN_B);
	before = f->bmc.njournal;
	assert_int_equal(bmc_power(f, false), ERR_DENIED);
	assert_int_equal(f->bmc.njournal, before);
	assert_int_not_equal(f->err.code, 401);
	http_mem_pin(f->net, ORIGIN, PIN_A);
	assert_done(bmc_read_system(f));
}

static void an_unavailable_bmc_is_an_error_that_may_pass(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.unavailable = true;
	assert_int_equal(bmc_read_system(f), ERR_UNAVAILABLE);
	f->bmc.unavailable = false;
	assert_done(bmc_read_system(f));
}

static void free_in_done(const struct redfish_system *s, const struct err *e, void *arg)
{
	struct bmc_rig *f = arg;

	(void)s;
	bmc_answered(f, e);
	redfish_free(f->r);
	f->r = NULL;
}

static void the_client_may_be_freed_in_its_own_answer(void **state)
{
	struct bmc_rig *f = *state;

	redfish_read_system(bmc_client(f), free_in_done, f);
	redfish_power(bmc_client(f), true, bmc_on_plain, f);
	assert_done(bmc_wait_answer(f));
	loop_sim_run_until(f->loop, loop_now(f->loop) + 60000);
	assert_int_equal(f->answers, 0);
	assert_false(f->bmc.on);
}

static void freeing_ends_what_is_in_flight_without_an_answer(void **state)
{
	struct bmc_rig *f = *state;

	redfish_read_system(bmc_client(f), bmc_on_system, f);
	loop_sim_run_until(f->loop, loop_now(f->loop) + 3);
	redfish_free(f->r);
	f->r = NULL;
	loop_sim_run_until(f->loop, loop_now(f->loop) + 60000);
	assert_int_equal(f->answers, 0);
}

static void the_password_is_in_the_login_alone(void **state)
{
	struct bmc_rig *f = *state;

	assert_done(bmc_read_system(f));
	assert_done(bmc_insert(f, MEDIA));
	assert_false(fake_bmc_mentions(&f->bmc, "correct horse"));
}

static void a_bad_address_is_refused_at_once(void **state)
{
	struct bmc_rig *f = *state;
	static const char *const bad[] = {"",
					  "10.0.8.17",
					  "ftp://10.0.8.17",
					  "https://",
					  "https://a@b",
					  "https://h/../x",
					  "https://h/x?y=1",
					  "https://h:port",
					  "10.0.8.17:443",
					  "redfish://10.0.8.17",
					  "redfish+https://10.0.8.17/redfish/v1/Systems/1",
					  "redfish+http://10.0.8.17",
					  "https://root:calvin@10.0.8.17",
					  "http://10.0.8.17"};
	struct err e;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		f->spec.system_url = bad[i];
		assert_null(redfish_new(f->group, f->http, &f->spec, &e));
		assert_int_equal(e.kind, ERR_INVALID);
		assert_int_equal(e.code, REDFISH_ADDRESS);
		assert_non_null(strstr(e.text, "https://"));
		assert_null(strstr(e.text, "calvin"));
	}
}

/* --- one fault at each request ---------------------------------------------------------------- */

enum trouble { REFUSED, EMPTY, NONSENSE, OTHER_TYPES, DENIED, GONE, SILENT, TROUBLES };

struct torture {
	unsigned at;
	enum trouble trouble;
	bool hit;
};

static bool tamper(struct httpd_req *q, unsigned n, void *arg)
{
	static const char types[] =
		"{\"Members\":{},\"Actions\":[],\"Links\":7,\"Boot\":\"x\",\"PowerState\":null,"
		"\"MediaTypes\":{\"a\":1},\"Image\":[],\"@odata.id\":{}}";
	struct torture *t = arg;

	if (n != t->at)
		return false;
	t->hit = true;
	switch (t->trouble) {
	case REFUSED:
		httpd_reply_json(q, 503, "{}");
		break;
	case EMPTY:
		httpd_reply(q, 200, NULL, NULL, 0);
		break;
	case NONSENSE:
		httpd_reply(q, 200, "application/json", "[1,2", 4);
		break;
	case OTHER_TYPES:
		httpd_reply_json(q, 200, types);
		break;
	case DENIED:
		httpd_reply_json(q, 401, "{}");
		break;
	case GONE:
		httpd_reply_json(q, 404, "{}");
		break;
	case SILENT:
	case TROUBLES:
		break;
	}
	return true;
}

static void everything(struct bmc_rig *f)
{
	(void)bmc_read_system(f);
	(void)bmc_power(f, true);
	(void)bmc_boot(f, REDFISH_BOOT_CD, NULL);
	(void)bmc_insert(f, MEDIA);
	(void)bmc_read_media(f);
	(void)bmc_eject(f);
	(void)bmc_boot(f, REDFISH_BOOT_NONE, NULL);
	(void)bmc_power(f, false);
}

static void by_the_book(struct fake_bmc *b)
{
	b->managers_media = b->action_info = b->etags = true;
}

static void with_tasks(struct fake_bmc *b)
{
	b->tasks = true;
	b->task_ms = 3000;
}

static void like_dell(struct fake_bmc *b)
{
	b->vendor = "Dell";
	b->dell_attributes = b->inner_slot = true;
}

static void like_ami(struct fake_bmc *b)
{
	b->vendor = "AMI";
	b->media_off = b->managers_media = b->boot_moved = b->etags = true;
}

/* In a long scenario one request fails, each in turn and in each way. Every operation must answer
 * once, no login may count as refused except after a 401 to it, and the next round must succeed. */
static void any_one_failure_is_survived(void **state)
{
	static void (*const dialects[])(struct fake_bmc * b) = {by_the_book, with_tasks, like_dell,
								like_ami};

	(void)state;
	for (unsigned n = 0; n < 4 * TROUBLES; n++) {
		enum trouble trouble = n % TROUBLES;
		bool hit = true;

		for (unsigned at = 0; hit; at++) {
			struct torture t = {.at = at, .trouble = trouble};
			struct bmc_rig *f;
			void *own;

			bmc_setup(&own);
			f = own;
			dialects[n / TROUBLES](&f->bmc);
			f->bmc.tamper = tamper;
			f->bmc.tamper_arg = &t;
			everything(f);
			f->bmc.tamper = NULL;
			hit = t.hit;
			/* Long enough for another search for a slot that was not found. */
			loop_sim_run_until(f->loop, loop_now(f->loop) + 900000);
			if (bmc_power(f, true) != ERR_NONE) {
				assert_int_equal(trouble, DENIED);
				assert_int_equal(f->err.code, 401);
				bmc_drop_client(f);
				assert_done(bmc_power(f, true));
			}
			assert_done(bmc_insert(f, MEDIA));
			assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
			assert_done(bmc_read_system(f));
			assert_int_equal(f->power, REDFISH_POWER_ON);
			assert_string_equal(f->target, "Cd");
			assert_done(bmc_read_media(f));
			assert_string_equal(f->image, MEDIA);
			assert_true(fake_bmc_sessions(&f->bmc) <= 2);
			bmc_teardown(&own);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		bmc_test(a_hundred_megabytes_are_cut_off),
		bmc_test(a_reply_that_is_too_deep_is_refused),
		bmc_test(a_reply_that_is_not_json_is_refused),
		bmc_test(a_link_to_another_server_is_not_followed),
		bmc_test(a_loop_of_next_links_ends),
		bmc_test(a_bmc_that_hangs_costs_one_exchange),
		bmc_test(operations_behind_a_hanging_one_end_too),
		bmc_test(a_bmc_that_does_not_answer_is_left_alone_for_a_while),
		bmc_test(the_pause_grows_to_a_minute_and_no_further),
		bmc_test(failures_with_a_success_between_them_are_not_in_a_row),
		bmc_test(a_refused_request_is_no_reason_to_leave_it_alone),
		bmc_test(a_bmc_that_asks_for_time_gets_it),
		bmc_test(a_new_client_does_not_wait),
		bmc_test(operations_run_in_the_order_of_asking),
		bmc_test(a_changed_certificate_stops_everything),
		bmc_test(an_unavailable_bmc_is_an_error_that_may_pass),
		bmc_test(the_client_may_be_freed_in_its_own_answer),
		bmc_test(freeing_ends_what_is_in_flight_without_an_answer),
		bmc_test(the_password_is_in_the_login_alone),
		bmc_test(a_bad_address_is_refused_at_once),
		cmocka_unit_test(any_one_failure_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
