/* Tests the comparison of a bill with other ways to get the same GPUs. */
#include "tests/unit/testing.h"

#include "base/market.h"
#include "cli/cost_compare.h"

#define EUR INT64_C(1000000)
#define HOUR INT64_C(3600)
#define MONTH_S (720 * HOUR)

/* Two owned machines at 24 EUR an hour; a cloud at 60, 24 (spot) and 40 (reserved). */
static const struct cost_type types[] = {
	{"hall", "h100x8", "H100", "EUR", 8, false, {24 * EUR, -1, -1}, 2},
	{"aws", "p5", "H100", "EUR", 8, true, {60 * EUR, 24 * EUR, 40 * EUR}, 0},
	{"far", "p5", "H100", "EUR", 4, true, {31 * EUR, -1, -1}, 0},
	{"us", "p5", "H100", "USD", 8, true, {30 * EUR, -1, -1}, 0},
	{"hall", "cpu", NULL, "EUR", 0, false, {1 * EUR, -1, -1}, 9},
};

static struct cost_row row(const char *provider, const char *type, int64_t price, int64_t gpus,
			   int64_t seconds)
{
	return (struct cost_row){"a",
				 "u",
				 {.month = "2026-11",
				  .provider = provider,
				  .instance_type = type,
				  .price_per_hour = price,
				  .currency = "EUR",
				  .gpus = gpus,
				  .seconds = seconds}};
}

static json_t *compared(struct cost_row *v, size_t n)
{
	const struct cost_rows rows = {v, n, 0};
	const struct cost_comparison c = {&rows, types, 5, MONTH_S};
	OWN(arena) a = arena_new();
	struct err e;
	json_t *j = cost_compare(&c, a, &e);

	assert_non_null(j);
	return j;
}

static void the_same_gpu_hours_are_priced_in_each_way(void **state)
{
	struct cost_row v[] = {row("hall", "h100x8", 24 * EUR, 8, 900 * HOUR),
			       row("aws", "p5", 60 * EUR, 8, 100 * HOUR),
			       row("hall", "cpu", 1 * EUR, 0, 50 * HOUR),
			       row("gone", "p4", 1 * EUR, 8, 50 * HOUR)};
	OWN_JSON j = compared(v, 4);
	const json_t *x = json_array_get(j, 0);

	(void)state;
	assert_int_equal(json_array_size(j), 1);
	assert_string_equal(json_str_at(x, "product"), "H100");
	assert_true(json_number_value(json_at(x, "gpuHours")) == 8000);
	assert_string_equal(json_str_at(x, "paid"), "27600.00");
	assert_string_equal(json_str_at(x, "owned"), "24000.00");
	assert_string_equal(json_str_at(x, "onDemand"), "60000.00");
	assert_string_equal(json_str_at(x, "spot"), "24000.00");
	assert_string_equal(json_str_at(x, "reserved"), "40000.00");
	assert_int_equal(json_int_at(x, "ownedGPUs"), 16);
	/* 7,200 of 16 x 720 GPU hours */
	assert_true(json_number_value(json_at(x, "ownedUse")) == 0.625);
	assert_true(json_number_value(json_at(x, "ownWinsAbove", "onDemand")) == 0.4);
	assert_true(json_number_value(json_at(x, "ownWinsAbove", "reserved")) == 0.6);
}

static void what_is_not_known_is_absent(void **state)
{
	struct cost_row v[] = {row("hall", "h100x8", -1, 8, 10 * HOUR)};
	OWN_JSON none = compared(v, 0);
	OWN_JSON j = compared(v, 1);
	const json_t *x = json_array_get(j, 0);
	struct buf b;

	(void)state;
	assert_int_equal(json_array_size(none), 0);
	assert_true(json_number_value(json_at(x, "gpuHoursWithoutPrice")) == 80);
	assert_string_equal(json_str_at(x, "paid"), "0.00");
	buf_init(&b, 4096);
	cost_compare_table(j, &b);
	assert_non_null(strstr(b.data, "H100                 EUR        80.0"));
	buf_done(&b);
	buf_init(&b, 4096);
	cost_compare_table(none, &b);
	assert_non_null(strstr(b.data, "no charges for GPUs"));
	buf_done(&b);
}

static void another_currency_is_not_compared(void **state)
{
	struct cost_row v[] = {row("us", "p5", 30 * EUR, 8, 10 * HOUR)};
	const json_t *x;

	(void)state;
	v[0].charge.currency = "USD";
	OWN_JSON j = compared(v, 1);

	x = json_array_get(j, 0);
	assert_string_equal(json_str_at(x, "currency"), "USD");
	assert_string_equal(json_str_at(x, "onDemand"), "300.00");
	assert_null(json_str_at(x, "owned"));
	assert_null(json_at(x, "ownWinsAbove", "onDemand"));
}

static void sums_that_are_too_large_are_an_error(void **state)
{
	struct cost_row v[] = {row("aws", "p5", INT64_MAX / 2, 8, 900 * HOUR)};
	const struct cost_rows rows = {v, 1, 0};
	const struct cost_comparison c = {&rows, types, 5, MONTH_S};
	OWN(arena) a = arena_new();
	struct err e;

	(void)state;
	assert_null(cost_compare(&c, a, &e));
	assert_string_equal(e.text, "the sums of GPU H100 are too large");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_gpu_hours_are_priced_in_each_way),
		cmocka_unit_test(what_is_not_known_is_absent),
		cmocka_unit_test(another_currency_is_not_compared),
		cmocka_unit_test(sums_that_are_too_large_are_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
