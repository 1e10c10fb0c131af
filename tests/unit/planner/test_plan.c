/* test_plan: tests the queue, fair shares, the use of existing room, and claims in progress. */
#include <stdlib.h>

#include "base/str.h"
#include "planner/open_bins.h"
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

static void add_machine(struct world *w, const char *name, const char *type)
{
	struct world_machine m = worlds_machine(name, type);

	world_put_machine(w, &m);
}

static const char *said(struct world *w, struct arena *a, const char *pod)
{
	return worlds_pod_text(plan_make(w, 0, a), pod, a);
}

static void add_pod(struct world *w, struct arena *a, const char *name, const char *requests)
{
	struct world_pod p = worlds_pod(a, name, requests);

	world_put_pod(w, &p);
}

static const char *order(const struct plan *p, struct arena *a)
{
	const char *text = "";

	for (size_t i = 0; i < p->npods; i++) {
		assert_int_equal(p->pods[i].place, i + 1);
		text = arena_printf(a, "%s%s%s", text, i ? " " : "", p->pods[i].name);
	}
	return text;
}

static void only_pending_pods_marked_unschedulable_are_demand(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = worlds_pod(a, "not-marked", "cpu=1");

	(void)state;
	p.unschedulable = false;
	world_put_pod(w, &p);
	p = worlds_pod(a, "bound", "cpu=1");
	p.node = "n1";
	world_put_pod(w, &p);
	p = worlds_pod(a, "of-a-daemonset", "cpu=1");
	p.daemon = true;
	world_put_pod(w, &p);
	p = worlds_pod(a, "of-nobody", "cpu=1");
	p.tenant = "stranger";
	world_put_pod(w, &p);
	add_pod(w, a, "pending", "cpu=1");
	assert_string_equal(order(plan_make(w, 0, a), a), "pending");
}

/* Returns the placement of a pod that requires the node name by operator op. The world has Node n1,
 * claim c1 and free machine m2. */
static const char *place_by_name(enum selector_op op, const char *name, struct arena *a)
{
	OWN(world) w = worlds_new(a);
	struct requirement q = {WORLD_NODE_NAME, op, &name, 1};
	struct selector term = {&q, 1};
	struct world_pod p = worlds_pod(a, "p", "cpu=1");
	struct world_node n = worlds_node(a, "n1");
	struct world_claim c = worlds_claim(a, "c1", "m1");

	world_put_node(w, &n);
	world_put_claim(w, &c);
	add_machine(w, "m2", "small");
	p.affinity.v = &term;
	p.affinity.n = 1;
	world_put_pod(w, &p);
	return said(w, a, "p");
}

static void a_pod_may_ask_for_nodes_by_name(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	assert_string_equal(place_by_name(SELECTOR_IN, "n1", a), "node n1");
	assert_string_equal(place_by_name(SELECTOR_NOT_IN, "n2", a), "node n1");
	assert_string_equal(place_by_name(SELECTOR_NOT_IN, "n1", a), "claim c1");
	/* The future node of a claim has the claim's name. */
	assert_string_equal(place_by_name(SELECTOR_IN, "c1", a), "claim c1");
	assert_string_equal(place_by_name(SELECTOR_IN, "m2", a),
			    "nothing; RequirementsNotMet: pool main: no instance type fits node "
			    "affinity field metadata.name In (m2)");
}

static void a_machine_that_is_no_node_yet_has_no_name_that_is_excluded(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	const char *name = "n1";
	struct requirement q = {WORLD_NODE_NAME, SELECTOR_NOT_IN, &name, 1};
	struct selector term = {&q, 1};
	struct world_pod p = worlds_pod(a, "p", "cpu=1");
	struct world_node n = worlds_node(a, "n1");

	(void)state;
	world_put_node(w, &n);
	add_machine(w, "m2", "small");
	p.affinity.v = &term;
	p.affinity.n = 1;
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "new 0 on m2");
}

static void the_queue_goes_by_priority_share_age_and_name(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);
	struct world_claim c = worlds_claim(a, "c1", "g1");
	struct world_pod p;

	(void)state;
	t.name = "light";
	t.weight = 4;
	world_put_tenant(w, &t);
	t.name = "holder";
	t.weight = 2;
	world_put_tenant(w, &t);
	t.name = "first";
	t.priority = 1;
	world_put_tenant(w, &t);
	c.capacity = worlds_resources(a, "nvidia.com/gpu=8");
	c.tenant = "holder";
	world_put_claim(w, &c);
	c.name = "c2";
	c.tenant = "light";
	world_put_claim(w, &c);
	add_pod(w, a, "b-young", "cpu=1");
	p = worlds_pod(a, "old", "cpu=1");
	p.since = 999;
	world_put_pod(w, &p);
	add_pod(w, a, "a-young", "cpu=1");
	p = worlds_pod(a, "holds-more", "cpu=1"); /* The tenant has 8 GPUs for weight 2. */
	p.tenant = "holder";
	p.since = 1;
	world_put_pod(w, &p);
	p = worlds_pod(a, "holds-less", "cpu=1"); /* The tenant has 8 GPUs for weight 4. */
	p.tenant = "light";
	world_put_pod(w, &p);
	p = worlds_pod(a, "urgent", "cpu=1");
	p.tenant = "holder";
	p.priority = 5;
	world_put_pod(w, &p);
	p = worlds_pod(a, "of-the-first", "cpu=1");
	p.tenant = "first";
	world_put_pod(w, &p);
	assert_string_equal(order(plan_make(w, 0, a), a),
			    "of-the-first urgent old a-young b-young holds-less holds-more");
}

/* Lets acme and a second tenant of this weight want all machines each. got: machines of acme and of
 * the second tenant. */
