/* test_reclaim_candidates: tests which machines may be taken back, their units and their cost. */
#include "base/map.h"
#include "planner/reclaim.h"
#include "planner/reclaim_candidates.h"
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

#define GPU "nvidia.com/gpu"
#define HOUR ((int64_t)3600 * 1000)
#define NOW (1000 * HOUR)
/* Cost of 8 GPUs for one hour. */
#define LOST_HOUR ((__int128)8000 * HOUR)

static void put_claim(struct world *w, struct arena *a, const char *name, int64_t age_ms)
{
	struct world_claim c = worlds_claim(a, name, arena_printf(a, "m-%s", name));

	c.instance_type = "gpu";
	c.capacity = worlds_resources(a, "cpu=64,memory=512Gi,pods=110," GPU "=8");
	c.ready = true;
	c.created_ms = NOW - age_ms;
	world_put_claim(w, &c);
}

/* Puts a machine, its claim and its Node, on which a pod has run for `hours`. gang NULL: the pod
 * belongs to no gang. */
static void serve(struct world *w, struct arena *a, const char *name, int64_t hours,
		  const char *gang)
{
	struct world_machine m = worlds_machine(arena_printf(a, "m-%s", name), "gpu");
	struct world_node n = worlds_node(a, name);
	struct world_pod p = worlds_pod(a, arena_printf(a, "on-%s", name), GPU "=8");

	m.offered = false;
	m.not_offered = "serving";
	world_put_machine(w, &m);
	put_claim(w, a, name, 500 * HOUR);
	n.claim = name;
	n.allocatable = worlds_resources(a, "cpu=64,memory=512Gi,pods=110," GPU "=8");
	world_put_node(w, &n);
	p.node = name;
	p.unschedulable = false;
	p.since = NOW - hours * HOUR;
	p.gang.key = gang;
	p.gang.min = 2;
	world_put_pod(w, &p);
}

static struct world *new_world(struct arena *a, enum world_reclaim reclaim)
{
	struct world *w = worlds_new(a);
	struct world_pool p = worlds_pool(a);

	p.reclaim = reclaim;
	world_put_pool(w, &p);
	serve(w, a, "c1", 6, NULL);
	serve(w, a, "c2", 3, "job");
	serve(w, a, "c3", 9, "job");
	return w;
}

static struct candidate *find(struct world *w, struct arena *a, size_t *n)
{
	struct planning p = {.w = w, .a = a, .tenants = map_new(NULL)};
	struct reclaim_search *s;
	struct candidate *v;

	(void)plan_make(w, NOW, a);
	s = reclaim_search_new(&p, NOW);
	while (reclaim_search_next(s))
		;
	v = reclaim_search_found(s, n);
	map_free(p.tenants);
	return v;
}

static void the_machines_of_a_gang_are_one_unit(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = new_world(a, WORLD_RECLAIM_BORROWED);
	const __int128 move = (__int128)8000 * RECLAIM_MOVE_MS;
	struct candidate *v;
	size_t n;

	(void)state;
	v = find(w, a, &n);
	assert_int_equal(n, 3);
	assert_string_equal(v[0].claim->name, "c1");
	assert_int_equal(v[0].unit.n, 1);
	assert_true(v[0].next == SIZE_MAX);
	assert_int_equal(v[0].unit.age, 6 * HOUR);
	assert_true(v[0].unit.cost == 6 * LOST_HOUR + move);
	assert_int_equal(v[1].unit.n, 2);
	assert_int_equal(v[1].next, 2);
	assert_int_equal(v[2].root, 1);
	assert_int_equal(v[1].unit.age, 9 * HOUR);
	assert_true(v[1].unit.cost == 12 * LOST_HOUR + 2 * move);
	assert_false(v[0].unit.barred || v[1].unit.barred);
}

static void a_gang_with_a_pod_elsewhere_bars_its_unit(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = new_world(a, WORLD_RECLAIM_BORROWED);
	struct candidate *v;
	size_t n;

	(void)state;
	/* The Node now has no claim: drover did not provision it. */
	world_del_claim(w, "c3");
	v = find(w, a, &n);
	assert_int_equal(n, 2);
	assert_false(v[0].unit.barred);
	assert_true(v[1].unit.barred);
}

static void a_machine_that_must_stay_is_barred(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = new_world(a, WORLD_RECLAIM_BORROWED);
	struct candidate *v;
	size_t n;

	(void)state;
	/* Candidates are in the order of their claims' ages. */
	put_claim(w, a, "c1", RECLAIM_KEEP_MS - 1);
	v = find(w, a, &n);
	assert_string_equal(v[2].claim->name, "c1");
	assert_true(v[2].unit.barred);
	put_claim(w, a, "c1", RECLAIM_KEEP_MS);
	v = find(w, a, &n);
	assert_false(v[2].unit.barred);
	world_del_node(w, "acme", "c2");
	v = find(w, a, &n);
	assert_int_equal(n, 3);
	assert_true(v[0].barred);
}

static void a_pod_that_saves_its_work_loses_none(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = new_world(a, WORLD_RECLAIM_BORROWED);
	struct world_pod p = worlds_pod(a, "on-c1", GPU "=8");
	struct world_provider provider = worlds_provider(a);
	struct candidate *v;
	size_t n;

	(void)state;
	p.node = "c1";
	p.unschedulable = false;
	p.since = NOW - 6 * HOUR;
	p.saves = true;
	world_put_pod(w, &p);
	for (size_t i = 0; i < provider.types.n; i++)
		provider.types.v[i].move_ms = HOUR;
	world_put_provider(w, &provider);
	v = find(w, a, &n);
	assert_true(v[0].lost == 0);
	assert_int_equal(v[0].age, 6 * HOUR);
	assert_true(v[0].unit.cost == LOST_HOUR);
}

static void a_pool_that_never_reclaims_has_no_candidates(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = new_world(a, WORLD_RECLAIM_NEVER);
	size_t n;

	(void)state;
	(void)find(w, a, &n);
	assert_int_equal(n, 0);
}

static void a_weight_counts_gpus_or_else_cpus(void **state)
{
	OWN(arena) a = arena_new();
	const struct resources gpus = worlds_resources(a, "cpu=64," GPU "=8"),
			       cpus = worlds_resources(a, "cpu=50"),
			       none = worlds_resources(a, "memory=1Gi");

	(void)state;
	assert_true(reclaim_weight_of(&gpus) == 8000);
	assert_true(reclaim_weight_of(&cpus) == 500);
	assert_true(reclaim_weight_of(&none) == 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_machines_of_a_gang_are_one_unit),
		cmocka_unit_test(a_gang_with_a_pod_elsewhere_bars_its_unit),
		cmocka_unit_test(a_machine_that_must_stay_is_barred),
		cmocka_unit_test(a_pod_that_saves_its_work_loses_none),
		cmocka_unit_test(a_pool_that_never_reclaims_has_no_candidates),
		cmocka_unit_test(a_weight_counts_gpus_or_else_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
