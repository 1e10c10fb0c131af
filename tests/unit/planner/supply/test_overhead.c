/* test_overhead: tests how much of a new node is left beside the pods of the tenant's DaemonSets,
 * before the tenant has a node and after. */
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "planner/world_impl.h"
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

static void add_machine(struct world *w, const char *name, const char *type)
{
	struct world_machine m = worlds_machine(name, type);

	world_put_machine(w, &m);
}

static void add_pod(struct world *w, struct arena *a, const char *name, const char *requests)
{
	struct world_pod p = worlds_pod(a, name, requests);

	world_put_pod(w, &p);
}

static struct world_pod daemon_set(struct arena *a, const char *name, const char *requests)
{
	struct world_pod p = worlds_pod(a, arena_printf(a, "%s:daemonset", name), requests);

	p.daemon = p.daemon_set = true;
	p.unschedulable = false;
	return p;
}

static void add_set(struct world *w, struct arena *a, const char *name, const char *requests,
		    const char *selector)
{
	struct world_pod p = daemon_set(a, name, requests);

	p.node_selector = worlds_labels(a, selector);
	world_put_pod(w, &p);
}

static const char *said(struct world *w, struct arena *a, const char *pod)
{
	return worlds_pod_text(plan_make(w, 0, a), pod, a);
}

/* Returns a world with machines s1 and s2 of type small (4 CPUs), b1 of type big (16) and g1 of
 * type gpu (64), and no node. */
static struct world *racks(struct arena *a)
{
	struct world *w = worlds_new(a);

	add_machine(w, "s1", "small");
	add_machine(w, "s2", "small");
	add_machine(w, "b1", "big");
	add_machine(w, "g1", "gpu");
	return w;
}

static void the_first_machine_has_room_for_daemonsets(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = racks(a);

	(void)state;
	add_pod(w, a, "p", "cpu=3500m");
	add_set(w, a, "cni", "cpu=250m,memory=1Gi", "");
	add_set(w, a, "logs", "cpu=250m", "");
	assert_string_equal(said(w, a, "p"), "new 0 on s1");
	add_set(w, a, "logs", "cpu=251m", "");
	assert_string_equal(said(w, a, "p"), "new 0 on b1");
	add_pod(w, a, "p", "cpu=64");
	assert_string_equal(said(w, a, "p"),
			    "nothing; TooBig: pool main: type gpu has too little cpu: the pod "
			    "requests 64, DaemonSets use 501m, the largest type has 64");
	world_del_pod(w, "acme", "default", "logs:daemonset");
	add_pod(w, a, "p", "cpu=3750m");
	assert_string_equal(said(w, a, "p"), "new 0 on s1");
}

static void a_daemonset_counts_on_the_nodes_that_it_selects(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = racks(a);
	struct requirement q = {"gpu", SELECTOR_EXISTS, NULL, 0};
	struct selector term = {&q, 1};
	struct world_pod p = daemon_set(a, "exporter", "cpu=60");

	(void)state;
	add_pod(w, a, "p", "cpu=3500m");
	add_set(w, a, "cache", "cpu=3", "disk=ssd");
	assert_string_equal(said(w, a, "p"), "new 0 on b1");
	add_set(w, a, "cache", "cpu=3", "disk=ssd,rack=r7");
	assert_string_equal(said(w, a, "p"), "new 0 on s1");
	p.affinity.v = &term;
	p.affinity.n = 1;
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "new 0 on s1");
	add_pod(w, a, "p", "cpu=5,nvidia.com/gpu=1");
	assert_string_equal(said(w, a, "p"),
			    "nothing; TooBig: pool main: type gpu has too little cpu: the pod "
			    "requests 5, DaemonSets use 60, the largest type has 64");
	add_pod(w, a, "p", "cpu=4,nvidia.com/gpu=1");
	assert_string_equal(said(w, a, "p"), "new 0 on g1");
}

