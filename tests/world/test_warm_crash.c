/* Warm machines, while leaders die and requests are lost. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/world/invariants.h"
#include "tests/world/sweep.h"
#include "tests/world/warming.h"

static void a_second_leader_goes_on_with_the_agent_that_is_there(void **state)
{
	struct sim_world w;
	struct server *b;

	(void)state;
	world_start(&w, 813, 1);
	warming_want(&w, "gpus", 1);
	world_replica(&w);
	warming_wait(&w, 1, 900);
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_run(&w, 3600000);
	assert_int_equal(warming_count(&w), 1);
	assert_int_equal(w.servers[0].boots, 2);
	world_kill(&w.replicas[1]);
	world_replica(&w);
	(void)warming_to_imaging(&w, &b);
	assert_int_equal(b->boots, 2);
	world_wait_running(&w, &w.tenants[0], "train", 300);
	world_settle(&w);
	world_stop(&w);
}

/* Different states that were seen in the journal, each once: state, step, and the pool for which
 * the machine is warm. */
struct way {
	struct sim_world *w;
	char met[48][160];
	unsigned nmet, skip, kills;
	bool (*there)(const struct server *b);
};

static bool is_new_or_there(void *arg)
{
	struct way *m = arg;
	const struct server *b = &m->w->servers[0];
	char now[160];

	if (m->there(b))
		return true;
	str_format(now, sizeof(now), "%s/%s/%s/%s", b->state, world_at(b, "status.operation.step"),
		   world_at(b, "status.warmFor.name"), world_at(b, "status.agent.bootID"));
	for (unsigned i = 0; i < m->nmet; i++)
		if (str_eq(m->met[i], now))
			return false;
	assert_true(m->nmet < 48);
	str_copy(m->met[m->nmet++], sizeof(m->met[0]), now);
	return true;
}

/* Kills the leader at each new entry of the journal until there() is true (returns false), or until
 * the world has no more replicas to start (returns true). */
static bool killed_on_the_way(struct way *m, bool (*there)(const struct server *b))
{
	m->there = there;
	for (;;) {
		world_wait(m->w, is_new_or_there, m, 600, "something new in the journal");
		if (there(&m->w->servers[0]))
			return false;
		if (m->nmet <= m->skip)
			continue;
		if (m->w->nreplicas == WORLD_REPLICAS)
			return true;
		world_kill(&m->w->replicas[m->w->nreplicas - 1]);
		world_replica(m->w);
		m->kills++;
	}
}

static bool is_imaging(const struct server *b)
{
	return str_eq(b->state, "imaging");
}

static bool is_cold(const struct server *b)
{
	return str_eq(b->state, "free") && !world_at(b, "status.warmFor.name")[0] &&
	       b->doing == SERVER_OFF;
}

static void a_leader_that_dies_at_each_entry_on_the_way_to_warm_and_back_is_followed(void **state)
{
	unsigned skip = 0;
	bool more = true;

	(void)state;
	while (more) {
		struct sim_world w;
		struct way m = {.w = &w, .skip = skip};
		struct server *b = &w.servers[0];

		world_start(&w, 814, 1);
		world_replica(&w);
		world_wait_state(b, "free", 300);
		warming_want(&w, "gpus", 1);
		more = killed_on_the_way(&m, warming_is_warm);
		warming_wait(&w, 1, 600);
		assert_int_equal(b->boots, 2);
		warming_want(&w, "gpus", 0);
		if (!more)
			more = killed_on_the_way(&m, is_cold);
		warming_wait_off(&w, 1, 600);
		warming_want(&w, "gpus", 1);
		warming_wait(&w, 1, 600);
		world_pod(&w, &w.tenants[0], "train");
		if (!more)
			more = killed_on_the_way(&m, is_imaging);
		world_wait_running(&w, &w.tenants[0], "train", 600);
		assert_int_equal(b->boots, 4); /* boots: wipe, warm, warm, the tenant's disk */
		assert_int_equal(b->tenancy, 2);
		assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
		skip += m.kills;
		world_settle(&w);
		world_stop(&w);
	}
	assert_true(skip > 8);
}

/* Runs the whole cycle by way of a warm machine; one request meets a fault. */
static void warm_circle(struct sim_world *w)
{
	struct server *b = &w->servers[0];

	warming_want(w, "gpus", 1);
	world_replica(w);
	warming_wait(w, 1, 7200);
	world_pod(w, &w->tenants[0], "train");
	world_wait_running(w, &w->tenants[0], "train", 3600);
	warming_want(w, "gpus", 0);
	world_wait_state(b, "serving", 3600);
	world_delete_pod(w, &w->tenants[0], "train");
	world_release(b);
	warming_wait_off(w, 1, 3600);
	assert_true(server_is_blank(b));
	assert_true(invariants_nothing_leaks(w));
}

static void no_lost_request_and_no_death_changes_anything_in_the_end(void **state)
{
	struct sweep s = {.seed = 900, .servers = 1, .every = 503, .trip = warm_circle};

	(void)state;
	assert_true(sweep_run(&s) > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_second_leader_goes_on_with_the_agent_that_is_there),
		cmocka_unit_test(
			a_leader_that_dies_at_each_entry_on_the_way_to_warm_and_back_is_followed),
		cmocka_unit_test(no_lost_request_and_no_death_changes_anything_in_the_end),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
