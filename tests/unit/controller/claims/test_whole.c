/* Tests which of a plan's claims are created if one of them must wait. */
#include "tests/unit/testing.h"

#include "controller/claims/whole.h"

/* Gang 1 opened claims 0 and 1; gang 2 opened claim 2 and has a pod on claim 1; claim 3 belongs to
 * no gang. */
static struct plan_claim claims[] = {{.gang = 1}, {.gang = 1}, {.gang = 2}, {.gang = 0}};
static struct plan_pod pods[] = {
	{.outcome = PLAN_ON_NEW, .gang = 2, .new_claim = 1},
	{.outcome = PLAN_ON_NEW, .gang = 2, .new_claim = 2},
	{.outcome = PLAN_ON_NEW, .gang = 1, .new_claim = 0},
	{.outcome = PLAN_ON_NEW, .gang = 1, .new_claim = 1},
	{.outcome = PLAN_ON_NEW, .new_claim = 3},
	{.outcome = PLAN_ON_CLAIM, .gang = 1},
};
static const struct plan plan = {
	.pods = pods, .npods = 6, .claims = claims, .nclaims = 4, .ngangs = 2};

static void all(struct whole_claim *v)
{
	for (size_t i = 0; i < 4; i++)
		v[i] = (struct whole_claim){.goes = true};
}

static void where_nothing_is_held_all_go(void **state)
{
	OWN(arena) a = arena_new();
	struct whole_claim v[4];

	(void)state;
	all(v);
	whole_gangs(&plan, v, a);
	for (size_t i = 0; i < 4; i++)
		assert_true(v[i].goes);
}

static void one_that_is_held_holds_all_that_need_it(void **state)
{
	OWN(arena) a = arena_new();
	struct whole_claim v[4];

	(void)state;
	all(v);
	v[0].goes = false;
	whole_gangs(&plan, v, a);
	assert_false(v[1].goes);
	assert_false(v[2].goes); /* Gang 2 has a pod on a claim of gang 1 */
	assert_true(v[3].goes);
	all(v);
	v[2].goes = false; /* No pod of gang 1 is on claim 2, so gang 1 does not wait. */
	whole_gangs(&plan, v, a);
	assert_true(v[0].goes && v[1].goes && v[3].goes);
}

static void a_claim_that_tries_a_stopped_line_goes(void **state)
{
	OWN(arena) a = arena_new();
	struct whole_claim v[4];

	(void)state;
	all(v);
	v[0].goes = false;
	v[1].probe = true;
	whole_gangs(&plan, v, a);
	assert_true(v[1].goes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_nothing_is_held_all_go),
		cmocka_unit_test(one_that_is_held_holds_all_that_need_it),
		cmocka_unit_test(a_claim_that_tries_a_stopped_line_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
