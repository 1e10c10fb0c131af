/*
 * test_budget: a tenant that asks for more gets no less. Pods that come last in the queue displace
 * no pod before them, even if the tenant's work units (PLAN_WORK) do not suffice for all of them.
 *
 * That holds for each single pod if all machines are of one type. With several types, the pods that
 * wait also decide which type is chosen; then a pod may lose its place to others. In a pool that
 * saves nodes room is reserved for pods behind, so a pod may get another machine; and where all
 * pods had one, but more would need more machines than there are, the plan is made without reserved
 * room, which may need one more for the same pods. The number of pods that are placed does not
 * fall.
 */
#include "tests/unit/testing.h"

#include "base/str.h"
#include "tests/bench/plan_world.h"
#include "tests/unit/planner/worlds.h"

#define ZONE "topology.kubernetes.io/zone"
#define HOST "kubernetes.io/hostname"
#define TERMS 32

static size_t placed(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->npods; i++)
		n += p->pods[i].outcome != PLAN_NOTHING;
	return n;
}

/* --- one tenant with up to 160,000 pods and 50 pools ------------------------------------------ */

/* Puts the pods from `from` to `to` of apps of 10 pods, spread over zones and apart on hosts; each
 * requests more than the one before. */
static void put_apps(struct world *w, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		char name[32], app[32];
		const char *own = app;
		struct label label = {"app", app};
		struct requirement of = {"app", SELECTOR_IN, &own, 1};
		struct world_topology t[] = {
			{.kind = WORLD_SPREAD, .key = ZONE, .max_skew = 1, .pods = {&of, 1}},
			{.kind = WORLD_APART, .key = HOST, .pods = {&of, 1}}};
		struct resource requests[] = {{"cpu", bench_milli(500 + i)},
					      {"memory", quantity_of(256 * BENCH_MIB)}};

		(void)str_format(app, sizeof(app), "app-%u", i / 10);
		(void)str_format(name, sizeof(name), "pod-%06u", i);
		world_put_pod(w, &(struct world_pod){.tenant = "t",
						     .ns = "default",
						     .name = name,
						     .uid = name,
						     .unschedulable = true,
						     .requests = {requests, 2},
						     .labels = {&label, 1},
						     .topology = {t, 2}});
	}
}

/* Plans for 50 pools that share `machines` machines in each of three zones, for each number of pods
 * in `sizes`. Returns how many of the last number of pods are placed. */
static size_t place_more(unsigned machines, const unsigned *sizes, size_t n)
{
	OWN(world) w = bench_world_of(machines, BENCH_TYPES, 50, WORLD_EXPANDER_LEAST_COST);
	unsigned had = 0;
	size_t before = 0;

	for (size_t i = 0; i < n; i++) {
		OWN(arena) a = arena_new();
		size_t now;

		put_apps(w, had, sizes[i]);
		had = sizes[i];
		now = placed(plan_make(w, 0, a));
		print_message("%u pods: %zu placed\n", had, now);
		assert_true(now >= before);
		before = now;
	}
	return before;
}

static void what_is_placed_never_becomes_less(void **state)
{
	static const unsigned sizes[] = {2500, 5000, 10000, 20000, 40000, 160000};

	(void)state;
	assert_true(place_more(50, sizes, sizeof(sizes) / sizeof(*sizes)) > 2000);
}

/* Placing has all its work units, even if recording has used up its own. */
static void what_is_recorded_does_not_displace_what_is_placed(void **state)
{
	static const unsigned sizes[] = {7000, 60000};

	(void)state;
	assert_true(place_more(120, sizes, sizeof(sizes) / sizeof(*sizes)) > 5000);
}

static void put_plain(struct world *w, const char *prefix, const char *resource, unsigned i,
		      int64_t milli, int64_t since)
{
	struct resource requests[] = {{resource, bench_milli(milli)}};
	char name[32];

	(void)str_format(name, sizeof(name), "%s-%06u", prefix, i);
	world_put_pod(w, &(struct world_pod){.tenant = "t",
					     .ns = "default",
					     .name = name,
					     .uid = name,
					     .unschedulable = true,
					     .since = since,
					     .requests = {requests, 1}});
}

