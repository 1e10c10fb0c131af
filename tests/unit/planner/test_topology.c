/* test_topology: tests spread, affinity and anti-affinity between pods. */
#include <stdio.h>
#include "planner/topology.h"
#include "base/str.h"
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

#define ZONE "zone"
#define HOST "kubernetes.io/hostname"

/* Returns a world with three zones: one Provider with n small machines in each. The world has no
 * nodes. */
static struct world *zones(struct arena *a, int n)
{
	struct world *w = worlds_new(a);
	struct world_pool pool = worlds_pool(a);

	pool.providers = arena_calloc(a, 3, sizeof(*pool.providers));
	pool.nproviders = 0;
	for (int z = 0; z < 3; z++) {
		struct world_provider p = worlds_provider(a);

		p.name = pool.providers[pool.nproviders++] = arena_printf(a, "p%c", "abc"[z]);
		p.types.v[1].labels = worlds_labels(a, arena_printf(a, ZONE "=%c", "abc"[z]));
		p.types.v++;
		p.types.n = 1;
		world_put_provider(w, &p);
		for (int i = 0; i < n; i++) {
			struct world_machine m =
				worlds_machine(arena_printf(a, "%c%d", "abc"[z], i), "small");

			m.provider = p.name;
			world_put_machine(w, &m);
		}
	}
	world_put_pool(w, &pool);
	return w;
}

static struct world_topology *constraint(struct world_pod *p, struct arena *a,
					 enum world_topology_kind kind, const char *key,
					 const char *pods)
{
	struct world_topology *v = arena_calloc(a, p->topology.n + 1, sizeof(*v));

	if (p->topology.n)
		memcpy(v, p->topology.v, p->topology.n * sizeof(*v));
	v[p->topology.n] = (struct world_topology){
		.kind = kind, .key = key, .max_skew = 1, .pods = worlds_term(a, pods)};
	p->topology.v = v;
	return &v[p->topology.n++];
}

static struct world_pod app(struct arena *a, const char *name, const char *label)
{
	struct world_pod p = worlds_pod(a, name, "cpu=100m");

	p.labels = worlds_labels(a, label);
	return p;
}

static const char *said(struct world *w, struct arena *a, const char *pod)
{
	return worlds_pod_text(plan_make(w, 0, a), pod, a);
}

/* Puts a node in the zone and a pod with this label that is bound to it. */
static void run(struct world *w, struct arena *a, const char *zone, const char *node,
		const char *label)
{
	struct world_node n = worlds_node(a, node);
	struct world_pod p = app(a, arena_printf(a, "on-%s", node), label);

	n.labels = worlds_labels(a, arena_printf(a, ZONE "=%s", zone));
	world_put_node(w, &n);
	p.node = node;
	p.unschedulable = false;
	world_put_pod(w, &p);
}

#define BLOCKED(keys)                                                                              \
	"nothing; TopologyNotMet: pool main: machines are free, but topology spread or pod "       \
	"affinity excludes them (" keys ")"

static void a_spread_fills_zones_evenly(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 2);
	struct plan *plan;

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct world_pod p = app(a, arena_printf(a, "p%d", i), "app=x");

		(void)constraint(&p, a, WORLD_SPREAD, ZONE, "app in (x)");
		world_put_pod(w, &p);
	}
	plan = plan_make(w, 0, a);
	assert_int_equal(plan->nclaims, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(plan->claims[i].npods, 2);
}

static void a_zone_without_nodes_and_machines_does_not_hold_a_spread_back(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 1);
	struct plan *plan;

	(void)state;
	world_del_machine(w, "c0");
	for (int i = 0; i < 4; i++) {
		struct world_pod p = app(a, arena_printf(a, "p%d", i), "app=x");

		(void)constraint(&p, a, WORLD_SPREAD, ZONE, "app in (x)");
		world_put_pod(w, &p);
	}
	plan = plan_make(w, 0, a);
	assert_int_equal(plan->nclaims, 2);
	assert_int_equal(plan->claims[0].npods, 2);
}

