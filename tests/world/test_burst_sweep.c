/*
 * The scenario of a burst: decided, launched, served, released and settled. Each effect of drover
 * fails once in each way. `make test` tries some of the effects, `make test-long` all
 * (WORLD_EVERY=1).
 */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "tests/world/burst_scene.h"
#include "tests/world/sweep.h"

#ifdef __SANITIZE_ADDRESS__
#define EVERY 100
#else
#define EVERY 30
#endif

static struct sky sky;

static void prepare(struct sim_world *w, uint64_t at)
{
	(void)at;
	sky_start(&sky, w, NULL);
	burst_policy(w, "[a, b]", "60");
	sky.bursts.budget = 60 * MONEY_UNIT;
}

static bool nothing_alive(void *arg)
{
	const struct sim_world *w = arg;

	return !fake_cloud_alive(&sky.cloud) &&
	       !store_count(w->host.store, "machines.drover.dev/") &&
	       !store_count(w->host.store, "nodeclaims.drover.dev/");
}

/* Runs the scenario. The instance is launched once, whatever failed, and paid for. */
static void trip(struct sim_world *w)
{
	const struct fake_instance *i;
	int64_t cost;

	world_replica(w);
	world_pod(w, &w->tenants[0], "train");
	world_wait_running(w, &w->tenants[0], "train", 3600);
	world_delete_pod(w, &w->tenants[0], "train");
	world_wait(w, nothing_alive, w, 7200, "instance, Machine and claim are gone");
	assert_int_equal(sky.cloud.launched, 1);
	i = list_entry(sky.cloud.instances.next, struct fake_instance, link);
	assert_true(money_for_ms(20 * MONEY_UNIT, i->ended_at - i->launched_at, &cost));
	assert_in_range(burst_settled(w), cost, 60 * MONEY_UNIT);
	sky_stop(&sky);
}

static void every_effect_of_a_burst_may_go_wrong(void **state)
{
	const struct sweep s = {
		.seed = 7400, .by_effect = true, .every = EVERY, .prepare = prepare, .trip = trip};

	(void)state;
	assert_true(sweep_run(&s) > 300 / EVERY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_effect_of_a_burst_may_go_wrong),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
