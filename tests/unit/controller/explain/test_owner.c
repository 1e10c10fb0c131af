/* Tests whose problem an explanation describes. */
#include "tests/unit/testing.h"

#include "api/reasons.h"
#include "base/data/json.h"
#include "controller/explain/owner.h"
#include "controller/explain/waits.h"
#include "planner/plan.h"

static void assert_owner(const char *answer, const char *owner)
{
	struct err e;
	OWN_JSON o = json_parse(answer, strlen(answer), &e);
	const char *is = owner_find(o);

	assert_non_null(o);
	if (!owner ? is != NULL : !is || strcmp(is, owner) != 0)
		fail_msg("want %s, got %s: %s", owner ? owner : "none", is ? is : "none", answer);
}

static void each_reason_of_a_machine_has_an_owner(void **state)
{
	(void)state;
	for (int r = REASON_NONE + 1; r < REASONS; r++)
		if (!owner_of_reason(reason_name((enum reason)r)))
			fail_msg("no owner of %s", reason_name((enum reason)r));
}

static void so_has_each_reason_of_a_pod(void **state)
{
	(void)state;
	for (size_t i = 0; plan_reason_names[i]; i++)
		if (!owner_of_reason(plan_reason_names[i]))
			fail_msg("no owner of %s", plan_reason_names[i]);
	assert_string_equal(owner_of_reason("NoCapacity"), "drover");
	assert_string_equal(owner_of_reason("TooBig"), "tenant");
	assert_string_equal(owner_of_reason("NoPool"), "operator");
	assert_null(owner_of_reason("x"));
	assert_null(owner_of_reason(NULL));
}

static void the_error_tells_before_the_wait_and_the_wait_before_the_state(void **state)
{
	(void)state;
	assert_owner("{\"kind\": \"Machine\", \"state\": \"attaching\", \"waitingFor\": "
		     "\"hardware or another system\", "
		     "\"lastError\": {\"reason\": \"NetworkNotConfirmed\"}}",
		     "network");
	assert_owner("{\"kind\": \"Machine\", \"state\": \"attaching\", \"waitingFor\": \"drover's "
		     "own rate limit\"}",
		     "drover");
	assert_owner("{\"kind\": \"Machine\", \"state\": \"attaching\"}", "drover");
	assert_owner("{\"kind\": \"Machine\", \"state\": \"attaching\", \"slow\": true}",
		     "network");
	assert_owner("{\"kind\": \"Machine\", \"state\": \"booting\", \"slow\": true}", "device");
	assert_owner("{\"kind\": \"Machine\", \"state\": \"serving\", \"node\": \"NotReady\"}",
		     "device");
}

static void each_wait_has_a_text_and_an_owner(void **state)
{
	(void)state;
	for (int w = 0; w < WAITS; w++) {
		assert_ptr_equal(wait_find(wait_info[w].text), &wait_info[w]);
		assert_non_null(wait_info[w].owner);
	}
	assert_null(wait_find("x"));
	assert_null(wait_find(NULL));
	assert_owner("{\"kind\": \"Machine\", \"state\": \"draining\", \"waitingFor\": \"its work "
		     "to be saved (checkpoint)\"}",
		     "tenant");
}

static void what_is_well_has_no_owner(void **state)
{
	(void)state;
	assert_owner("{\"kind\": \"Machine\", \"state\": \"serving\"}", NULL);
	assert_owner("{\"kind\": \"Machine\", \"state\": \"free\"}", NULL);
	assert_owner("{\"kind\": \"NodePool\", \"state\": \"Ready\"}", NULL);
	assert_owner("{}", NULL);
}

static void a_pause_is_of_an_operator_and_a_sleep_of_the_tenant(void **state)
{
	(void)state;
	assert_owner("{\"kind\": \"NodePool\", \"state\": \"Paused\"}", "operator");
	assert_owner("{\"kind\": \"VirtualCluster\", \"state\": \"Asleep\"}", "tenant");
	assert_owner("{\"kind\": \"Machine\", \"state\": \"serving\", \"hold\": {}}", "operator");
}

static void a_reason_that_is_unknown_is_of_the_configuration(void **state)
{
	(void)state;
	assert_owner("{\"kind\": \"NodePool\", \"conditions\": [{\"type\": \"Ready\", \"status\": "
		     "\"False\", \"reason\": \"Other\"}]}",
		     "operator");
	assert_owner("{\"kind\": \"Provider\", \"lastError\": {\"reason\": \"HeadNode\"}}",
		     "provider");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reason_of_a_machine_has_an_owner),
		cmocka_unit_test(so_has_each_reason_of_a_pod),
		cmocka_unit_test(the_error_tells_before_the_wait_and_the_wait_before_the_state),
		cmocka_unit_test(each_wait_has_a_text_and_an_owner),
		cmocka_unit_test(what_is_well_has_no_owner),
		cmocka_unit_test(a_pause_is_of_an_operator_and_a_sleep_of_the_tenant),
		cmocka_unit_test(a_reason_that_is_unknown_is_of_the_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