static void a_zone_whose_last_machine_goes_to_another_no_more_holds_a_spread_back(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 1);
	struct world_tenant t = worlds_tenant(a);
	struct world_pod p;

	(void)state;
	t.name = "other";
	world_put_tenant(w, &t);
	world_del_machine(w, "b0");
	p = app(a, "p1", "app=x");
	(void)constraint(&p, a, WORLD_SPREAD, ZONE, "app in (x)");
	p.since = 1;
	world_put_pod(w, &p);
	p.name = "p2";
	p.since = 3;
	world_put_pod(w, &p);
	p = app(a, "theirs", "");
	p.tenant = "other";
	p.since = 2;
	p.node_selector = worlds_labels(a, ZONE "=c");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p2"), "new 0 on a0");
}

static void a_spread_counts_pods_that_run(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 1);
	struct world_pod p = app(a, "p", "app=x");

	(void)state;
	run(w, a, "a", "na", "app=x");
	run(w, a, "b", "nb", "app=x");
	(void)constraint(&p, a, WORLD_SPREAD, ZONE, "app in (x)");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "new 0 on c0");
	run(w, a, "c", "nc", "app=x");
	assert_string_equal(said(w, a, "p"), "node na");
	run(w, a, "c", "nc", "app=y");
	assert_string_equal(said(w, a, "p"), "node nc");
}

static void a_spread_counts_only_domains_that_the_selector_admits(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 1);
	struct world_pod p = app(a, "p", "app=x");

	(void)state;
	run(w, a, "a", "na", "app=x");
	p.node_selector = worlds_labels(a, ZONE "=a");
	(void)constraint(&p, a, WORLD_SPREAD, ZONE, "app in (x)");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "node na");
}

static void a_spread_over_hosts_opens_a_new_one_when_all_are_full(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 2);
	struct world_topology *t;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct world_pod p = app(a, arena_printf(a, "p%d", i), "app=x");

		t = constraint(&p, a, WORLD_SPREAD, HOST, "app in (x)");
		t->max_skew = 2;
		world_put_pod(w, &p);
	}
	assert_string_equal(said(w, a, "p0"), "new 0 on a0");
	assert_string_equal(said(w, a, "p1"), "new 0 on a0");
	assert_string_equal(said(w, a, "p2"), "new 1 on a1");
}

static void a_pod_that_its_own_spread_does_not_select_adds_nothing(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 2);

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct world_pod p = app(a, arena_printf(a, "p%d", i), "app=y");

		(void)constraint(&p, a, WORLD_SPREAD, HOST, "app in (x)");
		world_put_pod(w, &p);
	}
	assert_string_equal(said(w, a, "p2"), "new 0 on a0");
}

static void affinity_follows_the_pod_that_is_there(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 1);
	struct world_pod p = app(a, "p", "app=y");

	(void)state;
	(void)constraint(&p, a, WORLD_TOGETHER, ZONE, "app in (x)");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), BLOCKED("zone"));
	run(w, a, "b", "nb", "app=x");
	assert_string_equal(said(w, a, "p"), "node nb");
	p.requests = worlds_resources(a, "cpu=4");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "new 0 on b0");
	p.topology.v[0].key = HOST;
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), BLOCKED("kubernetes.io/hostname"));
}

static void the_first_of_its_kind_may_go_anywhere_and_the_rest_follow(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 2);

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct world_pod p = app(a, arena_printf(a, "p%d", i), "app=x");

		p.requests = worlds_resources(a, "cpu=3");
		(void)constraint(&p, a, WORLD_TOGETHER, ZONE, "app in (x)");
		world_put_pod(w, &p);
	}
	assert_string_equal(said(w, a, "p0"), "new 0 on a0");
	assert_string_equal(said(w, a, "p1"), "new 1 on a1");
	assert_string_equal(said(w, a, "p2"), BLOCKED("zone"));
}

static void anti_affinity_keeps_apart_both_ways(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 1);
	struct world_pod p = app(a, "a-loner", "app=x"), q = app(a, "b-quiet", "app=y");

	(void)state;
	(void)constraint(&p, a, WORLD_APART, ZONE, "app in (y)");
	world_put_pod(w, &p);
	world_put_pod(w, &q);
	assert_string_equal(said(w, a, "a-loner"), "new 0 on a0");
	assert_string_equal(said(w, a, "b-quiet"), "new 1 on b0");
	q.since = 1;
	world_put_pod(w, &q);
	assert_string_equal(said(w, a, "b-quiet"), "new 0 on a0");
	assert_string_equal(said(w, a, "a-loner"), "new 1 on b0");
	p.node = "na"; /* The pod is bound; its anti-affinity still counts. */
	run(w, a, "a", "na", "app=z");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "b-quiet"), "new 0 on b0");
}

