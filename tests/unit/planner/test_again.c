/*
 * test_again: plans small random worlds twice, the second time with the claims of the first plan
 * and with its pods on Nodes running. A pod that got nothing must not find a place there: the first
 * plan should have placed it. The pods of claims must stay on them.
 *
 * AGAIN_WORLDS=100000 sets the number of worlds (3000). Of 100,000 worlds, 29 change: a claim's pod
 * gets another claim or nothing; in 3 of these a pod that got nothing finds a place. The last cases
 * show the smallest worlds of two kinds of plans that are not the best possible.
 */
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

#define ZONE "topology.kubernetes.io/zone"
#define HOST "kubernetes.io/hostname"

enum { WORLDS = 3000, NODES = 3, MACHINES = 6, PODS = 8, RULES = 2 };
static const char *const apps[] = {"x", "y"};

static uint64_t next(uint64_t *s)
{
	*s ^= *s << 13; /* source: xorshift64, Marsaglia 2003 */
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static void put_capacity(struct world *w, struct arena *a, uint64_t *s)
{
	const size_t nodes = next(s) % NODES, machines = 1 + next(s) % MACHINES;

	for (size_t i = 0; i < nodes; i++) {
		struct world_node n = worlds_node(a, arena_printf(a, "n%zu", i));

		n.allocatable = worlds_resources(
			a, arena_printf(a, "cpu=%d,pods=9", 1 + (int)(next(s) % 5)));
		n.labels = worlds_labels(
			a, arena_printf(a, HOST "=n%zu," ZONE "=%d", i, (int)(next(s) % 2)));
		world_put_node(w, &n);
	}
	for (size_t i = 0; i < machines; i++) {
		struct world_machine m =
			worlds_machine(arena_printf(a, "m%zu", i), next(s) % 3 ? "small" : "big");

		m.labels = worlds_labels(a, arena_printf(a, ZONE "=%d", (int)(next(s) % 2)));
		world_put_machine(w, &m);
	}
}

/* Puts the pods. before: an earlier plan, whose pods on Nodes run there; NULL: none. */
static void put_pods(struct world *w, struct arena *a, uint64_t *s, const struct plan *before)
{
	static const enum world_topology_kind kinds[] = {WORLD_SPREAD, WORLD_APART, WORLD_TOGETHER};
	struct world_topology *rules = arena_calloc(a, RULES, sizeof(*rules));
	const size_t pods = 1 + next(s) % PODS;

	for (size_t i = 0; i < RULES; i++) {
		rules[i] = (struct world_topology){.kind = kinds[next(s) % 3],
						   .key = next(s) % 2 ? ZONE : HOST,
						   .max_skew = 1};
		rules[i].pods = worlds_term(a, arena_printf(a, "app in (%s)", apps[next(s) % 2]));
	}
	for (size_t i = 0; i < pods; i++) {
		struct world_pod p = worlds_pod(a, arena_printf(a, "p%zu", i),
						arena_printf(a, "cpu=%d", 1 + (int)(next(s) % 4)));
		const size_t rule = next(s) % (2 * RULES);

		p.labels = worlds_labels(a, arena_printf(a, "app=%s", apps[next(s) % 2]));
		p.topology.v = &rules[rule % RULES];
		p.topology.n = rule < RULES;
		if (before && before->pods[i].outcome == PLAN_ON_NODE) {
			p.node = before->pods[i].target;
			p.unschedulable = false;
		}
		world_put_pod(w, &p);
	}
}

static struct world *make(struct arena *a, uint64_t seed, const struct plan *before)
{
	uint64_t s = seed * UINT64_C(0x9e3779b97f4a7c15);
	struct world *w = worlds_new(a);
	struct world_pool pool = worlds_pool(a);

	pool.expander = next(&s) % 2 ? WORLD_EXPANDER_LEAST_NODES : WORLD_EXPANDER_LEAST_COST;
	world_put_pool(w, &pool);
	put_capacity(w, a, &s);
	put_pods(w, a, &s, before);
	for (size_t i = 0; before && i < before->nclaims; i++) {
		const struct plan_claim *x = &before->claims[i];
		struct world_claim c = worlds_claim(a, arena_printf(a, "c%zu", i), x->machine);

		c.instance_type = x->instance_type;
		c.capacity = worlds_resources(a, str_eq(x->instance_type, "small")
							 ? "cpu=4,memory=8Gi,pods=10"
							 : "cpu=16,memory=64Gi,pods=110");
		c.created_ms = 1000 + (int64_t)i;
		c.pods = x->pods;
		c.npods = x->npods;
		world_put_claim(w, &c);
	}
	return w;
}

static const struct plan_pod *pod_of(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->npods; i++)
		if (str_eq(p->pods[i].name, name))
			return &p->pods[i];
	fail_msg("the second plan lacks pod %s", name);
	return NULL;
}

