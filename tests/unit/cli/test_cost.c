#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "cli/cli.h"
#include "cli/cost_print.h"
#include "tests/unit/cli/verb.h"

#define COST(...) verb_run("drover cost", cli_cost, NULL, (const char *const[]){__VA_ARGS__, NULL})

static struct cost_row row(const char *tenant, const char *month, int phase, int64_t price,
			   int64_t seconds)
{
	return (struct cost_row){tenant,
				 "uid-1",
				 {.month = month,
				  .pool = "gpus",
				  .provider = "rack",
				  .instance_type = "h100, \"SXM\"",
				  .phase = phase,
				  .price_per_hour = price,
				  .currency = price < 0 ? NULL : "EUR",
				  .gpus = 8,
				  .seconds = seconds}};
}

static struct cost_row some[5];
static struct cost_rows rows;

static int setup(void **state)
{
	const struct cost_row all[] = {
		row("team-b", "2026-11", PHASE_READY, -1, 7200),
		row("team-a", "2026-11", PHASE_WIPING, 6500000, 1800),
		row("team-a", "2026-10", PHASE_READY, 6500000, 3600),
		row("team-a", "2026-11", PHASE_READY, 7000000, 3600),
		row("team-a", "2026-11", PHASE_READY, 6500000, 1),
	};

	(void)state;
	memcpy(some, all, sizeof(all));
	rows = (struct cost_rows){some, 5, 0};
	assert_true(str_to_time("2026-11-20T12:00:00Z", &rows.now));
	cost_sort(&rows);
	return 0;
}

static void the_table_has_a_line_for_each_tenant_and_month(void **state)
{
	struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 4096);
	assert_int_equal(cost_table(&rows, &b, &e), 0);
	assert_string_equal(
		b.data,
		"TENANT  MONTH    MACHINE-HOURS  GPU-HOURS  ALLOCATED      READY   DRAINING     "
		"WIPING              COST\n"
		"team-a  2026-10            1.0        8.0        0.0        8.0        0.0      "
		"  0.0          6.50 EUR\n"
		"team-a  2026-11            1.5       12.0        0.0        8.0        0.0      "
		"  4.0     10.251806 EUR\n"
		"team-b  2026-11            2.0       16.0        0.0       16.0        0.0      "
		"  0.0          no price\n");
	buf_done(&b);
}

static void csv_has_a_line_for_each_sum(void **state)
{
	struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 4096);
	assert_int_equal(cost_csv(&rows, &b, &e), 0);
	assert_true(str_starts(
		b.data, "tenant,month,pool,provider,instanceType,phase,machineHours,gpuHours,"
			"pricePerHour,currency,cost\r\n"
			"team-a,2026-10,gpus,rack,\"h100, \"\"SXM\"\"\",Ready,1.00,8.00,6.50,"
			"EUR,6.50\r\n"));
	assert_non_null(strstr(b.data, ",Ready,0.000277,0.002222,6.50,EUR,0.001806\r\n"));
	assert_non_null(strstr(b.data, ",Ready,2.00,16.00,,,\r\n"));
	buf_done(&b);
}

/* Copies the value of a column in the given line to out; line 0 is the header. */
static void focus_value(const char *csv, size_t line, const char *column, char out[static 64])
{
	char *text = strdup(csv), *at = text, *head, *name, *save = NULL;
	size_t k = 0;

	for (size_t i = 0; i < line; i++)
		at = strstr(at, "\r\n") + 2;
	*strstr(at, "\r\n") = '\0';
	head = strdup(csv);
	*strstr(head, "\r\n") = '\0';
	for (name = strtok_r(head, ",", &save); name && !str_eq(name, column);
	     name = strtok_r(NULL, ",", &save))
		k++;
	assert_non_null(name);
	for (; k; at++) /* No value in this text contains both a comma and a quotation mark. */
		if (*at == '"')
			at = strstr(at, "\",");
		else
			k -= *at == ',';
	str_format(out, 64, "%.*s", (int)strcspn(at, ","), at);
	free(head);
	free(text);
}

