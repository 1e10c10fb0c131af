#include "tests/unit/testing.h"

#include "base/str.h"
#include "controller/claims/eta.h"

#define S 1000

/* It was in that state for so many seconds, and went on to the next. */
static void took(struct eta *e, enum machine_state from, enum machine_state to, int s)
{
	struct machine was = {.spec.instance_type = "hgx"}, is = was;

	was.status.state = machine_state_info[from].name;
	was.status.state_since = 1000000;
	is.status.state = machine_state_info[to].name;
	is.status.state_since = 1000000 + s * S;
	eta_saw(e, &was, &is);
}

static void came(struct eta *e, int s)
{
	for (int k = MACHINE_CLAIMED; k <= (int)MACHINE_GATING; k++)
		took(e, (enum machine_state)k, (enum machine_state)(k + 1), s);
}

static void three_have_to_come_before_anything_is_said(void **state)
{
	struct eta *e = eta_new();
	struct eta_span span;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_false(eta_from(e, "hgx", MACHINE_CLAIMED, &span));
		came(e, 10);
	}
	assert_true(eta_from(e, "hgx", MACHINE_CLAIMED, &span));
	assert_int_equal(span.p50, 60 * S);
	assert_true(eta_from(e, "hgx", MACHINE_JOINING, &span));
	assert_int_equal(span.p50, 20 * S);
	assert_false(eta_from(e, "old", MACHINE_CLAIMED, &span));
	assert_false(eta_from(e, "hgx", MACHINE_SERVING, &span));
	assert_false(eta_from(e, "hgx", MACHINE_WIPING, &span));
	assert_false(eta_from(NULL, "hgx", MACHINE_CLAIMED, &span));
	eta_free(e);
}

static void half_are_ready_by_p50_and_nine_of_ten_by_p90(void **state)
{
	struct eta *e = eta_new();
	struct eta_span span;

	(void)state;
	for (int i = 0; i < 10; i++)
		took(e, MACHINE_GATING, MACHINE_SERVING, (i * 7 % 10 + 1) * 10); /* 10 to 100 */
	assert_true(eta_from(e, "hgx", MACHINE_GATING, &span));
	assert_int_equal(span.p50, 50 * S);
	assert_int_equal(span.p90, 90 * S);
	eta_free(e);
}

static void the_last_fifty_count(void **state)
{
	struct eta *e = eta_new();
	struct eta_span span;

	(void)state;
	for (int i = 0; i < 70; i++)
		came(e, 1000);
	for (int i = 0; i < 50; i++)
		came(e, 10);
	assert_true(eta_from(e, "hgx", MACHINE_GATING, &span));
	assert_int_equal(span.p90, 10 * S);
	eta_free(e);
}

static void what_failed_on_the_way_does_not_count(void **state)
{
	struct eta *e = eta_new();
	struct eta_span span;

	(void)state;
	for (int i = 0; i < 5; i++) {
		took(e, MACHINE_BOOTING, MACHINE_STOPPING, 1800);
		took(e, MACHINE_CLAIMED, MACHINE_FREE, 5);
		took(e, MACHINE_WIPING, MACHINE_VERIFYING, 5);
	}
	assert_false(eta_from(e, "hgx", MACHINE_BOOTING, &span));
	assert_false(eta_from(e, "hgx", MACHINE_CLAIMED, &span));
	eta_saw(e, NULL, NULL);
	eta_free(e);
}

/* Elastic machines are booted from claimed. */
static void a_state_that_a_type_does_not_have_takes_no_time(void **state)
{
	struct eta *e = eta_new();
	struct eta_span span;

	(void)state;
	for (int i = 0; i < 3; i++) {
		took(e, MACHINE_CLAIMED, MACHINE_BOOTING, 10);
		took(e, MACHINE_BOOTING, MACHINE_JOINING, 20);
		took(e, MACHINE_JOINING, MACHINE_GATING, 30);
		took(e, MACHINE_GATING, MACHINE_SERVING, 40);
	}
	assert_true(eta_from(e, "hgx", MACHINE_CLAIMED, &span));
	assert_int_equal(span.p50, 100 * S);
	eta_free(e);
}

static void the_text_has_few_steps(void **state)
{
	static const struct {
		int64_t s;
		const char *text;
	} cases[] = {
		{-100, "about 1 min"}, {0, "about 1 min"},   {61, "about 2 min"},
		{200, "about 4 min"},  {361, "about 7 min"}, {2700, "about 45 min"},
		{2701, "about 1 h"},   {3661, "about 2 h"},
	};
	char t[40];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(eta_text(cases[i].s * S, t, sizeof(t)), cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_have_to_come_before_anything_is_said),
		cmocka_unit_test(half_are_ready_by_p50_and_nine_of_ten_by_p90),
		cmocka_unit_test(the_last_fifty_count),
		cmocka_unit_test(what_failed_on_the_way_does_not_count),
		cmocka_unit_test(a_state_that_a_type_does_not_have_takes_no_time),
		cmocka_unit_test(the_text_has_few_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
