#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/rules/kept_bills.h"

#define NOW "2026-11-20T12:00:00Z"

static json_t *bill(const char *time, size_t filler)
{
	OWN_JSON o = json_pack("{s:{s:{s:s}}}", "status", "cost", "time", time);
	char *more = mem_alloc(filler + 1), *text;
	json_t *out;

	memset(more, 'x', filler);
	more[filler] = '\0';
	json_object_set_new(o, "filler", json_string(more));
	text = json_dumps(o, JSON_COMPACT);
	out = json_string(text);
	free(text);
	free(more);
	return out;
}

static json_t *patch_of(const json_t *data, struct arena *a, size_t *dropped)
{
	struct virtual_cluster_charge charge = {
		.month = "2026-11", .phase = PHASE_READY, .gpus = 8, .seconds = 100, .machines = 2};
	struct virtual_cluster_cost cost = {.charges = {&charge, 1}};
	struct virtual_cluster vc = {.meta = {.name = "team-a", .uid = "uid-a"}};
	int64_t now;

	assert_true(str_to_time(NOW, &now));
	cost.time = now - 10000;
	vc.status.cost = &cost;
	return kept_bills_patch(data, &vc, now, a, dropped);
}

static void a_bill_goes_in_up_to_now_and_goes_on_for_no_machine(void **state)
{
	OWN(arena) a = arena_new();
	size_t dropped;
	OWN_JSON patch = patch_of(NULL, a, &dropped);
	OWN_JSON o = json_loads(json_str_at(patch, "uid-a"), 0, NULL);
	const json_t *c = json_array_get(json_at(o, "status", "cost", "charges"), 0);

	(void)state;
	assert_int_equal(dropped, 0);
	assert_string_equal(json_str_at(o, "metadata", "name"), "team-a");
	assert_string_equal(json_str_at(o, "metadata", "uid"), "uid-a");
	assert_string_equal(json_str_at(o, "status", "cost", "time"), NOW);
	assert_int_equal(json_int_at(c, "seconds"), 120);
	assert_int_equal(json_int_at(c, "machines"), 0);
}

static void bills_past_their_months_go_and_others_stay(void **state)
{
	OWN(arena) a = arena_new();
	OWN_JSON data = json_pack("{s:o, s:o, s:o}", "old", bill("2025-08-01T00:00:00Z", 0),
				  "young", bill("2026-01-01T00:00:00Z", 0), "uid-a", bill(NOW, 0));
	size_t dropped;
	OWN_JSON patch = patch_of(data, a, &dropped);

	(void)state;
	assert_int_equal(dropped, 0);
	assert_int_equal(json_object_size(patch), 2);
	assert_true(json_is_null(json_object_get(patch, "old")));
}

static void what_does_not_fit_goes_the_oldest_first(void **state)
{
	OWN(arena) a = arena_new();
	OWN_JSON data = json_pack("{s:o, s:o, s:o}", "b", bill("2026-02-01T00:00:00Z", 400000), "c",
				  bill("2026-01-01T00:00:00Z", 400000), "d",
				  bill("2026-03-01T00:00:00Z", 400000));
	size_t dropped;
	OWN_JSON patch = patch_of(data, a, &dropped);

	(void)state;
	assert_int_equal(dropped, 1);
	assert_int_equal(json_object_size(patch), 2);
	assert_true(json_is_null(json_object_get(patch, "c")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bill_goes_in_up_to_now_and_goes_on_for_no_machine),
		cmocka_unit_test(bills_past_their_months_go_and_others_stay),
		cmocka_unit_test(what_does_not_fit_goes_the_oldest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
