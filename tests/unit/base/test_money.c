#include "tests/unit/testing.h"

#include <string.h>
#include "base/money.h"

static void a_text_is_read_exactly(void **state)
{
	static const struct {
		const char *text;
		int64_t micro;
		const char *back;
	} cases[] = {
		{"0", 0, "0.00"},
		{"6.50", 6500000, "6.50"},
		{"6.5", 6500000, "6.50"},
		{"0.1", 100000, "0.10"},
		{"0.000001", 1, "0.000001"},
		{"1.234", 1234000, "1.234"},
		{"20000", INT64_C(20000000000), "20000.00"},
		{"007", 7000000, "7.00"},
		{"999999999999.999999", MONEY_TEXT_MAX, "999999999999.999999"},
	};
	char out[MONEY_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err e = {0};
		int64_t micro = -1;

		assert_int_equal(money_parse(cases[i].text, &micro, &e), 0);
		assert_int_equal(micro, cases[i].micro);
		assert_string_equal(money_format(micro, out), cases[i].back);
		assert_true(money_is_amount(cases[i].text));
	}
	assert_string_equal(money_format(-1250000, out), "-1.25");
	assert_string_equal(money_format(INT64_MAX, out), "9223372036854.775807");
	assert_string_equal(money_format(INT64_MIN, out), "-9223372036854.775808");
}

static void everything_else_is_refused_by_name(void **state)
{
	static const char *const wrong[] = {
		"",
		".",
		".5",
		"6.",
		"-1",
		"+1",
		"1e3",
		" 1",
		"1 ",
		"1,5",
		"6.5€",
		"0x1",
		"1.2.3",
		"1.-2",
		"inf",
		"nan",
		"1234567890123",
		"1.1234567",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct err e = {0};
		int64_t micro = 42;

		assert_int_equal(money_parse(wrong[i], &micro, &e), -1);
		assert_int_equal(e.kind, ERR_INVALID);
		assert_non_null(strstr(e.text, wrong[i]));
		assert_int_equal(micro, 42);
		assert_false(money_is_amount(wrong[i]));
	}
}

static void what_leaves_the_range_changes_nothing(void **state)
{
	int64_t v = INT64_MAX - 1, p = 7;

	(void)state;
	assert_true(money_add(&v, 1));
	assert_int_equal(v, INT64_MAX);
	assert_false(money_add(&v, 1));
	assert_int_equal(v, INT64_MAX);
	assert_false(money_times(INT64_MAX / 2, 3, &p));
	assert_false(money_for_ms(INT64_MAX, 3600001, &p));
	assert_false(money_for_seconds(1, INT64_MAX, &p));
	assert_false(money_for_ms(-1, 1, &p));
	assert_false(money_for_ms(1, -1, &p));
	assert_int_equal(p, 7);
	assert_true(money_for_ms(INT64_MAX, 3600000, &p));
	assert_int_equal(p, INT64_MAX);
	assert_true(money_times(-3, 4, &p));
	assert_int_equal(p, -12);
}

static void a_sum_of_costs_is_never_too_low(void **state)
{
	int64_t sum = MONEY_TEXT_MAX - 2;

	(void)state;
	money_add_cost(&sum, 1);
	assert_int_equal(sum, MONEY_TEXT_MAX - 1);
	money_add_cost(&sum, 2);
	assert_int_equal(sum, MONEY_TEXT_MAX);
	money_add_cost(&sum, INT64_MAX);
	assert_int_equal(sum, MONEY_TEXT_MAX);
}

static void a_part_of_an_hour_is_rounded_up(void **state)
{
	static const struct {
		int64_t per_hour, ms, micro;
	} cases[] = {
		{6500000, 3600000, 6500000},
		{6500000, 1800000, 3250000},
		{6500000, 0, 0},
		{0, 3600000, 0},
		{1, 1, 1},
		{1, 3600001, 2},
		{6500000, 1000, 1806}, /* rounded up from 1805.55... */
		{7200000, 500, 1000},
	};
	int64_t micro;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(money_for_ms(cases[i].per_hour, cases[i].ms, &micro));
		assert_int_equal(micro, cases[i].micro);
	}
	assert_true(money_for_seconds(6500000, 5400, &micro));
	assert_int_equal(micro, 9750000);
}

static void a_currency_is_one_of_iso_4217(void **state)
{
	static const char *const right[] = {"EUR", "USD", "AED", "ZWG", "XOF", "JPY"};
	static const char *const wrong[] = {"",	   "eur", "EU",	 "EURO", "XXX",
					    "XAU", "R U", " EU", "ED "};

	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		assert_true(money_is_currency(right[i]));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(money_is_currency(wrong[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_is_read_exactly),
		cmocka_unit_test(everything_else_is_refused_by_name),
		cmocka_unit_test(what_leaves_the_range_changes_nothing),
		cmocka_unit_test(a_sum_of_costs_is_never_too_low),
		cmocka_unit_test(a_part_of_an_hour_is_rounded_up),
		cmocka_unit_test(a_currency_is_one_of_iso_4217),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