static void focus_has_its_columns_and_no_line_without_a_price(void **state)
{
	static const struct {
		const char *column, *is;
	} want[] = {
		{"BilledCost", "6.50"},
		{"BillingCurrency", "EUR"},
		{"BillingPeriodStart", "2026-10-01T00:00:00Z"},
		{"BillingPeriodEnd", "2026-11-01T00:00:00Z"},
		{"ChargeCategory", "Usage"},
		{"ChargePeriodEnd", "2026-11-01T00:00:00Z"},
		{"ConsumedUnit", "Hours"},
		{"ListUnitPrice", "6.50"},
		{"PricingCategory", "Standard"},
		{"ProviderName", "rack"},
		{"ResourceType", "Machine"},
		{"ServiceCategory", "Compute"},
		{"SubAccountId", "uid-1"},
		{"SubAccountName", "team-a"},
		{"x_GpuHours", "8.00"},
		{"x_Phase", "Ready"},
	};
	char is[64];
	size_t left_out, lines = 0;
	struct buf b;
	struct err e;

	(void)state;
	for (size_t i = 0; i < rows.n; i++)
		rows.v[i].charge.instance_type = "h100";
	buf_init(&b, 8192);
	assert_int_equal(cost_focus(&rows, &b, &left_out, &e), 0);
	assert_int_equal(left_out, 1);
	for (const char *p = b.data; (p = strstr(p, "\r\n")); p += 2)
		lines++;
	assert_int_equal(lines, 5);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		focus_value(b.data, 1, want[i].column, is);
		assert_string_equal(is, want[i].is);
	}
	/* The charge period of the current month ends at the time of printing. */
	focus_value(b.data, 2, "ChargePeriodEnd", is);
	assert_string_equal(is, "2026-11-20T12:00:00Z");
	buf_done(&b);
}

static void json_says_the_same(void **state)
{
	struct err e;
	OWN_JSON j = cost_json(&rows, &e);
	const json_t *first = json_array_get(json_at(j, "charges"), 0);

	(void)state;
	assert_string_equal(json_str_at(j, "time"), "2026-11-20T12:00:00Z");
	assert_int_equal(json_array_size(json_at(j, "charges")), 5);
	assert_string_equal(json_str_at(first, "cost"), "6.50");
	assert_int_equal(json_integer_value(json_at(first, "gpuSeconds")), 28800);
	assert_null(json_at(json_array_get(json_at(j, "charges"), 4), "cost"));
}

static void a_sum_past_the_range_is_said(void **state)
{
	struct buf b;
	struct err e;

	(void)state;
	rows.v[0].charge.seconds = INT64_MAX;
	buf_init(&b, 4096);
	assert_int_equal(cost_table(&rows, &b, &e), -1);
	assert_string_equal(e.text,
			    "tenant team-a, month 2026-10: the sum of the charges is too large");
	assert_null(cost_json(&rows, &e));
	buf_done(&b);
}

static void opencost_gets_the_price_of_one_gpu(void **state)
{
	struct resource gpus = {"nvidia.com/gpu", quantity_of(8)};
	struct provider_object_instance_type t = {.name = "h100",
						  .price_per_hour = 52000001,
						  .currency = "EUR",
						  .capacity = {&gpus, 1}};
	struct err e;
	OWN_JSON j = cost_opencost("rack", &t, &e);

	(void)state;
	assert_string_equal(json_str_at(j, "GPU"), "6.500001");
	assert_string_equal(json_str_at(j, "CPU"), "0");
	assert_string_equal(json_str_at(j, "provider"), "custom");
	t.price_per_hour = -1;
	assert_null(cost_opencost("rack", &t, &e));
	assert_string_equal(e.text, "instance type h100 of Provider rack has no pricePerHour");
	t.capacity.n = 0;
	assert_null(cost_opencost("rack", &t, &e));
	assert_string_equal(e.text, "instance type h100 of Provider rack has no nvidia.com/gpu");
}

static void wrong_options_are_named(void **state)
{
	(void)state;
	assert_int_equal(COST("--month", "2026-13"), 2);
	verb_assert_said("--month: want a month such as 2026-11, got '2026-13'");
	assert_int_equal(COST("-o", "xml"), 2);
	verb_assert_said("want table, json, csv, focus or opencost, got 'xml'");
	assert_int_equal(COST("team-a"), 2);
	verb_assert_said("select a tenant with --tenant");
	assert_int_equal(COST("-o", "opencost", "--tenant", "team-a"), 2);
	verb_assert_said("cannot be combined with --month or --tenant");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_table_has_a_line_for_each_tenant_and_month, setup),
		cmocka_unit_test_setup(csv_has_a_line_for_each_sum, setup),
		cmocka_unit_test_setup(focus_has_its_columns_and_no_line_without_a_price, setup),
		cmocka_unit_test_setup(json_says_the_same, setup),
		cmocka_unit_test_setup(a_sum_past_the_range_is_said, setup),
		cmocka_unit_test(opencost_gets_the_price_of_one_gpu),
		cmocka_unit_test(wrong_options_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
