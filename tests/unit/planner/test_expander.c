/*
 * test_expander: tests what a pool saves when it chooses instance types: machines or cost. Type
 * small has 4 CPUs, big has 16.
 */
#include "base/str.h"
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

#define ZONE "topology.kubernetes.io/zone"
#define HOST "kubernetes.io/hostname"

static const struct world_topology apart = {.kind = WORLD_APART, .key = HOST},
				   over_zones = {.kind = WORLD_SPREAD, .key = ZONE, .max_skew = 1};

static void expand(struct world *w, struct arena *a, enum world_expander what)
{
	struct world_pool p = worlds_pool(a);

	p.expander = what;
	world_put_pool(w, &p);
}

/* Adds n machines of the type in the zone. */
static void add_machines(struct world *w, struct arena *a, unsigned n, const char *type,
			 const char *zone)
{
	for (unsigned i = 0; i < n; i++) {
		struct world_machine m =
			worlds_machine(arena_printf(a, "%s-%s-%u", type, zone, i), type);

		m.labels = worlds_labels(a, arena_printf(a, ZONE "=%s", zone));
		world_put_machine(w, &m);
	}
}

/* Adds n pods of one CPU with names that begin with `name`. rule: their topology constraint; NULL:
 * none. */
static void add_pods(struct world *w, struct arena *a, unsigned n, const char *name,
		     const struct world_topology *rule)
{
	for (unsigned i = 0; i < n; i++) {
		struct world_pod p = worlds_pod(a, arena_printf(a, "%s%02u", name, i), "cpu=1");
		struct world_topology t = rule ? *rule : (struct world_topology){0};

		p.labels = worlds_labels(a, arena_printf(a, "app=%s", name));
		t.pods = worlds_term(a, arena_printf(a, "app in (%s)", name));
		p.topology.v = &t;
		p.topology.n = rule != NULL;
		world_put_pod(w, &p);
	}
}

/* Returns the number of new claims by type, and of pods that got nothing: "1 small, 2 big". */
static const char *claims(struct world *w, struct arena *a)
{
	const struct plan *p = plan_make(w, 0, a);
	size_t small = 0, big = 0, gpu = 0, nothing = 0;

	for (size_t i = 0; i < p->nclaims; i++) {
		small += str_eq(p->claims[i].instance_type, "small");
		big += str_eq(p->claims[i].instance_type, "big");
		gpu += str_eq(p->claims[i].instance_type, "gpu");
	}
	for (size_t i = 0; i < p->npods; i++)
		nothing += p->pods[i].outcome == PLAN_NOTHING;
	assert_int_equal(gpu, 0);
	return arena_printf(a, "%zu small, %zu big%s", small, big,
			    nothing ? arena_printf(a, ", %zu wait", nothing) : "");
}

/* A big machine holds all five pods, two small ones hold them at a lower cost. */
static void a_pool_saves_machines_or_cost(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	add_machines(w, a, 3, "small", "a");
	add_machines(w, a, 3, "big", "a");
	add_machines(w, a, 3, "gpu", "a");
	add_pods(w, a, 5, "p", NULL);
	expand(w, a, WORLD_EXPANDER_LEAST_NODES);
	assert_string_equal(claims(w, a), "0 small, 1 big");
	expand(w, a, WORLD_EXPANDER_LEAST_COST);
	assert_string_equal(claims(w, a), "2 small, 0 big");
}

static void a_pool_of_owned_machines_saves_machines_and_a_cloud_cost(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_provider p = worlds_provider(a);

	(void)state;
	add_machines(w, a, 3, "small", "a");
	add_machines(w, a, 3, "big", "a");
	add_pods(w, a, 5, "p", NULL);
	expand(w, a, WORLD_EXPANDER_AUTO);
	assert_string_equal(claims(w, a), "0 small, 1 big");
	p.elastic = true;
	world_put_provider(w, &p);
	assert_string_equal(claims(w, a), "2 small, 0 big");
	expand(w, a, WORLD_EXPANDER_LEAST_NODES);
	assert_string_equal(claims(w, a), "0 small, 1 big");
}

