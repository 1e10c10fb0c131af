#include "tests/unit/testing.h"

#include "base/schedule.h"
#include "base/str.h"

static int64_t at(const char *text)
{
	int64_t ms;

	assert_true(str_to_time(text, &ms));
	return ms;
}

static void a_window_lasts_from_its_time_for_its_duration(void **state)
{
	const int64_t hours8 = INT64_C(8) * 3600000;

	(void)state; /* 2026-11-23 is a Monday */
	assert_int_equal(schedule_window("0 20 * * 1-5", hours8, at("2026-11-23T19:59:59Z")), 0);
	assert_int_equal(schedule_window("0 20 * * 1-5", hours8, at("2026-11-23T20:00:00Z")), 1);
	assert_int_equal(schedule_window("0 20 * * 1-5", hours8, at("2026-11-24T03:59:59Z")), 1);
	assert_int_equal(schedule_window("0 20 * * 1-5", hours8, at("2026-11-24T04:00:00Z")), 0);
	assert_int_equal(schedule_window("0 20 * * 1-5", hours8, at("2026-11-28T21:00:00Z")), 0);
	assert_int_equal(schedule_window("@daily", 60000, at("2026-11-28T00:00:30Z")), 1);
}

static void what_cannot_be_read_is_said(void **state)
{
	static const char *const wrong[] = {"",		 "0 20 * *", "60 * * * *",
					    "* * * * 8", "@noon",    "5-1 * * * *"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(schedule_window(wrong[i], 60000, at("2026-11-28T00:00:30Z")), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_lasts_from_its_time_for_its_duration),
		cmocka_unit_test(what_cannot_be_read_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
