#include "tests/unit/controller/bench.h"

#include "base/str.h"
#include "controller/core/sweep.h"

static char seen[64];
static unsigned limit;

static bool note(const struct kube_entry *e, void *arg)
{
	size_t n = strlen(seen);

	(void)arg;
	str_format(seen + n, sizeof(seen) - n, "%s ", e->name);
	return --limit > 0;
}

static struct sweep begin(struct bench *d)
{
	struct sweep s;

	seen[0] = '\0';
	limit = 100;
	for (int i = 0; i < 5; i++)
		bench_put(d,
			  arena_printf(d->a,
				       "{'kind': 'Machine', 'metadata': {'name': 'm-%d'}, 'spec': "
				       "{'providerRef': {'name': 'x'}, 'instanceType': 'y'}}",
				       i));
	sweep_begin(&s, d->c.cache[OBJECT_MACHINE], d->a);
	return s;
}

static void each_is_looked_at_once_some_at_a_time(void **state)
{
	struct sweep s = begin(*state);

	assert_true(sweep_go_on(&s, 2, note, NULL));
	assert_string_equal(seen, "m-0 m-1 ");
	assert_true(sweep_go_on(&s, 2, note, NULL));
	assert_string_equal(seen, "m-0 m-1 m-2 m-3 ");
	assert_false(sweep_go_on(&s, 2, note, NULL));
	assert_string_equal(seen, "m-0 m-1 m-2 m-3 m-4 ");
	assert_false(sweep_go_on(&s, 2, note, NULL));
	assert_string_equal(seen, "m-0 m-1 m-2 m-3 m-4 ");
}

static void what_has_gone_meanwhile_is_left_out_and_what_came_too(void **state)
{
	struct bench *d = *state;
	struct sweep s = begin(d);

	assert_true(sweep_go_on(&s, 2, note, NULL));
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/machines/m-3", NULL);
	bench_put(d, "{'kind': 'Machine', 'metadata': {'name': 'm-9'}, 'spec': "
		     "{'providerRef': {'name': 'x'}, 'instanceType': 'y'}}");
	bench_run(d, 1000);
	assert_false(sweep_go_on(&s, 100, note, NULL));
	assert_string_equal(seen, "m-0 m-1 m-2 m-4 ");
}

static void who_has_seen_enough_ends_it(void **state)
{
	struct sweep s = begin(*state);

	limit = 2;
	assert_false(sweep_go_on(&s, 4, note, NULL));
	assert_string_equal(seen, "m-0 m-1 ");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		T(each_is_looked_at_once_some_at_a_time),
		T(what_has_gone_meanwhile_is_left_out_and_what_came_too),
		T(who_has_seen_enough_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
