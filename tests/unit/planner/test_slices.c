#include "tests/unit/testing.h"

#include <string.h>
#include "base/str.h"
#include "tests/unit/planner/worlds.h"

#define SLICE 100000
#define TERMS 32

static struct world *world_with_two(struct arena *a)
{
	struct world *w = worlds_new(a);
	struct world_tenant bad = worlds_tenant(a);
	struct world_machine m = worlds_machine("m-1", "small");

	bad.name = "bad";
	bad.priority = 100; /* This tenant's pods come before all others. */
	world_put_tenant(w, &bad);
	world_put_machine(w, &m);
	return w;
}

/* Puts n pods that all have different topology constraints, so that the planner must compare each
 * with each. */
static void put_hostile(struct world *w, unsigned n, const char *requests, const char *key)
{
	for (unsigned i = 0; i < n; i++) {
		OWN(arena) tmp = arena_new();
		struct world_pod p = worlds_pod(tmp, arena_printf(tmp, "p%05u", i), requests);
		struct world_topology t[TERMS];

		p.tenant = "bad";
		for (unsigned k = 0; k < TERMS; k++)
			t[k] = (struct world_topology){
				.kind = WORLD_APART,
				.key = key ? key : arena_printf(tmp, "key-%u", k),
				.pods = worlds_term(tmp,
						    arena_printf(tmp, "app in (x%u-%u)", i, k))};
		p.topology.v = t;
		p.topology.n = TERMS;
		world_put_pod(w, &p);
	}
}

struct made {
	struct plan *plan;
	unsigned slices;
};

static struct made make(struct world *w, struct arena *a)
{
	struct plan_run *r = plan_begin(w, 0, a);
	struct made m = {0};

	while (!(m.plan = plan_step(r, SLICE)))
		m.slices++;
	plan_end(r);
	return m;
}

static size_t count(const struct plan *p, const char *tenant, enum plan_reason_code code)
{
	size_t n = 0;

	for (size_t i = 0; i < p->npods; i++)
		n += str_eq(p->pods[i].tenant, tenant) && p->pods[i].outcome == PLAN_NOTHING &&
		     p->pods[i].reasons[0].code == code;
	return n;
}

static void one_tenant_has_so_much_work_and_no_more(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_with_two(a);
	struct world_pod good = worlds_pod(a, "good", "cpu=1");
	struct made m;

	(void)state;
	put_hostile(w, 1000, "cpu=8", "kubernetes.io/hostname");
	world_put_pod(w, &good);
	m = make(w, a);
	assert_true(count(m.plan, "bad", PLAN_NO_MACHINE) > 100);
	assert_true(count(m.plan, "bad", PLAN_OVER_BUDGET) > 500);
	assert_string_equal(worlds_pod_text(m.plan, "good", a), "new 0 on m-1");
	/* A plan exceeds the limit by the work of at most one pod. */
	assert_true(m.slices > 1 && m.slices < 2 * PLAN_WORK / SLICE);
}

static void what_fits_is_planned(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_with_two(a);
	struct made m;

	(void)state;
	put_hostile(w, 10, "cpu=1", "kubernetes.io/hostname");
	m = make(w, a);
	assert_int_equal(count(m.plan, "bad", PLAN_OVER_BUDGET), 0);
	assert_int_equal(m.plan->nclaims, 1);
}

static void many_topology_keys_are_too_many(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_with_two(a);
	struct world_pod good = worlds_pod(a, "good", "cpu=1"),
			 plain = worlds_pod(a, "plain", "cpu=1");
	struct world_machine second = worlds_machine("m-2", "small");
	struct made m;

	(void)state;
	put_hostile(w, 1, "cpu=1", NULL);
	plain.tenant = "bad";
	world_put_machine(w, &second);
	world_put_pod(w, &plain);
	world_put_pod(w, &good);
	m = make(w, a);
	assert_int_equal(count(m.plan, "bad", PLAN_OVER_BUDGET), 1);
	assert_string_equal(worlds_pod_text(m.plan, "plain", a), "new 0 on m-1");
	assert_string_equal(worlds_pod_text(m.plan, "good", a), "new 1 on m-2");
}