static void anti_affinity_by_host_gives_each_its_own(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 1);
	struct plan *plan;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct world_pod p = app(a, arena_printf(a, "p%d", i), "app=x");

		(void)constraint(&p, a, WORLD_APART, HOST, "app in (x)");
		world_put_pod(w, &p);
	}
	plan = plan_make(w, 0, a);
	assert_int_equal(plan->nclaims, 3);
	assert_string_equal(
		worlds_pod_text(plan, "p3", a),
		"nothing; NoCapacity: pool main: 3 machines fit, all taken (3 claimed)");
}

static void a_pod_waits_in_the_plan_for_one_that_comes_later_in_the_queue(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 1);
	struct world_pod p = app(a, "a-first", "app=web");

	(void)state;
	constraint(&p, a, WORLD_TOGETHER, ZONE, "app in (db)");
	world_put_pod(w, &p);
	p = app(a, "b-second", "app=db");
	constraint(&p, a, WORLD_TOGETHER, ZONE, "app in (disk)");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "a-first"), BLOCKED("zone"));
	p = app(a, "c-third", "app=disk");
	p.node_selector = worlds_labels(a, ZONE "=b");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "a-first"), "new 0 on b0");
	assert_string_equal(said(w, a, "b-second"), "new 0 on b0");
	assert_string_equal(said(w, a, "c-third"), "new 0 on b0");
}

static void affinity_of_two_terms_wants_pods_that_both_select(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 1);
	struct world_pod p;

	(void)state;
	run(w, a, "a", "n-a", "app=db");
	p = app(a, "another-on-n-a", "tier=gold");
	p.node = "n-a";
	p.unschedulable = false;
	world_put_pod(w, &p);
	p = app(a, "p", "app=web");
	constraint(&p, a, WORLD_TOGETHER, ZONE, "app in (db)");
	constraint(&p, a, WORLD_TOGETHER, HOST, "tier in (gold)");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), BLOCKED("zone, kubernetes.io/hostname"));
	run(w, a, "c", "n-c", "app=db,tier=gold");
	assert_string_equal(said(w, a, "p"), "node n-c");
}

/* Puts nodes given as "NAME LABELS TAINTS PODS"; PODS pods of app x run on each. */
static void put_nodes(struct world *w, struct arena *a, const char *const *nodes)
{
	for (size_t i = 0; nodes[i]; i++) {
		char name[16], labels[64], taints[64];
		int pods;
		struct world_node n;

		assert_int_equal(sscanf(nodes[i], "%15s %63s %63s %d", name, labels, taints, &pods),
				 4);
		n = worlds_node(a, arena_strdup(a, name));
		n.labels = worlds_labels(a, arena_strdup(a, labels));
		if (!str_eq(taints, "-"))
			n.taints = worlds_taints(a, arena_strdup(a, taints));
		world_put_node(w, &n);
		for (int k = 0; k < pods; k++) {
			struct world_pod p = app(a, arena_printf(a, "%s-%d", name, k), "app=x");

			p.node = n.name;
			p.unschedulable = false;
			world_put_pod(w, &p);
		}
	}
}

