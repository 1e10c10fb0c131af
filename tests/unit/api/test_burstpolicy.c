#include "tests/unit/testing.h"

#include <string.h>
#include "api/kinds.h"
#include "base/data/yaml.h"

/* Tests rules of a BurstPolicy that involve several fields. tests/data/objects/ has the cases for
 * single fields. */
static const char good[] =
	"{apiVersion: drover.dev/v1alpha1, kind: BurstPolicy, metadata: {name: b}, "
	"spec: {trigger: {onPremImpossible: true}, tiers: [{market: OnDemand}], "
	"offers: [{name: a, provider: aws, regions: [r], instanceTypes: [t]}], "
	"cost: {currency: EUR}, budget: [{scope: Global, amount: '5', per: Day}]}}";

static void refused(const char *patch, const char *want)
{
	OWN(arena) a = arena_new();
	const struct object_kind *k = &object_kinds[OBJECT_BURST_POLICY];
	struct err e = {0};
	OWN_JSON j = yaml_parse(good, strlen(good), &e);
	OWN_JSON p = yaml_parse(patch, strlen(patch), &e);
	OWN_JSON both = NULL;
	void *o;

	assert_non_null(j);
	assert_non_null(p);
	both = json_merge_apply(j, p);
	if (object_decode(k, both, a, &o, &e) == 0 && object_check(k, o, NULL, &e) == 0)
		e.text[0] = '\0';
	assert_string_equal(e.text, want);
}

static void what_names_no_trigger_or_something_that_is_not_there_is_refused(void **state)
{
	(void)state;
	refused("{}", "");
	refused("{spec: {trigger: {onPremImpossible: null}}}",
		"spec.trigger: want at least one of maxQueueWait, predictedWaitOver, "
		"deadlineSlackUnder, queuedGPUsOver and onPremImpossible");
	refused("{spec: {tiers: [{market: Spot, offers: [b]}]}}",
		"spec.tiers[0].offers[0]: want a name among spec.offers, got \"b\"");
	refused("{spec: {cost: {prices: [{offer: b, instanceType: t, market: Spot, perHour: "
		"'1', asOf: '2026-11-20T00:00:00Z'}]}}}",
		"spec.cost.prices[0].offer: want a name among spec.offers, got \"b\"");
	refused("{spec: {limits: {perTenantShare: '0.5'}}}",
		"spec.limits.perTenantShare: requires spec.limits.nodes");
	refused("{spec: {match: {gangSize: {min: 3, max: 2}}}}",
		"spec.match.gangSize: min must not be greater than max");
	refused("{spec: {match: {priority: {min: 3, max: 2}}}}",
		"spec.match.priority: min must not be greater than max");
}

static void a_time_zone_that_is_not_there_is_refused_by_name(void **state)
{
	(void)state;
	refused("{spec: {budget: [{scope: Global, amount: '5', per: Day, timezone: "
		"Europe/Berlin}]}}",
		"");
	refused("{spec: {budget: [{scope: Global, amount: '5', per: Day, timezone: "
		"Europe/Atlantis}]}}",
		"spec.budget[0].timezone: the time zone database of this computer (package tzdata) "
		"has no zone \"Europe/Atlantis\"");
	refused("{spec: {windows: {allow: [{cron: '@daily', duration: 1h, timezone: Mars/Base}]}}}",
		"spec.windows.allow[0].timezone: the time zone database of this computer (package "
		"tzdata) has no zone \"Mars/Base\"");
	refused("{spec: {windows: {deny: [{cron: '@daily', duration: 1h, timezone: localtime}]}}}",
		"spec.windows.deny[0].timezone: \"localtime\" is not the name of a time zone, such "
		"as Europe/Berlin");
	refused("{spec: {windows: {freezeTimezone: right/UTC}}}",
		"spec.windows.freezeTimezone: \"right/UTC\" is not the name of a time zone, such "
		"as Europe/Berlin");
}

static void an_approval_is_not_required_by_a_budget_that_refuses_nothing(void **state)
{
	(void)state;
	refused("{spec: {budget: [{scope: Global, amount: '5', per: Day, onExhausted: "
		"RequireApproval}]}}",
		"");
	refused("{spec: {budget: [{scope: Global, amount: '5', per: Day, mode: Soft, onExhausted: "
		"RequireApproval}]}}",
		"spec.budget[0].onExhausted: RequireApproval requires mode Hard");
	refused("{spec: {budget: [{scope: Global, amount: '5', per: Day, onExhausted: "
		"DrainNow}]}}",
		"spec.budget[0].onExhausted: not supported by this version: want StopNew or "
		"RequireApproval, got \"DrainNow\"");
}

