/* Tests journal.h and enter.h together: a decision is recorded in one loop turn, and written to the
 * Machine's status when the tick asks for it. */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/str.h"
#include "controller/life/journal.h"
#include "controller/life/tenancy.h"
#include "controller/steps/enter.h"

static void nothing(void *arg)
{
	(void)arg;
}

static struct life *life_of(struct bench *d)
{
	struct life *l = bench_life(d, "m-1");

	loop_defer_init(&l->tick, d->g, nothing, NULL);
	loop_timer_init(&l->timer, d->g, nothing, NULL);
	return l;
}

static void done_with(struct life *l)
{
	loop_defer_cancel(&l->tick);
	loop_timer_stop(&l->timer);
	bench_life_done(l);
}

static const char *at(struct bench *d, const char *a, const char *b)
{
	OWN_JSON o = bench_get(d, OBJECT_MACHINE, "m-1");
	const char *text =
		b ? json_str_at(json_at(o, "status", a), b) : json_str_at(o, "status", a);

	return text ? arena_strdup(d->a, text) : NULL;
}

static void what_is_decided_is_not_done_before_it_is_enacted(void **state)
{
	struct bench *d = *state;
	struct life *l = life_of(d);
	enum life_decision decided = life_goto(l, MACHINE_STOPPING, json_pack("{s:b}", "clean", 0),
					       REASON_AgentSilent, "said %s", "nothing");

	assert_int_equal(decided, LIFE_CHANGE);
	assert_false(writer_busy(&l->journal.write));
	l->work.progress = 2;
	str_copy(l->act.step, sizeof(l->act.step), "power-off");
	bench_run(d, 1000);
	assert_string_equal(at(d, "state", NULL), "free");
	decision_enact(l, decided);
	assert_true(writer_busy(&l->journal.write));
	assert_int_equal(l->work.progress, 0);
	assert_string_equal(l->act.step, "");
	bench_run(d, 1000);
	assert_string_equal(at(d, "state", NULL), "stopping");
	assert_int_equal(bench_events(&d->host, "AgentSilent"), 1);
	assert_null(l->journal.decided);
	done_with(l);
}

/* Without a deadline from its Provider, a wipe may take as long as its largest drive needs. */
static void the_limit_of_a_wipe_grows_with_the_drives(void **state)
{
	static const struct {
		const char *drives;
		int64_t hours;
	} rows[] = {
		{"[]", 6},
		{"[{'wwn': 'a', 'type': 'NVMe', 'bytes': 7680000000000}]", 6},
		{"[{'wwn': 'a', 'type': 'NVMe', 'bytes': 36000000000000}]", 20},
		{"[{'wwn': 'a', 'type': 'SATA', 'bytes': 18000000000000},"
		 " {'wwn': 'b', 'bytes': 1}]",
		 50},
		/* Two namespaces of one drive are wiped one after the other. */
		{"[{'wwn': 'a', 'type': 'NVMe', 'bytes': 18000000000000, 'serialNumber': 'S'},"
		 " {'wwn': 'b', 'type': 'NVMe', 'bytes': 18000000000000, 'serialNumber': 'S'}]",
		 20},
		{"[{'wwn': 'a', 'bytes': 9223372036854775807}]", 168},
	};
	struct bench *d = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct life *l;

		bench_patch(d, OBJECT_MACHINE, "m-1",
			    arena_printf(d->a, "{'spec': {'drives': %s}}", rows[i].drives));
		l = bench_life(d, "m-1");
		assert_int_equal(life_limit_ms(l, MACHINE_WIPING), rows[i].hours * 3600000);
		bench_life_done(l);
	}
}

static void a_turn_that_decides_nothing_changes_nothing(void **state)
{
	struct bench *d = *state;
	struct life *l = life_of(d);
	enum life_decision decided =
		life_wait(l, WAITING_APPROVAL, REASON_Paused, "the provider is paused");

	assert_int_equal(decided, LIFE_STAY);
	l->work.progress = 2;
	decision_enact(l, decided);
	bench_run(d, 1000);
	assert_int_equal(l->work.progress, 2);
	assert_string_equal(at(d, "state", NULL), "free");
	assert_string_equal(at(d, "operation", "waitingFor"), "Approval");
	done_with(l);
}

static void a_quarantine_says_why_without_the_boot_secret(void **state)
{
	struct bench *d = *state;
	struct life *l = life_of(d);

	decision_enact(l, life_quarantine(l, EXIT_OPERATOR, REASON_MediaNotMounted, "no %s",
					  "http://m/boot/0123abcd/agent.iso"));
	bench_run(d, 1000);
	assert_string_equal(at(d, "state", NULL), "quarantined");
	assert_string_equal(at(d, "quarantine", "exit"), "operator");
	assert_string_equal(at(d, "quarantine", "message"), "no http://m/boot/********/agent.iso");
	done_with(l);
}

static void what_is_older_than_its_records_begins_again(void **state)
{
	struct bench *d = *state;
	struct life *l = life_of(d);
	OWN_JSON o = NULL;

	assert_false(life_outdated(l));
	l->tenancy_seen = 50;
	assert_true(life_outdated(l));
	decision_enact(l, life_begin_again(l));
	bench_run(d, 1000);
	assert_string_equal(at(d, "state", NULL), "known");
	o = bench_get(d, OBJECT_MACHINE, "m-1");
	assert_int_equal(json_int_at(o, "status", "tenancy"), 51);
	assert_false(json_is_true(json_at(o, "status", "clean")));
	assert_int_equal(bench_events(&d->host, "StatusOutdated"), 1);
	done_with(l);
}

static int setup(void **state)
{
	int rc = bench_setup(state);

	bench_fleet(*state);
	return rc;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_decided_is_not_done_before_it_is_enacted,
						setup, bench_teardown),
		cmocka_unit_test_setup_teardown(the_limit_of_a_wipe_grows_with_the_drives, setup,
						bench_teardown),
		cmocka_unit_test_setup_teardown(a_turn_that_decides_nothing_changes_nothing, setup,
						bench_teardown),
		cmocka_unit_test_setup_teardown(a_quarantine_says_why_without_the_boot_secret,
						setup, bench_teardown),
		cmocka_unit_test_setup_teardown(what_is_older_than_its_records_begins_again, setup,
						bench_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
