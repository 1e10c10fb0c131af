#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "tests/simulated/loop_sim.h"
#include "base/str.h"
#include "tests/unit/redfish/bmc_rig.h"

#define LOOK "GET /redfish/v1/TaskService"

static void a_task_is_followed_to_its_end(void **state)
{
	struct bmc_rig *f = *state;
	int64_t from;

	f->bmc.tasks = true;
	f->bmc.task_ms = 7000;
	assert_done(bmc_read_system(f));
	from = loop_now(f->loop);
	assert_done(bmc_power(f, true));
	assert_in_range(loop_now(f->loop) - from, 7000, 12000);
	/* Polls the task, not the monitor, because reading the monitor deletes the task on some
	 * BMCs. */
	assert_in_range(fake_bmc_count(&f->bmc, LOOK "/Tasks/1"), 2, 5);
	assert_int_equal(fake_bmc_count(&f->bmc, LOOK "/TaskMonitors"), 0);
}

static void a_monitor_alone_is_followed_too(void **state)
{
	struct bmc_rig *f = *state;
	int64_t from;

	f->bmc.tasks = f->bmc.task_bare = true;
	f->bmc.task_ms = 4000;
	assert_done(bmc_read_system(f));
	from = loop_now(f->loop);
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_in_range(loop_now(f->loop) - from, 4000, 8000);
	assert_string_equal(f->bmc.boot_target, "Cd");
}

static void the_bmc_says_how_often_to_look(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.tasks = true;
	f->bmc.task_ms = 8000;
	f->bmc.task_pause = "9";
	assert_done(bmc_power(f, true));
	assert_int_equal(fake_bmc_count(&f->bmc, LOOK), 1);
}

static void a_task_that_takes_long_is_left_to_itself(void **state)
{
	struct bmc_rig *f = *state;
	int64_t from;

	f->bmc.tasks = true;
	f->bmc.task_ms = 3600000;
	assert_done(bmc_read_system(f));
	from = loop_now(f->loop);
	assert_done(bmc_power(f, true));
	assert_true(loop_now(f->loop) - from <= 21000);
	f->bmc.task_pause = "240"; /* The client must not poll before this time has passed. */
	from = loop_now(f->loop);
	assert_done(bmc_power(f, true));
	assert_true(loop_now(f->loop) - from <= 1000);
}

static void a_task_that_nothing_is_told_of_counts_as_taken(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.tasks = f->bmc.task_nowhere = true;
	assert_done(bmc_power(f, true));
	assert_int_equal(fake_bmc_count(&f->bmc, LOOK), 0);
}

static void a_task_on_another_server_is_not_looked_at(void **state)
{
	struct bmc_rig *f = *state;
	struct fake_bmc other;

	fake_bmc_init(&other, f->bmc_group);
	http_mem_serve(f->net, "https://10.6.6.6", other.httpd);
	f->bmc.tasks = f->bmc.task_elsewhere = true;
	assert_done(bmc_power(f, true));
	assert_int_equal(other.njournal, 0);
	http_mem_serve(f->net, "https://10.6.6.6", NULL);
	fake_bmc_done(&other);
}

static void a_task_that_is_gone_has_ended(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.tasks = f->bmc.task_vanishes = true;
	f->bmc.task_ms = 3000;
	assert_done(bmc_power(f, true));
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
}

static void a_task_that_is_not_there_yet_is_waited_for(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.tasks = true;
	f->bmc.task_late = 2;
	f->bmc.task_ms = 6000;
	assert_done(bmc_power(f, true));
	assert_int_equal(f->bmc.task_late, 0);
	f->bmc.task_late = 100;
	assert_done(bmc_power(f, true));
	assert_int_equal(f->bmc.task_late, 97);
}