static void which_nodes_a_spread_counts(void **state)
{
	static const struct {
		const char *nodes[4], *want;
		/* Node selector of the pod. "+SELECTOR": written as node affinity. "@ZONE": written
		 * as the topology of a volume in that zone. */
		const char *selector;
		bool tolerates, ignore_affinity, honor_taints;
		int min_domains;
		/* Key of an additional spread constraint that admits every node */
		const char *key;
	} cases[] = {
		{.nodes = {"a zone=a,disk=ssd - 1", "b zone=b,disk=hdd - 0"},
		 .selector = "disk=ssd",
		 .want = "node a"},
		{.nodes = {"a zone=a,disk=ssd - 1", "b zone=b,disk=hdd - 0"},
		 .selector = "+disk=ssd",
		 .want = "node a"},
		{.nodes = {"a zone=a,disk=ssd - 1", "b zone=b,disk=hdd - 0"},
		 .selector = "disk=ssd",
		 .ignore_affinity = true},
		{.nodes = {"a zone=a,disk=ssd - 0", "a2 zone=a,disk=hdd - 2",
			   "b zone=b,disk=ssd - 0"},
		 .selector = "disk=ssd",
		 .want = "node a"},
		{.nodes = {"a zone=a,disk=ssd - 0", "a2 zone=a,disk=hdd - 2",
			   "b zone=b,disk=ssd - 0"},
		 .selector = "disk=ssd",
		 .ignore_affinity = true,
		 .want = "node b"},
		{.nodes = {"a zone=a - 1", "b zone=b own=x:NoSchedule 0"}},
		{.nodes = {"a zone=a - 1", "b zone=b own=x:NoSchedule 0"},
		 .honor_taints = true,
		 .want = "node a"},
		{.nodes = {"a zone=a - 1", "b zone=b own=x:PreferNoSchedule 0"},
		 .honor_taints = true,
		 .want = "node b"},
		{.nodes = {"a zone=a - 1", "b zone=b own=x:NoExecute 0"},
		 .honor_taints = true,
		 .tolerates = true,
		 .want = "node b"},
		{.nodes = {"a zone=a - 0", "a2 zone=a own=x:NoSchedule 2", "b zone=b - 1"},
		 .want = "node b"},
		{.nodes = {"a zone=a - 0", "a2 zone=a own=x:NoSchedule 2", "b zone=b - 1"},
		 .honor_taints = true,
		 .want = "node a"},
		{.nodes = {"a zone=a - 1", "b zone=b - 1"}, .min_domains = 2, .want = "node a"},
		{.nodes = {"a zone=a - 1", "b zone=b - 1"}, .min_domains = 3},
		{.nodes = {"a zone=a - 1", "b zone=b - 0"}, .min_domains = 3, .want = "node b"},
		{.nodes = {"a zone=a - 1", "b zone=b own=x:NoSchedule 1"},
		 .min_domains = 2,
		 .want = "node a"},
		{.nodes = {"a zone=a - 1", "b zone=b own=x:NoSchedule 1"},
		 .min_domains = 2,
		 .honor_taints = true},
		{.nodes = {"a zone=a,rack=r - 1", "b zone=b - 0"}, .key = "rack", .want = "node a"},
		{.nodes = {"a zone=a - 1", "b zone=b - 0"}, .key = HOST, .want = "node b"},
		{.nodes = {"a zone=a - 1", "b zone=b - 0"}, .selector = "@a"},
		{.nodes = {"a zone=a - 1", "b zone=b - 0"}, .selector = "@b", .want = "node b"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWN(arena) a = arena_new();
		OWN(world) w = worlds_new(a);
		struct world_pod p = app(a, "new", "app=x");
		const char *selector = cases[i].selector, *said_of;
		struct world_toleration all = {.op = WORLD_TOLERATES_EXISTS};
		struct world_topology *t;

		put_nodes(w, a, cases[i].nodes);
		if (cases[i].key)
			constraint(&p, a, WORLD_SPREAD, cases[i].key, "app in (x)")->max_skew = 9;
		t = constraint(&p, a, WORLD_SPREAD, ZONE, "app in (x)");
		t->min_domains = cases[i].min_domains;
		t->nodes.ignore_affinity = cases[i].ignore_affinity;
		t->nodes.honor_taints = cases[i].honor_taints;
		p.tolerations.v = &all;
		p.tolerations.n = cases[i].tolerates;
		if (selector && *selector == '+') {
			p.affinity.v = arena_new_obj(a, struct selector);
			p.affinity.v[p.affinity.n++] = worlds_term(a, selector + 1);
		} else if (selector && *selector == '@') {
			p.volumes.v = arena_new_obj(a, struct world_volume);
			p.volumes.v[p.volumes.n].v = arena_new_obj(a, struct selector);
			p.volumes.v[p.volumes.n].v[0] =
				worlds_term(a, arena_printf(a, ZONE " in (%s)", selector + 1));
			p.volumes.v[p.volumes.n++].n = 1;
		} else if (selector) {
			p.node_selector = worlds_labels(a, selector);
		}
		world_put_pod(w, &p);
		said_of = said(w, a, "new");
		if (cases[i].want ? !str_eq(said_of, cases[i].want)
				  : strncmp(said_of, "nothing", 7) != 0)
			fail_msg("case %zu: %s, not %s", i, said_of,
				 str_or(cases[i].want, "nothing"));
	}
}

static void pods_that_spread_alike_over_other_nodes_are_counted_apart(void **state)
{
	static const char *const nodes[] = {"a zone=a,disk=ssd - 0", "a2 zone=a,disk=hdd - 3",
					    "b zone=b,disk=ssd - 1", "b2 zone=b,disk=hdd - 0",
					    NULL};
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	put_nodes(w, a, nodes);
	for (int i = 0; i < 3; i++) {
		struct world_pod p = app(a, (const char *[]){"all", "hdd", "ssd"}[i], "app=x");

		(void)constraint(&p, a, WORLD_SPREAD, ZONE, "app in (x)");
		p.node_selector =
			i ? worlds_labels(a, i == 1 ? "disk=hdd" : "disk=ssd") : p.node_selector;
		world_put_pod(w, &p);
	}
	/* The spread counts all nodes: 3 pods in zone a, 1 in zone b. */
	assert_string_equal(said(w, a, "all"), "node b");
	/* The spread counts only hdd nodes: 3 pods in zone a, 0 in zone b. */
	assert_string_equal(said(w, a, "hdd"), "node b2");
	/* The spread counts only ssd nodes: 0 pods in zone a, 2 in zone b (one of them is pod
	 * all). */
	assert_string_equal(said(w, a, "ssd"), "node a");
}

static void a_spread_that_wants_more_domains_gets_machines_in_them(void **state)
{
	static const char *const nodes[] = {"a zone=a - 1", "b zone=b - 1", NULL};
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 0);
	struct world_machine m = worlds_machine("c0", "small");
	struct world_pod p = app(a, "new", "app=x");

	(void)state;
	put_nodes(w, a, nodes);
	constraint(&p, a, WORLD_SPREAD, ZONE, "app in (x)")->min_domains = 4;
	world_put_pod(w, &p);
	assert_true(strncmp(said(w, a, "new"), "nothing", 7) == 0);
	m.provider = "pc";
	world_put_machine(w, &m);
	assert_string_equal(said(w, a, "new"), "new 0 on c0");
}