static void what_has_no_last_period_carries_nothing_over(void **state)
{
	(void)state;
	refused("{spec: {budget: [{scope: Global, amount: '5', per: Day, carryOver: '0.5'}]}}", "");
	refused("{spec: {budget: [{scope: Global, amount: '5', per: Total, carryOver: '0.5'}]}}",
		"spec.budget[0].carryOver: a budget per Total has no last period");
	refused("{spec: {budget: [{scope: Workload, amount: '5', per: Day, carryOver: '0.5'}]}}",
		"spec.budget[0].carryOver: not for scope Workload, because a new workload has no "
		"last period");
}

static void data_has_a_size_a_price_and_places(void **state)
{
	(void)state;
	refused("{spec: {data: {inputs: [{name: a, size: 150Gi, copies: [{provider: aws}]}], "
		"egressPerGB: '0'}}}",
		"");
	refused("{spec: {data: {inputs: [{name: a, size: 1}]}}}",
		"spec.data.egressPerGB: required");
	refused("{spec: {data: {inputs: [{name: a b, size: 1}], egressPerGB: '0'}}}",
		"spec.data.inputs[0].name: want letters, digits, '-', '_' and '.', got \"a b\"");
	refused("{spec: {data: {inputs: [{name: a, size: 0}], egressPerGB: '0'}}}",
		"spec.data.inputs[0].size: want 1 to 64Pi bytes, got 0");
	refused("{spec: {data: {inputs: [{name: a, size: 65Pi}], egressPerGB: '0'}}}",
		"spec.data.inputs[0].size: want 1 to 64Pi bytes, got 65Pi");
	refused("{spec: {data: {inputs: [{name: a, size: 1}], egressPerGB: '0', bytesPerSecond: "
		"1Ei}}}",
		"spec.data.bytesPerSecond: want 0 to 64Pi bytes, got 1Ei");
	refused("{spec: {data: {inputs: [{name: a, size: 1}], egressPerGB: '0', maxStageTime: "
		"1h}}}",
		"spec.data.maxStageTime: requires spec.data.bytesPerSecond");
	refused("{spec: {data: {inputs: [{name: a, size: 1}, {name: a, size: 2}], egressPerGB: "
		"'0'}}}",
		"spec.data.inputs[1].name: must not be there twice, got \"a\"");
}

static void a_part_is_at_most_one_and_a_factor_is_not_zero(void **state)
{
	(void)state;
	refused("{spec: {trigger: {guards: {onPremUtilisationOver: '1.1'}}}}",
		"spec.trigger.guards.onPremUtilisationOver: want a fraction from 0 to 1 "
		"such as \"0.25\", got \"1.1\"");
	refused("{spec: {runtime: {maxOverheadFraction: '2'}}}",
		"spec.runtime.maxOverheadFraction: want a fraction from 0 to 1 such as "
		"\"0.25\", got \"2\"");
	refused("{spec: {budget: [{scope: Global, amount: '5', per: Day, alertAt: ['0.5', "
		"'1.5']}]}}",
		"spec.budget[0].alertAt[1]: want a fraction from 0 to 1, got \"1.5\"");
	refused("{spec: {offers: [{name: a, provider: aws, regions: [r], instanceTypes: "
		"[t], gpuEquivalence: {H100: '0'}}]}}",
		"spec.offers[0].gpuEquivalence.H100: want more than 0 and at most 1000, got \"0\"");
	refused("{spec: {cost: {currency: XXX}}}",
		"spec.cost.currency: want an ISO 4217 currency code, got \"XXX\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_names_no_trigger_or_something_that_is_not_there_is_refused),
		cmocka_unit_test(a_time_zone_that_is_not_there_is_refused_by_name),
		cmocka_unit_test(an_approval_is_not_required_by_a_budget_that_refuses_nothing),
		cmocka_unit_test(what_has_no_last_period_carries_nothing_over),
		cmocka_unit_test(data_has_a_size_a_price_and_places),
		cmocka_unit_test(a_part_is_at_most_one_and_a_factor_is_not_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