static void share_out(struct arena *a, int64_t weight, size_t machines, size_t got[2])
{
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);
	struct plan *p;

	t.name = "other";
	t.weight = weight;
	world_put_tenant(w, &t);
	for (size_t i = 0; i < machines; i++) {
		struct world_pod pod =
			worlds_pod(a, arena_printf(a, "p%02zu", i), "nvidia.com/gpu=8");

		add_machine(w, arena_printf(a, "m%02zu", i), "gpu");
		world_put_pod(w, &pod);
		pod.tenant = "other";
		/* All pods of the second tenant are younger than those of the first. */
		pod.since = 2000;
		world_put_pod(w, &pod);
	}
	p = plan_make(w, 0, a);
	got[0] = got[1] = 0;
	for (size_t i = 0; i < p->nclaims; i++)
		got[str_eq(p->claims[i].tenant, "other")]++;
	assert_int_equal(p->nclaims, machines);
}

static void tenants_take_turns_by_their_weights(void **state)
{
	OWN(arena) a = arena_new();
	size_t got[2];

	(void)state;
	share_out(a, 1, 8, got);
	assert_int_equal(got[0], 4);
	assert_int_equal(got[1], 4);
	share_out(a, 3, 8, got);
	assert_int_equal(got[0], 2);
	assert_int_equal(got[1], 6);
	share_out(a, 1, 9, got); /* The tenant that has waited longer begins. */
	assert_int_equal(got[0], 5);
	assert_int_equal(got[1], 4);
}

static void who_has_used_less_comes_first(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);
	struct world_pod p;

	(void)state;
	t.name = "idle-so-far";
	world_put_tenant(w, &t);
	t.name = "heavy";
	t.weight = 10;
	t.used_milli = 30000; /* The tenant has used 30 GPUs on average, with weight 10. */
	world_put_tenant(w, &t);
	world_put_used(w, "acme", 4000);
	add_pod(w, a, "of-acme", "cpu=1");
	for (unsigned i = 0; i < 2; i++) {
		p = worlds_pod(a, i ? "of-heavy" : "of-idle", "cpu=1");
		p.tenant = i ? "heavy" : "idle-so-far";
		p.since = 5000; /* This pod has waited less long than that of acme. */
		world_put_pod(w, &p);
	}
	assert_string_equal(order(plan_make(w, 0, a), a), "of-idle of-heavy of-acme");
	world_put_used(w, "acme", 2000);
	assert_string_equal(order(plan_make(w, 0, a), a), "of-idle of-acme of-heavy");
}

static void put(struct world *w, struct arena *a, const char *tenant, const char *name,
		int64_t priority, int64_t since)
{
	struct world_pod p = worlds_pod(a, name, "cpu=1");

	p.tenant = tenant;
	p.priority = priority;
	p.since = since;
	world_put_pod(w, &p);
}

/* The pod's own priority orders only the pods of its tenant. Between tenants it counts up to the
 * limit that the tenant's priority sets. */
static void a_priority_that_a_tenant_writes_takes_nothing_from_others(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);

	(void)state;
	t.name = "greedy";
	t.used_milli = 1;
	world_put_tenant(w, &t);
	t.name = "first";
	t.priority = 10;
	world_put_tenant(w, &t);
	put(w, a, "acme", "honest", 0, 9);
	put(w, a, "acme", "yields", -1, 1);
	put(w, a, "greedy", "most", 1000000000, 8);
	put(w, a, "greedy", "more", 1000, 1);
	put(w, a, "first", "firsts-most", 1000000000, 9);
	put(w, a, "first", "firsts-ten", 10, 1);
	put(w, a, "first", "firsts-low", -5, 0);
	assert_string_equal(order(plan_make(w, 0, a), a),
			    "firsts-most firsts-ten firsts-low most more honest yields");
	world_put_clamp(w, true);
	assert_string_equal(order(plan_make(w, 0, a), a),
			    "firsts-most firsts-ten firsts-low honest most more yields");
	/* Aging (rising priority by waiting) also applies within a tenant. */
	world_put_aging(w, &(struct world_aging){.points = 600, .most = 2000});
	assert_string_equal(order(plan_make(w, 2 * 3600 * 1000 + 5, a), a),
			    "firsts-most firsts-ten firsts-low yields honest most more");
}

#define HOUR ((int64_t)3600 * 1000)

static void who_waits_long_rises_to_who_waits_with_more(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);
	struct world_pod p;

	(void)state;
	t.name = "other";
	t.used_milli = 1;
	world_put_tenant(w, &t);
	t.name = "first";
	t.priority = 1;
	world_put_tenant(w, &t);
	world_put_aging(w, &(struct world_aging){.points = 10, .most = 50});
	p = worlds_pod(a, "low", "cpu=1");
	p.since = 0;
	world_put_pod(w, &p);
	p = worlds_pod(a, "high", "cpu=1");
	p.since = 2 * HOUR;
	p.priority = 30;
	world_put_pod(w, &p);
	p = worlds_pod(a, "too-high", "cpu=1");
	p.since = 2 * HOUR;
	p.priority = 90;
	world_put_pod(w, &p);
	p = worlds_pod(a, "of-the-first", "cpu=1");
	p.tenant = "first";
	p.priority = -5;
	world_put_pod(w, &p);
	p = worlds_pod(a, "older-but-has-more", "cpu=1");
	p.tenant = "other";
	p.priority = 30;
	p.since = 0;
	world_put_pod(w, &p);
	assert_string_equal(order(plan_make(w, 2 * HOUR, a), a),
			    "of-the-first too-high high older-but-has-more low");
	assert_string_equal(order(plan_make(w, 3 * HOUR, a), a),
			    "of-the-first too-high low high older-but-has-more");
	/* Aging never lifts a pod above the priorities of other waiting pods. */
	assert_string_equal(order(plan_make(w, 1000 * HOUR, a), a),
			    "of-the-first too-high low high older-but-has-more");
	world_put_aging(w, &(struct world_aging){0});
	assert_string_equal(order(plan_make(w, 1000 * HOUR, a), a),
			    "of-the-first too-high high older-but-has-more low");
}

/* Simulates 200 hours. In each hour a machine serves one pod, and at most one new pod of random
 * priority and tenant arrives. Returns the longest wait in hours. */
