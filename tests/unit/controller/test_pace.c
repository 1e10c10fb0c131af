#include "tests/unit/controller/desk.h"

#include "base/str.h"
#include "controller/pace.h"

static int setup(void **state)
{
	struct desk *d;

	desk_setup(state);
	d = *state;
	desk_fleet(d);
	for (int i = 2; i < 8; i++)
		desk_put(
			d,
			arena_printf(
				d->a,
				"{'kind': 'Machine', 'metadata': {'name': 'm-%d', 'labels': {'example.com/rack': 'r%d'}},"
				" 'spec': {'providerRef': {'name': 'hall-a'}, 'instanceType': 'hgx'},"
				" 'status': {'state': 'dirty', 'power': {'state': 'Off'}}}",
				i, i % 2));
	d->c.pace = pace_new(&d->c);
	return 0;
}

static int teardown(void **state)
{
	struct desk *d = *state;

	pace_free(d->c.pace);
	return desk_teardown(state);
}

static void limits(struct desk *d, const char *text)
{
	desk_patch(d, OBJECT_PROVIDER, "hall-a",
		   arena_printf(d->a, "{'spec': {'limits': %s}}", text));
}

static struct pace_wait why;
static bool may(struct desk *d, int n)
{
	const struct machine *m =
		CONTROLLER_GET(&d->c, OBJECT_MACHINE, machine, arena_printf(d->a, "m-%d", n));

	return pace_power_on(d->c.pace, m, &why);
}

static void power_ons_are_a_distance_apart_and_first_come_first_served(void **state)
{
	struct desk *d = *state;

	limits(d, "{'powerOnPerMinute': 6}");
	assert_true(may(d, 2));
	assert_true(may(d, 2)); /* until it is done */
	assert_false(may(d, 3));
	assert_false(may(d, 4));
	assert_int_equal(why.before, 1);
	assert_in_range(why.at_least, 15000, 20000);
	desk_run(d, 9000);
	assert_false(may(d, 3));
	desk_run(d, 1001);
	assert_false(may(d, 4)); /* another was first */
	assert_true(may(d, 3));
	assert_false(may(d, 4));
	desk_run(d, 10000);
	assert_true(may(d, 4));
}

static void who_does_not_ask_again_loses_its_place(void **state)
{
	struct desk *d = *state;

	limits(d, "{'powerOnPerMinute': 4}");
	assert_true(may(d, 2));
	assert_false(may(d, 3));
	desk_run(d, 14000);
	assert_false(may(d, 4));
	desk_run(d, 2000);
	assert_true(may(d, 4));
}

static void so_many_of_one_rack_come_up_at_once(void **state)
{
	struct desk *d = *state;

	limits(d,
	       "{'powerOnPerMinute': 10000, 'perDomain': {'key': 'example.com/rack', 'concurrent': 2}}");
	assert_true(may(d, 2));
	desk_run(d, 10);
	assert_true(may(d, 4));
	desk_run(d, 10);
	assert_false(may(d, 6));
	assert_string_equal(why.domain, "r0");
	assert_true(may(d, 3)); /* of another rack, and does not wait behind it */
	desk_run(d, 10);
	assert_true(may(d, 1)); /* of none */
	desk_run(d, 10);
	assert_false(may(d, 6));
	desk_status(d, OBJECT_MACHINE, "m-4", "{'power': {'state': 'On'}}");
	assert_true(may(d, 6));
}

static void what_does_not_come_up_holds_its_rack_for_three_minutes(void **state)
{
	struct desk *d = *state;

	limits(d,
	       "{'powerOnPerMinute': 10000, 'perDomain': {'key': 'example.com/rack', 'concurrent': 1}}");
	assert_true(may(d, 2));
	for (int i = 0; i < 17; i++) {
		desk_run(d, 10000);
		assert_false(may(d, 4));
	}
	desk_run(d, 11000);
	assert_true(may(d, 4));
	/* The first tries again: a turn like any other. */
	desk_run(d, 10);
	assert_false(may(d, 2));
}

static void a_new_leader_keeps_the_distance(void **state)
{
	struct desk *d = *state;
	char t[STR_TIME_SIZE];

	limits(d, "{'powerOnPerMinute': 2}");
	desk_status(d, OBJECT_MACHINE, "m-5",
		    arena_printf(d->a, "{'operation': {'step': 'power-on', 'started': '%s'}}",
				 str_time(t, loop_wall(d->l) - 10000)));
	assert_false(may(d, 2));
	assert_in_range(why.at_least, 18000, 21000);
	for (int i = 0; i < 2; i++) {
		desk_run(d, 10000);
		assert_int_equal(may(d, 2), i);
	}
}

static void without_a_pace_nobody_waits(void **state)
{
	struct desk *d = *state;
	struct machine m = {0};

	(void)d;
	assert_true(pace_power_on(NULL, &m, &why));
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
