/* Tests the copy of the newest plan: bounds, texts, groups. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/data/json.h"
#include "controller/claims/last_plan.h"
#include "planner/plan.h"

#define MANY (LAST_PLAN_ROWS + 10)

static void before_the_first_plan_it_is_empty(void **state)
{
	OWN(last_plan) k = last_plan_new();

	(void)state;
	assert_int_equal(last_plan_get(k)->number, 0);
	assert_int_equal(last_plan_get(k)->nclaims, 0);
}

static void it_outlives_the_plan_and_is_bounded(void **state)
{
	OWN(last_plan) k = last_plan_new();
	struct arena *a = arena_new();
	struct plan p = {.nclaims = MANY, .nholds = MANY, .nreclaims = MANY};
	const char **names = arena_calloc(a, MANY, sizeof(*names));
	const char **machines = arena_calloc(a, MANY, sizeof(*machines));
	const struct last_plan_view *v;
	char long_name[1000] = "x";

	(void)state;
	p.claims = arena_calloc(a, MANY, sizeof(*p.claims));
	p.holds = arena_calloc(a, MANY, sizeof(*p.holds));
	p.reclaims = arena_calloc(a, MANY, sizeof(*p.reclaims));
	/* Truncation splits one of the two-byte characters. */
	for (size_t i = 1; i + 2 < sizeof(long_name); i += 2)
		memcpy(long_name + i, "\xc3\xa9", 3);
	for (size_t i = 0; i < MANY; i++) {
		machines[i] = arena_printf(a, "m-%zu", i);
		names[i] = i % 2 ? NULL : arena_printf(a, "c-%zu", i);
		p.claims[i] = (struct plan_claim){.tenant = arena_printf(a, "team-%zu", i),
						  .pool = "h100",
						  .provider = "hall",
						  .machine = machines[i],
						  .instance_type = "x8",
						  .npods = i,
						  .gang_key = i ? NULL : long_name};
		p.holds[i] = (struct plan_hold){.tenant = "t",
						.gang = "g",
						.machines = machines,
						.free = MANY,
						.gpus_milli = 1500,
						.rests = i};
		p.reclaims[i] = (struct plan_reclaim){.claim = "c",
						      .machine = "m",
						      .tenant = "t",
						      .pool = "p",
						      .to = "u",
						      .ns = "ns",
						      .name = "n",
						      .borrowed = true};
	}
	last_plan_set(k, &p, names, 1764000000000, 120);
	arena_free(a);
	v = last_plan_get(k);
	assert_int_equal(v->number, 1);
	assert_int_equal(v->at, 1764000000000);
	assert_int_equal(v->took_ms, 120);
	assert_int_equal(v->nclaims, LAST_PLAN_ROWS);
	assert_int_equal(v->total_claims, MANY);
	assert_string_equal(v->claims[3].tenant, "team-3");
	assert_string_equal(v->claims[2].claim, "c-2");
	assert_null(v->claims[3].claim);
	assert_int_equal(v->claims[3].pods, 3);
	OWN_JSON text = json_string(v->claims[0].gang);

	assert_non_null(text);
	assert_in_range(strlen(v->claims[0].gang), LAST_PLAN_TEXT - 1, LAST_PLAN_TEXT + 2);
	assert_int_equal(v->nholds, LAST_PLAN_ROWS);
	assert_int_equal(v->holds[0].n, LAST_PLAN_MACHINES);
	assert_int_equal(v->holds[0].total, MANY);
	assert_string_equal(v->holds[0].machines[1], "m-1");
	assert_int_equal(v->nreclaims, LAST_PLAN_ROWS);
	assert_int_equal(v->total_reclaims, MANY);
	assert_string_equal(v->reclaims[0].for_pod, "ns/n");
}

static void unplaced_pods_are_grouped_by_their_first_reason(void **state)
{
	OWN(last_plan) k = last_plan_new();
	struct plan_reason full[] = {{"h100", PLAN_NO_MACHINE, "x"}, {"a100", PLAN_TAINT, "y"}},
			   other = {"", PLAN_QUOTA, "z"};
	struct plan_pod pods[] = {
		{.outcome = PLAN_NOTHING, .reasons = full, .nreasons = 2},
		{.outcome = PLAN_NOTHING, .reasons = &other, .nreasons = 1},
		{.outcome = PLAN_NOTHING, .reasons = full, .nreasons = 2},
		{.outcome = PLAN_NOTHING, .reasons = full, .nreasons = 2, .check = true},
		{.outcome = PLAN_ON_NODE},
		{.outcome = PLAN_ON_CLAIM},
		{.outcome = PLAN_ON_NEW},
	};
	struct plan p = {.pods = pods, .npods = sizeof(pods) / sizeof(pods[0])};
	const struct last_plan_view *v = last_plan_get(k);

	(void)state;
	last_plan_set(k, &p, NULL, 1, 0);
	assert_int_equal(v->unplaced, 3);
	assert_int_equal(v->on_node + v->on_claim + v->on_new, 3);
	assert_int_equal(v->nreasons, 2);
	assert_int_equal(v->total_reasons, 2);
	assert_string_equal(v->reasons[0].reason, "NoCapacity");
	assert_string_equal(v->reasons[0].pool, "h100");
	assert_int_equal(v->reasons[0].pods, 2);
	assert_string_equal(v->reasons[1].reason, "QuotaExceeded");
	assert_string_equal(v->reasons[1].pool, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_the_first_plan_it_is_empty),
		cmocka_unit_test(it_outlives_the_plan_and_is_bounded),
		cmocka_unit_test(unplaced_pods_are_grouped_by_their_first_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
