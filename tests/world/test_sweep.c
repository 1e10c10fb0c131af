/*
 * The whole cycle, in which each external effect fails once in each way: to the first tenant, back
 * by deletion of its claim, to the other tenant, back by a Drain.
 *
 * `make test` tries one effect in ten, `make test-long` all (WORLD_EVERY=1). Moves of ports are
 * effects too.
 */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "tests/world/invariants.h"
#include "tests/world/leaving.h"
#include "tests/world/sweep.h"

#define LIMIT_S 7200
/* With sanitizers a run takes five times as long. */
#ifdef __SANITIZE_ADDRESS__
#define EVERY 100
#else
#define EVERY 10
#endif
#define FATES_MET (1000 / EVERY)

static void serve(struct sim_world *w, struct cluster *tenant)
{
	world_pod(w, tenant, "train");
	world_wait_running(w, tenant, "train", LIMIT_S);
	world_wait_state(&w->servers[0], "serving", LIMIT_S);
}

static void end(struct sim_world *w, int64_t tenancy)
{
	struct server *b = &w->servers[0];

	world_wait_state(b, "free", LIMIT_S);
	assert_true(server_is_blank(b));
	assert_int_equal(b->tenancy, tenancy);
	world_settle(w);
	assert_true(invariants_nothing_leaks(w));
}

static void whole_trip(struct sim_world *w)
{
	struct server *b = &w->servers[0];

	world_replica(w);
	serve(w, &w->tenants[0]);
	world_delete_pod(w, &w->tenants[0], "train");
	world_release(b);
	end(w, 2);
	serve(w, &w->tenants[1]);
	world_delete_pod(w, &w->tenants[1], "train");
	leaving_drain_of(w, "all", b->name, 0, "");
	end(w, 3);
}

static void every_effect_of_the_whole_trip_may_go_wrong(void **state)
{
	struct sweep s = {
		.seed = 4000, .servers = 1, .by_effect = true, .every = EVERY, .trip = whole_trip};

	(void)state;
	assert_true(sweep_run(&s) > FATES_MET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_effect_of_the_whole_trip_may_go_wrong),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
