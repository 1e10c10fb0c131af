/* Tests where the number of a machine's GPUs comes from. */
#include "tests/unit/controller/bench.h"

#include "controller/claims/machine_gpus.h"

static int64_t gpus(struct bench *d)
{
	return machine_gpus(&d->c, CTX_GET(&d->c, OBJECT_MACHINE, machine, "m-1"));
}

static void the_inspection_counts_before_the_instance_type(void **state)
{
	struct bench *d = *state;

	bench_patch(d, OBJECT_MACHINE, "m-1", "{'spec': {'instanceType': 'hgx'}}");
	bench_status(d, OBJECT_MACHINE, "m-1", "{'inventory': null}");
	assert_int_equal(gpus(d), 8);
	bench_status(d, OBJECT_MACHINE, "m-1", "{'inventory': {'gpus': 7}}");
	assert_int_equal(gpus(d), 7);
	bench_status(d, OBJECT_MACHINE, "m-1", "{'inventory': {'gpus': 0}}");
	assert_int_equal(gpus(d), 8);
	bench_patch(d, OBJECT_MACHINE, "m-1", "{'spec': {'instanceType': 'unknown'}}");
	assert_int_equal(gpus(d), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_inspection_counts_before_the_instance_type,
						bench_setup_fleet, bench_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