static void a_spread_does_not_count_who_is_being_deleted_and_affinity_does(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 1);
	struct world_pod p;

	(void)state;
	run(w, a, "a", "n-a", "app=web");
	run(w, a, "b", "n-b", "app=web");
	run(w, a, "c", "n-c", "app=other");
	p = app(a, "on-n-b", "app=web");
	p.node = "n-b";
	p.unschedulable = false;
	p.terminating = true;
	world_put_pod(w, &p);
	p = app(a, "leaves-c", "app=web");
	p.node = "n-c";
	p.unschedulable = false;
	world_put_pod(w, &p);
	p = app(a, "spread", "app=web");
	constraint(&p, a, WORLD_SPREAD, ZONE, "app in (web)");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "spread"), "node n-b");
	world_del_pod(w, "acme", "default", "spread");
	p = app(a, "apart", "app=lone");
	constraint(&p, a, WORLD_APART, ZONE, "app in (web)");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "apart"), BLOCKED("zone"));
}

static void pods_of_other_namespaces_and_tenants_do_not_count_unless_named(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 1);
	struct world_pod p = app(a, "p", "app=x"), q = app(a, "q", "app=x");
	struct world_topology *t = constraint(&p, a, WORLD_APART, HOST, "app in (x)");

	(void)state;
	q.ns = "elsewhere";
	q.since = 1;
	world_put_pod(w, &q);
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "new 0 on a0");
	t->namespaces = (const char *[]){"default", "elsewhere"};
	t->nnamespaces = 2;
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "new 1 on b0");
}

static void a_pod_on_a_cordoned_node_counts(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 1);
	struct world_node n = worlds_node(a, "na");
	struct world_pod p = app(a, "p", "app=x");

	(void)state;
	run(w, a, "a", "na", "app=x");
	n.labels = worlds_labels(a, ZONE "=a");
	n.unschedulable = true;
	world_put_node(w, &n);
	(void)constraint(&p, a, WORLD_APART, ZONE, "app in (x)");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "new 0 on b0");
}