/* The last pods decide which of the types with the fewest machines costs least. */
static void the_last_machine_is_no_larger_than_its_pods_need(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	expand(w, a, WORLD_EXPANDER_LEAST_NODES);
	add_machines(w, a, 9, "small", "a");
	add_machines(w, a, 9, "big", "a");
	add_pods(w, a, 3, "p", NULL);
	assert_string_equal(claims(w, a), "1 small, 0 big");
	add_pods(w, a, 19, "p", NULL);
	assert_string_equal(claims(w, a), "1 small, 1 big");
	add_pods(w, a, 21, "p", NULL);
	assert_string_equal(claims(w, a), "0 small, 2 big");
}

/* The three pods that must be apart need three machines. The sixteen pods ahead of them would fill
 * one of these. */
static void pods_ahead_leave_room_for_pods_that_must_be_apart(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	expand(w, a, WORLD_EXPANDER_LEAST_NODES);
	add_machines(w, a, 9, "small", "a");
	add_machines(w, a, 9, "big", "a");
	add_pods(w, a, 16, "first", NULL);
	add_pods(w, a, 3, "last", &apart);
	assert_string_equal(claims(w, a), "2 small, 1 big");
}

/* Pods that must be apart get machines with room for an equal part of the pods behind them. */
static void pods_that_must_be_apart_have_room_for_those_behind_them(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	expand(w, a, WORLD_EXPANDER_LEAST_NODES);
	add_machines(w, a, 9, "small", "a");
	add_machines(w, a, 9, "big", "a");
	add_pods(w, a, 3, "first", &apart);
	add_pods(w, a, 9, "last", NULL);
	assert_string_equal(claims(w, a), "3 small, 0 big");
	add_pods(w, a, 12, "last", NULL);
	assert_string_equal(claims(w, a), "2 small, 1 big");
}

/* Only 16 of the 21 apps with pods that must be apart may reserve room: those with the most pods,
 * which need the most machines. */
static void the_largest_of_many_apps_have_room_reserved(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	expand(w, a, WORLD_EXPANDER_LEAST_NODES);
	add_machines(w, a, 20, "small", "a");
	add_machines(w, a, 20, "big", "a");
	add_pods(w, a, 16, "first", NULL);
	add_pods(w, a, 9, "nine", &apart);
	for (int i = 0; i < 20; i++)
		add_pods(w, a, 2, arena_printf(a, "two%02d", i), &apart);
	assert_int_equal(plan_make(w, 0, a)->nclaims, 9);
}

static void reserved_room_keeps_no_pod_waiting(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	expand(w, a, WORLD_EXPANDER_LEAST_NODES);
	add_machines(w, a, 1, "big", "a");
	add_pods(w, a, 16, "first", NULL);
	add_pods(w, a, 1, "last", &apart);
	assert_string_equal(claims(w, a), "0 small, 1 big, 1 wait");
	assert_string_equal(worlds_pod_text(plan_make(w, 0, a), "first15", a), "new 0 on big-a-0");
}

/* Each of the two machines is opened for all pods, but gets half of them. */
static void a_claim_moves_to_a_machine_that_is_just_large_enough(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	expand(w, a, WORLD_EXPANDER_LEAST_NODES);
	add_machines(w, a, 1, "big", "a");
	add_machines(w, a, 1, "big", "b");
	add_machines(w, a, 2, "small", "a");
	add_pods(w, a, 8, "p", &over_zones);
	assert_string_equal(claims(w, a), "1 small, 1 big");
	add_machines(w, a, 2, "small", "b");
	assert_string_equal(claims(w, a), "2 small, 0 big");
	add_pods(w, a, 9, "p", &over_zones);
	assert_string_equal(claims(w, a), "1 small, 1 big");
}

