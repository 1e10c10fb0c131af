/* Tests the ring of samples: window, gaps, tenants, means. */
#include "tests/unit/testing.h"

#include <stdio.h>

#include "base/str.h"
#include "controller/view/gpu_history.h"

#define FIRST INT64_C(5880000)

static int setup(void **state)
{
	*state = gpu_history_new();
	return 0;
}

static int teardown(void **state)
{
	gpu_history_free(*state);
	return 0;
}

/* Adds a sample with n GPUs that serve a tenant. */
static bool sample(struct gpu_history *h, int64_t step, const char *tenant, int64_t n)
{
	if (!gpu_history_open(h, step))
		return false;
	gpu_column_add(gpu_history_group(h, GPU_SERVING), step, n);
	gpu_column_add(gpu_history_tenant(h, tenant), step, n);
	return true;
}

static size_t tenants(const struct gpu_history *h)
{
	size_t n;

	(void)gpu_history_tenants(h, &n);
	return n;
}

static void a_step_has_one_sample(void **state)
{
	struct gpu_history *h = *state;
	uint64_t version;

	assert_int_equal(gpu_history_newest(h), -1);
	assert_false(gpu_history_has(h, -1));
	assert_false(gpu_history_open(h, -1));
	assert_true(sample(h, FIRST, "team-a", 8));
	version = gpu_history_version(h);
	assert_false(sample(h, FIRST, "team-a", 16));
	assert_int_equal(gpu_history_version(h), version);
	assert_int_equal(gpu_history_newest(h), FIRST);
	assert_int_equal(gpu_column_at(gpu_history_tenant(h, "team-a"), FIRST), 8);
	assert_true(sample(h, FIRST + 3, "team-a", 16));
	assert_true(gpu_history_version(h) != version);
	assert_false(gpu_history_has(h, FIRST + 1));
	assert_true(sample(h, FIRST + 1, "team-a", 24));
	assert_int_equal(gpu_history_newest(h), FIRST + 3);
	assert_int_equal(gpu_column_at(gpu_history_group(h, GPU_SERVING), FIRST + 1), 24);
}

static void the_window_moves_and_drops_what_is_older(void **state)
{
	struct gpu_history *h = *state;
	const int64_t end = FIRST + 3 * GPU_HISTORY_STEPS;
	int64_t mean;

	for (int64_t s = FIRST; s <= end; s++)
		assert_true(sample(h, s, "team-a", s - FIRST));
	assert_false(gpu_history_has(h, end - GPU_HISTORY_STEPS));
	assert_false(gpu_history_open(h, end - GPU_HISTORY_STEPS));
	assert_true(gpu_history_has(h, end - GPU_HISTORY_STEPS + 1));
	for (int64_t s = end - GPU_HISTORY_STEPS + 1; s <= end; s++)
		assert_int_equal(gpu_column_at(gpu_history_tenant(h, "team-a"), s), s - FIRST);
	/* a pause of a day is a gap */
	assert_true(sample(h, end + 289, "team-a", 1));
	for (int64_t s = end + 1; s < end + 289; s++)
		assert_false(gpu_history_has(h, s));
	assert_true(gpu_history_has(h, end));
	assert_false(gpu_history_mean(h, gpu_history_tenant(h, "team-a"), end + 1, 288, &mean));
	/* a pause longer than the window leaves only the new sample */
	assert_true(sample(h, end + 100 * GPU_HISTORY_STEPS, "team-b", 1));
	for (int64_t s = end + 99 * GPU_HISTORY_STEPS + 1; s < end + 100 * GPU_HISTORY_STEPS; s++)
		assert_false(gpu_history_has(h, s));
	assert_int_equal(tenants(h), 1);
}

