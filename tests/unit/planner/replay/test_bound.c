#include "tests/unit/testing.h"

#include "planner/replay/bound.h"
#include "tests/unit/planner/worlds.h"

static double machines_for(const char *const *pods, size_t n)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	for (int i = 0; i < 8; i++) {
		struct world_machine m =
			worlds_machine(arena_printf(a, "m-%d", i), i < 4 ? "small" : "big");

		world_put_machine(w, &m);
	}
	for (size_t i = 0; i < n; i++) {
		struct world_pod p = worlds_pod(a, arena_printf(a, "p-%zu", i), pods[i]);

		world_put_pod(w, &p);
	}
	return bound_machines(w, plan_make(w, 0, a));
}

static void the_linear_program_gives_the_fewest_machines(void **state)
{
	(void)state;
	assert_true(machines_for(NULL, 0) == 0);
	/* One pod with 16 CPUs needs exactly one big machine (16 CPUs). */
	assert_float_equal(machines_for((const char *[]){"cpu=16,memory=1Gi"}, 1), 1, 1e-6);
	/* First case: 16 CPUs and 64 Gi are exactly one big machine. Second case: 10 CPUs and 49
	 * Gi, so memory decides. */
	assert_float_equal(
		machines_for((const char *[]){"cpu=8,memory=32Gi", "cpu=8,memory=32Gi"}, 2), 1,
		1e-6);
	assert_float_equal(
		machines_for((const char *[]){"cpu=8,memory=1Gi", "cpu=2,memory=48Gi"}, 2),
		49.0 / 64, 1e-6);
}

static void more_than_there_is_of_the_best_type_counts_the_next_one(void **state)
{
	const char *pods[6];

	(void)state;
	for (size_t i = 0; i < 6; i++)
		pods[i] = i < 4 ? "cpu=16,memory=1Gi" : "cpu=4,memory=1Gi";
	/* 4 big machines have 64 of the 72 CPUs; two small ones have the rest. */
	assert_float_equal(machines_for(pods, 6), 6, 1e-6);
}

static void use_is_bounded_by_what_came_and_by_the_gpus(void **state)
{
	OWN(arena) a = arena_new();
	struct replay_job j[] = {
		{.at_ms = 0,
		 .takes_ms = 10,
		 .pods = 2,
		 .requests = worlds_resources(a, "nvidia.com/gpu=8")},
		{.at_ms = 50,
		 .takes_ms = 1000,
		 .pods = 1,
		 .requests = worlds_resources(a, "nvidia.com/gpu=8")},
		{.at_ms = 90,
		 .takes_ms = 1,
		 .pods = 4,
		 .requests = worlds_resources(a, "nvidia.com/gpu=8")},
	};

	(void)state;
	assert_float_equal(bound_use(j, 0, 16, 100), 0, 1e-9);
	assert_float_equal(bound_use(j, 1, 16, 100), 160, 1e-9);
	/* The second job counts only until the end of the period of 100 ms. */
	assert_float_equal(bound_use(j, 2, 16, 100), 160 + 400, 1e-9);
	assert_float_equal(bound_use(j, 3, 16, 100), 160 + 400 + 32, 1e-9);
	assert_float_equal(bound_use(j, 1, 1, 100), 100, 1e-9);
	/* The job arrives 10 ms before the end of the period, so only its last 10 ms count. */
	assert_float_equal(bound_use(j + 2, 1, 1, 100), 10, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_linear_program_gives_the_fewest_machines),
		cmocka_unit_test(more_than_there_is_of_the_best_type_counts_the_next_one),
		cmocka_unit_test(use_is_bounded_by_what_came_and_by_the_gpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