/* The work for pods for which no machine is large enough leaves enough for those behind them. */
static void large_pods_in_vain_leave_work_for_small_ones(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = bench_world(50, BENCH_TYPES, 50);
	const struct plan *p;

	(void)state;
	put_plain(w, "odd", "example.com/none", 0, 1, 1);
	for (unsigned i = 0; i < 20000; i++)
		put_plain(w, "large", "cpu", i, 60000 + i, 2);
	for (unsigned i = 0; i < 100; i++)
		put_plain(w, "small", "cpu", i, 500 + i, 3);
	p = plan_make(w, 0, a);
	assert_int_equal(placed(p), 100);
	assert_int_equal(p->pods[0].reasons[0].code, PLAN_TOO_BIG);
	assert_int_equal(p->pods[1].reasons[0].code, PLAN_NO_MACHINE);
	assert_int_equal(p->pods[20000].reasons[0].code, PLAN_OVER_BUDGET);
}

/* --- a pod with too many topology keys -------------------------------------------------------- */

/* Gives pod *p constraints of its own with more topology keys than a tenant may have. */
static void give_keys(struct world_pod *p, struct arena *a)
{
	struct world_topology *t = arena_calloc(a, TERMS, sizeof(*t));

	for (unsigned k = 0; k < TERMS; k++)
		t[k] = (struct world_topology){.kind = WORLD_APART,
					       .key = arena_printf(a, "key-%u", k),
					       .pods = worlds_term(a, "app in (x)")};
	p->topology.v = t;
	p->topology.n = TERMS;
}

static void a_gang_with_a_pod_beyond_the_budget_is_not_placed(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_machine m = worlds_machine("m", "small");
	struct world_pod first = worlds_pod(a, "first", "cpu=1"),
			 second = worlds_pod(a, "second", "cpu=1"),
			 alone = worlds_pod(a, "alone", "cpu=1");

	(void)state;
	first.gang.key = second.gang.key = "job";
	first.gang.min = second.gang.min = 2;
	give_keys(&second, a);
	world_put_machine(w, &m);
	world_put_pod(w, &first);
	world_put_pod(w, &second);
	world_put_pod(w, &alone);
	assert_non_null(strstr(worlds_pod_text(plan_make(w, 0, a), "first", a), "OverBudget"));
	assert_non_null(strstr(worlds_pod_text(plan_make(w, 0, a), "second", a), "OverBudget"));
	assert_string_equal(worlds_pod_text(plan_make(w, 0, a), "alone", a), "new 0 on m");
}

static void a_pod_beyond_the_budget_gets_no_planned_place(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_claim c = worlds_claim(a, "c", "m");
	struct world_node n = worlds_node(a, "n");
	struct world_pod claimed = worlds_pod(a, "claimed", "cpu=1"),
			 nominated = worlds_pod(a, "nominated", "cpu=1");
	const char *pods[] = {"claimed"};

	(void)state;
	c.pods = pods;
	c.npods = 1;
	n.labels = worlds_labels(a, WORLD_NODE_NAME "=n");
	nominated.nominated = "n";
	give_keys(&claimed, a);
	give_keys(&nominated, a);
	world_put_claim(w, &c);
	world_put_node(w, &n);
	world_put_pod(w, &claimed);
	world_put_pod(w, &nominated);
	assert_non_null(strstr(worlds_pod_text(plan_make(w, 0, a), "claimed", a), "OverBudget"));
	assert_non_null(strstr(worlds_pod_text(plan_make(w, 0, a), "nominated", a), "OverBudget"));
}

/* --- random worlds ---------------------------------------------------------------------------- */

static unsigned below(uint64_t *s, unsigned n)
{
	return (unsigned)(bench_next(s) >> 33) % n;
}

static void put_machines(struct world *w, struct arena *a, uint64_t *s)
{
	const unsigned n = 4 + below(s, 12);

	for (unsigned i = 0; i < n; i++) {
		struct world_machine m = worlds_machine(arena_printf(a, "m%02u", i), "small");

		m.labels = worlds_labels(a, arena_printf(a, ZONE "=z%u", below(s, 3)));
		world_put_machine(w, &m);
	}
}

static void put_nodes(struct world *w, struct arena *a, uint64_t *s)
{
	const unsigned n = below(s, 5);

	for (unsigned i = 0; i < n; i++) {
		struct world_node x = worlds_node(a, arena_printf(a, "n%u", i));
		struct world_pod p = worlds_pod(a, arena_printf(a, "bound-%u", i), "cpu=1");

		x.labels =
			worlds_labels(a, arena_printf(a, ZONE "=z%u," HOST "=n%u", below(s, 3), i));
		p.node = x.name;
		p.labels = worlds_labels(a, arena_printf(a, "app=x%u", below(s, 4)));
		world_put_node(w, &x);
		world_put_pod(w, &p);
	}
}