static int64_t longest_wait(struct arena *a, uint64_t seed, const struct world_aging *g)
{
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);
	int64_t since[200] = {0}, longest = 0;
	bool waits[200] = {0};

	t.name = "other";
	world_put_tenant(w, &t);
	world_put_aging(w, g);
	add_machine(w, "m", "gpu");
	for (int64_t h = 0; h < 199; h++) {
		struct world_pod p =
			worlds_pod(a, arena_printf(a, "%03lld", (long long)h), "nvidia.com/gpu=8");
		const struct plan *plan;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		p.priority = h ? (int64_t)(seed >> 33) % 100 : -1;
		p.tenant = seed >> 60 & 1 ? "acme" : "other";
		p.since = since[h] = h * HOUR;
		waits[h] = true;
		world_put_pod(w, &p);
		if (!h) { /* An additional pod, so that at least one pod always waits. */
			p.name = "199";
			waits[199] = true;
			world_put_pod(w, &p);
		}
		plan = plan_make(w, h * HOUR, a);
		assert_int_equal(plan->nclaims, 1);
		for (size_t i = 0; i < plan->npods; i++)
			if (plan->pods[i].outcome == PLAN_ON_NEW) {
				waits[atoi(plan->pods[i].name)] = false;
				assert_true(world_del_pod(w, plan->pods[i].tenant, "default",
							  plan->pods[i].name));
				break;
			}
		for (int64_t i = 0; i < 200; i++)
			if (waits[i] && h - since[i] > longest)
				longest = h - since[i];
	}
	return longest;
}

static void nobody_starves_behind_higher_priorities(void **state)
{
	bool starved = false;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		OWN(arena) a = arena_new();

		/* A pod needs 10 hours to rise to any priority; then the pods that already have
		 * that priority come first. */
		assert_true(longest_wait(a, seed, &(struct world_aging){10, 100}) <= 14);
		starved |= longest_wait(a, seed, &(struct world_aging){0}) > 60;
	}
	assert_true(starved);
}

/* Pods of two tenants were created in turn. The share of the heavier tenant grows less with each
 * machine, so both its pods come before the second pod of the other. */
static void pods_of_one_tenant_are_served_together_whatever_their_ages(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant heavy = worlds_tenant(a);

	(void)state;
	heavy.name = "heavy";
	heavy.weight = 4;
	world_put_tenant(w, &heavy);
	for (int i = 0; i < 4; i++) {
		struct world_pod p = worlds_pod(a, arena_printf(a, "p%d", i), "nvidia.com/gpu=8");

		add_machine(w, arena_printf(a, "g%d", i), "gpu");
		p.tenant = i % 2 ? "heavy" : "acme";
		p.since = 1 + i;
		world_put_pod(w, &p);
	}
	assert_string_equal(order(plan_make(w, 0, a), a), "p0 p1 p3 p2");
}

static void names_are_compared_part_by_part(void **state)
{
	static const char *const names[][2] = {{"ns", "a-very-long-name-1"},
					       {"ns", "a-very-long-name-10"},
					       {"ns", "a-very-long-name-2"},
					       {"ns-0", "a"},
					       {"ns-0", "b"},
					       {"nsx", "0"}};
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		struct world_pod p = worlds_pod(a, names[(i * 5 + 2) % 6][1], "cpu=1");

		p.ns = names[(i * 5 + 2) % 6][0];
		world_put_pod(w, &p);
	}
	assert_string_equal(order(plan_make(w, 0, a), a),
			    "a-very-long-name-1 a-very-long-name-10 a-very-long-name-2 a b 0");
}

static void a_node_that_does_not_suit_keeps_nobody_from_sharing_a_new_machine(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_node n = worlds_node(a, "for-others");

	(void)state;
	n.taints = worlds_taints(a, "for=others:NoSchedule");
	world_put_node(w, &n);
	for (int i = 0; i < 8; i++) {
		add_machine(w, arena_printf(a, "m%d", i), "gpu");
		add_pod(w, a, arena_printf(a, "p%d", i), "nvidia.com/gpu=1");
	}
	assert_int_equal(plan_make(w, 0, a)->nclaims, 1);
}

/* Two of the pods fit on one machine. Names of claims are random. */
static void pods_keep_the_seats_that_were_bought_for_them(void **state)
{
	static const char *const sizes[] = {"cpu=3", "cpu=1", "cpu=2", "cpu=2"};
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	const struct plan *p;

	(void)state;
	for (int i = 0; i < 4; i++) {
		add_machine(w, arena_printf(a, "m%d", i), "small");
		add_pod(w, a, arena_printf(a, "p%d", i), sizes[i]);
	}
	p = plan_make(w, 0, a);
	assert_int_equal(p->nclaims, 2);
	for (size_t i = 0; i < p->nclaims; i++) {
		struct world_claim c = worlds_claim(a, i ? "a" : "b", p->claims[i].machine);

		assert_int_equal(p->claims[i].npods, 2);
		c.pods = p->claims[i].pods;
		c.npods = p->claims[i].npods;
		world_put_claim(w, &c);
	}
	p = plan_make(w, 0, a);
	assert_int_equal(p->nclaims, 0);
	assert_string_equal(worlds_pod_text(p, "p0", a), "claim b");
	assert_string_equal(worlds_pod_text(p, "p1", a), "claim b");
	assert_string_equal(worlds_pod_text(p, "p2", a), "claim a");
	assert_string_equal(worlds_pod_text(p, "p3", a), "claim a");
}

static void a_seat_is_lost_when_the_pod_does_not_fit_it_any_more(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant other = worlds_tenant(a);
	struct world_claim c = worlds_claim(a, "c", "m1");
	struct world_pod p = worlds_pod(a, "p", "cpu=3");
	const char *uids[] = {"p", "gone", "q"};

	(void)state;
	other.name = "other";
	world_put_tenant(w, &other);
	add_machine(w, "m1", "small");
	add_machine(w, "m2", "small");
	c.pods = uids;
	c.npods = 3;
	c.taints = worlds_taints(a, "for=others:NoSchedule");
	world_put_claim(w, &c);
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "new 0 on m2");
	c.taints = (struct world_taints){0};
	world_put_claim(w, &c);
	assert_string_equal(said(w, a, "p"), "claim c");
	p = worlds_pod(a, "q", "cpu=1"); /* The pod of another tenant has the same UID. */
	p.tenant = "other";
	p.priority = 9;
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "q"), "new 0 on m2");
	c.failed = true;
	world_put_claim(w, &c);
	assert_string_equal(
		said(w, a, "p"),
		"nothing; NoCapacity: pool main: 2 machines fit, all taken (2 claimed)");
}

