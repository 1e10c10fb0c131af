/* Tests which machines are scheduled for a tick. */
#include "tests/unit/controller/bench.h"

#include "base/map.h"
#include "base/str.h"
#include "controller/steps/lives.h"

static struct lives *lives;

static void put(struct bench *d, const char *name, const char *status)
{
	bench_put(d, arena_printf(d->a,
				  "{'kind': 'Machine', 'metadata': {'name': '%s'}, 'spec': "
				  "{'providerRef': {'name': 'hall-a'}}, 'status': %s}",
				  name, status));
}

static void update(struct bench *d, const char *name)
{
	lives_update(lives, name, CTX_GET(&d->c, OBJECT_MACHINE, machine, name));
	bench_run(d, 100);
}

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	lives = lives_new(&(struct lives_spec){.parts = d->life_parts});
	put(d, "a", "{'state': 'serving', 'tenant': {'name': 'team-a', 'uid': 'u'}}");
	put(d, "b", "{'state': 'serving', 'tenant': {'name': 'team-b', 'uid': 'u'}}");
	put(d, "k", "{'state': 'known'}");
	put(d, "n", "{}");
	for (const char *name = "abkn"; *name; name++)
		update(d, (char[]){*name, '\0'});
	return 0;
}

static int teardown(void **state)
{
	lives_free(lives);
	return bench_teardown(state);
}

/* Returns the names of the machines that are scheduled, in a static buffer, and runs their
 * ticks. */
static const char *scheduled(struct bench *d)
{
	static char names[64];
	struct map_iter it;

	names[0] = '\0';
	map_for_each (it, lives->map)
		if (list_linked(&((struct life *)it.value)->tick.link))
			str_format(names + strlen(names), sizeof(names) - strlen(names), "%s ",
				   it.key);
	bench_run(d, 100);
	return names;
}

static void a_tenant_schedules_its_machines_and_the_unknown_ones(void **state)
{
	struct bench *d = *state;

	assert_string_equal(scheduled(d), "");
	lives_kick_of_tenant(lives, "team-a");
	assert_string_equal(scheduled(d), "a k n ");
	lives_kick_of_tenant(lives, "team-c");
	assert_string_equal(scheduled(d), "k n ");
	lives_kick_known(lives);
	assert_string_equal(scheduled(d), "k n ");
	lives_kick(lives, NULL);
	assert_string_equal(scheduled(d), "a b k n ");
}

static void a_machine_that_changes_its_tenant_goes_with_it(void **state)
{
	struct bench *d = *state;

	bench_status(d, OBJECT_MACHINE, "a", "{'tenant': {'name': 'team-b', 'uid': 'u'}}");
	bench_status(d, OBJECT_MACHINE, "k", "{'state': 'free'}");
	update(d, "a");
	update(d, "k");
	lives_kick_of_tenant(lives, "team-a");
	assert_string_equal(scheduled(d), "n ");
	lives_kick_of_tenant(lives, "team-b");
	assert_string_equal(scheduled(d), "a b n ");
	/* A machine that is gone is scheduled no more. */
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/machines/a", NULL);
	bench_run(d, 1000);
	update(d, "a");
	lives_kick_of_tenant(lives, "team-b");
	assert_string_equal(scheduled(d), "b n ");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_tenant_schedules_its_machines_and_the_unknown_ones),
		T(a_machine_that_changes_its_tenant_goes_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
