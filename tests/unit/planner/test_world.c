/* test_world: tests that a put copies its arguments, and that earlier versions of an object have no
 * effect on later plans. */
#include "base/str.h"
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

enum { TENANTS = 3, POOLS = 3, PROVIDERS = 2, MACHINES = 12, CLAIMS = 6, NODES = 5, PODS = 40 };
enum { OBJECTS = TENANTS + POOLS + PROVIDERS + MACHINES + CLAIMS + NODES + PODS, VERSIONS = 4 };

/* A repeatable sequence (source: xorshift64, Marsaglia 2003). */
static uint64_t next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static const char *name_of(struct arena *a, const char *kind, unsigned i)
{
	return arena_printf(a, "%s%u", kind, i);
}

static const char *one_of(uint64_t *s, const char *const *texts, size_t n)
{
	return texts[next(s) % n];
}
#define ONE_OF(s, ...)                                                                             \
	one_of((s), (const char *const[]){__VA_ARGS__},                                            \
	       sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void put_pod(struct world *w, struct arena *a, unsigned i, uint64_t *s)
{
	struct world_pod p =
		worlds_pod(a, name_of(a, "pod", i),
			   ONE_OF(s, "cpu=1", "cpu=2,memory=1Gi", "memory=1Gi,cpu=2",
				  "nvidia.com/gpu=2", "cpu=500m,example.com/x=1", "cpu=70"));
	struct world_toleration t = {.key = "k", .op = WORLD_TOLERATES_EXISTS};
	struct selector terms[2] = {worlds_term(a, "zone in (a)"), worlds_term(a, "gpu")};
	struct world_preference prefs[2] = {{1, worlds_term(a, "zone in (b)")},
					    {3, worlds_term(a, "cores>8")}};

	struct selector there[] = {worlds_term(a, ONE_OF(s, "zone in (a)", "zone in (b)")),
				   worlds_term(a, "disk in (ssd)")};
	struct world_volume volumes[] = {
		{NULL, NULL, there, 1 + next(s) % 2},
		{ONE_OF(s, "v1", "v2"), ONE_OF(s, "x", "y"), &there[1], 1}};

	struct world_shared shared[] = {{"@csi", ONE_OF(s, "default/a", "default/b")},
					{"@csi", "default/c"}};

	struct world_topology apart = {
		.kind = (enum world_topology_kind)(next(s) % 3),
		.key = ONE_OF(s, "zone", "kubernetes.io/hostname"),
		.max_skew = 1,
		.pods = worlds_term(a, ONE_OF(s, "app in (x)", "app in (y)"))};

	p.topology.v = &apart;
	p.topology.n = !(next(s) % 3);
	p.tenant = name_of(a, "tenant", next(s) % TENANTS);
	p.ns = ONE_OF(s, "default", "other");
	p.node = next(s) % 4 ? NULL : name_of(a, "node", next(s) % NODES);
	p.unschedulable = next(s) % 8;
	p.priority = (int64_t)(next(s) % 2);
	p.since = (int64_t)(next(s) % 3);
	p.node_selector =
		worlds_labels(a, ONE_OF(s, "", "", "zone=a", "zone=b,disk=ssd", "disk=ssd,zone=b"));
	p.labels = worlds_labels(a, ONE_OF(s, "app=x", "app=y"));
	p.tolerations.v = &t;
	p.tolerations.n = next(s) % 2;
	p.affinity.v = terms;
	p.affinity.n = next(s) % 4 ? 0 : next(s) % 3;
	p.preferences.v = prefs;
	p.preferences.n = next(s) % 3;
	p.unsupported = next(s) % 10 ? NULL : "a thing";
	p.volumes.v = volumes;
	p.volumes.n = next(s) % 4 ? 0 : next(s) % 3;
	if (next(s) % 3 == 0) {
		p.shared.v = shared;
		p.shared.n = 1 + next(s) % 2;
		p.requests = worlds_resources(a, p.shared.n == 1 ? "cpu=1,@csi=1" : "@csi=3");
	}
	p.volume_wait = next(s) % 10 ? NULL : ONE_OF(s, "a claim", "another");
	p.device_wait = next(s) % 10 ? NULL : "a device";
	p.denied = next(s) % 10 ? NULL : "a denial";
	if (next(s) % 4 == 0)
		p.devices = terms[0];
	world_put_pod(w, &p);
}

static void put_machine(struct world *w, struct arena *a, unsigned i, uint64_t *s)
{
	struct world_machine m = worlds_machine(name_of(a, "machine", i),
						ONE_OF(s, "small", "big", "gpu", "unknown"));

	m.provider = name_of(a, "provider", next(s) % PROVIDERS);
	m.offered = next(s) % 3;
	m.not_offered = m.offered ? NULL : ONE_OF(s, "serving", "wiping");
	m.warm = next(s) % 2;
	m.failures = (unsigned)(next(s) % 2);
	m.level_flash = (int)(next(s) % 3);
	world_put_machine(w, &m);
}

static void put_claim(struct world *w, struct arena *a, unsigned i, uint64_t *s)
{
	struct world_claim c =
		worlds_claim(a, name_of(a, "claim", i), name_of(a, "machine", next(s) % MACHINES));

	c.tenant = name_of(a, "tenant", next(s) % TENANTS);
	c.pool = name_of(a, "pool", next(s) % POOLS);
	c.provider = name_of(a, "provider", next(s) % PROVIDERS);
	c.labels = worlds_labels(a, ONE_OF(s, "", "zone=a"));
	c.taints = worlds_taints(a, ONE_OF(s, "", "k=v:NoSchedule"));
	c.ready = next(s) % 2;
	c.failed = !(next(s) % 5);
	c.leaving = !(next(s) % 5);
	if (c.failed)
		c.machine = NULL;
	world_put_claim(w, &c);
}

static void put_node(struct world *w, struct arena *a, unsigned i, uint64_t *s)
{
	struct world_node n = worlds_node(a, name_of(a, "node", i));

	n.tenant = name_of(a, "tenant", next(s) % TENANTS);
	n.claim = next(s) % 2 ? name_of(a, "claim", next(s) % CLAIMS) : NULL;
	if (next(s) % 2)
		n.allocatable = worlds_resources(a, "cpu=4,memory=8Gi,pods=10,@csi=3");
	n.labels = worlds_labels(a, ONE_OF(s, "", "zone=a", "disk=ssd,zone=b"));
	n.taints = worlds_taints(a, ONE_OF(s, "", "", "k=v:NoSchedule", "k=v:PreferNoSchedule"));
	n.ready = next(s) % 4;
	n.unschedulable = !(next(s) % 5);
	world_put_node(w, &n);
}

static void put_pool(struct world *w, struct arena *a, unsigned i, uint64_t *s)
{
	struct world_pool p = worlds_pool(a);

	p.name = name_of(a, "pool", i);
	p.weight = (int64_t)(next(s) % 2);
	p.tenants = worlds_term(a, ONE_OF(s, "", "team in (a)"));
	p.providers[0] = name_of(a, "provider", next(s) % PROVIDERS);
	p.labels = worlds_labels(a, ONE_OF(s, "zone=a", "zone=b"));
	p.taints = worlds_taints(a, ONE_OF(s, "", "", "k=v:NoSchedule"));
	p.limits = worlds_resources(a, ONE_OF(s, "", "", "nodes=4", "cpu=40"));
	p.minimum_level_flash = (int)(next(s) % 2);
	p.paused = !(next(s) % 8);
	p.paused_reason = "PoolPaused";
	world_put_pool(w, &p);
}

static void put_tenant(struct world *w, struct arena *a, unsigned i, uint64_t *s)
{
	struct world_tenant t = worlds_tenant(a);

	t.name = name_of(a, "tenant", i);
	t.labels = worlds_labels(a, ONE_OF(s, "team=a", "team=b"));
	t.quota = worlds_resources(a, ONE_OF(s, "", "cpu=60"));
	t.weight = (int64_t)(next(s) % 3);
	t.priority = (int64_t)(next(s) % 2);
	t.paused = !(next(s) % 6);
	world_put_tenant(w, &t);
}

/* True if all forms of object i have the same key. The keys of nodes and pods contain the tenant,
 * which differs between the forms. */
static bool has_one_key(unsigned i)
{
	return i < OBJECTS - NODES - PODS;
}

/* Puts object i of OBJECTS in one of its VERSIONS forms. */
static void put(struct world *w, struct arena *a, unsigned i, unsigned form)
{
	uint64_t s = 0x9e3779b97f4a7c15U * (i * VERSIONS + form + 1);

	for (int k = 0; k < 4; k++)
		(void)next(&s);
	if (i < TENANTS)
		put_tenant(w, a, i, &s);
	else if ((i -= TENANTS) < POOLS)
		put_pool(w, a, i, &s);
	else if ((i -= POOLS) < PROVIDERS) {
		struct world_provider p = worlds_provider(a);

		p.name = name_of(a, "provider", i);
		p.types.n = 1 + next(&s) % 3;
		world_put_provider(w, &p);
	} else if ((i -= PROVIDERS) < MACHINES)
		put_machine(w, a, i, &s);
	else if ((i -= MACHINES) < CLAIMS)
		put_claim(w, a, i, &s);
	else if ((i -= CLAIMS) < NODES)
		put_node(w, a, i, &s);
	else
		put_pod(w, a, i - NODES, &s);
}

static void del(struct world *w, struct arena *a, unsigned i)
{
	if (i < TENANTS)
		world_del_tenant(w, name_of(a, "tenant", i));
	else if ((i -= TENANTS) < POOLS)
		world_del_pool(w, name_of(a, "pool", i));
	else if ((i -= POOLS) < PROVIDERS)
		world_del_provider(w, name_of(a, "provider", i));
	else if ((i -= PROVIDERS) < MACHINES)
		world_del_machine(w, name_of(a, "machine", i));
	else if ((i -= MACHINES) < CLAIMS)
		world_del_claim(w, name_of(a, "claim", i));
	else if ((i -= CLAIMS) < NODES)
		for (unsigned t = 0; t < TENANTS; t++)
			world_del_node(w, name_of(a, "tenant", t), name_of(a, "node", i));
	else
		for (unsigned t = 0; t < 2 * TENANTS; t++)
			world_del_pod(w, name_of(a, "tenant", t / 2), t % 2 ? "default" : "other",
				      name_of(a, "pod", i - NODES));
}

static const char *in_slices(struct world *w, uint64_t units, struct arena *a)
{
	struct plan_run *r = plan_begin(w, 0, a);
	struct plan *p;
	const char *text;

	while (!(p = plan_step(r, units)))
		;
	text = worlds_text(p, a);
	plan_end(r);
	return text;
}

static void assert_same(struct world *x, struct world *y)
{
	OWN(arena) a = arena_new();
	const char *of_x = worlds_text(plan_make(x, 0, a), a),
		   *of_y = worlds_text(plan_make(y, 0, a), a);

	assert_string_equal(of_x, of_y);
	assert_string_equal(of_x, in_slices(x, 1, a));
	assert_string_equal(of_x, in_slices(y, 333, a));
}

static void the_order_of_puts_means_nothing(void **state)
{
	uint64_t s = 42;

	(void)state;
	for (unsigned round = 0; round < 30; round++) {
		OWN(arena) a = arena_new();
		OWN(world) x = world_new();
		OWN(world) y = world_new();
		unsigned at[OBJECTS];

		for (unsigned i = 0; i < OBJECTS; i++)
			at[i] = i;
		for (unsigned i = 0; i < OBJECTS; i++)
			put(x, a, i, round % VERSIONS);
		for (unsigned i = OBJECTS; i > 0; i--) {
			unsigned k = (unsigned)(next(&s) % i), t = at[k];

			at[k] = at[i - 1];
			at[i - 1] = t;
			put(y, a, t, round % VERSIONS);
		}
		assert_same(x, y);
	}
}

static void a_world_of_deltas_equals_one_built_anew(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_new();
	int form[OBJECTS];
	uint64_t s = 7;

	(void)state;
	for (unsigned i = 0; i < OBJECTS; i++)
		put(w, a, i, (unsigned)(form[i] = 0));
	for (unsigned step = 0; step < 400; step++) {
		unsigned i = (unsigned)(next(&s) % OBJECTS);
		OWN(arena) tmp = arena_new();
		OWN(world) anew = world_new();

		/* Deleting a tenant deletes its pods and nodes. Puts them again, as the
		 * controller's sync does. */
		form[i] = next(&s) % 3 ? (int)(next(&s) % VERSIONS) : -1;
		if (form[i] < 0 || !has_one_key(i) || next(&s) % 2)
			del(w, tmp, i);
		for (unsigned k = 0; k < OBJECTS; k++)
			if ((k == i || i < TENANTS) && form[k] >= 0)
				put(w, tmp, k, (unsigned)form[k]);
		for (unsigned k = 0; k < OBJECTS; k++)
			if (form[k] >= 0)
				put(anew, tmp, k, (unsigned)form[k]);
		assert_same(w, anew);
	}
}

static void a_plan_changes_nothing(void **state)
{
	OWN(arena) a = arena_new();
	const char *all = "";

	(void)state;
	for (unsigned form = 0; form < VERSIONS; form++) {
		OWN(world) w = world_new();
		const char *first;

		for (unsigned i = 0; i < OBJECTS; i++)
			put(w, a, i, form);
		first = worlds_text(plan_make(w, 0, a), a);
		assert_string_equal(worlds_text(plan_make(w, 0, a), a), first);
		all = arena_printf(a, "%s%s", all, first);
	}
	/* The random worlds produce every kind of outcome, so the test covers each of them. */
	assert_non_null(strstr(all, "new 0 on"));
	assert_non_null(strstr(all, "nothing; "));
	assert_non_null(strstr(all, ": node "));
	assert_non_null(strstr(all, ": claim "));
}

static void what_is_put_is_copied(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	char name[] = "p", selector[] = "ssd", request[] = "cpu";
	struct world_machine m = worlds_machine("m1", "small");
	struct world_pod p = worlds_pod(a, name, "cpu=1");

	(void)state;
	world_put_machine(w, &m);
	p.node_selector.v = &(struct label){"disk", selector};
	p.node_selector.n = 1;
	p.requests.v[0].name = request;
	world_put_pod(w, &p);
	memset(name, 'x', 1);
	memset(selector, 'x', 3);
	memset(request, 'x', 3);
	assert_string_equal(worlds_pod_text(plan_make(w, 0, a), "p", a), "new 0 on m1");
}

/* Asserts that putting the unchanged object returns false. Then executes the statement `change`,
 * and asserts that the next put returns true and the one after it false. */
#define ASSERT_NEW(put, it, change)                                                                \
	do {                                                                                       \
		assert_false(put(w, &(it)));                                                       \
		change;                                                                            \
		assert_true(put(w, &(it)));                                                        \
		assert_false(put(w, &(it)));                                                       \
	} while (0)

static void what_is_put_again_as_it_was_is_no_change(void **state)
{
	static const char *uids[] = {"uid", "another"};
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);
	struct world_machine m = worlds_machine("m", "small");
	struct world_claim c = worlds_claim(a, "c", "m");
	struct world_node n = worlds_node(a, "n");
	struct world_pod p = worlds_pod(a, "p", "cpu=1");
	struct world_toleration all = {.op = WORLD_TOLERATES_EXISTS};
	struct selector term = worlds_term(a, "disk in (hdd)");
	struct world_preference preference = {1, term};
	struct world_volume volume = {.v = &term, .n = 1};
	struct world_shared shared = {"@csi", "default/a"};
	struct world_topology spread = {.kind = WORLD_SPREAD, .key = "zone", .max_skew = 1};

	(void)state;
	t.name = "t";
	assert_true(world_put_tenant(w, &t) && world_put_machine(w, &m) && world_put_claim(w, &c) &&
		    world_put_node(w, &n) && world_put_pod(w, &p));
	ASSERT_NEW(world_put_tenant, t, t.weight++);
	ASSERT_NEW(world_put_tenant, t, t.priority++);
	ASSERT_NEW(world_put_tenant, t, t.version = "1.99");
	ASSERT_NEW(world_put_tenant, t, t.version = NULL);
	ASSERT_NEW(world_put_tenant, t, t.paused = !t.paused);
	ASSERT_NEW(world_put_tenant, t, t.paused_reason = "Asleep");
	ASSERT_NEW(world_put_tenant, t, t.labels = worlds_labels(a, "team=a,x=y"));
	ASSERT_NEW(world_put_tenant, t, t.labels = worlds_labels(a, "team=a,x=z"));
	ASSERT_NEW(world_put_tenant, t, t.quota = worlds_resources(a, "cpu=3"));
	ASSERT_NEW(world_put_tenant, t, t.quota = worlds_resources(a, "cpu=4"));
	ASSERT_NEW(world_put_machine, m, m.provider = "other");
	ASSERT_NEW(world_put_machine, m, m.instance_type = "big");
	ASSERT_NEW(world_put_machine, m, m.labels = worlds_labels(a, "rack=1"));
	ASSERT_NEW(world_put_machine, m, m.offered = !m.offered);
	ASSERT_NEW(world_put_machine, m, m.not_offered = "serving");
	ASSERT_NEW(world_put_machine, m, m.warm = !m.warm);
	ASSERT_NEW(world_put_machine, m, m.level_flash++);
	ASSERT_NEW(world_put_machine, m, m.level_hdd++);
	ASSERT_NEW(world_put_machine, m, m.trust++);
	ASSERT_NEW(world_put_machine, m, m.failures++);
	ASSERT_NEW(world_put_claim, c, c.tenant = "t");
	ASSERT_NEW(world_put_claim, c, c.pool = "other");
	ASSERT_NEW(world_put_claim, c, c.machine = NULL);
	ASSERT_NEW(world_put_claim, c, c.instance_type = "big");
	ASSERT_NEW(world_put_claim, c, c.provider = "other");
	ASSERT_NEW(world_put_claim, c, c.labels = worlds_labels(a, "x=y"));
	ASSERT_NEW(world_put_claim, c, c.taints = worlds_taints(a, "k=v:NoSchedule"));
	ASSERT_NEW(world_put_claim, c, c.taints = worlds_taints(a, "k=v:NoExecute"));
	ASSERT_NEW(world_put_claim, c, c.capacity = worlds_resources(a, "cpu=9"));
	ASSERT_NEW(world_put_claim, c, c.ready = !c.ready);
	ASSERT_NEW(world_put_claim, c, c.failed = !c.failed);
	ASSERT_NEW(world_put_claim, c, c.leaving = !c.leaving);
	ASSERT_NEW(world_put_claim, c, c.created_ms++);
	ASSERT_NEW(world_put_claim, c, (c.pods = uids, c.npods = 1));
	ASSERT_NEW(world_put_claim, c, c.pods = uids + 1);
	ASSERT_NEW(world_put_node, n, n.claim = "c");
	ASSERT_NEW(world_put_node, n, n.labels = worlds_labels(a, "x=y"));
	ASSERT_NEW(world_put_node, n, n.taints = worlds_taints(a, "k=v:NoSchedule"));
	ASSERT_NEW(world_put_node, n, n.allocatable = worlds_resources(a, "cpu=9"));
	ASSERT_NEW(world_put_node, n, n.ready = !n.ready);
	ASSERT_NEW(world_put_node, n, n.unschedulable = !n.unschedulable);
	ASSERT_NEW(world_put_pod, p, p.uid = "another");
	ASSERT_NEW(world_put_pod, p, p.since++);
	ASSERT_NEW(world_put_pod, p, p.priority++);
	ASSERT_NEW(world_put_pod, p, p.daemon = !p.daemon);
	ASSERT_NEW(world_put_pod, p, p.terminating = !p.terminating);
	ASSERT_NEW(world_put_pod, p, p.unschedulable = !p.unschedulable);
	ASSERT_NEW(world_put_pod, p, p.nominated = "n");
	ASSERT_NEW(world_put_pod, p, p.preempts = true);
	ASSERT_NEW(world_put_pod, p, p.node = "n");
	ASSERT_NEW(world_put_pod, p, p.requests = worlds_resources(a, "cpu=2"));
	ASSERT_NEW(world_put_pod, p, p.requests = worlds_resources(a, "cpu=2,memory=1Gi"));
	ASSERT_NEW(world_put_pod, p, p.labels = worlds_labels(a, "app=x"));
	ASSERT_NEW(world_put_pod, p, p.labels = worlds_labels(a, "app=y"));
	ASSERT_NEW(world_put_pod, p, p.labels = worlds_labels(a, "app=y,b=c"));
	ASSERT_NEW(world_put_pod, p, p.node_selector = worlds_labels(a, "disk=ssd"));
	ASSERT_NEW(world_put_pod, p, p.node_selector = worlds_labels(a, "disk=hdd"));
	ASSERT_NEW(world_put_pod, p, (p.tolerations.v = &all, p.tolerations.n = 1));
	ASSERT_NEW(world_put_pod, p, all.key = "k");
	ASSERT_NEW(world_put_pod, p, all.value = "v");
	ASSERT_NEW(world_put_pod, p, all.effect = "NoSchedule");
	ASSERT_NEW(world_put_pod, p, all.op = WORLD_TOLERATES_EQUAL);
	ASSERT_NEW(world_put_pod, p, p.runtime_class = "kata");
	ASSERT_NEW(world_put_pod, p, p.unsupported = "x");
	ASSERT_NEW(world_put_pod, p, p.volume_wait = "x");
	ASSERT_NEW(world_put_pod, p, p.device_wait = "x");
	ASSERT_NEW(world_put_pod, p, p.gang_wait = "x");
	ASSERT_NEW(world_put_pod, p, p.denied = "x");
	ASSERT_NEW(world_put_pod, p, p.devices = term);
	ASSERT_NEW(world_put_pod, p, p.devices.n = 0);
	ASSERT_NEW(world_put_pod, p, p.also = term);
	ASSERT_NEW(world_put_pod, p, p.also.n = 0);
	ASSERT_NEW(world_put_pod, p, (p.affinity.v = &term, p.affinity.n = 1));
	ASSERT_NEW(world_put_pod, p, p.affinity.n = 0);
	ASSERT_NEW(world_put_pod, p, (p.volumes.v = &volume, p.volumes.n = 1));
	ASSERT_NEW(world_put_pod, p, (p.shared.v = &shared, p.shared.n = 1));
	ASSERT_NEW(world_put_pod, p, shared.volume = "default/b");
	ASSERT_NEW(world_put_pod, p, p.volumes.n = 0);
	ASSERT_NEW(world_put_pod, p, (p.preferences.v = &preference, p.preferences.n = 1));
	ASSERT_NEW(world_put_pod, p, p.preferences.n = 0);
	ASSERT_NEW(world_put_pod, p, (p.topology.v = &spread, p.topology.n = 1));
	ASSERT_NEW(world_put_pod, p, spread.min_domains = 2);
	ASSERT_NEW(world_put_pod, p, spread.nodes.ignore_affinity = true);
	ASSERT_NEW(world_put_pod, p, spread.nodes.honor_taints = true);
	ASSERT_NEW(world_put_pod, p, p.topology.n = 0);
	assert_true(world_del_machine(w, "m") && !world_del_machine(w, "m"));
	assert_true(world_del_claim(w, "c") && !world_del_claim(w, "c"));
	assert_true(world_del_node(w, "acme", "n") && !world_del_node(w, "acme", "n"));
	assert_true(world_del_pod(w, "acme", "default", "p") &&
		    !world_del_pod(w, "acme", "default", "p"));
}

