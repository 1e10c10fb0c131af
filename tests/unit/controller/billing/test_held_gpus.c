#include "tests/unit/testing.h"

#include "controller/billing/held_gpus.h"

#define GPU 1000

static void what_is_held_counts_by_time(void **state)
{
	struct held_gpus *h = held_gpus_new();

	(void)state;
	assert_int_equal(held_gpus_seconds(NULL, "acme", 0, 9000), 0);
	assert_int_equal(held_gpus_seconds(h, "acme", 0, 9000), 0);
	held_gpus_set(h, "acme", 0, 1000);
	held_gpus_set(h, "acme", 8 * GPU, 10000);
	held_gpus_set(h, "acme", 8 * GPU, 15000);
	assert_int_equal(held_gpus_seconds(h, "acme", 0, 20000), 80);
	assert_int_equal(held_gpus_seconds(h, "other", 0, 20000), 0);
	held_gpus_set(h, "acme", 2 * GPU, 20000);
	held_gpus_set(h, "acme", 0, 30000);
	assert_int_equal(held_gpus_seconds(h, "acme", 0, 99000), 100);
	/* The sum that a write stored contains all GPU seconds before that write. */
	assert_int_equal(held_gpus_seconds(h, "acme", 15000, 99000), 60);
	assert_int_equal(held_gpus_seconds(h, "acme", 99000, 99000), 0);
	held_gpus_free(h);
	held_gpus_free(NULL);
}

static void many_changes_lose_no_second(void **state)
{
	struct held_gpus *h = held_gpus_new();
	int64_t want = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		held_gpus_set(h, "acme", (1 + i % 7) * GPU, i * 1000);
		want += 1 + i % 7;
	}
	assert_in_range(held_gpus_seconds(h, "acme", 0, 1000000), want - 1, want);
	held_gpus_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_held_counts_by_time),
		cmocka_unit_test(many_changes_lose_no_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