static void racks_may_differ_in_their_daemonsets(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_machine m = worlds_machine("m1", "small");

	(void)state;
	m.labels = worlds_labels(a, "rack=r1");
	world_put_machine(w, &m);
	m = worlds_machine("m2", "small");
	m.labels = worlds_labels(a, "rack=r2");
	world_put_machine(w, &m);
	add_set(w, a, "r1-agent", "cpu=1,memory=1Gi", "rack=r1");
	add_set(w, a, "r2-agent", "memory=7Gi", "rack=r2");
	/* In each rack, one of the two resources is short. The highest of both counts for the type,
	 * so that what is planned fits in either rack. */
	add_pod(w, a, "p", "cpu=3,memory=1Gi");
	assert_string_equal(said(w, a, "p"), "new 0 on m1");
	add_pod(w, a, "p", "cpu=3500m,memory=1Gi");
	assert_string_equal(said(w, a, "p"), "nothing; NoCapacity: pool main: there is no machine "
					     "of type big or gpu");
}

static void a_daemonset_counts_where_it_tolerates_the_taints(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = racks(a);
	struct world_pool pool = worlds_pool(a);
	struct world_pod p = worlds_pod(a, "p", "cpu=3500m"), set = daemon_set(a, "cni", "cpu=1");
	struct world_toleration any = {.key = "gpu", .op = WORLD_TOLERATES_EXISTS};

	(void)state;
	pool.taints = worlds_taints(a, "gpu=yes:NoSchedule");
	world_put_pool(w, &pool);
	p.tolerations.v = &any;
	p.tolerations.n = 1;
	world_put_pod(w, &p);
	world_put_pod(w, &set);
	assert_string_equal(said(w, a, "p"), "new 0 on s1");
	set.tolerations.v = &any;
	set.tolerations.n = 1;
	world_put_pod(w, &set);
	assert_string_equal(said(w, a, "p"), "new 0 on b1");
	/* The DaemonSet controller ignores PreferNoSchedule. */
	set.tolerations.n = 0;
	world_put_pod(w, &set);
	pool.taints = worlds_taints(a, "gpu=yes:PreferNoSchedule");
	world_put_pool(w, &pool);
	assert_string_equal(said(w, a, "p"), "new 0 on b1");
}

static void pools_may_differ_in_their_daemonsets(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = racks(a);
	struct world_pool pool = worlds_pool(a);
	struct world_pod p = worlds_pod(a, "p", "cpu=3500m");
	struct world_toleration any = {.key = "gpu", .op = WORLD_TOLERATES_EXISTS};

	(void)state;
	pool.name = "tainted";
	pool.weight = 1;
	pool.taints = worlds_taints(a, "gpu=yes:NoSchedule");
	world_put_pool(w, &pool);
	p.tolerations.v = &any;
	p.tolerations.n = 1;
	world_put_pod(w, &p);
	add_set(w, a, "cni", "cpu=1", "disk=ssd");
	/* In pool main a small machine is too small; a larger one of main comes before pool
	 * tainted, whose weight is lower. */
	assert_string_equal(said(w, a, "p"), "new 0 on b1");
	add_set(w, a, "cni", "cpu=61", "");
	assert_string_equal(said(w, a, "p"), "new 0 on s1");
}

/* Puts Ready node n1 of claim c1, on which a DaemonSet's pod requests this. */
static void serve_node(struct world *w, struct arena *a, const char *requests)
{
	struct world_claim c = worlds_claim(a, "c1", "s1");
	struct world_node n = worlds_node(a, "n1");
	struct world_pod p = worlds_pod(a, "cni-on-n1", requests);

	c.ready = true;
	world_put_claim(w, &c);
	n.claim = "c1";
	n.unschedulable = true;
	world_put_node(w, &n);
	p.daemon = true;
	p.unschedulable = false;
	p.node = "n1";
	world_put_pod(w, &p);
}

static void the_larger_of_declared_and_measured_counts(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = racks(a);

	(void)state;
	serve_node(w, a, "cpu=1,memory=1Gi");
	add_set(w, a, "cni", "cpu=500m,memory=2Gi", "");
	add_pod(w, a, "p", "cpu=3,memory=6Gi");
	assert_string_equal(said(w, a, "p"), "new 0 on s2");
	add_pod(w, a, "p", "cpu=3001m,memory=6Gi");
	assert_string_equal(said(w, a, "p"), "new 0 on b1");
	add_pod(w, a, "p", "cpu=3,memory=6145Mi");
	assert_string_equal(said(w, a, "p"), "new 0 on b1");
}