static void pods_that_differ_in_one_thing_are_not_taken_for_alike(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pool pool = worlds_pool(a);
	struct world_machine m = worlds_machine("m1", "small");
	struct world_pod p = worlds_pod(a, "p", "cpu=1"), q = worlds_pod(a, "q", "cpu=1");
	struct world_toleration all = {.key = "k", .op = WORLD_TOLERATES_EXISTS},
				empty = {.key = "k"};
	struct selector term = worlds_term(a, "disk in (hdd)");
	struct world_preference preference = {0, term};

	(void)state;
	pool.taints = worlds_taints(a, "k=v:NoSchedule");
	world_put_pool(w, &pool);
	world_put_machine(w, &m);
	p.tolerations.v = &all;
	q.tolerations.v = &empty;
	p.tolerations.n = q.tolerations.n = 1;
	world_put_pod(w, &p);
	world_put_pod(w, &q);
	assert_string_equal(worlds_pod_text(plan_make(w, 0, a), "p", a), "new 0 on m1");
	assert_string_equal(
		worlds_pod_text(plan_make(w, 0, a), "q", a),
		"nothing; TaintNotTolerated: pool main: the pod does not tolerate taint k");
	q.tolerations.v = &all;
	q.affinity.v = &term;
	q.affinity.n = 1;
	p.preferences.v = &preference;
	p.preferences.n = 1;
	world_put_pod(w, &p);
	world_put_pod(w, &q);
	assert_string_equal(worlds_pod_text(plan_make(w, 0, a), "p", a), "new 0 on m1");
	assert_string_equal(worlds_pod_text(plan_make(w, 0, a), "q", a),
			    "nothing; RequirementsNotMet: pool main: no instance type fits node "
			    "affinity disk In (hdd): type gpu has none");
}