static void who_comes_later_does_not_take_a_seat(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_claim c = worlds_claim(a, "c", "m1");
	struct world_pod p = worlds_pod(a, "urgent", "cpu=3");
	const char *uids[] = {"mine"};

	(void)state;
	add_machine(w, "m1", "small");
	add_machine(w, "m2", "small");
	c.pods = uids;
	c.npods = 1;
	world_put_claim(w, &c);
	add_pod(w, a, "mine", "cpu=3");
	p.priority = 9;
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "urgent"), "new 0 on m2");
	assert_string_equal(said(w, a, "mine"), "claim c");
}

static void the_older_claim_is_filled_first(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_claim c = worlds_claim(a, "a", "m1");

	(void)state;
	c.created_ms = 2000;
	world_put_claim(w, &c);
	c.name = "b";
	c.machine = "m2";
	c.created_ms = 1000;
	world_put_claim(w, &c);
	add_pod(w, a, "p", "cpu=3");
	assert_string_equal(said(w, a, "p"), "claim b");
}

static void put_daemon(struct world *w, struct arena *a, const char *node, const char *requests)
{
	struct world_pod p = worlds_pod(a, arena_printf(a, "daemon-on-%s", node), requests);

	p.daemon = true;
	p.unschedulable = false;
	p.node = node;
	world_put_pod(w, &p);
}

/* Puts Ready node n1, which belongs to claim c1. */
static void serve_node(struct world *w, struct arena *a)
{
	struct world_claim c = worlds_claim(a, "c1", "m1");
	struct world_node n = worlds_node(a, "n1");

	c.ready = true;
	world_put_claim(w, &c);
	n.claim = "c1";
	world_put_node(w, &n);
}

static void what_daemonsets_take_of_a_node_they_take_of_a_new_one(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_claim c = worlds_claim(a, "c2", "m2");
	struct world_pool pool = worlds_pool(a);

	(void)state;
	pool.expander = WORLD_EXPANDER_LEAST_COST;
	world_put_pool(w, &pool);
	add_machine(w, "m1", "small");
	add_machine(w, "m2", "small");
	add_machine(w, "m3", "big");
	serve_node(w, a);
	put_daemon(w, a, "n1", "cpu=500m");
	add_pod(w, a, "fits", "cpu=3500m");
	assert_string_equal(said(w, a, "fits"), "node n1");
	add_pod(w, a, "fits-too", "cpu=3500m");
	assert_string_equal(said(w, a, "fits-too"), "new 0 on m2");
	add_pod(w, a, "more", "cpu=3501m");
	assert_string_equal(said(w, a, "more"), "new 1 on m3");
	add_pod(w, a, "whole", "cpu=64");
	assert_string_equal(said(w, a, "whole"),
			    "nothing; TooBig: pool main: type gpu has too little cpu: the pod "
			    "requests 64, DaemonSets use 500m, the largest type has 64");
	world_put_claim(w, &c); /* A claim in progress: DaemonSet pods will run on its node, too. */
	assert_string_equal(said(w, a, "fits-too"), "claim c2");
	assert_string_equal(said(w, a, "more"), "new 0 on m3");
}

static void a_host_port_is_there_once_on_each_node(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	const struct plan *p;

	(void)state;
	for (int i = 1; i < 5; i++)
		add_machine(w, arena_printf(a, "m%d", i), "small");
	serve_node(w, a);
	add_pod(w, a, "a", "cpu=100m,:TCP/80=1");
	add_pod(w, a, "b", "cpu=100m,:TCP/80=1");
	add_pod(w, a, "c", "cpu=100m,:TCP/80=1,:UDP/80=1");
	add_pod(w, a, "d", "cpu=100m,:UDP/80=1");
	p = plan_make(w, 0, a);
	assert_string_equal(worlds_pod_text(p, "a", a), "node n1");
	assert_string_equal(worlds_pod_text(p, "b", a), "new 0 on m2");
	assert_string_equal(worlds_pod_text(p, "c", a), "new 1 on m3");
	assert_string_equal(worlds_pod_text(p, "d", a), "node n1");
	/* A claim requests only cpu, because ports are not a resource of a claim. */
	assert_int_equal(p->claims[1].requests.n, 1);
	put_daemon(w, a, "n1", ":TCP/80=1");
	assert_string_equal(
		said(w, a, "a"),
		"nothing; TooBig: pool main: a DaemonSet uses host port TCP/80 on every node");
	assert_string_equal(said(w, a, "d"), "node n1");
}

/* Returns a world with two racks and one machine in each; the machine in the second rack has the
 * name that sorts first. */
static struct world *two_racks(struct arena *a)
{
	struct world *w = worlds_new(a);
	struct world_machine m = worlds_machine("m2", "small");

	m.labels = worlds_labels(a, "rack=r1");
	world_put_machine(w, &m);
	m = worlds_machine("m1", "small");
	m.labels = worlds_labels(a, "rack=r2");
	world_put_machine(w, &m);
	return w;
}

static void a_machines_labels_are_its_nodes(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = two_racks(a);
	struct world_pod p = worlds_pod(a, "a", "cpu=1");
	struct world_claim c = worlds_claim(a, "c", "m2");
	const struct plan *plan;

	(void)state;
	p.node_selector = worlds_labels(a, "rack=r1");
	world_put_pod(w, &p);
	plan = plan_make(w, 0, a);
	assert_string_equal(worlds_pod_text(plan, "a", a), "new 0 on m2");
	assert_string_equal(labels_get(&plan->claims[0].labels, "rack"), "r1");
	world_put_claim(w, &c);
	assert_string_equal(said(w, a, "a"), "claim c");
	p.node_selector = worlds_labels(a, "rack=r3");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "a"), "nothing; RequirementsNotMet: pool main: no instance "
					     "type fits nodeSelector rack=r3: type gpu has none");
	world_del_pod(w, "acme", "default", "a");
	world_del_claim(w, "c");
	for (int i = 0; i < 2; i++) { /* The two pods must be in different racks. */
		struct world_topology t = {
			.kind = WORLD_APART, .key = "rack", .pods = worlds_term(a, "app in (db)")};

		p = worlds_pod(a, i ? "y" : "x", "cpu=1");
		p.labels = worlds_labels(a, "app=db");
		p.topology.v = &t;
		p.topology.n = 1;
		world_put_pod(w, &p);
	}
	plan = plan_make(w, 0, a);
	assert_string_equal(worlds_pod_text(plan, "x", a), "new 0 on m1");
	assert_string_equal(worlds_pod_text(plan, "y", a), "new 1 on m2");
}

