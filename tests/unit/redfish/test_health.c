#include "tests/unit/testing.h"

#include "base/str.h"
#include "tests/unit/redfish/bmc_rig.h"

/* The System resource contains the health in all of these cases: no further request is needed. */
static void what_is_critical_is_named(void **state)
{
	static const struct {
		const char *health, *fault;
		bool told;
	} cases[] = {
		{NULL, "", false},
		{"{'Status': {'State': 'Enabled'}}", "", false},
		{"{'Status': {'Health': null, 'HealthRollup': 'Unknown'}}", "", false},
		{"{'Status': 'Critical', 'MemorySummary': []}", "", false},
		{"{'Status': {'Health': 'OK'}}", "", true},
		{"{'Status': {'HealthRollup': 'Warning'}, 'MemorySummary': {'Status': {'Health': "
		 "'Warning'}}}",
		 "", true},
		/* Health is OK, HealthRollup is not: a part has failed. */
		{"{'Status': {'Health': 'OK', 'HealthRollup': 'Critical'}}",
		 "the BMC reports Critical, but not for which part", true},
		{"{'Status': {'Health': 'Critical'}, 'MemorySummary': {'Status': {'HealthRollup': "
		 "'Critical'}}, 'ProcessorSummary': {'Status': {'HealthRollup': 'OK'}}}",
		 "the BMC reports Critical: MemorySummary Critical", true},
		{"{'Status': {'Health': 'Critical'}, 'ProcessorSummary': {'Status': {'Health': "
		 "'Warning'}}}",
		 "the BMC reports Critical: ProcessorSummary Warning", true},
		/* HPE's list of the parts in the rollup. */
		{"{'Status': {'HealthRollup': 'Critical'}, "
		 "'Oem': {'Hpe': {'AggregateHealthStatus': "
		 "{'Fans': {'Status': {'Health': 'OK'}}, 'Storage': {'Status': {'Health': "
		 "'Critical'}}}}}}",
		 "the BMC reports Critical: Storage Critical", true},
		{"{'Status': {'HealthRollup': 'Critical', 'Conditions': [{'Severity': 'Warning', "
		 "'Message': 'It is warm'}, {'Severity': 'Critical', 'Message': 'DIMM A1 has "
		 "failed'}, 7]}}",
		 "the BMC reports Critical: DIMM A1 has failed", true},
		/* At most three parts are named. */
		{"{'Status': {'Health': 'Critical'}, 'A': {'Status': {'Health': 'Critical'}}, 'B': "
		 "{'Status': {'Health': 'Critical'}}, 'C': {'Status': {'Health': 'Critical'}}, "
		 "'D': {'Status': {'Health': 'Critical'}}}",
		 "the BMC reports Critical: A Critical, B Critical, C Critical", true},
	};
	struct bmc_rig *f = *state;
	unsigned requests;

	assert_done(bmc_read_system(f));
	requests = f->bmc.requests;
	assert_done(bmc_read_system(f));
	requests = f->bmc.requests - requests;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned before = f->bmc.requests;

		f->bmc.health = cases[i].health;
		assert_done(bmc_read_system(f));
		assert_int_equal(f->health_reported, cases[i].told);
		assert_string_equal(f->fault, cases[i].fault);
		assert_int_equal(f->bmc.requests - before, requests);
	}
}

/* Messages of a BMC appear in status, so secrets in them are redacted. */
static void words_of_a_bmc_are_quoted_without_secrets(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.health = "{'Status': {'Health': 'Critical', 'Conditions': [{'Severity': 'Critical', "
			"'Message': 'cannot log to https://root:calvin@10.0.0.9/log'}]}}";
	assert_done(bmc_read_system(f));
	assert_non_null(strstr(f->fault, "cannot log to https://"));
	assert_null(strstr(f->fault, "calvin"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		bmc_test(what_is_critical_is_named),
		bmc_test(words_of_a_bmc_are_quoted_without_secrets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