static void a_claim_in_progress_has_room_for_daemonsets(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = racks(a);
	struct world_claim c = worlds_claim(a, "c1", "s1");
	struct world_node n = worlds_node(a, "n1");
	struct world_pod p = worlds_pod(a, "cni-on-n1", "cpu=1");

	(void)state;
	world_put_claim(w, &c);
	add_set(w, a, "cni", "cpu=1", "disk=ssd");
	add_pod(w, a, "p", "cpu=3");
	assert_string_equal(said(w, a, "p"), "claim c1");
	add_pod(w, a, "p", "cpu=3001m");
	assert_string_equal(said(w, a, "p"), "new 0 on b1");
	/* A pod that is on the claim's Node already is not counted twice. */
	n.claim = "c1";
	world_put_node(w, &n);
	p.daemon = true;
	p.node = "n1";
	world_put_pod(w, &p);
	add_pod(w, a, "p", "cpu=3");
	assert_string_equal(said(w, a, "p"), "claim c1");
}

static void ports_and_the_number_of_pods_count_too(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	add_machine(w, "s1", "small");
	add_set(w, a, "a", "cpu=1m,:TCP/80=1", "");
	add_set(w, a, "b", "cpu=1m,:TCP/80=1", "");
	add_pod(w, a, "p", "cpu=1,:TCP/80=1");
	assert_string_equal(
		said(w, a, "p"),
		"nothing; TooBig: pool main: a DaemonSet uses host port TCP/80 on every node");
	add_pod(w, a, "p", "cpu=1,:TCP/81=1");
	assert_string_equal(said(w, a, "p"), "new 0 on s1");
	for (int i = 0; i < 7; i++)
		add_set(w, a, arena_printf(a, "more-%d", i), "cpu=1m", "disk=ssd");
	/* A small machine has room for 10 pods. */
	assert_string_equal(said(w, a, "p"), "new 0 on s1");
	add_set(w, a, "last", "cpu=1m", "disk=ssd");
	assert_string_equal(said(w, a, "p"), "nothing; NoCapacity: pool main: there is no machine "
					     "of type big or gpu");
}

static void pods_that_share_a_machine_leave_room(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = racks(a);
	struct world_pool pool = worlds_pool(a);
	const struct plan *p;

	(void)state;
	pool.expander = WORLD_EXPANDER_LEAST_COST;
	world_put_pool(w, &pool);
	add_set(w, a, "cni", "cpu=1", "disk=ssd");
	for (int i = 0; i < 4; i++)
		add_pod(w, a, arena_printf(a, "p%d", i), "cpu=1");
	p = plan_make(w, 0, a);
	for (int i = 0; i < 4; i++)
		assert_string_equal(worlds_pod_text(p, arena_printf(a, "p%d", i), a),
				    i < 3 ? "new 0 on s1" : "new 1 on s2");
}

/* A type that serves few pods beside its DaemonSets is dearer for each of them. */
static void the_cost_of_a_machine_is_divided_by_what_it_serves(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = racks(a);
	const struct plan *p;

	(void)state;
	for (int i = 0; i < 4; i++)
		add_pod(w, a, arena_printf(a, "p%d", i), "cpu=1");
	assert_string_equal(said(w, a, "p0"), "new 0 on s1");
	add_set(w, a, "cni", "cpu=3", "disk=ssd");
	p = plan_make(w, 0, a);
	for (int i = 0; i < 4; i++)
		assert_string_equal(worlds_pod_text(p, arena_printf(a, "p%d", i), a),
				    "new 0 on b1");
}

static void a_gang_is_not_put_on_machines_that_daemonsets_fill(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = racks(a);
	const struct plan *plan;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct world_pod p = worlds_pod(a, arena_printf(a, "p%d", i), "cpu=1");

		p.gang.key = "default/g";
		p.gang.min = 4;
		world_put_pod(w, &p);
	}
	assert_string_equal(said(w, a, "p1"), "new 0 on s1");
	add_set(w, a, "small", "cpu=3", "disk=ssd");
	plan = plan_make(w, 0, a);
	for (int i = 0; i < 4; i++)
		assert_string_equal(worlds_pod_text(plan, arena_printf(a, "p%d", i), a),
				    "new 0 on b1");
}

static void a_stopped_machine_has_room_for_daemonsets(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = racks(a);

	(void)state;
	world_put_stops(w, &(struct world_stop){.pool = "main", .text = "not now"}, 1);
	add_pod(w, a, "p", "cpu=63");
	assert_string_equal(said(w, a, "p"), "nothing; LineStopped: pool main: not now");
	add_set(w, a, "cni", "cpu=2", "gpu=h100");
	assert_string_equal(said(w, a, "p"),
			    "nothing; TooBig: pool main: type gpu has too little cpu: the pod "
			    "requests 63, DaemonSets use 2, the largest type has 64");
}