static void of_one_type_the_best_machine_is_taken_whatever_its_labels(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = two_racks(a);
	struct world_machine m = worlds_machine("m9", "small");
	struct plan_stock stock;

	(void)state;
	add_pod(w, a, "p", "cpu=1");
	assert_string_equal(said(w, a, "p"), "new 0 on m1");
	m.labels = worlds_labels(a, "rack=r9");
	m.warm = true;
	world_put_machine(w, &m);
	assert_string_equal(said(w, a, "p"), "new 0 on m9");
	stock = plan_stock(w, "main", a);
	assert_int_equal(stock.n, 3);
	assert_string_equal(stock.v[0]->name, "m9");
	assert_string_equal(stock.v[1]->name, "m1");
	assert_string_equal(stock.v[2]->name, "m2");
	world_del_machine(w, "m9");
	m = worlds_machine("m1", "small"); /* The machine is moved to the other rack. */
	m.labels = worlds_labels(a, "rack=r1");
	m.failures = 1;
	world_put_machine(w, &m);
	assert_string_equal(said(w, a, "p"), "new 0 on m2");
}

static size_t place_of(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->npods; i++)
		if (str_eq(p->pods[i].name, name))
			return p->pods[i].place;
	fail_msg("%s is not in the plan", name);
	return 0;
}

static void who_fits_nothing_has_no_place(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = worlds_pod(a, "d-odd", "cpu=1");
	const struct plan *plan;

	(void)state;
	add_machine(w, "m1", "small");
	add_pod(w, a, "a-huge", "cpu=1000");
	add_pod(w, a, "b-first", "cpu=3");
	add_pod(w, a, "c-second", "cpu=3");
	p.unsupported = "resourceClaims";
	world_put_pod(w, &p);
	add_pod(w, a, "e-third", "cpu=3");
	plan = plan_make(w, 0, a);
	assert_int_equal(place_of(plan, "a-huge"), 0);
	assert_int_equal(place_of(plan, "b-first"), 1);
	assert_int_equal(place_of(plan, "c-second"), 2);
	assert_int_equal(place_of(plan, "d-odd"), 0);
	assert_int_equal(place_of(plan, "e-third"), 3);
}

static void a_pod_with_a_runtime_class_wants_a_pool_that_carries_it(void **state)
{
	static const char *carried[] = {"kata", "vnode"};
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pool pool = worlds_pool(a);
	struct world_pod p = worlds_pod(a, "p", "cpu=1");
	struct world_claim c = worlds_claim(a, "c", "m1");

	(void)state;
	add_machine(w, "m1", "small");
	add_machine(w, "m2", "small");
	p.runtime_class = "gvisor";
	world_put_pod(w, &p);
	/* The pool does not list the runtime handlers of its images, so any handler is assumed to
	 * exist. */
	assert_string_equal(said(w, a, "p"), "new 0 on m1");
	pool.runtime_classes = carried;
	pool.nruntime_classes = 2;
	world_put_pool(w, &pool);
	world_put_claim(w, &c);
	assert_string_equal(said(w, a, "p"), "nothing; RuntimeClassNotCarried: pool main: its "
					     "images do not support RuntimeClass gvisor");
	p.runtime_class = "vnode";
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "claim c");
	p.runtime_class = NULL;
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "claim c");
}

static void who_comes_first_gets_the_last_machine(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = worlds_pod(a, "z", "cpu=3");

	(void)state;
	add_machine(w, "m1", "small");
	add_pod(w, a, "a", "cpu=3");
	p.priority = 1;
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "z"), "new 0 on m1");
	assert_string_equal(
		said(w, a, "a"),
		"nothing; NoCapacity: pool main: 1 machine fits, all taken (1 claimed)");
}

static void several_pods_share_a_claim_while_they_fit(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct plan *p;

	(void)state;
	add_machine(w, "m1", "small");
	add_machine(w, "m2", "small");
	add_pod(w, a, "p1", "cpu=3");
	add_pod(w, a, "p2", "cpu=2");
	add_pod(w, a, "p3", "cpu=1");
	p = plan_make(w, 0, a);
	assert_int_equal(p->nclaims, 2);
	assert_string_equal(worlds_pod_text(p, "p1", a), "new 0 on m1");
	assert_string_equal(worlds_pod_text(p, "p2", a), "new 1 on m2");
	assert_string_equal(worlds_pod_text(p, "p3", a), "new 0 on m1");
	assert_int_equal(p->claims[0].npods, 2);
}

static void the_number_of_pods_is_a_resource_too(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct plan *p;

	(void)state;
	add_machine(w, "m1", "small");
	add_machine(w, "m2", "small");
	for (int i = 0; i < 11; i++)
		add_pod(w, a, arena_printf(a, "p%02d", i), "cpu=1m");
	p = plan_make(w, 0, a);
	assert_int_equal(p->nclaims, 2);
	assert_int_equal(p->claims[0].npods, 10);
}

static void claims_are_not_shared_between_tenants(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);
	struct world_pod p = worlds_pod(a, "theirs", "cpu=1");

	(void)state;
	t.name = "other";
	world_put_tenant(w, &t);
	add_machine(w, "m1", "small");
	add_machine(w, "m2", "small");
	add_pod(w, a, "ours", "cpu=1");
	p.tenant = "other";
	world_put_pod(w, &p);
	assert_int_equal(plan_make(w, 0, a)->nclaims, 2);
}

