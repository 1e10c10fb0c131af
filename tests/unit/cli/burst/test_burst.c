#include "tests/unit/testing.h"

#include <string.h>
#include "base/arena.h"
#include "base/data/json.h"
#include "cli/cli.h"
#include "tests/unit/cli/verb.h"

/* Tests `drover burst`, and with it cli/burst/docs.c, controller/burst/policy_objects.c, and the
 * files of examples/burst/. */
#define PLAN(...)                                                                                  \
	verb_run("drover burst", cli_burst, NULL, (const char *const[]){"plan", __VA_ARGS__, NULL})
#define EXAMPLE(name) "examples/burst/" name ".yaml", "-f", "examples/burst/scenarios/" name ".yaml"

static void each_example_shows_what_its_policy_is_for(void **state)
{
	static const struct {
		const char *policy, *f, *scenario, *says[6];
	} rows[] = {
		{EXAMPLE("research"),
		 {"research train-a (policy research, Enforce): 4 x Spot p5.48xlarge in "
		  "eu-west-1a, costs at most 304.00 EUR in total",
		  "research eval-b (policy research, Enforce): 1 x OnDemand p5.48xlarge in "
		  "eu-west-1b, costs at most 130.00 EUR in total",
		  "NotCheckpointable", "JurisdictionNotAllowed",
		  "notebook (policy research, Enforce): RuntimeTooShort: it runs for 20m, the "
		  "policy requires at least 45m",
		  "policy research, budget (Tenant research, per Month): 0.00 of 20000.00 EUR "
		  "used; with this plan 434.00 EUR"}},
		{EXAMPLE("deadline"),
		 {"report (policy production-deadlines, Enforce): 1 x Reserved",
		  "nightly (policy production-deadlines, Enforce): NotTriggered",
		  "EndsTooSoon: the cloud ends it in 6h, the work needs 12h10m",
		  "long (policy production-deadlines, Enforce): 1 x OnDemand p5.48xlarge in "
		  "eu-west-1b, costs at most 730.00 EUR in total"}},
		{EXAMPLE("night-spot"),
		 {"sweep (policy batch-at-night, Enforce): 2 x Spot a3-highgpu-8g in "
		  "europe-west4-b, costs at most 375.666668 EUR in total",
		  "CoolingDown: it had no capacity; not tried again for 3m", "b urgent: NoPolicy",
		  "1 of 3 pods and gangs would get cloud instances."}},
		{EXAMPLE("sovereign"),
		 {"approved (policy clinic, Recommend): 1 x OnDemand gpu8 in de-1, costs at most "
		  "302.083334 EUR in total",
		  "patients (policy clinic, Recommend): DataClassNotAllowed",
		  "asked (policy clinic, Recommend): ApprovalNeeded", "JurisdictionNotAllowed"}},
		{EXAMPLE("overflow"),
		 {"pair (policy overflow, Enforce): 2 x OnDemand gpu_8x_b200 in eu, costs at most "
		  "400.00 USD in total",
		  "third (policy overflow, Enforce): TenantShare",
		  "BudgetExhausted: it may cost 840.00, the budget leaves 400.00",
		  "b plain: NoPolicy",
		  "policy overflow, budget (Provider lambda, per Day): 400.00 of 1200.00 USD used; "
		  "with this plan 800.00 USD"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(PLAN("-f", rows[i].policy, "-f", rows[i].scenario), 0);
		for (size_t k = 0; k < 6 && rows[i].says[k]; k++)
			verb_assert_said(rows[i].says[k]);
	}
}

static void json_has_each_offer_with_its_reason_and_cost(void **state)
{
	json_t *j, *d;
	struct err e;

	(void)state;
	assert_int_equal(PLAN("-o", "json", "-f", EXAMPLE("overflow")), 0);
	j = json_parse(verb_said, strlen(verb_said), &e);
	assert_non_null(j);
	assert_int_equal(json_array_size(json_at(j, "decisions")), 4);
	d = json_array_get(json_at(j, "decisions"), 2);
	assert_string_equal(json_str_at(d, "work"), "long");
	assert_string_equal(json_str_at(d, "reason"), "NoOffer");
	d = json_array_get(json_at(d, "offers"), 0);
	assert_string_equal(json_str_at(d, "reason"), "BudgetExhausted");
	assert_string_equal(json_str_at(d, "cost"), "840.00");
	d = json_array_get(json_at(j, "budgets"), 0);
	assert_string_equal(json_str_at(d, "before"), "400.00");
	assert_string_equal(json_str_at(d, "after"), "800.00");
	json_decref(j);
}

static void policies_of_several_files_that_match_the_same_work_are_an_error(void **state)
{
	static const char other[] = "tests/data/burst/everyone.yaml";

	(void)state;
	assert_int_equal(PLAN("-f", EXAMPLE("deadline"), "-f", other), 0);
	verb_assert_said(
		"report: PoliciesOverlap: policies everyone, production-deadlines match it");
	verb_assert_said("error: policy everyone: ");
	verb_assert_said("error: policy production-deadlines: ");
	verb_assert_said("0 of 3 pods and gangs would get cloud instances.");
}

static void a_policy_selects_by_namespace_labels_and_queue(void **state)
{
	static const char *const no[] = {"elsewhere", "others", "unqueued", "bare"};
	OWN(arena) a = arena_new();

	(void)state;
	assert_int_equal(PLAN("-f", "tests/data/burst/match.yaml"), 0);
	verb_assert_said("mine (policy vision, Shadow): 1 x OnDemand gpu_8x_b200");
	for (size_t i = 0; i < 4; i++)
		verb_assert_said(arena_printf(a, "a %s: NoPolicy", no[i]));
}

/* Moving takes 400 s to region eu, where 200 GB are missing, and 100 s to region us. */
static void work_runs_near_its_data(void **state)
{
	json_t *j, *d;
	struct err e;

	(void)state;
	assert_int_equal(PLAN("-f", "tests/data/burst/data.yaml"), 0);
	verb_assert_said("near (policy near-data, Shadow): 1 x OnDemand gpu_8x_b200 in us, costs "
			 "at most 45.50 USD in total, with 2.50 for moving data, which takes "
			 "1m40s");
	verb_assert_said("StageTimeTooLong: moving its data there takes 6m40s, "
			 "spec.data.maxStageTime allows 5m");
	verb_assert_said("unknown (policy near-data, Shadow): DataUnknown: its pods read logs");
	verb_assert_said("LostWorkTooLarge: its pods save their work every 31m");
	assert_int_equal(PLAN("-o", "json", "-f", "tests/data/burst/data.yaml"), 0);
	j = json_parse(verb_said, strlen(verb_said), &e);
	d = json_array_get(json_at(j, "decisions"), 0);
	assert_string_equal(json_str_at(d, "work"), "near");
	assert_string_equal(json_str_at(d, "egress"), "2.50");
	assert_string_equal(json_str_at(d, "stageTime"), "1m40s");
	json_decref(j);
}

static void what_nothing_reads_is_refused_with_its_file(void **state)
{
	(void)state;
	assert_int_equal(PLAN("-f", "tests/data/burst/everyone.yaml"), 1);
	verb_assert_said("want at least one BurstPolicy and exactly one BurstState");
	assert_int_equal(PLAN("-f", "tests/data/burst/wrong.yaml"), 1);
	verb_assert_said("tests/data/burst/wrong.yaml:1: BurstState: spec.spent: unknown field");
	assert_int_equal(PLAN("-f", "examples/simulate/two-tenants.yaml"), 1);
	verb_assert_said("kind: want BurstPolicy or BurstState, got 'Scenario'");
	assert_int_equal(PLAN("-f", "/no/such/file"), 1);
	verb_assert_said("/no/such/file: no such file");
}

static void a_plan_of_the_cluster_needs_the_cluster(void **state)
{
	(void)state;
	assert_int_equal(PLAN("--kubeconfig", "/no/such/kubeconfig"), 1);
	verb_assert_said("drover burst: /no/such/kubeconfig: No such file");
	assert_int_not_equal(PLAN("-o", "input", "-f", EXAMPLE("research")), 0);
	verb_assert_said("--output input is for the plan of a cluster, without -f");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_example_shows_what_its_policy_is_for),
		cmocka_unit_test(json_has_each_offer_with_its_reason_and_cost),
		cmocka_unit_test(policies_of_several_files_that_match_the_same_work_are_an_error),
		cmocka_unit_test(a_policy_selects_by_namespace_labels_and_queue),
		cmocka_unit_test(work_runs_near_its_data),
		cmocka_unit_test(what_nothing_reads_is_refused_with_its_file),
		cmocka_unit_test(a_plan_of_the_cluster_needs_the_cluster),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
