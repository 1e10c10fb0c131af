/* Tests that no message of pod_texts repeats the name of its reason. */
#include "tests/unit/testing.h"

#include <string.h>

#include "base/str.h"
#include "controller/claims/pod_texts.h"

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
		n++;
	return n;
}

static void no_message_names_its_own_reason(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	for (int i = 0; i < PLAN_REASONS; i++) {
		struct plan_reason v[] = {
			{"x", (enum plan_reason_code)i, "pool x: this"},
			{"y", (enum plan_reason_code)i, "pool y: that"},
		};
		const struct plan_pod p = {.outcome = PLAN_NOTHING, .reasons = v, .nreasons = 2};

		assert_string_equal(pod_texts_reason(&p), plan_reason_names[i]);
		assert_string_equal(pod_texts_why(&p, a), "pool x: this; pool y: that");
	}
}

static void another_reason_is_named_before_its_own_part(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	for (int i = 0; i < PLAN_REASONS; i++)
		for (int k = 0; k < PLAN_REASONS; k++) {
			struct plan_reason v[] = {
				{"x", (enum plan_reason_code)i, "pool x: this"},
				{"y", (enum plan_reason_code)k, "pool y: that"},
			};
			const struct plan_pod p = {
				.outcome = PLAN_NOTHING, .reasons = v, .nreasons = 2};
			const char *text = pod_texts_why(&p, a);

			assert_int_equal(count(text, plan_reason_names[i]), 0);
			assert_int_equal(count(text, plan_reason_names[k]), i != k);
		}
}

static void beyond_five_parts_reasons_are_counted(void **state)
{
	OWN(arena) a = arena_new();
	struct plan_reason v[8];
	const struct plan_pod p = {.outcome = PLAN_NOTHING, .reasons = v, .nreasons = 8};

	(void)state;
	for (size_t i = 0; i < 8; i++)
		v[i] = (struct plan_reason){"x", i < 6 ? PLAN_NO_MACHINE : PLAN_TOO_BIG, "t"};
	assert_string_equal(
		pod_texts_why(&p, a),
		"t; t; t; t; t; also TooBig in 2 other pools, NoCapacity in 1 other pool");
}

static void numbers_that_others_move_are_no_news(void **state)
{
	OWN(arena) a = arena_new();
	struct plan_reason v = {"x", PLAN_NO_MACHINE, "pool x: 3 machines fit"};
	const struct plan_pod p = {.outcome = PLAN_NOTHING, .reasons = &v, .nreasons = 1};
	const char *was = pod_texts_news(&p, a);

	(void)state;
	v.text = "pool x: 4 machines fit";
	assert_string_equal(pod_texts_news(&p, a), was);
	v.code = PLAN_TOO_BIG;
	was = pod_texts_news(&p, a);
	v.text = "pool x: too little cpu";
	assert_string_not_equal(pod_texts_news(&p, a), was);
}

static void what_a_late_machine_lacks_is_said_while_it_starts(void **state)
{
	(void)state;
	for (int i = MACHINE_STATE_NONE; i < MACHINE_STATES; i++)
		assert_int_equal(pod_texts_delay((enum machine_state)i) != NULL,
				 i >= MACHINE_CLAIMED && i <= MACHINE_GATING);
	assert_string_equal(pod_texts_delay(MACHINE_ATTACHING), "its network port is not ready");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_message_names_its_own_reason),
		cmocka_unit_test(another_reason_is_named_before_its_own_part),
		cmocka_unit_test(beyond_five_parts_reasons_are_counted),
		cmocka_unit_test(numbers_that_others_move_are_no_news),
		cmocka_unit_test(what_a_late_machine_lacks_is_said_while_it_starts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