static void room_on_a_node_comes_before_all_else(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_node n = worlds_node(a, "n1");
	struct world_claim c = worlds_claim(a, "c1", "m1");
	struct world_pod b = worlds_pod(a, "bound", "cpu=2");

	(void)state;
	add_machine(w, "m1", "small");
	add_machine(w, "m2", "small");
	world_put_node(w, &n);
	world_put_claim(w, &c);
	b.node = "n1";
	world_put_pod(w, &b);
	add_pod(w, a, "p1", "cpu=2");
	add_pod(w, a, "p2", "cpu=3");
	add_pod(w, a, "p3", "cpu=4");
	assert_string_equal(said(w, a, "p1"), "node n1");
	assert_string_equal(said(w, a, "p2"), "claim c1");
	assert_string_equal(said(w, a, "p3"), "new 0 on m2");
}

static void a_node_that_is_cordoned_not_ready_or_tainted_is_no_room(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_node n = worlds_node(a, "n1");

	(void)state;
	add_machine(w, "m1", "small");
	add_pod(w, a, "p", "cpu=1");
	world_put_node(w, &n);
	assert_string_equal(said(w, a, "p"), "node n1");
	n.unschedulable = true;
	world_put_node(w, &n);
	assert_string_equal(said(w, a, "p"), "new 0 on m1");
	n.unschedulable = false;
	n.ready = false;
	world_put_node(w, &n);
	assert_string_equal(said(w, a, "p"), "new 0 on m1");
	n.ready = true;
	n.taints = worlds_taints(a, "k=v:NoSchedule");
	world_put_node(w, &n);
	assert_string_equal(said(w, a, "p"), "new 0 on m1");
}

static void a_daemons_pod_takes_room_and_so_does_the_number_of_pods(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_node n = worlds_node(a, "n1");
	struct world_pod b = worlds_pod(a, "daemon", "cpu=1");

	(void)state;
	add_machine(w, "m1", "small");
	n.allocatable = worlds_resources(a, "cpu=2,memory=8Gi,pods=2");
	world_put_node(w, &n);
	b.node = "n1";
	b.daemon = true;
	world_put_pod(w, &b);
	add_pod(w, a, "p", "cpu=1500m");
	assert_string_equal(said(w, a, "p"), "new 0 on m1");
	add_pod(w, a, "p", "cpu=500m");
	assert_string_equal(said(w, a, "p"), "node n1");
	add_pod(w, a, "q", "cpu=1m");
	assert_string_equal(said(w, a, "q"), "new 0 on m1");
}

static void the_same_node_name_of_another_tenant_is_another_node(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);
	struct world_node n = worlds_node(a, "n1");
	struct world_pod b = worlds_pod(a, "theirs", "cpu=4");

	(void)state;
	t.name = "other";
	world_put_tenant(w, &t);
	world_put_node(w, &n);
	n.tenant = "other";
	world_put_node(w, &n);
	b.tenant = "other";
	b.node = "n1";
	world_put_pod(w, &b);
	add_pod(w, a, "p", "cpu=4");
	assert_string_equal(said(w, a, "p"), "node n1");
}

static void a_claim_that_failed_or_leaves_is_no_supply(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_claim c = worlds_claim(a, "c1", "m1");

	(void)state;
	add_machine(w, "m1", "small");
	add_machine(w, "m2", "small");
	add_pod(w, a, "p", "cpu=1");
	world_put_claim(w, &c);
	assert_string_equal(said(w, a, "p"), "claim c1");
	c.failed = true;
	world_put_claim(w, &c);
	assert_string_equal(said(w, a, "p"), "new 0 on m2");
	c.failed = false;
	c.leaving = true;
	world_put_claim(w, &c);
	assert_string_equal(said(w, a, "p"), "new 0 on m2");
}

static void a_claim_and_its_node_are_room_once(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_claim c = worlds_claim(a, "c1", "m1");
	struct world_node n = worlds_node(a, "c1-node");

	(void)state;
	c.ready = true;
	world_put_claim(w, &c);
	add_pod(w, a, "p1", "cpu=4");
	add_pod(w, a, "p2", "cpu=4");
	add_machine(w, "m2", "small");
	assert_string_equal(said(w, a, "p1"), "claim c1");
	assert_string_equal(said(w, a, "p2"), "new 0 on m2");
	n.claim = "c1";
	world_put_node(w, &n);
	assert_string_equal(said(w, a, "p1"), "node c1-node");
	assert_string_equal(said(w, a, "p2"), "new 0 on m2");
	/* The claim is not ready, as if the node's GPUs had not appeared yet: the capacity
	 * predicted for the claim counts. */
	c.ready = false;
	world_put_claim(w, &c);
	assert_string_equal(said(w, a, "p1"), "claim c1");
	assert_string_equal(said(w, a, "p2"), "new 0 on m2");
	c.leaving = true;
	world_put_claim(w, &c);
	assert_string_equal(said(w, a, "p1"), "new 0 on m2");
}

static void what_runs_on_a_node_already_is_taken_from_its_claim(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_claim c = worlds_claim(a, "c1", "m1");
	struct world_node n = worlds_node(a, "n1");
	struct world_pod b = worlds_pod(a, "bound", "cpu=3");

	(void)state;
	add_machine(w, "m2", "small");
	world_put_claim(w, &c);
	n.claim = "c1";
	world_put_node(w, &n);
	b.node = "n1";
	world_put_pod(w, &b);
	add_pod(w, a, "p", "cpu=2");
	assert_string_equal(said(w, a, "p"), "new 0 on m2");
}

static void a_claims_labels_and_taints_are_those_of_its_node_to_be(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_claim c = worlds_claim(a, "c1", "m1");
	struct world_pod p = worlds_pod(a, "p", "cpu=1");

	(void)state;
	add_machine(w, "m2", "small");
	c.labels = worlds_labels(a, "rack=r1");
	world_put_claim(w, &c);
	p.node_selector =
		worlds_labels(a, "rack=r1,disk=ssd,node.kubernetes.io/instance-type=small");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "claim c1");
	c.taints = worlds_taints(a, "k=v:NoExecute");
	world_put_claim(w, &c);
	assert_string_equal(said(w, a, "p"), "nothing; RequirementsNotMet: pool main: no instance "
					     "type fits nodeSelector disk=ssd: type gpu has none");
}

