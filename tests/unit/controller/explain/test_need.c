/* Tests what a waiting pod needs, and which objects may need help by time alone. */
#include "tests/unit/testing.h"

#include "base/str.h"
#include "controller/explain/answer.h"
#include "controller/explain/explain.h"
#include "controller/explain/need.h"
#include "controller/explain/owner.h"

#define NOW INT64_C(1790000000000)

static void a_pod_needs_who_can_end_its_wait(void **state)
{
	static const struct {
		const char *reason, *claim;
		int64_t waited, p90;
		enum need need;
	} rows[] = {
		{"NoCapacity", NULL, NEED_POD_QUEUE_MS - 1, 0, NEED_NONE},
		{"NoCapacity", NULL, NEED_POD_QUEUE_MS, 0, NEED_WAITS},
		{"TooBig", NULL, NEED_POD_CHANGE_MS - 1, 0, NEED_NONE},
		{"TooBig", NULL, NEED_POD_CHANGE_MS, 0, NEED_TENANT},
		{"NoPool", "", NEED_POD_CHANGE_MS, 0, NEED_OPERATOR},
		/* A machine is being prepared for the pod. */
		{"Nominated", "c-1", 2 * NEED_POD_QUEUE_MS, 0, NEED_NONE},
		{"Nominated", "c-1", 1000, NOW, NEED_NONE},
		{"Nominated", "c-1", 1000, NOW - 1, NEED_SLOW},
		{NULL, NULL, NEED_POD_QUEUE_MS, 0, NEED_WAITS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (need_of_pod(rows[i].reason, rows[i].claim, NOW - rows[i].waited, rows[i].p90,
				NOW) != rows[i].need)
			fail_msg("row %zu: %s", i, str_or(rows[i].reason, "none"));
}

/* A claim that waits for its approval needs an administrator, also if it names its machine. */
static void a_claim_without_its_approval_needs_an_operator(void **state)
{
	struct object_ref m1 = {.name = "m-1"};
	struct condition c = {.type = "Approved",
			      .status = CONDITION_UNKNOWN,
			      .reason = "ApprovalPending",
			      .message = "waits",
			      .last_transition_time = NOW};
	struct node_claim n = {.meta.name = "c-1",
			       .spec.machine_ref = &m1,
			       .status = {.phase = "Pending", .conditions = {&c, 1}}};
	OWN_JSON answer = NULL;
	OWN_JSON commands = NULL;
	const json_t *why;
	enum need need;

	(void)state;
	answer = need_explain(OBJECT_NODE_CLAIM, &n, NOW, &need, &why);
	assert_int_equal(need, NEED_OPERATOR);
	assert_string_equal(json_str_at(why, "reason"), "ApprovalPending");
	commands = answer_commands(answer);
	assert_string_equal(json_string_value(json_array_get(commands, 0)),
			    "drover approve claim/c-1");
	assert_string_equal(owner_find(answer), "operator");
	/* A denied claim needs nothing, and neither does one that has its machine. */
	c.status = CONDITION_FALSE;
	c.reason = "ClaimDenied";
	assert_null(need_explain(OBJECT_NODE_CLAIM, &n, NOW, &need, &why));
	c.status = CONDITION_UNKNOWN;
	n.status.machine_ref = &m1;
	assert_null(need_explain(OBJECT_NODE_CLAIM, &n, NOW, &need, &why));
}

static void a_pod_is_explained_with_the_approval_of_its_claim(void **state)
{
	struct condition c = {.type = "Approved",
			      .status = CONDITION_UNKNOWN,
			      .reason = "ApprovalPending",
			      .message = "waits"};
	struct node_claim n = {.meta.name = "c-1",
			       .status = {.phase = "Pending", .conditions = {&c, 1}}};
	OWN_JSON answer = json_pack("{s:s, s:[]}", "kind", "Pod", "claims");
	const json_t *claim;

	(void)state;
	explain_pod_claim(answer, &n, NULL, NOW);
	claim = json_array_get(json_object_get(answer, "claims"), 0);
	assert_string_equal(json_str_at(claim, "waitingFor"), "approval");
	assert_string_equal(json_str_at(claim, "approval", "reason"), "ApprovalPending");
	assert_string_equal(json_string_value(json_array_get(json_object_get(answer, "helps"), 0)),
			    "drover approve claim/c-1");
}

static void each_need_is_found_by_its_name(void **state)
{
	(void)state;
	for (int i = 0; i < NEEDS; i++)
		assert_int_equal(need_find(need_name((enum need)i)), i);
	assert_int_equal(need_find("x"), NEED_NONE);
	assert_int_equal(need_find(NULL), NEED_NONE);
}

static void an_object_may_need_help_by_time_alone(void **state)
{
	struct object_ref m1 = {.name = "m-1"};
	struct machine m = {.status.state = "free"};
	struct node_claim n = {.status.phase = "Pending"};
	struct node_pool p = {.meta.name = "h100"};

	(void)state;
	assert_false(need_depends_on_time(OBJECT_MACHINE, &m));
	m.status.state = "attaching";
	assert_true(need_depends_on_time(OBJECT_MACHINE, &m));
	assert_true(need_depends_on_time(OBJECT_NODE_CLAIM, &n));
	n.spec.machine_ref = &m1;
	assert_false(need_depends_on_time(OBJECT_NODE_CLAIM, &n));
	assert_false(need_depends_on_time(OBJECT_NODE_POOL, &p));
	p.meta.deletion_timestamp = NOW;
	assert_true(need_depends_on_time(OBJECT_NODE_POOL, &p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_needs_who_can_end_its_wait),
		cmocka_unit_test(a_claim_without_its_approval_needs_an_operator),
		cmocka_unit_test(a_pod_is_explained_with_the_approval_of_its_claim),
		cmocka_unit_test(each_need_is_found_by_its_name),
		cmocka_unit_test(an_object_may_need_help_by_time_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
