#include "tests/unit/controller/bench.h"

#include "base/str.h"
#include "controller/claims/world_sync.h"
#include "planner/plan.h"
#include "planner/world.h"

static int setup(void **state)
{
	bench_setup(state);
	bench_tenants(*state);
	bench_fleet(*state);
	return 0;
}

static size_t pods(struct bench *d)
{
	OWN(arena) a = arena_new();

	return plan_make(world_sync_world(d->sync), 0, a)->npods;
}

static size_t machines(struct bench *d)
{
	OWN(arena) a = arena_new();

	return plan_stock(world_sync_world(d->sync), "h100", a).n;
}

static void a_world_that_is_held_catches_up_with_the_caches(void **state)
{
	struct bench *d = *state;
	struct world_pod ghost = {.tenant = "team-a",
				  .ns = "default",
				  .name = "ghost",
				  .uid = "u",
				  .unschedulable = true};

	bench_run(d, 5000);
	assert_int_equal(machines(d), 1);
	assert_int_equal(pods(d), 0);

	world_sync_pause(d->sync);
	assert_true(world_sync_is_paused(d->sync));
	world_sync_pod(d->sync, "team-a", "default", "ghost", &ghost);
	world_sync_machine(d->sync, "m-1", NULL);
	world_sync_pool(d->sync, "h100", NULL);
	world_sync_provider(d->sync, "hall-a", NULL);
	world_sync_tenant_reset(d->sync, "team-a");
	assert_int_equal(pods(d), 0);
	assert_int_equal(machines(d), 1);
	/* The pod was added while the world was paused, and no cache has it: it disappears at the
	 * release. Everything else stays. */
	world_sync_resume(d->sync);
	assert_false(world_sync_is_paused(d->sync));
	assert_int_equal(pods(d), 0);
	assert_int_equal(machines(d), 1);

	world_sync_pod(d->sync, "team-a", "default", "ghost", &ghost);
	assert_int_equal(pods(d), 1);
	world_sync_pause(d->sync);
	world_sync_pod(d->sync, "team-a", "default", "ghost", NULL);
	assert_int_equal(pods(d), 1);
	world_sync_resume(d->sync);
	assert_int_equal(pods(d), 0);
}

static void what_went_and_came_while_it_was_held_is_there_once(void **state)
{
	struct bench *d = *state;

	bench_run(d, 5000);
	bench_patch(d, OBJECT_NODE_POOL, "h100", "{'spec': {'paused': true}}");
	bench_pod(d, "one", 8);
	bench_run(d, 5000);
	assert_int_equal(pods(d), 1);
	world_sync_pause(d->sync);
	/* All pods of the tenant are read again, including this one. */
	world_sync_tenant_reset(d->sync, "team-a");
	world_sync_pod(d->sync, "team-a", "default", "one",
		       KUBE_CACHE_GET(tenant_get(d->tenants, "team-a")->pods, world_pod, "default",
				      "one"));
	world_sync_resume(d->sync);
	assert_int_equal(pods(d), 1);
	/* Pods that are not added again after the reset are removed from the world. */
	world_sync_pause(d->sync);
	world_sync_tenant_reset(d->sync, "team-a");
	world_sync_resume(d->sync);
	assert_int_equal(pods(d), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		T(a_world_that_is_held_catches_up_with_the_caches),
		T(what_went_and_came_while_it_was_held_is_there_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