/* Numbers of the pods that a spread over zones or an affinity may restrict until others are placed:
 * their turn may come after all others. */
static bool last[8192];

static bool is_last(const struct plan_pod *x)
{
	int64_t i = 0;

	return str_to_i64(x->name + 1, 0, 8191, &i) && last[i];
}

/* Puts pod number i with random requests and at most one random constraint; i is also its position
 * in the queue. */
static void put_random(struct world *w, unsigned i, uint64_t *s)
{
	static const char *const sizes[] = {"cpu=300m", "cpu=1", "cpu=2", "cpu=3,memory=1Gi"};
	static const struct world_topology kinds[] = {
		{.kind = WORLD_SPREAD, .key = ZONE, .max_skew = 1},
		{.kind = WORLD_SPREAD, .key = HOST, .max_skew = 2},
		{.kind = WORLD_APART, .key = HOST},
		{.kind = WORLD_TOGETHER, .key = ZONE}};
	OWN(arena) a = arena_new();
	const unsigned app = below(s, 4), kind = below(s, 6);
	struct world_pod p = worlds_pod(a, arena_printf(a, "p%05u", i), sizes[below(s, 4)]);
	struct world_topology t = kinds[kind % 4];

	p.labels = worlds_labels(a, arena_printf(a, "app=x%u", app));
	t.pods = worlds_term(a, arena_printf(a, "app in (x%u)", app));
	p.topology.v = &t;
	p.topology.n = kind < 4;
	last[i] = kind == 0 || kind == 3;
	p.since = 1000 + i;
	world_put_pod(w, &p);
}

/* Puts pod number i with constraints that no other pod has, which cost much work. */
static void put_costly(struct world *w, unsigned i)
{
	OWN(arena) a = arena_new();
	struct world_pod p = worlds_pod(a, arena_printf(a, "p%05u", i), "cpu=1");
	struct world_topology t[TERMS];

	for (unsigned k = 0; k < TERMS; k++)
		t[k] = (struct world_topology){
			.kind = WORLD_APART,
			.key = HOST,
			.pods = worlds_term(a, arena_printf(a, "app in (y%u-%u)", i, k))};
	p.topology.v = t;
	p.topology.n = TERMS;
	p.since = 1000 + i;
	world_put_pod(w, &p);
}

/* Puts pod number i with a constraint that no other pod has, and that must be compared with each
 * pod, because it excludes a label value. */
static void put_compared(struct world *w, unsigned i)
{
	OWN(arena) a = arena_new();
	struct world_pod p = worlds_pod(a, arena_printf(a, "p%05u", i), "cpu=10m");
	struct world_topology t = {.kind = WORLD_SPREAD,
				   .key = HOST,
				   .max_skew = 10000,
				   .pods = worlds_term(a, arena_printf(a, "app notin (y%u)", i))};

	p.topology.v = &t;
	p.topology.n = 1;
	p.labels = worlds_labels(a, arena_printf(a, "app=z%u", i));
	p.since = 1000 + i;
	world_put_pod(w, &p);
}

enum cost { CHEAP, COSTLY, COMPARED };

/* Puts the pods from `from` to `to`. If they are not cheap, one in two has constraints that cost
 * much work. */
static void put_pods(struct world *w, unsigned from, unsigned to, enum cost cost, uint64_t *s)
{
	for (unsigned i = from; i < to; i++) {
		last[i] = false;
		if (cost == COSTLY && below(s, 2))
			put_costly(w, i);
		else if (cost == COMPARED && below(s, 2))
			put_compared(w, i);
		else
			put_random(w, i, s);
	}
}

static const char *machine_of(const struct plan *p, const struct plan_pod *x)
{
	return x->outcome == PLAN_ON_NEW ? p->claims[x->new_claim].machine : x->target;
}

/* Returns the number of pods whose turn may come after all others and that have another place in
 * plan `after`. A pod behind them that is bound to a Node first (early.h) has such an effect. */