/* True if all pods of the first plan's claims are on the same claims in the second plan. Pods that
 * run on Nodes come first there, so constraints may admit pods elsewhere. */
static bool all_stay(const struct plan *p, const struct plan *again)
{
	for (size_t i = 0; i < p->npods; i++)
		if (p->pods[i].outcome == PLAN_ON_NEW) {
			const struct plan_pod *x = pod_of(again, p->pods[i].name);

			if (x->outcome != PLAN_ON_CLAIM ||
			    strtoul(x->target + 1, NULL, 10) != p->pods[i].new_claim)
				return false;
		}
	return true;
}

static uint64_t worlds_wanted(void)
{
	const char *text = getenv("AGAIN_WORLDS");
	int64_t n = WORLDS;

	assert_true(!text || str_to_i64(text, 1, 10000000, &n));
	return (uint64_t)n;
}

static void no_pod_is_left_that_the_next_plan_places(void **state)
{
	const uint64_t worlds = worlds_wanted();
	size_t left = 0, moved = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= worlds; seed++) {
		OWN(arena) a = arena_new();
		OWN(world) w = make(a, seed, NULL);
		const struct plan *p = plan_make(w, 0, a), *again;
		OWN(world) then = make(a, seed, p);

		again = plan_make(then, 0, a);
		if (!all_stay(p, again)) {
			moved++;
			continue;
		}
		for (size_t i = 0; i < p->npods; i++) {
			if (p->pods[i].outcome != PLAN_NOTHING)
				continue;
			left++;
			if (pod_of(again, p->pods[i].name)->outcome != PLAN_NOTHING)
				fail_msg("world %llu: pod %s\n%s", (unsigned long long)seed,
					 p->pods[i].name, worlds_text(again, a));
		}
	}
	print_message("%zu of %llu worlds change\n", moved, (unsigned long long)worlds);
	assert_true(left > worlds / 4);
	assert_in_range(moved, 0, worlds / 1000);
}

/* --- single worlds ---------------------------------------------------------------------------- */

/* A world whose pool saves machines (LeastNodes). */
struct small {
	struct arena *a;
	struct world *w;
};

static struct small small_new(void)
{
	struct arena *a = arena_new();
	struct small s = {a, worlds_new(a)};
	struct world_pool pool = worlds_pool(a);

	pool.expander = WORLD_EXPANDER_LEAST_NODES;
	world_put_pool(s.w, &pool);
	return s;
}

static void small_done(struct small *s)
{
	world_free(s->w);
	arena_free(s->a);
}

static void node(const struct small *s, const char *name, const char *zone, const char *allocatable)
{
	struct world_node n = worlds_node(s->a, name);

	n.allocatable = worlds_resources(s->a, allocatable);
	n.labels = worlds_labels(s->a, arena_printf(s->a, HOST "=%s," ZONE "=%s", name, zone));
	world_put_node(s->w, &n);
}

static void machine(const struct small *s, const char *name, const char *type, const char *zone)
{
	struct world_machine m = worlds_machine(name, type);

	m.labels = worlds_labels(s->a, arena_printf(s->a, ZONE "=%s", zone));
	world_put_machine(s->w, &m);
}

