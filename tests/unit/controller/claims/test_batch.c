#include "tests/unit/testing.h"

#include "controller/claims/batch.h"

static struct batch fresh(void)
{
	return (struct batch){.idle_ms = 1000, .most_ms = 10000};
}

static void a_lone_pod_does_not_wait(void **state)
{
	struct batch b = fresh();

	(void)state;
	assert_int_equal(batch_left(&b, 5000), 0);
	batch_came(&b, 5000);
	assert_int_equal(batch_left(&b, 5050), 0);
	batch_planned(&b);
	batch_came(&b, 6000);
	assert_int_equal(batch_left(&b, 6050), 0);
}

static void a_burst_waits_until_nobody_comes_any_more(void **state)
{
	struct batch b = fresh();

	(void)state;
	batch_came(&b, 5000);
	batch_came(&b, 5020);
	assert_int_equal(batch_left(&b, 5050), 970);
	batch_came(&b, 5900);
	assert_int_equal(batch_left(&b, 6020), 880);
	assert_int_equal(batch_left(&b, 6900), 0);
	batch_planned(&b);
	assert_int_equal(batch_left(&b, 6901), 0);
}

/* A plan for the first pod of a Job may be made before the other pods exist. */
static void who_follows_one_that_was_planned_waits_for_the_rest(void **state)
{
	struct batch b = fresh();

	(void)state;
	batch_came(&b, 5000);
	batch_planned(&b);
	assert_int_equal(batch_left(&b, 5100), 0);
	batch_came(&b, 5200);
	assert_int_equal(batch_left(&b, 5250), 950);
}

static void one_that_never_ends_is_planned_after_the_longest(void **state)
{
	struct batch b = fresh();
	int64_t now = 5000;

	(void)state;
	batch_came(&b, now);
	for (; now < 14500; now += 500)
		batch_came(&b, now);
	assert_int_equal(batch_left(&b, 14500), 500);
	batch_came(&b, 14900);
	assert_int_equal(batch_left(&b, 15000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lone_pod_does_not_wait),
		cmocka_unit_test(a_burst_waits_until_nobody_comes_any_more),
		cmocka_unit_test(who_follows_one_that_was_planned_waits_for_the_rest),
		cmocka_unit_test(one_that_never_ends_is_planned_after_the_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