static void a_paused_tenant_still_uses_the_room_it_has(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);
	struct world_node n = worlds_node(a, "n1");

	(void)state;
	t.paused = true;
	t.paused_reason = "TenantPaused";
	world_put_tenant(w, &t);
	world_put_node(w, &n);
	add_pod(w, a, "p", "cpu=1");
	assert_string_equal(said(w, a, "p"), "node n1");
}

static void one_pod_that_cannot_be_served_does_not_stop_the_next(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	add_machine(w, "m1", "small");
	add_pod(w, a, "a", "cpu=1000");
	add_pod(w, a, "b", "cpu=1");
	assert_string_equal(said(w, a, "a"), "nothing; TooBig: pool main: type gpu has too little "
					     "cpu: the pod requests 1000, the largest type has 64");
	assert_string_equal(said(w, a, "b"), "new 0 on m1");
}

static void a_pod_that_goes_leaves_its_room(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_node n = worlds_node(a, "n1");
	struct world_pod b = worlds_pod(a, "bound1", "cpu=2");

	(void)state;
	b.node = "n1";
	world_put_pod(w, &b); /* The pod is put before its node. */
	world_put_node(w, &n);
	b.name = "bound2";
	b.requests = worlds_resources(a, "cpu=1,memory=1Gi");
	world_put_pod(w, &b);
	add_pod(w, a, "p", "cpu=2");
	assert_non_null(strstr(said(w, a, "p"), "NoCapacity"));
	world_del_pod(w, "acme", "default", "bound2");
	assert_string_equal(said(w, a, "p"), "node n1");
	b.name = "bound1";
	b.requests = worlds_resources(a, "cpu=3");
	world_put_pod(w, &b);
	assert_non_null(strstr(said(w, a, "p"), "NoCapacity"));
}

static void a_resource_that_only_a_node_has_is_found_there_and_nowhere_else(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_node n = worlds_node(a, "n1");

	(void)state;
	world_put_node(w, &n);
	add_machine(w, "m1", "small");
	add_pod(w, a, "p", "example.com/fpga=1");
	assert_string_equal(said(w, a, "p"),
			    "nothing; TooBig: pool main: type gpu has too little example.com/fpga: "
			    "the pod requests 1, the largest type has 0");
	n.name = "n2";
	n.allocatable = worlds_resources(a, "cpu=1,example.com/fpga=1");
	world_put_node(w, &n);
	assert_string_equal(said(w, a, "p"), "node n2");
}

static void the_largest_requests_there_can_be_overflow_nothing(void **state)
{
	static const char *const huge =
		"cpu=9223372036854775807,memory=9223372036854775807,pods=9223372036854775807";
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_node n = worlds_node(a, "n1");
	struct world_tenant t = worlds_tenant(a);

	(void)state;
	t.quota = worlds_resources(a, huge);
	world_put_tenant(w, &t);
	world_put_node(w, &n);
	for (int i = 0; i < 4; i++) {
		struct world_pod p = worlds_pod(a, arena_printf(a, "bound%d", i), huge);

		p.node = "n1";
		world_put_pod(w, &p);
		add_pod(w, a, arena_printf(a, "p%d", i), huge);
	}
	assert_string_equal(said(w, a, "p3"),
			    "nothing; TooBig: pool main: type gpu has too little cpu: the pod "
			    "requests 9223372036854775807, the largest type has 64");
}

/* --- preferences ------------------------------------------------------------------------------ */

static void prefer(struct world_pod *p, struct arena *a, int64_t w1, const char *term1, int64_t w2,
		   const char *term2)
{
	p->preferences.v = arena_calloc(a, 2, sizeof(*p->preferences.v));
	p->preferences.v[p->preferences.n++] = (struct world_preference){w1, worlds_term(a, term1)};
	if (term2)
		p->preferences.v[p->preferences.n++] =
			(struct world_preference){w2, worlds_term(a, term2)};
}

static void a_preference_chooses_among_nodes(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_node n = worlds_node(a, "n1");
	struct world_pod p = worlds_pod(a, "p", "cpu=1");

	(void)state;
	world_put_node(w, &n);
	n.name = "n2";
	n.labels = worlds_labels(a, "zone=b");
	world_put_node(w, &n);
	prefer(&p, a, 1, "zone in (b)", 0, NULL);
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "node n2");
	p.requests = worlds_resources(a, "cpu=4");
	world_put_pod(w, &p);
	n.unschedulable = true;
	world_put_node(w, &n);
	assert_string_equal(said(w, a, "p"), "node n1");
}

static void the_lighter_preference_is_dropped_first(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_node n = worlds_node(a, "n1");
	struct world_pod p = worlds_pod(a, "p", "cpu=1");

	(void)state;
	n.labels = worlds_labels(a, "light=yes");
	world_put_node(w, &n);
	n.name = "n2";
	n.labels = worlds_labels(a, "heavy=yes");
	world_put_node(w, &n);
	prefer(&p, a, 1, "light", 9, "heavy");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "node n2");
	n.name = "n3";
	n.labels = worlds_labels(a, "heavy=yes,light=yes");
	world_put_node(w, &n);
	assert_string_equal(said(w, a, "p"), "node n3");
}

static void a_preference_chooses_the_type_but_never_costs_a_machine(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_node n = worlds_node(a, "n1");
	struct world_pod p = worlds_pod(a, "p", "cpu=1");

	(void)state;
	add_machine(w, "m1", "small");
	add_machine(w, "b1", "big");
	prefer(&p, a, 1, "cores>8", 0, NULL);
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "new 0 on b1");
	world_del_machine(w, "b1");
	assert_string_equal(said(w, a, "p"), "new 0 on m1");
	add_machine(w, "b1", "big");
	world_put_node(w, &n);
	assert_string_equal(said(w, a, "p"), "node n1");
}