static void a_pod_on_a_node_that_its_claim_still_speaks_for_counts(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 1);
	struct world_node n = worlds_node(a, "na");
	struct world_claim c = worlds_claim(a, "c1", NULL);
	struct world_pod p = app(a, "p", "app=x");

	(void)state;
	run(w, a, "a", "na", "app=x");
	c.provider = "pa";
	world_put_claim(w, &c);
	n.claim = "c1";
	n.labels = worlds_labels(a, ZONE "=a");
	world_put_node(w, &n);
	(void)constraint(&p, a, WORLD_APART, ZONE, "app in (x)");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "new 0 on b0");
}

static void only_the_pool_that_has_machines_in_the_wrong_place_says_so(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 1);
	struct world_pool empty = worlds_pool(a);
	struct world_pod p = app(a, "p", "app=y");

	(void)state;
	empty.name = "empty";
	world_put_pool(w, &empty);
	(void)constraint(&p, a, WORLD_TOGETHER, ZONE, "app in (x)");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"),
			    BLOCKED("zone") "; NoCapacity: pool empty: there is no machine of "
					    "type small, big or gpu");
}

static void a_term_of_every_namespace_counts_pods_of_others(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 1);
	struct world_pod p = app(a, "p", "app=y"), q = app(a, "q", "app=x");

	(void)state;
	run(w, a, "a", "na", "app=w");
	q.ns = "elsewhere";
	q.node = "na";
	constraint(&q, a, WORLD_APART, ZONE, "app in (z)")->everywhere = true;
	world_put_pod(w, &q);
	constraint(&p, a, WORLD_APART, ZONE, "app in (x)")->everywhere = true;
	/* Zone a is excluded by the anti-affinity of pod p to a pod in another namespace. */
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "new 0 on b0");
	/* Zone a is excluded for pod p by the anti-affinity of a pod in another namespace. */
	p = app(a, "p", "app=z");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "new 0 on b0");
}

/* --- many pods, checked by counting ----------------------------------------------------------- */

enum { CROWD = 240 };

static const char *spot(const struct plan *p, const struct plan_pod *d, const char *key,
			struct arena *a)
{
	if (str_eq(key, HOST))
		return arena_printf(a, "%zu", d->new_claim);
	return labels_get(&p->claims[d->new_claim].labels, key);
}

/* Returns how many of the first `upto` pods are in this domain and are selected by constraint t. */
static int64_t there(const struct plan *p, const struct world_pod *pods, size_t upto,
		     const struct world_topology *t, const char *domain, struct arena *a)
{
	int64_t n = 0;

	for (size_t i = 0; i < upto; i++)
		if (p->pods[i].outcome == PLAN_ON_NEW &&
		    str_eq(spot(p, &p->pods[i], t->key, a), domain) &&
		    selector_matches(&t->pods, &pods[i].labels))
			n++;
	return n;
}

static void check(const struct plan *p, const struct world_pod *pods, size_t at, struct arena *a)
{
	const struct plan_pod *d = &p->pods[at];

	for (size_t i = 0; i < pods[at].topology.n; i++) {
		const struct world_topology *t = &pods[at].topology.v[i];
		const bool self = selector_matches(&t->pods, &pods[at].labels);
		const int64_t here = there(p, pods, at, t, spot(p, d, t->key, a), a);
		int64_t min = 0, all = 0;

		for (int z = 0; z < 3 && str_eq(t->key, ZONE); z++) {
			const int64_t n =
				there(p, pods, at, t, (const char *[]){"a", "b", "c"}[z], a);

			min = !z || n < min ? n : min;
		}
		for (size_t k = 0; k < at; k++)
			all += p->pods[k].outcome == PLAN_ON_NEW &&
			       selector_matches(&t->pods, &pods[k].labels);
		if (t->kind == WORLD_SPREAD)
			assert_true(here + self - min <= t->max_skew);
		else if (t->kind == WORLD_APART)
			assert_int_equal(here, 0);
		else
			assert_true(here > 0 || (all == 0 && self));
	}
	for (size_t k = 0; k < at; k++)
		for (size_t i = 0; i < pods[k].topology.n && p->pods[k].outcome == PLAN_ON_NEW; i++)
			if (pods[k].topology.v[i].kind == WORLD_APART &&
			    selector_matches(&pods[k].topology.v[i].pods, &pods[at].labels))
				assert_string_not_equal(
					spot(p, &p->pods[k], pods[k].topology.v[i].key, a),
					spot(p, d, pods[k].topology.v[i].key, a));
}