static void a_gang_has_room_for_daemonsets(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = racks(a);
	const struct plan *plan;

	(void)state;
	add_machine(w, "b2", "big");
	for (int i = 0; i < 2; i++) {
		struct world_pod p = worlds_pod(a, arena_printf(a, "p%d", i), "cpu=3500m");

		p.gang.key = "default/g";
		p.gang.min = 2;
		world_put_pod(w, &p);
	}
	add_set(w, a, "cni", "cpu=1", "disk=ssd");
	plan = plan_make(w, 0, a);
	assert_string_equal(worlds_pod_text(plan, "p0", a), "new 0 on b1");
	assert_string_equal(worlds_pod_text(plan, "p1", a), "new 0 on b1");
}

static void a_machine_to_come_has_room_for_daemonsets(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_machine m = worlds_machine("s1", "small");

	(void)state;
	m.offered = false;
	m.returns = true;
	m.free_p50_ms = 60000;
	m.free_p90_ms = 90000;
	world_put_machine(w, &m);
	m = worlds_machine("b1", "big");
	m.offered = false;
	m.returns = true;
	m.free_p50_ms = 120000;
	m.free_p90_ms = 150000;
	world_put_machine(w, &m);
	add_set(w, a, "cni", "cpu=1", "disk=ssd");
	add_pod(w, a, "p", "cpu=3500m");
	assert_non_null(strstr(said(w, a, "p"), "expects b1 at 120000"));
	add_pod(w, a, "p", "cpu=3");
	assert_non_null(strstr(said(w, a, "p"), "expects s1 at 60000"));
	/* The second pod does not fit beside the first one and the DaemonSet. */
	add_pod(w, a, "q", "cpu=500m");
	assert_non_null(strstr(said(w, a, "q"), "expects b1 at 120000"));
}

static void the_daemonsets_of_another_tenant_do_not_count(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = racks(a);
	struct world_pod p = daemon_set(a, "cni", "cpu=1");

	(void)state;
	p.tenant = "other";
	world_put_pod(w, &p);
	add_pod(w, a, "p", "cpu=4");
	assert_string_equal(said(w, a, "p"), "new 0 on s1");
	/* A DaemonSet is no demand. */
	world_del_pod(w, "acme", "default", "p");
	add_set(w, a, "cni", "cpu=1", "");
	assert_int_equal(plan_make(w, 0, a)->nclaims, 0);
}

static void a_changed_daemonset_needs_a_new_plan(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = racks(a);
	struct world_pod p = daemon_set(a, "cni", "cpu=1");

	(void)state;
	assert_true(world_put_pod(w, &p));
	assert_false(world_put_pod(w, &p));
	p.requests = worlds_resources(a, "cpu=2");
	assert_true(world_put_pod(w, &p));
	p.daemon_set = false;
	assert_true(world_put_pod(w, &p));
}

/* A tenant whose DaemonSets have long selectors cannot spend more than its share of work. */
static void the_work_is_bounded(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	const char *values[100];
	struct requirement q = {"rack", SELECTOR_NOT_IN, values, 100};
	struct selector term = {&q, 1};
	struct plan_run *r;

	(void)state;
	for (int i = 0; i < 100; i++)
		values[i] = arena_printf(a, "value-%d", i);
	for (int i = 0; i < 600; i++) {
		struct world_machine m = worlds_machine(arena_printf(a, "m%d", i), "small");

		m.labels = worlds_labels(a, arena_printf(a, "rack=r%d", i));
		world_put_machine(w, &m);
	}
	for (int i = 0; i < 500; i++) {
		struct world_pod p = daemon_set(a, arena_printf(a, "set-%d", i), "cpu=1m");

		p.affinity.v = &term;
		p.affinity.n = 1;
		world_put_pod(w, &p);
	}
	add_pod(w, a, "p", "cpu=1");
	add_pod(w, a, "q", "cpu=2");
	r = plan_begin(w, 0, a);
	assert_non_null(strstr(worlds_pod_text(plan_step(r, UINT64_MAX), "q", a), "OverBudget"));
	assert_in_range(plan_work(r), PLAN_WORK, PLAN_WORK + PLAN_WORK / 10);
	plan_end(r);
}

