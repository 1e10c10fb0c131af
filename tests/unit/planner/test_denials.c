/* test_denials: tests pods for which no machine may be claimed, because a claim was denied. */
#include "tests/unit/testing.h"

#include "planner/world_impl.h"
#include "tests/unit/planner/worlds.h"

static void put(struct world *w, struct arena *a, const char *name, const char *denied)
{
	struct world_pod p = worlds_pod(a, name, "cpu=1");

	p.denied = denied;
	(void)world_put_pod(w, &p);
}

static void put_machine(struct world *w, const char *name)
{
	const struct world_machine m = worlds_machine(name, "small");

	(void)world_put_machine(w, &m);
}

static void denied_pods_share_a_shape_and_each_has_its_own_text(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	const struct plan *p;
	size_t shapes;

	(void)state;
	put_machine(w, "m-1");
	put(w, a, "x", "claim a was denied by alice");
	shapes = map_size(w->shapes);
	put(w, a, "z", NULL);
	assert_int_equal(map_size(w->shapes), shapes + 1);
	/* The pod that was put last has another shape. */
	put(w, a, "y", "claim b was denied by bob");
	assert_int_equal(map_size(w->shapes), shapes + 1);
	p = plan_make(w, 0, a);
	assert_string_equal(worlds_pod_text(p, "x", a),
			    "nothing; ClaimDenied: pool main: claim a was denied by alice");
	assert_string_equal(worlds_pod_text(p, "y", a),
			    "nothing; ClaimDenied: pool main: claim b was denied by bob");
	assert_string_equal(worlds_pod_text(p, "z", a), "new 0 on m-1");
}

static void another_text_is_a_change(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = worlds_pod(a, "x", "cpu=1");

	(void)state;
	put_machine(w, "m-1");
	p.denied = "claim a was denied by alice";
	assert_true(world_put_pod(w, &p));
	p.denied = "claim b was denied by bob";
	assert_true(world_put_pod(w, &p));
	assert_false(world_put_pod(w, &p));
	assert_string_equal(worlds_pod_text(plan_make(w, 0, a), "x", a),
			    "nothing; ClaimDenied: pool main: claim b was denied by bob");
	p.denied = NULL;
	assert_true(world_put_pod(w, &p));
	assert_string_equal(worlds_pod_text(plan_make(w, 0, a), "x", a), "new 0 on m-1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(denied_pods_share_a_shape_and_each_has_its_own_text),
		cmocka_unit_test(another_text_is_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