static void a_tenant_that_goes_takes_its_pods_and_nodes(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);
	struct world_pod p = worlds_pod(a, "p", "cpu=1");
	struct world_node n = worlds_node(a, "n1");

	(void)state;
	world_put_pod(w, &p);
	world_put_node(w, &n);
	world_del_tenant(w, "acme");
	world_put_tenant(w, &t);
	assert_int_equal(plan_make(w, 0, a)->npods, 0);
	world_put_pod(w, &p);
	assert_string_equal(
		worlds_pod_text(plan_make(w, 0, a), "p", a),
		"nothing; NoCapacity: pool main: there is no machine of type small, big or gpu");
}

static void an_empty_world_has_an_empty_plan(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_new();

	(void)state;
	world_del_pod(w, "a", "b", "c");
	world_del_machine(w, "a");
	world_del_tenant(w, "a");
	assert_int_equal(plan_make(w, 0, a)->npods, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_of_puts_means_nothing),
		cmocka_unit_test(a_world_of_deltas_equals_one_built_anew),
		cmocka_unit_test(a_plan_changes_nothing),
		cmocka_unit_test(what_is_put_is_copied),
		cmocka_unit_test(what_is_put_again_as_it_was_is_no_change),
		cmocka_unit_test(pods_that_differ_in_one_thing_are_not_taken_for_alike),
		cmocka_unit_test(a_tenant_that_goes_takes_its_pods_and_nodes),
		cmocka_unit_test(an_empty_world_has_an_empty_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