static void a_tenant_leaves_with_its_last_gpu_in_the_window(void **state)
{
	struct gpu_history *h = *state;
	struct gpu_column *const *v;
	size_t n;

	assert_true(sample(h, FIRST, "team-b", 8));
	assert_true(sample(h, FIRST + 1, "team-a", 8));
	v = gpu_history_tenants(h, &n);
	assert_int_equal(n, 2);
	assert_string_equal(gpu_column_name(v[0]), "team-a");
	assert_string_equal(gpu_column_name(v[1]), "team-b");
	assert_null(gpu_column_name(gpu_history_others(h)));
	assert_true(sample(h, FIRST + GPU_HISTORY_STEPS - 1, "team-a", 0));
	assert_int_equal(tenants(h), 2);
	assert_true(sample(h, FIRST + GPU_HISTORY_STEPS, "team-a", 0));
	v = gpu_history_tenants(h, &n);
	assert_int_equal(n, 1);
	assert_string_equal(gpu_column_name(v[0]), "team-a");
	assert_true(sample(h, FIRST + GPU_HISTORY_STEPS + 1, "team-b", 0));
	assert_int_equal(gpu_column_at(gpu_history_tenant(h, "team-b"), FIRST + GPU_HISTORY_STEPS),
			 0);
}

static void tenants_beyond_the_limit_are_counted_together(void **state)
{
	struct gpu_history *h = *state;
	char name[32];

	assert_true(gpu_history_open(h, FIRST));
	/* a name that no VirtualCluster can have */
	gpu_column_add(gpu_history_tenant(h, "\033[31m\""), FIRST, 1);
	assert_int_equal(gpu_column_at(gpu_history_others(h), FIRST), 1);
	for (int i = 0; i < GPU_HISTORY_TENANTS + 20; i++) {
		str_format(name, sizeof(name), "team-%d", i);
		gpu_column_add(gpu_history_tenant(h, name), FIRST, 8);
	}
	assert_int_equal(tenants(h), GPU_HISTORY_TENANTS);
	assert_int_equal(gpu_column_at(gpu_history_others(h), FIRST), 161);
}

static void a_sum_has_a_limit(void **state)
{
	struct gpu_history *h = *state;
	struct gpu_column *x = gpu_history_group(h, GPU_FREE);

	assert_true(gpu_history_open(h, FIRST));
	gpu_column_add(x, FIRST, -5);
	assert_int_equal(gpu_column_at(x, FIRST), 0);
	gpu_column_add(x, FIRST, UINT32_MAX - 1);
	gpu_column_add(x, FIRST, 5);
	assert_true(gpu_column_at(x, FIRST) == UINT32_MAX);
	gpu_column_add(x, FIRST, INT64_MAX);
	assert_true(gpu_column_at(x, FIRST) == UINT32_MAX);
}

static void a_mean_counts_only_steps_with_a_sample(void **state)
{
	struct gpu_history *h = *state;
	struct gpu_column *x;
	int64_t mean = -1;

	assert_true(sample(h, FIRST, "team-a", 8));
	assert_true(sample(h, FIRST + 5, "team-a", 16));
	assert_true(sample(h, FIRST + 11, "team-a", 16));
	assert_true(sample(h, FIRST + 12, "team-a", 99));
	x = gpu_history_tenant(h, "team-a");
	assert_true(gpu_history_mean(h, x, FIRST, 12, &mean));
	assert_int_equal(mean, 1333);
	assert_true(gpu_history_mean(h, x, FIRST + 5, 1, &mean));
	assert_int_equal(mean, 1600);
	assert_false(gpu_history_mean(h, x, FIRST + 1, 4, &mean));
	assert_true(gpu_history_mean(h, gpu_history_group(h, GPU_FREE), FIRST, 12, &mean));
	assert_int_equal(mean, 0);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_step_has_one_sample),
		T(the_window_moves_and_drops_what_is_older),
		T(a_tenant_leaves_with_its_last_gpu_in_the_window),
		T(tenants_beyond_the_limit_are_counted_together),
		T(a_sum_has_a_limit),
		T(a_mean_counts_only_steps_with_a_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
