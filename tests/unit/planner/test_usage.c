/* test_usage: tests the sum of used GPU seconds, which decays exponentially. */
#include "planner/usage.h"
#include "tests/unit/testing.h"

#define HOUR ((int64_t)3600 * 1000)
#define DAY (24 * HOUR)

static void near_to(int64_t got, int64_t want, int64_t by)
{
	if (got < want - by || got > want + by)
		fail_msg("want %lld, got %lld", (long long)want, (long long)got);
}

static void half_is_left_after_each_half_life(void **state)
{
	(void)state;
	assert_int_equal(usage_after(1000000, 0, 0, DAY), 1000000);
	near_to(usage_after(1000000, 0, DAY, DAY), 500000, 1);
	near_to(usage_after(1000000, 0, DAY / 2, DAY), 707107, 1);
	near_to(usage_after(1000000, 0, 3 * DAY, DAY), 125000, 1);
	assert_int_equal(usage_after(INT64_MAX, 0, 200 * DAY, DAY), 0);
}

static void what_is_held_adds_up_to_its_average(void **state)
{
	int64_t used;

	(void)state;
	/* In a time much shorter than the half-life, the sum is GPUs times seconds. */
	near_to(usage_after(0, 8000, HOUR, 7 * DAY), (int64_t)8 * 3600, 100);
	/* After one half-life, the average is half of the GPUs that the tenant has; after many
	 * half-lives, it is all of them. */
	used = usage_after(0, 8000, DAY, DAY);
	near_to(usage_average(used, DAY), 4000, 2);
	near_to(usage_average(usage_after(0, 8000, 40 * DAY, DAY), DAY), 8000, 2);
	/* While the tenant has nothing, the average decays. */
	near_to(usage_average(usage_after(used, 0, DAY, DAY), DAY), 2000, 2);
}

static void many_steps_are_as_one(void **state)
{
	int64_t used = 0;

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		used = usage_after(used, 16000, 60000, 7 * DAY);
	near_to(used, usage_after(0, 16000, 60000 * 1000, 7 * DAY), 1000);
}

static void nothing_overflows(void **state)
{
	(void)state;
	assert_true(usage_after(INT64_MAX, INT64_MAX, DAY, 365 * DAY) > 0);
	assert_int_equal(usage_after(-5, -5, DAY, DAY), 0);
	/* A negative time, from a clock that was set back, changes nothing. */
	assert_int_equal(usage_after(7, 8000, -DAY, DAY), 7);
	assert_true(usage_average(INT64_MAX, 1) > 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_is_left_after_each_half_life),
		cmocka_unit_test(what_is_held_adds_up_to_its_average),
		cmocka_unit_test(many_steps_are_as_one),
		cmocka_unit_test(nothing_overflows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
