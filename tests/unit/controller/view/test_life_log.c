/* Tests which of a machine's states its timeline shows. */
#include "tests/unit/testing.h"

#include "base/str.h"
#include "controller/view/life_log.h"

#define T0 INT64_C(1764000000000)

static struct machine machine(const char *state, int64_t since, const char *tenant)
{
	return (struct machine){
		.meta.name = "m-1",
		.status = {.state = state, .state_since = since, .tenant = {.name = tenant}}};
}

static const char *state_at(const json_t *list, size_t i)
{
	return json_str_at(json_array_get(list, i), "state");
}

static void each_state_is_listed_once(void **state)
{
	OWN(life_log) l = life_log_new();
	struct machine a = machine("free", T0, NULL), b = machine("claimed", T0 + 1000, "team-a"),
		       c = b;
	OWN_JSON list = NULL;

	(void)state;
	c.status.power.state = "On";
	life_log_saw(l, NULL, &a);
	life_log_saw(l, &a, &b);
	life_log_saw(l, &b, &c);
	list = life_log_json(l, "m-1");
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(state_at(list, 0), "free");
	assert_null(json_object_get(json_array_get(list, 0), "tenant"));
	assert_string_equal(state_at(list, 1), "claimed");
	assert_string_equal(json_str_at(json_array_get(list, 1), "tenant"), "team-a");
	assert_string_equal(json_str_at(json_array_get(list, 1), "since"), "2025-11-24T16:00:01Z");
}

static void the_newest_states_are_kept(void **state)
{
	static const char *const two[] = {"free", "serving"};
	OWN(life_log) l = life_log_new();
	struct machine was = machine("known", T0, NULL), is;
	OWN_JSON list = NULL;

	(void)state;
	life_log_saw(l, NULL, &was);
	for (int i = 1; i <= 2 * LIFE_LOG_MAX; i++) {
		is = machine(two[i % 2], T0 + i * 1000, "team-a");
		life_log_saw(l, &was, &is);
		was = is;
	}
	list = life_log_json(l, "m-1");
	assert_int_equal(json_array_size(list), LIFE_LOG_MAX);
	assert_string_equal(json_str_at(json_array_get(list, LIFE_LOG_MAX - 1), "since"),
			    "2025-11-24T16:01:36Z");
	assert_string_equal(json_str_at(json_array_get(list, 0), "since"), "2025-11-24T16:00:49Z");
}

static void a_deleted_machine_is_forgotten(void **state)
{
	OWN(life_log) l = life_log_new();
	struct machine a = machine("free", T0, NULL);
	OWN_JSON before = NULL;
	OWN_JSON after = NULL;

	(void)state;
	life_log_saw(l, NULL, NULL);
	life_log_saw(l, NULL, &a);
	before = life_log_json(l, "m-1");
	assert_int_equal(json_array_size(before), 1);
	life_log_saw(l, &a, NULL);
	after = life_log_json(l, "m-1");
	assert_int_equal(json_array_size(after), 0);
}

static void an_unknown_state_is_left_out(void **state)
{
	OWN(life_log) l = life_log_new();
	struct machine a = machine("of-a-newer-release", T0, NULL), b = machine(NULL, 0, NULL);
	OWN_JSON list = NULL;

	(void)state;
	life_log_saw(l, NULL, &a);
	life_log_saw(l, &a, &b);
	list = life_log_json(l, "m-1");
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(state_at(list, 0), "known");
	assert_null(json_object_get(json_array_get(list, 0), "since"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_state_is_listed_once),
		cmocka_unit_test(the_newest_states_are_kept),
		cmocka_unit_test(a_deleted_machine_is_forgotten),
		cmocka_unit_test(an_unknown_state_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