/* --- random fleets ---------------------------------------------------------------------------- */

enum { FLEETS = 300, SETS = 6, MACHINES = 24, PODS = 30 };

static const struct {
	const char *name, *label;
	int64_t cpus;
} types[] = {{"small", "disk=ssd", 4}, {"big", "cores=16", 16}, {"gpu", "gpu=h100", 64}};

struct fleet {
	uint64_t seed;
	struct set {
		int64_t cpus;
		/* Label that the nodes must have; NULL: none */
		const char *label;
		bool tolerates;
	} sets[SETS];
	struct machine {
		const char *name, *rack;
		size_t type;
		bool used;
	} machines[MACHINES];
};

static uint64_t next(struct fleet *f)
{
	f->seed ^= f->seed << 13; /* source: xorshift64, Marsaglia 2003 */
	f->seed ^= f->seed >> 7;
	f->seed ^= f->seed << 17;
	return f->seed;
}

/* Returns the CPUs that the DaemonSets need on a machine of a pool, tainted or not. */
static int64_t beside(const struct fleet *f, const struct machine *m, bool tainted)
{
	int64_t sum = 0;

	for (size_t i = 0; i < SETS; i++)
		if ((!f->sets[i].label || str_eq(f->sets[i].label, types[m->type].label) ||
		     str_eq(f->sets[i].label, m->rack)) &&
		    (!tainted || f->sets[i].tolerates))
			sum += f->sets[i].cpus;
	return sum;
}

static void tolerate(struct world_pod *p, struct arena *a)
{
	p->tolerations.v = arena_new_obj(a, struct world_toleration);
	*p->tolerations.v =
		(struct world_toleration){.key = "dedicated", .op = WORLD_TOLERATES_EXISTS};
	p->tolerations.n = 1;
}

/* Returns a world with random DaemonSets and machines, in pools main and tainted. racks: the
 * DaemonSets also select racks. */
static struct world *make_fleet(struct fleet *f, bool racks, struct arena *a)
{
	static const char *const labels[] = {NULL,	 "disk=ssd", "cores=16",
					     "gpu=h100", "rack=r1",  "rack=r2"};
	struct world *w = worlds_new(a);
	struct world_pool pool = worlds_pool(a);

	pool.name = "tainted";
	pool.weight = next(f) % 2 ? 20 : 1;
	pool.taints = worlds_taints(a, "dedicated=x:NoSchedule");
	world_put_pool(w, &pool);
	for (size_t i = 0; i < SETS; i++) {
		struct world_pod p;

		f->sets[i] = (struct set){(int64_t)(next(f) % 3), labels[next(f) % (racks ? 6 : 4)],
					  next(f) % 2};
		p = daemon_set(a, arena_printf(a, "set-%zu", i),
			       arena_printf(a, "cpu=%d", (int)f->sets[i].cpus));
		p.node_selector = worlds_labels(a, str_or(f->sets[i].label, ""));
		if (f->sets[i].tolerates)
			tolerate(&p, a);
		world_put_pod(w, &p);
	}
	for (size_t i = 0; i < MACHINES; i++) {
		struct machine *m = &f->machines[i];
		struct world_machine wm;

		*m = (struct machine){arena_printf(a, "m%02zu", i),
				      next(f) % 2 ? "rack=r1" : "rack=r2", next(f) % 3, false};
		wm = worlds_machine(m->name, types[m->type].name);
		wm.labels = worlds_labels(a, m->rack);
		world_put_machine(w, &wm);
	}
	return w;
}

static void add_pods(struct fleet *f, struct world *w, struct arena *a)
{
	for (size_t i = 0; i < PODS; i++) {
		struct world_pod p = worlds_pod(a, arena_printf(a, "p%02zu", i),
						arena_printf(a, "cpu=%d", 1 + (int)(next(f) % 12)));

		if (next(f) % 2)
			tolerate(&p, a);
		if (next(f) % 4 == 0)
			p.node_selector = worlds_labels(a, types[next(f) % 3].label);
		if (next(f) % 5 == 0) {
			p.gang.key = arena_printf(a, "default/g%d", (int)(next(f) % 3));
			p.gang.min = 2;
		}
		world_put_pod(w, &p);
	}
}

static struct machine *machine_of(struct fleet *f, const char *name)
{
	size_t i = 0;