static size_t last_moved(const struct plan *before, const struct plan *after)
{
	size_t n = 0;

	for (size_t i = 0; i < before->npods; i++) {
		const struct plan_pod *x = &before->pods[i], *y = &after->pods[i];

		n += is_last(x) && x->outcome != PLAN_NOTHING &&
		     (x->outcome != y->outcome ||
		      !str_eq(machine_of(before, x), machine_of(after, y)));
	}
	return n;
}

static size_t lost(const struct plan *before, const struct plan *after)
{
	size_t n = 0;

	for (size_t i = 0; i < before->npods; i++)
		n += before->pods[i].outcome != PLAN_NOTHING &&
		     after->pods[i].outcome == PLAN_NOTHING;
	return n;
}

/* Asserts that pods keep their places, as far as the expander lets them (see above). Returns false
 * if pods of last_moved() moved: then only as many others may lose their places, and as many pods
 * as before must have one. */
static bool assert_none_lost(const struct plan *before, const struct plan *after,
			     enum world_expander expander)
{
	assert_true(after->npods >= before->npods);
	assert_true(placed(after) >= placed(before));
	if (last_moved(before, after)) {
		assert_true(lost(before, after) <= last_moved(before, after));
		return false;
	}
	for (size_t i = 0; i < before->npods; i++) {
		const struct plan_pod *x = &before->pods[i], *y = &after->pods[i];

		assert_string_equal(x->name, y->name);
		if (x->outcome == PLAN_NOTHING || is_last(x))
			continue;
		if (expander == WORLD_EXPANDER_LEAST_COST) {
			assert_int_equal(x->outcome, y->outcome);
			assert_string_equal(machine_of(before, x), machine_of(after, y));
		}
		if (placed(before) < before->npods)
			assert_int_not_equal(y->outcome, PLAN_NOTHING);
	}
	return true;
}

/* Plans a random world, with more and more pods at the end of the queue. Returns the number of
 * plans in which last_moved(). */
static unsigned ask_for_more(uint64_t seed, enum world_expander expander, const unsigned *sizes,
			     size_t n, enum cost cost)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pool pool = worlds_pool(a);
	uint64_t s = seed;
	unsigned had = 0, moved = 0;
	const struct plan *before = NULL;

	for (int i = 0; i < 8; i++)
		(void)bench_next(&s);
	pool.expander = expander;
	world_put_pool(w, &pool);
	put_machines(w, a, &s);
	put_nodes(w, a, &s);
	for (size_t i = 0; i < n; i++) {
		const struct plan *now;

		put_pods(w, had, sizes[i], cost, &s);
		had = sizes[i];
		now = plan_make(w, 0, a);
		assert_true(placed(now) > 0);
		if (before)
			moved += !assert_none_lost(before, now, expander);
		before = now;
	}
	return moved;
}

static void a_pod_keeps_its_place_whatever_comes_behind_it(void **state)
{
	static const unsigned sizes[] = {10, 20, 40, 80};
	unsigned moved = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++)
		for (int e = WORLD_EXPANDER_LEAST_NODES; e <= WORLD_EXPANDER_LEAST_COST; e++)
			moved += ask_for_more(seed, (enum world_expander)e, sizes,
					      sizeof(sizes) / sizeof(*sizes), CHEAP);
	assert_in_range(moved, 0, 120);
}

static void a_pod_keeps_its_place_when_the_budget_ends(void **state)
{
	static const unsigned few[] = {40, 400, 1200}, many[] = {40, 1000, 6000};
	unsigned moved = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		const enum world_expander e =
			seed % 2 ? WORLD_EXPANDER_LEAST_NODES : WORLD_EXPANDER_LEAST_COST;

		moved += ask_for_more(seed, e, few, sizeof(few) / sizeof(*few), COSTLY);
		moved += ask_for_more(seed, e, many, sizeof(many) / sizeof(*many), COMPARED);
	}
	assert_in_range(moved, 0, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_placed_never_becomes_less),
		cmocka_unit_test(what_is_recorded_does_not_displace_what_is_placed),
		cmocka_unit_test(large_pods_in_vain_leave_work_for_small_ones),
		cmocka_unit_test(a_gang_with_a_pod_beyond_the_budget_is_not_placed),
		cmocka_unit_test(a_pod_beyond_the_budget_gets_no_planned_place),
		cmocka_unit_test(a_pod_keeps_its_place_whatever_comes_behind_it),
		cmocka_unit_test(a_pod_keeps_its_place_when_the_budget_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
