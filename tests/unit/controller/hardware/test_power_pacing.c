#include "tests/unit/controller/bench.h"

#include "base/str.h"
#include "controller/hardware/power_pacing.h"

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_fleet(d);
	for (int i = 2; i < 8; i++)
		bench_put(
			d,
			arena_printf(
				d->a,
				"{'kind': 'Machine', 'metadata': {'name': 'm-%d', 'labels': {'example.com/rack': 'r%d'}},"
				" 'spec': {'providerRef': {'name': 'hall-a'}, 'instanceType': 'hgx'},"
				" 'status': {'state': 'dirty', 'power': {'state': 'Off'}}}",
				i, i % 2));
	d->power_pacing = power_pacing_new(&d->c);
	return 0;
}

static int teardown(void **state)
{
	struct bench *d = *state;

	power_pacing_free(d->power_pacing);
	return bench_teardown(state);
}

static void limits(struct bench *d, const char *text)
{
	bench_patch(d, OBJECT_PROVIDER, "hall-a",
		    arena_printf(d->a, "{'spec': {'limits': %s}}", text));
}

static struct power_pacing_wait why;
static bool may(struct bench *d, int n)
{
	const struct machine *m =
		CTX_GET(&d->c, OBJECT_MACHINE, machine, arena_printf(d->a, "m-%d", n));

	return power_pacing_power_on(d->power_pacing, m, &why);
}

static void power_ons_are_a_distance_apart_and_first_come_first_served(void **state)
{
	struct bench *d = *state;

	limits(d, "{'powerOnPerMinute': 6}");
	assert_true(may(d, 2));
	assert_true(may(d, 2)); /* until it is done */
	assert_false(may(d, 3));
	assert_false(may(d, 4));
	assert_int_equal(why.before, 1);
	assert_in_range(why.at_least, 15000, 20000);
	bench_run(d, 9000);
	assert_false(may(d, 3));
	bench_run(d, 1001);
	assert_false(may(d, 4)); /* another was first */
	assert_true(may(d, 3));
	assert_false(may(d, 4));
	bench_run(d, 10000);
	assert_true(may(d, 4));
}

static void who_does_not_ask_again_loses_its_place(void **state)
{
	struct bench *d = *state;

	limits(d, "{'powerOnPerMinute': 4}");
	assert_true(may(d, 2));
	assert_false(may(d, 3));
	bench_run(d, 14000);
	assert_false(may(d, 4));
	bench_run(d, 2000);
	assert_true(may(d, 4));
}

static void so_many_of_one_rack_come_up_at_once(void **state)
{
	struct bench *d = *state;

	limits(d,
	       "{'powerOnPerMinute': 10000, 'perDomain': {'key': 'example.com/rack', 'concurrent': 2}}");
	assert_true(may(d, 2));
	bench_run(d, 10);
	assert_true(may(d, 4));
	bench_run(d, 10);
	assert_false(may(d, 6));
	assert_string_equal(why.domain, "r0");
	assert_true(may(d, 3)); /* of another rack, and does not wait behind it */
	bench_run(d, 10);
	assert_true(may(d, 1)); /* of none */
	bench_run(d, 10);
	assert_false(may(d, 6));
	bench_status(d, OBJECT_MACHINE, "m-4", "{'power': {'state': 'On'}}");
	assert_true(may(d, 6));
}

static void what_does_not_come_up_holds_its_rack_for_three_minutes(void **state)
{
	struct bench *d = *state;

	limits(d,
	       "{'powerOnPerMinute': 10000, 'perDomain': {'key': 'example.com/rack', 'concurrent': 1}}");
	assert_true(may(d, 2));
	for (int i = 0; i < 17; i++) {
		bench_run(d, 10000);
		assert_false(may(d, 4));
	}
	bench_run(d, 11000);
	assert_true(may(d, 4));
	/* The first tries again: a turn like any other. */
	bench_run(d, 10);
	assert_false(may(d, 2));
}

static void a_new_leader_keeps_the_distance(void **state)
{
	struct bench *d = *state;
	char t[STR_TIME_SIZE];

	limits(d, "{'powerOnPerMinute': 2}");
	bench_status(d, OBJECT_MACHINE, "m-5",
		     arena_printf(d->a, "{'operation': {'step': 'power-on', 'started': '%s'}}",
				  str_time(t, loop_wall(d->l) - 10000)));
	assert_false(may(d, 2));
	assert_in_range(why.at_least, 18000, 21000);
	for (int i = 0; i < 2; i++) {
		bench_run(d, 10000);
		assert_int_equal(may(d, 2), i);
	}
}

static void without_a_pace_nobody_waits(void **state)
{
	struct bench *d = *state;
	struct machine m = {0};

	(void)d;
	assert_true(power_pacing_power_on(NULL, &m, &why));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(power_ons_are_a_distance_apart_and_first_come_first_served),
		T(who_does_not_ask_again_loses_its_place),
		T(so_many_of_one_rack_come_up_at_once),
		T(what_does_not_come_up_holds_its_rack_for_three_minutes),
		T(a_new_leader_keeps_the_distance),
		T(without_a_pace_nobody_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