static void a_taint_that_prefers_no_pods_is_the_last_resort(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_node n = worlds_node(a, "n1");

	(void)state;
	n.taints = worlds_taints(a, "k=v:PreferNoSchedule");
	world_put_node(w, &n);
	n = worlds_node(a, "n2");
	world_put_node(w, &n);
	add_pod(w, a, "p", "cpu=4");
	add_pod(w, a, "q", "cpu=4");
	assert_string_equal(said(w, a, "p"), "node n2");
	assert_string_equal(said(w, a, "q"), "node n1");
}

/* A Node that just joined still has a taint of its network plugin (CNI). The planner waits for it
 * and claims no other machine. */
static void a_node_that_just_joined_keeps_the_seats_of_its_pods(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = worlds_pod(a, "p", "cpu=3");
	struct world_machine m = worlds_machine("m1", "small"),
			     other = worlds_machine("m2", "small");
	struct world_claim c = worlds_claim(a, "c1", "m1");
	struct world_node n = worlds_node(a, "n1");
	const char *uids[] = {"p"};
	const struct plan *plan;

	(void)state;
	p.uid = "p";
	m.offered = false;
	c.pods = uids;
	c.npods = 1;
	c.ready = true;
	c.ready_ms = 1000000;
	n.claim = "c1";
	n.taints = worlds_taints(a, "example.com/agent-not-ready=:NoSchedule");
	world_put_machine(w, &m);
	world_put_machine(w, &other);
	world_put_claim(w, &c);
	world_put_node(w, &n);
	world_put_pod(w, &p);
	plan = plan_make(w, 1000000 + OPEN_BINS_SETTLE_MS - 1, a);
	assert_string_equal(worlds_pod_text(plan, "p", a), "claim c1");
	assert_int_equal(plan->settles, 1000000 + OPEN_BINS_SETTLE_MS);
	plan = plan_make(w, 1000000 + OPEN_BINS_SETTLE_MS, a);
	assert_string_equal(worlds_pod_text(plan, "p", a), "new 0 on m2");
	assert_int_equal(plan->settles, 0);
	/* A taint that the pool declares stays on the Node, so there is nothing to wait for. */
	c.taints = n.taints;
	world_put_claim(w, &c);
	plan = plan_make(w, 1000001, a);
	assert_int_equal(plan->settles, 0);
	n.taints = (struct world_taints){0};
	world_put_node(w, &n);
	assert_string_equal(worlds_pod_text(plan_make(w, 1000001, a), "p", a), "node n1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_that_just_joined_keeps_the_seats_of_its_pods),
		cmocka_unit_test(only_pending_pods_marked_unschedulable_are_demand),
		cmocka_unit_test(the_queue_goes_by_priority_share_age_and_name),
		cmocka_unit_test(tenants_take_turns_by_their_weights),
		cmocka_unit_test(who_has_used_less_comes_first),
		cmocka_unit_test(a_priority_that_a_tenant_writes_takes_nothing_from_others),
		cmocka_unit_test(who_waits_long_rises_to_who_waits_with_more),
		cmocka_unit_test(nobody_starves_behind_higher_priorities),
		cmocka_unit_test(pods_of_one_tenant_are_served_together_whatever_their_ages),
		cmocka_unit_test(names_are_compared_part_by_part),
		cmocka_unit_test(a_node_that_does_not_suit_keeps_nobody_from_sharing_a_new_machine),
		cmocka_unit_test(pods_keep_the_seats_that_were_bought_for_them),
		cmocka_unit_test(a_seat_is_lost_when_the_pod_does_not_fit_it_any_more),
		cmocka_unit_test(who_comes_later_does_not_take_a_seat),
		cmocka_unit_test(the_older_claim_is_filled_first),
		cmocka_unit_test(what_daemonsets_take_of_a_node_they_take_of_a_new_one),
		cmocka_unit_test(a_host_port_is_there_once_on_each_node),
		cmocka_unit_test(a_machines_labels_are_its_nodes),
		cmocka_unit_test(of_one_type_the_best_machine_is_taken_whatever_its_labels),
		cmocka_unit_test(who_fits_nothing_has_no_place),
		cmocka_unit_test(a_pod_with_a_runtime_class_wants_a_pool_that_carries_it),
		cmocka_unit_test(who_comes_first_gets_the_last_machine),
		cmocka_unit_test(several_pods_share_a_claim_while_they_fit),
		cmocka_unit_test(the_number_of_pods_is_a_resource_too),
		cmocka_unit_test(claims_are_not_shared_between_tenants),
		cmocka_unit_test(room_on_a_node_comes_before_all_else),
		cmocka_unit_test(a_node_that_is_cordoned_not_ready_or_tainted_is_no_room),
		cmocka_unit_test(a_daemons_pod_takes_room_and_so_does_the_number_of_pods),
		cmocka_unit_test(the_same_node_name_of_another_tenant_is_another_node),
		cmocka_unit_test(a_claim_that_failed_or_leaves_is_no_supply),
		cmocka_unit_test(a_claim_and_its_node_are_room_once),
		cmocka_unit_test(what_runs_on_a_node_already_is_taken_from_its_claim),
		cmocka_unit_test(a_claims_labels_and_taints_are_those_of_its_node_to_be),
		cmocka_unit_test(a_paused_tenant_still_uses_the_room_it_has),
		cmocka_unit_test(one_pod_that_cannot_be_served_does_not_stop_the_next),
		cmocka_unit_test(a_pod_that_goes_leaves_its_room),
		cmocka_unit_test(a_resource_that_only_a_node_has_is_found_there_and_nowhere_else),
		cmocka_unit_test(the_largest_requests_there_can_be_overflow_nothing),
		cmocka_unit_test(a_pod_may_ask_for_nodes_by_name),
		cmocka_unit_test(a_machine_that_is_no_node_yet_has_no_name_that_is_excluded),
		cmocka_unit_test(a_preference_chooses_among_nodes),
		cmocka_unit_test(the_lighter_preference_is_dropped_first),
		cmocka_unit_test(a_preference_chooses_the_type_but_never_costs_a_machine),
		cmocka_unit_test(a_taint_that_prefers_no_pods_is_the_last_resort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