static void in_a_crowd_every_constraint_holds_when_its_pod_is_placed(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = zones(a, 60);
	struct world_pod *pods = arena_calloc(a, CROWD, sizeof(*pods));
	uint64_t s = 5;
	size_t served = 0;
	struct plan *plan;

	(void)state;
	for (int i = 0; i < CROWD; i++) {
		char own = 0, other = 0;

		for (int k = 0; k < 3; k++) { /* source: xorshift64, Marsaglia 2003 */
			s ^= s << 13;
			s ^= s >> 7;
			s ^= s << 17;
		}
		own = (char)('x' + s % 3);
		other = (char)('x' + s / 3 % 3);
		pods[i] = app(a, arena_printf(a, "p%03d", i), arena_printf(a, "app=%c", own));
		pods[i].requests = worlds_resources(a, s / 9 % 2 ? "cpu=1" : "cpu=300m");
		if (s / 18 % 6)
			(void)constraint(
				&pods[i], a,
				(enum world_topology_kind[]){WORLD_SPREAD, WORLD_SPREAD,
							     WORLD_TOGETHER, WORLD_APART,
							     WORLD_SPREAD}[s / 18 % 6 - 1],
				(const char *[]){ZONE, HOST, ZONE, HOST, ZONE}[s / 18 % 6 - 1],
				arena_printf(a, "app in (%c)", s / 18 % 6 == 3 ? own : other));
		world_put_pod(w, &pods[i]);
	}
	plan = plan_make(w, 0, a);
	assert_int_equal(plan->npods, CROWD);
	for (size_t i = 0; i < CROWD; i++) {
		assert_string_equal(plan->pods[i].name, pods[i].name);
		if (plan->pods[i].outcome == PLAN_ON_NEW) {
			served++;
			check(plan, pods, i, a);
		}
	}
	assert_true(served > CROWD / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_spread_fills_zones_evenly),
		cmocka_unit_test(a_zone_without_nodes_and_machines_does_not_hold_a_spread_back),
		cmocka_unit_test(
			a_zone_whose_last_machine_goes_to_another_no_more_holds_a_spread_back),
		cmocka_unit_test(a_spread_counts_pods_that_run),
		cmocka_unit_test(a_spread_counts_only_domains_that_the_selector_admits),
		cmocka_unit_test(a_spread_over_hosts_opens_a_new_one_when_all_are_full),
		cmocka_unit_test(a_pod_that_its_own_spread_does_not_select_adds_nothing),
		cmocka_unit_test(affinity_follows_the_pod_that_is_there),
		cmocka_unit_test(the_first_of_its_kind_may_go_anywhere_and_the_rest_follow),
		cmocka_unit_test(anti_affinity_keeps_apart_both_ways),
		cmocka_unit_test(anti_affinity_by_host_gives_each_its_own),
		cmocka_unit_test(a_pod_waits_in_the_plan_for_one_that_comes_later_in_the_queue),
		cmocka_unit_test(affinity_of_two_terms_wants_pods_that_both_select),
		cmocka_unit_test(which_nodes_a_spread_counts),
		cmocka_unit_test(pods_that_spread_alike_over_other_nodes_are_counted_apart),
		cmocka_unit_test(a_spread_that_wants_more_domains_gets_machines_in_them),
		cmocka_unit_test(a_spread_does_not_count_who_is_being_deleted_and_affinity_does),
		cmocka_unit_test(pods_of_other_namespaces_and_tenants_do_not_count_unless_named),
		cmocka_unit_test(a_pod_on_a_cordoned_node_counts),
		cmocka_unit_test(a_pod_on_a_node_that_its_claim_still_speaks_for_counts),
		cmocka_unit_test(a_term_of_every_namespace_counts_pods_of_others),
		cmocka_unit_test(only_the_pool_that_has_machines_in_the_wrong_place_says_so),
		cmocka_unit_test(in_a_crowd_every_constraint_holds_when_its_pod_is_placed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