/* Puts a pod with label app. key NULL: the pod has no rule; otherwise a rule of this kind about the
 * pods with app=of. */
static void pod(const struct small *s, const char *name, const char *cpu, const char *app,
		enum world_topology_kind kind, const char *key, const char *of)
{
	struct world_pod p = worlds_pod(s->a, name, arena_printf(s->a, "cpu=%s", cpu));
	struct world_topology t = {.kind = kind, .key = key, .max_skew = 1};

	p.labels = worlds_labels(s->a, arena_printf(s->a, "app=%s", app));
	if (key)
		t.pods = worlds_term(s->a, arena_printf(s->a, "app in (%s)", of));
	p.topology.v = &t;
	p.topology.n = key != NULL;
	world_put_pod(s->w, &p);
}

static void is_planned(const struct small *s, const struct plan *p, const char *name,
		       const char *text)
{
	const char *is = worlds_pod_text(p, name, s->a);

	if (!strstr(is, text))
		fail_msg("pod %s: %s, not %s", name, is, text);
}

/* kube-scheduler binds b to n0 at once. Then zone 0 has one pod more than zone 1, and a may not
 * come there. */
static void a_pod_that_is_bound_at_once_counts_before_one_that_waits_for_a_machine(void **state)
{
	struct small s = small_new();
	const struct plan *p;

	(void)state;
	node(&s, "n0", "0", "cpu=1,pods=9");
	node(&s, "n1", "1", "cpu=0,pods=9");
	machine(&s, "m0", "small", "0");
	pod(&s, "a", "4", "x", WORLD_SPREAD, ZONE, "x");
	pod(&s, "b", "1", "x", WORLD_SPREAD, NULL, NULL);
	p = plan_make(s.w, 0, s.a);
	is_planned(&s, p, "b", "node n0");
	is_planned(&s, p, "a", "TopologyNotMet");
	assert_int_equal(p->nclaims, 0);
	small_done(&s);
}

/* Without m0, both pods would be on n0. But zone 1, in which a machine is free, counts as an empty
 * domain of the spread, as it would for Karpenter: otherwise pods would never spread to a zone
 * without Nodes. */
static void a_spread_may_open_a_machine_for_the_sake_of_its_zone(void **state)
{
	struct small s = small_new();
	const struct plan *p;

	(void)state;
	node(&s, "n0", "0", "cpu=4,pods=9");
	machine(&s, "m0", "small", "1");
	pod(&s, "a", "1", "x", WORLD_SPREAD, NULL, NULL);
	pod(&s, "b", "1", "x", WORLD_SPREAD, ZONE, "x");
	p = plan_make(s.w, 0, s.a);
	is_planned(&s, p, "a", "node n0");
	is_planned(&s, p, "b", "new 0 on m0");
	small_done(&s);
}

/* With a on m1, b would be on n0, and one machine would do. But the machine of a pod is chosen in
 * its turn, without regard to the constraints of pods behind it. */
static void a_machine_may_be_in_a_zone_that_pods_behind_need(void **state)
{
	struct small s = small_new();
	const struct plan *p;

	(void)state;
	node(&s, "n0", "0", "cpu=1,pods=9");
	machine(&s, "m0", "small", "0");
	machine(&s, "m1", "small", "1");
	pod(&s, "a", "4", "x", WORLD_SPREAD, NULL, NULL);
	pod(&s, "b", "1", "y", WORLD_APART, ZONE, "x");
	p = plan_make(s.w, 0, s.a);
	is_planned(&s, p, "a", "new 0 on m0");
	is_planned(&s, p, "b", "new 1 on m1");
	small_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_pod_is_left_that_the_next_plan_places),
		cmocka_unit_test(
			a_pod_that_is_bound_at_once_counts_before_one_that_waits_for_a_machine),
		cmocka_unit_test(a_spread_may_open_a_machine_for_the_sake_of_its_zone),
		cmocka_unit_test(a_machine_may_be_in_a_zone_that_pods_behind_need),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