/* No two pods are alike, so each pod must be compared with each node. */
static void selectors_are_work_too(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_with_two(a);
	struct world_pod good = worlds_pod(a, "good", "cpu=1");
	struct made m;

	(void)state;
	for (unsigned i = 0; i < 500; i++) {
		struct world_node n = worlds_node(a, arena_printf(a, "n%u", i));

		n.tenant = "bad";
		world_put_node(w, &n);
	}
	for (unsigned i = 0; i < 3000; i++) {
		OWN(arena) tmp = arena_new();
		struct world_pod p = worlds_pod(tmp, arena_printf(tmp, "p%u", i), "cpu=1");
		struct label want[4];

		p.tenant = "bad";
		for (unsigned k = 0; k < 4; k++)
			want[k] = (struct label){arena_printf(tmp, "k%u", k),
						 arena_printf(tmp, "v%u", i)};
		p.node_selector = (struct labels){want, 4};
		world_put_pod(w, &p);
	}
	world_put_pod(w, &good);
	m = make(w, a);
	assert_true(count(m.plan, "bad", PLAN_OVER_BUDGET) > 100);
	assert_true(count(m.plan, "bad", PLAN_REQUIREMENTS) > 100);
	assert_string_equal(worlds_pod_text(m.plan, "good", a), "new 0 on m-1");
	assert_true(m.slices < 2 * PLAN_WORK / SLICE);
}

enum { POOLS = 50, TYPES = 60, MACHINES = 3 * TYPES };

/* Returns a world of many pools that all have the machines of one Provider: three machines, in
 * three zones, of each of many types, which differ only in their names. */
static struct world *world_of_pools(struct arena *a)
{
	struct world *w = worlds_new(a);
	struct world_provider pr = worlds_provider(a);
	struct world_pool pool = worlds_pool(a);

	pr.types.v = arena_calloc(a, TYPES, sizeof(*pr.types.v));
	for (pr.types.n = 0; pr.types.n < TYPES; pr.types.n++)
		pr.types.v[pr.types.n] = (struct world_instance_type){
			.name = arena_printf(a, "t%zu", pr.types.n),
			.capacity = worlds_resources(a, "cpu=4,memory=64Gi,pods=100")};
	world_put_provider(w, &pr);
	for (int i = 0; i < POOLS; i++) {
		pool.name = arena_printf(a, "pool-%d", i);
		world_put_pool(w, &pool);
	}
	for (int i = 0; i < MACHINES; i++) {
		struct world_machine m =
			worlds_machine(arena_printf(a, "m%d", i), arena_printf(a, "t%d", i / 3));

		m.labels =
			worlds_labels(a, arena_printf(a, "topology.kubernetes.io/zone=z%d", i % 3));
		world_put_machine(w, &m);
	}
	return w;
}

/* Puts the pods from `from` to `to` of apps of 10 pods, spread over zones and apart on hosts. Only
 * a few of them find a machine. differ: all have different requests. */
static void put_apps(struct world *w, unsigned from, unsigned to, bool differ)
{
	for (unsigned i = from; i < to; i++) {
		OWN(arena) a = arena_new();
		const char *app = arena_printf(a, "app=a%u", i / 10);
		struct world_pod p =
			worlds_pod(a, arena_printf(a, "p%05u", i),
				   arena_printf(a, "cpu=1,memory=%uKi", differ ? i + 1 : 1));
		struct world_topology t[] = {
			{.kind = WORLD_SPREAD, .key = "topology.kubernetes.io/zone", .max_skew = 1},
			{.kind = WORLD_APART, .key = "kubernetes.io/hostname"}};

		p.labels = worlds_labels(a, app);
		t[0].pods = t[1].pods = worlds_term(a, arena_printf(a, "app in (a%u)", i / 10));
		p.topology.v = t;
		p.topology.n = 2;
		world_put_pod(w, &p);
	}
}

static size_t placed(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->npods; i++)
		n += p->pods[i].outcome != PLAN_NOTHING;
	return n;
}

/* The work for pods that cannot be placed leaves enough for those that can: what is placed does not
 * become less with the number of pods that ask. */