	while (!str_eq(f->machines[i].name, name))
		i++;
	return &f->machines[i];
}

/* Fails the test if a claim of the plan has too little room for its pods and the DaemonSets. */
static void check_claims(struct fleet *f, const struct plan *p)
{
	for (size_t i = 0; i < p->nclaims; i++) {
		const struct plan_claim *c = &p->claims[i];
		struct machine *m = machine_of(f, c->machine);
		const int64_t pods = quantity_ceil(*resources_get(&c->requests, "cpu"));

		m->used = true;
		if (pods + beside(f, m, str_eq(c->pool, "tainted")) > types[m->type].cpus)
			fail_msg("%s of pool %s: %d CPUs of pods beside %d", m->name, c->pool,
				 (int)pods, (int)beside(f, m, str_eq(c->pool, "tainted")));
	}
}

/* Fails the test if a machine that no claim has would be large enough for a pod that got none. */
static void check_rest(struct fleet *f, struct world *w, const struct plan *p, struct arena *a)
{
	for (size_t i = 0; i < p->npods; i++) {
		const struct world_one *one =
			map_get(w->pods, arena_printf(a, "acme/default/%s", p->pods[i].name));
		const struct world_pod *pod = &one->shape->pod;
		const int64_t cpus = quantity_ceil(*resources_get(&pod->requests, "cpu"));

		if (p->pods[i].outcome != PLAN_NOTHING || one->member)
			continue;
		for (size_t k = 0; k < MACHINES; k++) {
			const struct machine *m = &f->machines[k];
			const char *key = pod->node_selector.n ? pod->node_selector.v[0].key : "";

			if (m->used || strncmp(types[m->type].label, key, strlen(key)) != 0)
				continue;
			if (cpus + beside(f, m, false) <= types[m->type].cpus ||
			    (pod->tolerations.n &&
			     cpus + beside(f, m, true) <= types[m->type].cpus))
				fail_msg("%s has room for %s, which got nothing", m->name,
					 p->pods[i].name);
		}
	}
}

static void random_claims_have_room_and_no_machine_with_room_is_left(void **state)
{
	size_t claims = 0, nothing = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= FLEETS; seed++) {
		OWN(arena) a = arena_new();
		struct fleet *f = arena_new_obj(a, struct fleet);
		/* If racks differ, the highest overhead of a type's racks counts, so a machine in
		 * the other rack may be left. */
		const bool racks = seed % 3 == 0;

		f->seed = seed * 7919;
		OWN(world) w = make_fleet(f, racks, a);
		const struct plan *p;

		add_pods(f, w, a);
		p = plan_make(w, 0, a);
		check_claims(f, p);
		if (!racks)
			check_rest(f, w, p, a);
		claims += p->nclaims;
		for (size_t i = 0; i < p->npods; i++)
			nothing += p->pods[i].outcome == PLAN_NOTHING;
	}
	assert_true(claims > FLEETS * 5 && nothing > FLEETS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_work_is_bounded),
		cmocka_unit_test(random_claims_have_room_and_no_machine_with_room_is_left),
		cmocka_unit_test(the_first_machine_has_room_for_daemonsets),
		cmocka_unit_test(a_daemonset_counts_on_the_nodes_that_it_selects),
		cmocka_unit_test(racks_may_differ_in_their_daemonsets),
		cmocka_unit_test(a_daemonset_counts_where_it_tolerates_the_taints),
		cmocka_unit_test(pools_may_differ_in_their_daemonsets),
		cmocka_unit_test(the_larger_of_declared_and_measured_counts),
		cmocka_unit_test(a_claim_in_progress_has_room_for_daemonsets),
		cmocka_unit_test(ports_and_the_number_of_pods_count_too),
		cmocka_unit_test(pods_that_share_a_machine_leave_room),
		cmocka_unit_test(the_cost_of_a_machine_is_divided_by_what_it_serves),
		cmocka_unit_test(a_gang_is_not_put_on_machines_that_daemonsets_fill),
		cmocka_unit_test(a_stopped_machine_has_room_for_daemonsets),
		cmocka_unit_test(a_gang_has_room_for_daemonsets),
		cmocka_unit_test(a_machine_to_come_has_room_for_daemonsets),
		cmocka_unit_test(the_daemonsets_of_another_tenant_do_not_count),
		cmocka_unit_test(a_changed_daemonset_needs_a_new_plan),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