/* Five of nine reset tasks of a DGX H100 ended like this. */
static void an_exception_with_status_ok_counts_as_taken(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.tasks = f->bmc.power_lie = true;
	f->bmc.task_end = "Exception";
	f->bmc.task_message = "Base.1.8.ActionNotSupported";
	assert_done(bmc_power(f, true));
}

static void fail_tasks(struct bmc_rig *f)
{
	f->bmc.tasks = true;
	f->bmc.task_end = "Exception";
	f->bmc.task_status = "Critical";
}

static void a_failed_task_that_did_what_it_should_is_no_failure(void **state)
{
	struct bmc_rig *f = *state;

	fail_tasks(f);
	assert_done(bmc_power(f, true));
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_done(bmc_insert(f, MEDIA));
	assert_done(bmc_eject(f));
	assert_done(bmc_boot(f, REDFISH_BOOT_NONE, NULL));
}

static void a_failed_task_without_effect_is_an_error_with_its_message(void **state)
{
	struct bmc_rig *f = *state;

	fail_tasks(f);
	f->bmc.power_lie = f->bmc.write_lie = true;
	f->bmc.task_message = "IDRAC.2.8.SYS518";
	assert_int_equal(bmc_power(f, true), ERR_UNAVAILABLE);
	assert_non_null(strstr(f->err.text, "it said no"));
	assert_int_equal(bmc_boot(f, REDFISH_BOOT_CD, NULL), ERR_UNAVAILABLE);
	f->bmc.task_message = "Base.1.8.ActionNotSupported";
	assert_int_equal(bmc_insert(f, MEDIA), ERR_UNSUPPORTED);
}

/* A monitor ends with the reply that the request would have had, so the next form is tried. */
static void a_monitor_that_ends_as_refused_is_a_refusal(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.tasks = f->bmc.task_bare = f->bmc.write_lie = true;
	f->bmc.task_end = "Exception";
	assert_int_equal(bmc_insert(f, MEDIA), ERR_INVALID);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems/1/VirtualMedia"), 4);
}

static void a_session_that_expires_during_a_task_is_renewed(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.tasks = true;
	f->bmc.task_ms = 7000;
	redfish_power(bmc_client(f), true, bmc_on_plain, f);
	loop_sim_run_until(f->loop, loop_now(f->loop) + 4000);
	fake_bmc_expire(&f->bmc);
	assert_done(bmc_wait_answer(f));
	assert_int_equal(f->bmc.logins, 2);
	assert_int_equal(fake_bmc_count(&f->bmc, "POST /redfish/v1/Systems"), 1);
}

static void a_client_that_is_freed_during_a_task_says_nothing_more(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.tasks = true;
	f->bmc.task_ms = 7000;
	redfish_power(bmc_client(f), true, bmc_on_plain, f);
	loop_sim_run_until(f->loop, loop_now(f->loop) + 4000);
	redfish_free(f->r);
	f->r = NULL;
	loop_sim_run_until(f->loop, loop_now(f->loop) + 60000);
	assert_int_equal(f->answers, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		bmc_test(a_task_is_followed_to_its_end),
		bmc_test(a_monitor_alone_is_followed_too),
		bmc_test(the_bmc_says_how_often_to_look),
		bmc_test(a_task_that_takes_long_is_left_to_itself),
		bmc_test(a_task_that_nothing_is_told_of_counts_as_taken),
		bmc_test(a_task_on_another_server_is_not_looked_at),
		bmc_test(a_task_that_is_gone_has_ended),
		bmc_test(a_task_that_is_not_there_yet_is_waited_for),
		bmc_test(an_exception_with_status_ok_counts_as_taken),
		bmc_test(a_failed_task_that_did_what_it_should_is_no_failure),
		bmc_test(a_failed_task_without_effect_is_an_error_with_its_message),
		bmc_test(a_monitor_that_ends_as_refused_is_a_refusal),
		bmc_test(a_session_that_expires_during_a_task_is_renewed),
		bmc_test(a_client_that_is_freed_during_a_task_says_nothing_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
