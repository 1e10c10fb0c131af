/* Tests that each reason for which a pod can wait has a remedy. */
#include "tests/unit/testing.h"

#include <string.h>

#include "controller/explain/pod_remedy.h"
#include "planner/plan.h"

static void each_reason_of_the_planner_has_a_remedy(void **state)
{
	(void)state;
	for (size_t i = 0; plan_reason_names[i]; i++)
		if (!pod_remedy(plan_reason_names[i]))
			fail_msg("no remedy for %s", plan_reason_names[i]);
}

static void so_have_the_reasons_of_pod_events(void **state)
{
	(void)state;
	assert_non_null(pod_remedy("Nominated"));
	assert_non_null(pod_remedy("RoomOnNode"));
	assert_non_null(pod_remedy("NotServed"));
	assert_null(pod_remedy("Unknown"));
	assert_null(pod_remedy(NULL));
}

static void an_operator_is_not_told_to_ask_an_operator(void **state)
{
	static const char *const reasons[] = {"NoPool", "NoImageForVersion", "NodesNotTaken",
					      "NetworkProofWeak", "NotServed"};

	(void)state;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		assert_null(strstr(pod_operator_remedy(reasons[i]), "ask the operator"));
	assert_string_equal(pod_operator_remedy("GangUnknown"), pod_remedy("GangUnknown"));
	assert_null(pod_operator_remedy("Unknown"));
}

static void a_reason_tells_who_must_change_something(void **state)
{
	(void)state;
	assert_int_equal(pod_helper("NoPool"), POD_HELPER_OPERATOR);
	assert_int_equal(pod_helper("TooBig"), POD_HELPER_TENANT);
	assert_int_equal(pod_helper("NoCapacity"), POD_HELPER_NONE);
	assert_int_equal(pod_helper("Unknown"), POD_HELPER_NONE);
	assert_int_equal(pod_helper(NULL), POD_HELPER_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reason_of_the_planner_has_a_remedy),
		cmocka_unit_test(an_operator_is_not_told_to_ask_an_operator),
		cmocka_unit_test(a_reason_tells_who_must_change_something),
		cmocka_unit_test(so_have_the_reasons_of_pod_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