static void a_claim_does_not_move_to_a_machine_that_its_pods_do_not_suit(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_machine m = worlds_machine("small-a-0", "small");
	struct world_pod p = worlds_pod(a, "p00", "cpu=1");
	struct world_topology t = over_zones;

	(void)state;
	expand(w, a, WORLD_EXPANDER_LEAST_NODES);
	for (int i = 0; i < 8; i++) {
		p.name = p.uid = arena_printf(a, "p%02d", i);
		p.labels = worlds_labels(a, "app=p");
		p.node_selector = worlds_labels(a, "gen=2");
		t.pods = worlds_term(a, "app in (p)");
		p.topology.v = &t;
		p.topology.n = 1;
		world_put_pod(w, &p);
	}
	m.labels = worlds_labels(a, ZONE "=a");
	world_put_machine(w, &m);
	for (int i = 0; i < 2; i++) {
		m = worlds_machine(arena_printf(a, "new-%d", i), "big");
		m.labels = worlds_labels(a, i ? "gen=2," ZONE "=a" : "gen=2," ZONE "=b");
		world_put_machine(w, &m);
	}
	assert_string_equal(claims(w, a), "0 small, 2 big");
}

/* A type with less CPU, but more memory than type big, may exceed a limit. */
static void a_claim_does_not_move_to_a_machine_with_more_of_anything(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_provider p = worlds_provider(a);
	struct world_pool pool = worlds_pool(a);

	(void)state;
	pool.expander = WORLD_EXPANDER_LEAST_NODES;
	pool.limits = worlds_resources(a, "memory=128Gi");
	world_put_pool(w, &pool);
	p.types.v[0].name = "wide";
	p.types.v[0].capacity = worlds_resources(a, "cpu=4,memory=72Gi,pods=10");
	world_put_provider(w, &p);
	for (int i = 0; i < 2; i++) {
		add_machines(w, a, 1, "big", i ? "a" : "b");
		add_machines(w, a, 1, "wide", i ? "a" : "b");
	}
	add_pods(w, a, 8, "p", &over_zones);
	assert_string_equal(claims(w, a), "0 small, 2 big");
}

static void a_claim_does_not_move_away_from_what_its_pods_prefer(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_preference prefers = {10, worlds_term(a, "cores in (16)")};
	struct world_pod p = worlds_pod(a, "p", "cpu=1");

	(void)state;
	expand(w, a, WORLD_EXPANDER_LEAST_NODES);
	add_machines(w, a, 1, "small", "a");
	add_machines(w, a, 1, "big", "a");
	world_put_pod(w, &p);
	assert_string_equal(claims(w, a), "1 small, 0 big");
	p.preferences.v = &prefers;
	p.preferences.n = 1;
	world_put_pod(w, &p);
	assert_string_equal(claims(w, a), "0 small, 1 big");
}

static void the_gang_of_a_pool_that_saves_machines_gets_the_fewest(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	add_machines(w, a, 3, "small", "a");
	add_machines(w, a, 3, "big", "a");
	add_machines(w, a, 3, "gpu", "a");
	for (int i = 0; i < 6; i++) {
		struct world_pod p = worlds_pod(a, arena_printf(a, "g%d", i), "cpu=1");

		p.gang.key = "default/g";
		p.gang.min = 6;
		world_put_pod(w, &p);
	}
	expand(w, a, WORLD_EXPANDER_LEAST_NODES);
	assert_string_equal(claims(w, a), "0 small, 1 big");
	expand(w, a, WORLD_EXPANDER_LEAST_COST);
	assert_string_equal(claims(w, a), "2 small, 0 big");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pool_saves_machines_or_cost),
		cmocka_unit_test(a_pool_of_owned_machines_saves_machines_and_a_cloud_cost),
		cmocka_unit_test(the_last_machine_is_no_larger_than_its_pods_need),
		cmocka_unit_test(pods_ahead_leave_room_for_pods_that_must_be_apart),
		cmocka_unit_test(pods_that_must_be_apart_have_room_for_those_behind_them),
		cmocka_unit_test(the_largest_of_many_apps_have_room_reserved),
		cmocka_unit_test(reserved_room_keeps_no_pod_waiting),
		cmocka_unit_test(a_claim_moves_to_a_machine_that_is_just_large_enough),
		cmocka_unit_test(a_claim_does_not_move_to_a_machine_that_its_pods_do_not_suit),
		cmocka_unit_test(a_claim_does_not_move_to_a_machine_with_more_of_anything),
		cmocka_unit_test(a_claim_does_not_move_away_from_what_its_pods_prefer),
		cmocka_unit_test(the_gang_of_a_pool_that_saves_machines_gets_the_fewest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
