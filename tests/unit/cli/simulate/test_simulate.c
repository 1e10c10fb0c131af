#include "tests/unit/testing.h"

#include <string.h>
#include "base/data/json.h"
#include "cli/cli.h"
#include "tests/unit/cli/verb.h"

#define EXAMPLE "examples/simulate/two-tenants.yaml"
#define SIMULATE(...)                                                                              \
	verb_run("drover simulate", cli_simulate, NULL, (const char *const[]){__VA_ARGS__, NULL})

static json_t *said_json(void)
{
	struct err e;
	json_t *j = json_parse(verb_said, strlen(verb_said), &e);

	assert_non_null(j);
	return j;
}

static void the_table_has_the_plan_the_reasons_and_the_waits(void **state)
{
	(void)state;
	assert_int_equal(SIMULATE(EXAMPLE), 0);
	verb_assert_said(
		"The plan: 2 pods wait; 0 fit on Nodes, 0 on claims in progress, 1 on 1 new "
		"machines; not placed: 1.");
	verb_assert_said(
		"Any plan needs at least 1 new machines (lower bound by linear programming)");
	verb_assert_said(
		"TooBig: pool h100: type hgx-h100-8 has too little nvidia.com/gpu: the pod "
		"requests 16, the largest type has 8");
	verb_assert_said("Over 24h: 120 jobs, 120 started, 120 ended");
	verb_assert_said("WAIT p50");
}

static void json_has_all_of_it_and_adds_up(void **state)
{
	json_t *j, *line, *x;
	double used = 0, pct;
	size_t i;

	(void)state;
	assert_int_equal(SIMULATE("-o", "json", EXAMPLE), 0);
	j = said_json();
	assert_string_equal(json_str_at(j, "scenario"), "two-tenants");
	assert_int_equal(json_array_size(json_at(j, "plan", "pods")), 2);
	assert_int_equal(json_array_size(json_at(j, "plan", "claims")), 1);
	assert_int_equal(json_int_at(j, "plan", "fewest"), 1);
	line = json_at(j, "replay", "timeline");
	json_array_foreach (line, i, x)
		used += json_number_value(json_object_get(x, "used"));
	pct = json_number_value(json_at(j, "replay", "usePercent"));
	assert_float_equal(used / (double)json_array_size(line) / 96 * 100, pct, 1e-3);
	assert_true(pct <= json_number_value(json_at(j, "replay", "boundPercent")) + 1e-6);
	assert_true(pct <= json_number_value(json_at(j, "replay", "nodesPercent")));
	assert_int_equal(json_array_size(json_at(j, "replay", "tenants")), 2);
	json_decref(j);
}

static void a_what_if_is_compared(void **state)
{
	json_t *j;

	(void)state;
	assert_int_equal(SIMULATE("-w", "machines+=8", "-w", "pool.h100.max=20", EXAMPLE), 0);
	verb_assert_said("BEFORE");
	verb_assert_said("GPUs                                           96.0          160.0");
	assert_int_equal(SIMULATE("-o", "json", "-w", "pool.h100.paused=true", EXAMPLE), 0);
	j = said_json();
	assert_int_equal(json_int_at(j, "replay", "started"), 0);
	assert_int_equal(json_int_at(j, "before", "replay", "started"), 120);
	json_decref(j);
	assert_int_equal(SIMULATE("-w", "racks+=1", EXAMPLE), 1);
	verb_assert_said("--what-if racks+=1: not supported");
}

static void the_chart_stands_alone(void **state)
{
	(void)state;
	assert_int_equal(SIMULATE("-o", "svg", EXAMPLE), 0);
	assert_int_equal(strncmp(verb_said, "<svg xmlns=", 11), 0);
	verb_assert_said("prefers-color-scheme:dark");
	verb_assert_said(">GPUs</text>");
	verb_assert_said(">GPUs that waiting jobs need (queue)</text>");
	verb_assert_said(">hours</text>");
	assert_null(strstr(verb_said, "href"));
	assert_null(strstr(verb_said, "Vnan"));
	assert_string_equal(verb_said + strlen(verb_said) - 7, "</svg>\n");
	assert_int_equal(SIMULATE("-o", "svg", "examples/nodepool.yaml"), 1);
	verb_assert_said("-o svg needs spec.arrivals");
}

static void usage_and_files_are_named(void **state)
{
	(void)state;
	assert_int_equal(SIMULATE("--help"), 0);
	verb_assert_said("drover simulate month.yaml --what-if machines+=10");
	assert_int_equal(
		verb_run("drover simulate", cli_simulate, NULL, (const char *const[]){NULL}), 2);
	assert_int_equal(SIMULATE("-o", "yaml", EXAMPLE), 2);
	verb_assert_said("want table, json or svg");
	assert_int_equal(SIMULATE("/nonexistent.yaml"), 1);
	verb_assert_said("/nonexistent.yaml: no such file");
	assert_int_equal(SIMULATE("/dev/null"), 0);
	verb_assert_said("The plan: 0 pods wait");
}

#define MONTH "examples/burst/scenarios/month.yaml"

/* A month without any policy, and with the policy of each example. */
static void a_month_with_each_burst_policy(void **state)
{
	static const struct {
		const char *file, *says[3];
	} rows[] = {
		{"examples/burst/research.yaml",
		 {"research                 Enforce", "OnPremNotBusy"}},
		{"examples/burst/deadline.yaml",
		 {"production-deadlines     Enforce", "NotTriggered"}},
		{"examples/burst/night-spot.yaml",
		 {"batch-at-night           Enforce", "OutsideWindow"}},
		{"examples/burst/sovereign.yaml",
		 {"clinic                   Recommend", "DataClassNotAllowed"}},
		{"examples/burst/overflow.yaml", {"overflow                 Enforce"}},
	};
	double before, after;
	json_t *j;

	(void)state;
	assert_int_equal(SIMULATE("-o", "json", MONTH), 0);
	j = said_json();
	assert_null(json_at(j, "replay", "bursts"));
	before = json_number_value(json_at(j, "replay", "wait", "p90"));
	json_decref(j);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(SIMULATE(MONTH, rows[i].file), 0);
		for (size_t k = 0; k < 3 && rows[i].says[k]; k++)
			verb_assert_said(rows[i].says[k]);
	}
	assert_int_equal(SIMULATE("-o", "json", rows[0].file, MONTH), 0);
	j = said_json();
	after = json_number_value(json_at(j, "replay", "wait", "p90"));
	assert_true(after < before);
	assert_true(json_int_at(json_array_get(json_at(j, "replay", "bursts"), 0), "launches") >
		    10);
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_has_the_plan_the_reasons_and_the_waits),
		cmocka_unit_test(json_has_all_of_it_and_adds_up),
		cmocka_unit_test(a_what_if_is_compared),
		cmocka_unit_test(the_chart_stands_alone),
		cmocka_unit_test(usage_and_files_are_named),
		cmocka_unit_test(a_month_with_each_burst_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
