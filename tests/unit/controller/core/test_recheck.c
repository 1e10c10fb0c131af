/* Tests when and how often the check runs, and that it counts what it corrects. */
#include "tests/unit/controller/bench.h"

#include "base/str.h"
#include "controller/core/counters.h"
#include "controller/core/machine_lists.h"
#include "controller/core/recheck.h"

static struct recheck check;
static unsigned seen;

static bool again(const struct kube_entry *en, void *arg)
{
	struct bench *d = arg;

	seen++;
	return machine_lists_put(d->c.machine_lists, en->name, en->object);
}

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	for (int i = 0; i < 250; i++)
		bench_put(d, arena_printf(d->a,
					  "{'kind': 'Machine', 'metadata': {'name': 'm-%d'}, "
					  "'spec': {'providerRef': {'name': 'hall-a'}}, 'status': "
					  "{'state': 'free'}}",
					  i));
	bench_run(d, 1000);
	seen = 0;
	recheck_init(&check, &d->c, OBJECT_MACHINE, again, d);
	return 0;
}

static int teardown(void **state)
{
	recheck_stop(&check);
	return bench_teardown(state);
}

static double corrections(struct bench *d)
{
	return metric_get(metrics_find(d->c.metrics, "drover_tally_corrections_total"),
			  (const char *const[]){"Machine"});
}

static void each_object_is_checked_once_in_an_interval(void **state)
{
	struct bench *d = *state;

	bench_run(d, RECHECK_MS - 2000);
	assert_int_equal(seen, 0);
	bench_run(d, 3000);
	assert_int_equal(seen, 250);
	bench_run(d, RECHECK_MS);
	assert_int_equal(seen, 500);
	assert_true(corrections(d) == 0);
	assert_int_equal(recheck_now(&check), 0);
}

static void what_an_index_lacks_is_corrected_and_counted(void **state)
{
	struct bench *d = *state;

	(void)machine_lists_put(d->c.machine_lists, "m-3", NULL);
	(void)machine_lists_put(d->c.machine_lists, "m-249", NULL);
	bench_run(d, RECHECK_MS + 1000);
	assert_true(corrections(d) == 2);
	assert_int_equal(recheck_now(&check), 0);
	(void)machine_lists_put(d->c.machine_lists, "m-3", NULL);
	assert_int_equal(recheck_now(&check), 1);
	assert_int_equal(recheck_now(&check), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(each_object_is_checked_once_in_an_interval),
		T(what_an_index_lacks_is_corrected_and_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
