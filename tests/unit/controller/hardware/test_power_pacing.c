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
		bench_put(d,
			  arena_printf(d->a,
				       "{'kind': 'Machine', 'metadata': {'name': 'm-%d', "
				       "'labels': {'example.com/rack': 'r%d'}},"
				       " 'spec': {'providerRef': {'name': 'hall-a'}, "
				       "'instanceType': 'hgx'},"
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
	assert_true(may(d, 2)); /* A machine that is already coming up may ask again. */
	assert_false(may(d, 3));
	assert_false(may(d, 4));
	assert_int_equal(why.before, 1);
	assert_in_range(why.at_least, 15000, 20000);
	bench_run(d, 9000);
	assert_false(may(d, 3));
	bench_run(d, 1001);
	assert_false(may(d, 4)); /* Machine 3 asked before machine 4. */
	assert_true(may(d, 3));
	assert_false(may(d, 4));
	bench_run(d, 10000);
	assert_true(may(d, 4));
}

/* Machines 6, 7, 2 and 3 are of claims, and ask after the others. */
static void claims_come_first_and_every_fourth_turn_is_for_others(void **state)
{
	static const int asking[] = {4, 5, 6, 7, 2, 3}, turns[] = {6, 7, 2, 4, 3, 5};
	struct bench *d = *state;

	limits(d, "{'powerOnPerMinute': 6}");
	assert_true(may(d, 1));
	for (size_t i = 2; i < 6; i++)
		bench_status(d, OBJECT_MACHINE, arena_printf(d->a, "m-%d", asking[i]),
			     "{'state': 'claimed', 'claimRef': {'name': 'c', 'uid': 'u'}}");
	for (size_t i = 0; i < 6; i++)
		assert_false(may(d, asking[i]));
	assert_int_equal(why.before, 4);
	assert_false(may(d, 5));
	assert_int_equal(why.before, 5);
	for (size_t i = 0; i < 6; i++) {
		bench_run(d, 10001);
		assert_true(may(d, turns[i]));
	}
}

static enum power_position place(struct bench *d, int n)
{
	return power_pacing_place(
		d->power_pacing,
		CTX_GET(&d->c, OBJECT_MACHINE, machine, arena_printf(d->a, "m-%d", n)), &why);
}

static void a_place_is_kept_however_long_it_takes_to_ask_again(void **state)
{
	struct bench *d = *state;

	limits(d, "{'powerOnPerMinute': 1}");
	assert_int_equal(place(d, 2), POWER_PLACE_NONE);
	assert_true(may(d, 2));
	for (int i = 3; i < 8; i++)
		assert_false(may(d, i));
	bench_run(d, 59000);
	assert_int_equal(place(d, 3), POWER_PLACE_QUEUED);
	assert_int_equal(why.before, 0);
	assert_int_equal(place(d, 7), POWER_PLACE_QUEUED);
	assert_int_equal(why.before, 4);
	assert_in_range(why.at_least, 240000, 241000);
	bench_run(d, 2000);
	assert_int_equal(place(d, 3), POWER_PLACE_CALLED);
	bench_run(d, 30000); /* Longer than a slow BMC takes until machine 3 asks again. */
	assert_true(may(d, 3));
	bench_run(d, 45000);
	assert_int_equal(place(d, 4), POWER_PLACE_CALLED);
	/* The turn of machine 4 came a minute after the turn of machine 3. But machine 3 was
	 * switched on later, and machine 4 has to wait a minute from then. */
	assert_false(may(d, 4));
	bench_run(d, 16000);
	assert_true(may(d, 4));
}

static void a_turn_that_is_not_taken_is_lost_and_holds_up_nobody(void **state)
{
	struct bench *d = *state;

	limits(d, "{'powerOnPerMinute': 2}");
	assert_true(may(d, 2));
	for (int i = 3; i < 7; i++)
		assert_false(may(d, i));
	bench_run(d, 61000);
	assert_int_equal(place(d, 3), POWER_PLACE_CALLED);
	assert_true(may(d, 4));
	bench_run(d, 31000);
	assert_true(may(d, 5));
	bench_run(d, 61000);
	assert_int_equal(place(d, 3), POWER_PLACE_NONE);
	assert_true(may(d, 6));
	/* Machine 3 has lost its turn: machine 7, which asks first, is called before 3. */
	assert_false(may(d, 7));
	assert_false(may(d, 3));
	assert_int_equal(place(d, 7), POWER_PLACE_CALLED);
	assert_int_equal(place(d, 3), POWER_PLACE_QUEUED);
}

static void no_more_are_called_than_are_switched_on_in_a_minute(void **state)
{
	struct bench *d = *state;
	int called = 0;

	limits(d, "{'powerOnPerMinute': 2}");
	assert_true(may(d, 2));
	/* The waits below end before the first turn expires, so no turn is lost before the machines
	 * that were called are counted. */
	bench_run(d, 29000);
	for (int i = 1; i < 8; i++)
		(void)may(d, i);
	bench_run(d, 119000);
	for (int i = 1; i < 8; i++)
		called += place(d, i) == POWER_PLACE_CALLED;
	assert_int_equal(called, 3);
}

static void a_place_is_of_one_state(void **state)
{
	struct bench *d = *state;

	limits(d, "{'powerOnPerMinute': 2}");
	assert_true(may(d, 2));
	assert_false(may(d, 3));
	assert_false(may(d, 4));
	bench_status(d, OBJECT_MACHINE, "m-3", "{'state': 'quarantined'}");
	assert_int_equal(place(d, 3), POWER_PLACE_NONE);
	bench_run(d, 31000);
	assert_true(may(d, 4));
}

static void so_many_of_one_rack_come_up_at_once(void **state)
{
	struct bench *d = *state;

	limits(d, "{'powerOnPerMinute': 10000, "
		  "'perDomain': {'key': 'example.com/rack', 'concurrent': 2}}");
	assert_true(may(d, 2));
	bench_run(d, 10);
	assert_true(may(d, 4));
	bench_run(d, 10);
	assert_false(may(d, 6));
	assert_string_equal(why.domain, "r0");
	assert_true(may(d, 3)); /* Machine 3 is in another rack, so it does not wait behind 6. */
	bench_run(d, 10);
	assert_true(may(d, 1)); /* Machine 1 has no rack label: no rack's limit applies. */
	bench_run(d, 10);
	assert_false(may(d, 6));
	bench_status(d, OBJECT_MACHINE, "m-4", "{'power': {'state': 'On'}}");
	bench_run(d, 1000);
	assert_true(may(d, 6));
}

static void what_does_not_come_up_holds_its_rack_for_three_minutes(void **state)
{
	struct bench *d = *state;

	limits(d, "{'powerOnPerMinute': 10000, "
		  "'perDomain': {'key': 'example.com/rack', 'concurrent': 1}}");
	assert_true(may(d, 2));
	for (int i = 0; i < 17; i++) {
		bench_run(d, 10000);
		assert_false(may(d, 4));
	}
	bench_run(d, 11000);
	assert_true(may(d, 4));
	/* Machine 2 is tried again; it must queue again. */
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
		T(claims_come_first_and_every_fourth_turn_is_for_others),
		T(a_place_is_kept_however_long_it_takes_to_ask_again),
		T(a_turn_that_is_not_taken_is_lost_and_holds_up_nobody),
		T(no_more_are_called_than_are_switched_on_in_a_minute),
		T(a_place_is_of_one_state),
		T(so_many_of_one_rack_come_up_at_once),
		T(what_does_not_come_up_holds_its_rack_for_three_minutes),
		T(a_new_leader_keeps_the_distance),
		T(without_a_pace_nobody_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
