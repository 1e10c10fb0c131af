/* Tests that each reason for which a pod can wait has a remedy. */
#include "tests/unit/testing.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reason_of_the_planner_has_a_remedy),
		cmocka_unit_test(so_have_the_reasons_of_pod_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