static void pods_that_ask_in_vain_do_not_displace_others(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_of_pools(a);
	size_t first;

	(void)state;
	put_apps(w, 0, 1000, true);
	first = placed(plan_make(w, 0, a));
	assert_true(first > 60);
	for (unsigned n = 1000; n <= 8000; n *= 2) {
		OWN(arena) tmp = arena_new();

		put_apps(w, n, 2 * n, true);
		assert_int_equal(placed(plan_make(w, 0, tmp)), first);
	}
}

static uint64_t work_of(struct world *w)
{
	OWN(arena) a = arena_new();
	struct plan_run *r = plan_begin(w, 0, a);
	uint64_t work;

	(void)plan_step(r, UINT64_MAX);
	work = plan_work(r);
	plan_end(r);
	return work;
}

/* Once no machine is left for a pod, none is searched for equal pods, whatever their topology
 * constraints. */
static void no_machine_is_searched_where_none_is_left(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_of_pools(a);
	uint64_t before;

	(void)state;
	put_apps(w, 0, 2000, false);
	before = work_of(w);
	put_apps(w, 2000, 4000, false);
	assert_true((work_of(w) - before) / 2000 < 500);
}

/* Checking every node and claim once, at the beginning of a plan, is divided into slices as
 * well. */
static void many_nodes_and_claims_are_looked_at_in_slices(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_with_two(a);
	struct world_pod good = worlds_pod(a, "good", "cpu=1");
	struct made m;

	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		struct world_node n = worlds_node(a, arena_printf(a, "n%u", i));
		struct world_claim c =
			worlds_claim(a, arena_printf(a, "c%u", i), arena_printf(a, "busy-%u", i));

		n.tenant = c.tenant = "bad";
		world_put_node(w, &n);
		world_put_claim(w, &c);
	}
	world_put_pod(w, &good);
	m = make(w, a);
	assert_string_equal(worlds_pod_text(m.plan, "good", a), "new 0 on m-1");
	assert_true(m.slices >= 5);
}

static void where_nobody_waits_nothing_is_looked_at(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_with_two(a);
	struct world_pod bound = worlds_pod(a, "bound", "cpu=1"),
			 unmarked = worlds_pod(a, "unmarked", "cpu=1"),
			 daemon = worlds_pod(a, "daemon", "cpu=1");
	struct plan_run *r;
	struct plan *p;

	(void)state;
	bound.node = "n";
	unmarked.unschedulable = false;
	daemon.daemon = true;
	world_put_pod(w, &bound);
	world_put_pod(w, &unmarked);
	world_put_pod(w, &daemon);
	for (unsigned i = 0; i < 1000; i++) {
		struct world_claim c =
			worlds_claim(a, arena_printf(a, "c%u", i), arena_printf(a, "m-%u", i));

		world_put_claim(w, &c);
	}
	r = plan_begin(w, 0, a);
	p = plan_step(r, 1);
	assert_non_null(p);
	assert_int_equal(p->npods, 0);
	assert_int_equal(p->nclaims, 0);
	assert_int_equal(plan_work(r), 0);
	plan_end(r);
}

static void a_plan_may_be_given_up(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_with_two(a);
	struct plan_run *r;

	(void)state;
	put_hostile(w, 10, "cpu=1", "kubernetes.io/hostname");
	r = plan_begin(w, 0, a);
	assert_null(plan_step(r, 1));
	plan_end(r);
	assert_int_equal(plan_make(w, 0, a)->npods, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_tenant_has_so_much_work_and_no_more),
		cmocka_unit_test(what_fits_is_planned),
		cmocka_unit_test(many_topology_keys_are_too_many),
		cmocka_unit_test(selectors_are_work_too),
		cmocka_unit_test(pods_that_ask_in_vain_do_not_displace_others),
		cmocka_unit_test(no_machine_is_searched_where_none_is_left),
		cmocka_unit_test(many_nodes_and_claims_are_looked_at_in_slices),
		cmocka_unit_test(where_nobody_waits_nothing_is_looked_at),
		cmocka_unit_test(a_plan_may_be_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
