/*
 * test_consolidate: tests which Nodes are given back, to which Nodes their pods can move, and why
 * the other Nodes stay. The last test checks random fleets with an independent checker.
 */
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"
#include "base/str.h"
#include "planner/consolidate.h"

#define ZONE "topology.kubernetes.io/zone"
#define HOST "kubernetes.io/hostname"

struct set {
	struct arena *a;
	struct world *w;
};

static struct set start(void)
{
	struct set s = {.a = arena_new()};
	struct world_pool p;

	s.w = worlds_new(s.a);
	p = worlds_pool(s.a);
	p.underused = true;
	world_put_pool(s.w, &p);
	return s;
}

static void stop(struct set *s)
{
	world_free(s->w);
	arena_free(s->a);
}

/* Puts a claim `name` into the world. Returns the claim's serving Node, which the caller may change
 * and must put. */
static struct world_node serving(const struct set *s, const char *name)
{
	struct world_claim c = worlds_claim(s->a, name, arena_printf(s->a, "m-%s", name));
	struct world_node n = worlds_node(s->a, name);

	c.ready = true;
	world_put_claim(s->w, &c);
	n.claim = name;
	n.labels = worlds_labels(s->a, arena_printf(s->a, HOST "=%s", name));
	return n;
}

static void put(const struct set *s, const char *name)
{
	struct world_node n = serving(s, name);

	world_put_node(s->w, &n);
}

static struct world_pod on(const struct set *s, const char *node, const char *name,
			   const char *requests)
{
	struct world_pod p = worlds_pod(s->a, name, requests);

	p.node = node;
	p.unschedulable = false;
	return p;
}

static void run(const struct set *s, const char *node, const char *name, const char *requests)
{
	struct world_pod p = on(s, node, name, requests);

	world_put_pod(s->w, &p);
}

static const struct consolidate *sweep(const struct set *s, uint64_t units)
{
	struct consolidate_run *r = consolidate_begin(s->w, 1000000, s->a);
	const struct consolidate *c;

	while (!(c = consolidate_step(r, units)))
		;
	consolidate_end(r);
	return c;
}

/* Returns the result as text, such as "n1: gives a>n2 b>n3; n2: receives; n3: no room for c": pods
 * a and b move, n1 is given back. */
static const char *text_of(const struct set *s)
{
	static const char *const says[] = {"gives",	  "empty",    "kept for", "gang of",
					   "no room for", "receives", "over"};
	const struct consolidate *c = sweep(s, UINT64_MAX);
	const char *out = "";

	for (size_t i = 0; i < c->n; i++) {
		const struct consolidate_node *n = &c->v[i];

		out = arena_printf(s->a, "%s%s%s: %s", out, *out ? "; " : "", n->node,
				   says[n->verdict]);
		if (n->pod)
			out = arena_printf(s->a, "%s %s", out, n->pod);
		if (n->verdict == CONSOLIDATE_KEPT)
			out = arena_printf(s->a, "%s (%d)", out, (int)n->keep);
		for (size_t k = 0; k < n->nmoves; k++)
			out = arena_printf(s->a, "%s %s>%s", out, n->moves[k].pod, n->moves[k].to);
	}
	return out;
}

/* --- one Node, several Nodes ------------------------------------------------------------------ */

static void a_node_whose_pods_have_room_elsewhere_goes(void **state)
{
	struct set s = start();

	(void)state;
	put(&s, "n1");
	put(&s, "n2");
	run(&s, "n1", "a", "cpu=1");
	run(&s, "n2", "b", "cpu=1");
	run(&s, "n2", "c", "cpu=1");
	assert_string_equal(text_of(&s), "n1: gives a>n2; n2: receives");
	stop(&s);
}

static void a_node_stays_for_which_a_pod_is_nominated(void **state)
{
	struct set s = start();
	struct world_pod p = worlds_pod(s.a, "preemptor", "cpu=1");

	(void)state;
	put(&s, "n1");
	put(&s, "n2");
	run(&s, "n1", "a", "cpu=1");
	run(&s, "n2", "b", "cpu=2");
	world_put_pod(s.w, &p);
	assert_string_equal(text_of(&s), "n1: gives a>n2; n2: receives");
	p.nominated = "n1";
	world_put_pod(s.w, &p);
	assert_string_equal(text_of(&s), "n2: gives b>n1");
	p.unschedulable = false; /* kube-scheduler is just binding the nominated pod. */
	world_put_pod(s.w, &p);
	assert_string_equal(text_of(&s), "n2: gives b>n1; n1: receives");
	stop(&s);
}

static void a_node_stays_where_one_of_its_pods_has_no_room(void **state)
{
	struct set s = start();

	(void)state;
	put(&s, "n1");
	put(&s, "n2");
	run(&s, "n1", "a", "cpu=1");
	run(&s, "n1", "b", "cpu=2");
	run(&s, "n2", "c", "cpu=2");
	run(&s, "n2", "d", "cpu=1");
	run(&s, "n2", "e", "cpu=0");
	assert_string_equal(text_of(&s), "n1: no room for b; n2: no room for c");
	stop(&s);
}

/* Room that is assigned to the pods of one Node is not available for the pods of the next. */
static void several_nodes_go_at_once_and_share_what_room_there_is(void **state)
{
	struct set s = start();

	(void)state;
	for (int i = 1; i <= 5; i++)
		put(&s, arena_printf(s.a, "n%d", i));
	run(&s, "n1", "a", "cpu=2");
	run(&s, "n2", "b", "cpu=2");
	run(&s, "n3", "c", "cpu=2");
	run(&s, "n4", "d", "cpu=2");
	run(&s, "n5", "e", "cpu=2");
	assert_string_equal(text_of(&s), "n1: gives a>n5; n2: gives b>n4; n3: no room for c; n4: "
					 "receives; n5: receives");
	stop(&s);
}

/* If an empty Node received pods, drover would only move the remaining pods of a shrinking fleet
 * around. */
static void an_empty_node_takes_nothing(void **state)
{
	struct set s = start();

	(void)state;
	put(&s, "n1");
	put(&s, "n2");
	run(&s, "n2", "a", "cpu=1");
	assert_string_equal(text_of(&s), "n1: empty; n2: no room for a");
	stop(&s);
}

static void nothing_goes_to_another_tenant(void **state)
{
	struct set s = start();
	struct world_tenant t = worlds_tenant(s.a);
	struct world_node n = worlds_node(s.a, "other");

	(void)state;
	t.name = "beta";
	world_put_tenant(s.w, &t);
	n.tenant = "beta";
	world_put_node(s.w, &n);
	put(&s, "n1");
	run(&s, "n1", "a", "cpu=1");
	assert_string_equal(text_of(&s), "n1: no room for a");
	stop(&s);
}

static void nodes_of_other_pools_take_pods_and_stay(void **state)
{
	struct set s = start();
	struct world_node n = worlds_node(s.a, "theirs");

	(void)state;
	world_put_node(s.w, &n);
	put(&s, "n1");
	run(&s, "n1", "a", "cpu=1");
	assert_string_equal(text_of(&s), "n1: gives a>theirs");
	stop(&s);
}

static void a_pool_that_gives_back_empty_nodes_alone_has_none_that_are_tried(void **state)
{
	struct set s = start();
	struct world_pool p = worlds_pool(s.a);

	(void)state;
	put(&s, "n1");
	put(&s, "n2");
	run(&s, "n1", "a", "cpu=1");
	run(&s, "n2", "b", "cpu=1");
	world_put_pool(s.w, &p);
	assert_string_equal(text_of(&s), "");
	p.underused = p.paused = true;
	world_put_pool(s.w, &p);
	assert_string_equal(text_of(&s), "");
	stop(&s);
}

/* --- order of the Nodes ----------------------------------------------------------------------- */

static void what_costs_least_to_end_goes_first(void **state)
{
	struct set s = start();
	struct world_pod p;

	(void)state;
	put(&s, "n1");
	put(&s, "n2");
	p = on(&s, "n1", "a", "cpu=1");
	p.deletion_cost = 1 << 27;
	world_put_pod(s.w, &p);
	run(&s, "n2", "b", "cpu=1");
	assert_string_equal(text_of(&s), "n2: gives b>n1; n1: receives");
	p.deletion_cost = 0;
	world_put_pod(s.w, &p);
	assert_string_equal(text_of(&s), "n1: gives a>n2; n2: receives");
	stop(&s);
}

static void who_waits_has_room_first(void **state)
{
	struct set s = start();
	struct world_pod p = worlds_pod(s.a, "waits", "cpu=3");

	(void)state;
	put(&s, "n1");
	put(&s, "n2");
	run(&s, "n1", "a", "cpu=1");
	run(&s, "n2", "b", "cpu=1");
	world_put_pod(s.w, &p);
	assert_string_equal(text_of(&s), "n1: no room for a; n2: receives");
	stop(&s);
}

/* A Node is being drained. Its pods are evicted soon, so they get room before any other Node is
 * tried. */
static void who_is_evicted_has_room_first(void **state)
{
	struct set s = start();
	struct world_node n = serving(&s, "going");

	(void)state;
	n.unschedulable = true;
	world_put_node(s.w, &n);
	run(&s, "going", "x", "cpu=3");
	put(&s, "n1");
	put(&s, "n2");
	run(&s, "n1", "a", "cpu=1");
	run(&s, "n2", "b", "cpu=1");
	assert_string_equal(text_of(&s), "n1: no room for a; n2: receives");
	stop(&s);
}

/* --- pods that may not be moved --------------------------------------------------------------- */

static void pods_that_may_not_be_moved_keep_their_node(void **state)
{
	struct set s = start();
	struct world_pod p;

	(void)state;
	put(&s, "n1");
	put(&s, "n2");
	run(&s, "n2", "b", "cpu=1");
	run(&s, "n2", "c", "cpu=1");
	for (enum world_keep k = WORLD_KEEP_ASKED; k < WORLD_KEEPS; k++) {
		p = on(&s, "n1", "a", "cpu=1");
		p.keep = k;
		world_put_pod(s.w, &p);
		assert_string_equal(
			text_of(&s),
			arena_printf(s.a, "n1: kept for a (%d); n2: gives b>n1 c>n1", (int)k));
	}
	stop(&s);
}

static void one_that_may_not_be_moved_for_a_time_may_be_then(void **state)
{
	struct set s = start();
	struct world_pod p;

	(void)state;
	put(&s, "n1");
	put(&s, "n2");
	run(&s, "n2", "b", "cpu=3");
	p = on(&s, "n1", "a", "cpu=1");
	p.keep = WORLD_KEEP_ASKED;
	p.keep_until = 1000001;
	world_put_pod(s.w, &p);
	assert_string_equal(text_of(&s), "n1: kept for a (1); n2: gives b>n1");
	p.keep_until = 1000000;
	world_put_pod(s.w, &p);
	assert_string_equal(text_of(&s), "n1: gives a>n2; n2: receives");
	stop(&s);
}

static void a_gang_is_not_taken_apart(void **state)
{
	struct set s = start();
	struct world_pod p;

	(void)state;
	put(&s, "n1");
	put(&s, "n2");
	run(&s, "n2", "b", "cpu=3");
	p = on(&s, "n1", "a", "cpu=1");
	p.gang.key = "g";
	p.gang.min = 2;
	world_put_pod(s.w, &p);
	assert_string_equal(text_of(&s), "n1: gang of a; n2: gives b>n1");
	stop(&s);
}

static void daemons_keep_no_node(void **state)
{
	struct set s = start();
	struct world_pod d;

	(void)state;
	put(&s, "n1");
	put(&s, "n2");
	d = on(&s, "n1", "d", "cpu=4");
	d.daemon = true;
	world_put_pod(s.w, &d);
	run(&s, "n2", "b", "cpu=1");
	assert_string_equal(text_of(&s), "n1: empty; n2: no room for b");
	stop(&s);
}

/* --- constraints on the new Node -------------------------------------------------------------- */

static void selectors_and_taints_hold_where_pods_go(void **state)
{
	struct set s = start();
	struct world_node n;
	struct world_pod p;

	(void)state;
	put(&s, "n1");
	n = serving(&s, "n2");
	n.taints = worlds_taints(s.a, "a=b:NoSchedule");
	world_put_node(s.w, &n);
	n = serving(&s, "n3");
	n.labels = worlds_labels(s.a, "disk=ssd");
	world_put_node(s.w, &n);
	run(&s, "n2", "b", "cpu=3");
	run(&s, "n3", "c", "cpu=3");
	run(&s, "n3", "d", "cpu=1m");
	p = on(&s, "n1", "a", "cpu=100m");
	p.node_selector = worlds_labels(s.a, "disk=ssd");
	world_put_pod(s.w, &p);
	assert_string_equal(text_of(&s), "n1: gives a>n3; n2: no room for b; n3: receives");
	p.node_selector = worlds_labels(s.a, "disk=hdd");
	world_put_pod(s.w, &p);
	assert_string_equal(text_of(&s), "n1: no room for a; n2: gives b>n1; n3: no room for c");
	stop(&s);
}

static struct world_topology rule(const struct set *s, enum world_topology_kind kind,
				  const char *key)
{
	return (struct world_topology){
		.kind = kind, .key = key, .max_skew = 1, .pods = worlds_term(s->a, "app in (x)")};
}

/* Pods of one app run on three Nodes. A pod that moves does not count on its present Node. */
static void spread_and_anti_affinity_hold_where_pods_go(void **state)
{
	static const struct {
		enum world_topology_kind kind;
		const char *want;
	} cases[] = {
		{WORLD_APART, "n1: no room for a; n2: no room for b; n3: empty"},
		{WORLD_SPREAD, "n1: no room for a; n2: no room for b; n3: empty"},
		{WORLD_TOGETHER, "n1: gives a>n2; n2: receives; n3: empty"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct set s = start();
		struct world_topology t = rule(&s, cases[i].kind, HOST);
		const char *got;

		put(&s, "n1");
		put(&s, "n2");
		put(&s, "n3");
		for (int k = 0; k < 2; k++) {
			struct world_pod p = on(&s, k ? "n2" : "n1", k ? "b" : "a", "cpu=1");

			p.labels = worlds_labels(s.a, "app=x");
			p.topology.v = &t;
			p.topology.n = 1;
			world_put_pod(s.w, &p);
		}
		got = text_of(&s);
		/* The empty Node costs least to give back, so it is listed first. */
		assert_string_equal(got,
				    arena_printf(s.a, "n3: empty; %.*s",
						 (int)strlen(cases[i].want) - 11, cases[i].want));
		stop(&s);
	}
}

static void a_pod_that_leaves_its_zone_is_not_counted_there(void **state)
{
	struct set s = start();
	struct world_topology t = rule(&s, WORLD_APART, ZONE);
	struct world_node n;
	struct world_pod p;

	(void)state;
	n = serving(&s, "n1");
	n.labels = worlds_labels(s.a, ZONE "=z1");
	world_put_node(s.w, &n);
	n = serving(&s, "n2");
	n.labels = worlds_labels(s.a, ZONE "=z1");
	world_put_node(s.w, &n);
	run(&s, "n2", "b", "cpu=1");
	run(&s, "n2", "c", "cpu=1");
	p = on(&s, "n1", "a", "cpu=1");
	p.labels = worlds_labels(s.a, "app=x");
	p.topology.v = &t;
	p.topology.n = 1;
	world_put_pod(s.w, &p);
	assert_string_equal(text_of(&s), "n1: gives a>n2; n2: receives");
	stop(&s);
}

/* --- random fleets ---------------------------------------------------------------------------- */

enum { NODES = 12, PODS = 40, WORLDS = 400 };

static uint64_t next(uint64_t *s)
{
	*s ^= *s << 13; /* source: xorshift64, Marsaglia 2003 */
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

struct fleet {
	size_t nodes, pods;
	struct {
		int64_t cpus;
		size_t zone;
		bool ours, gives;
	} node[NODES];
	struct {
		int64_t cpus;
		/* Indexes of the present Node and of the Node to which the pod moves */
		size_t at, to;
		size_t app;
		bool apart, picky, kept;
	} pod[PODS];
};

static struct fleet make(uint64_t *seed)
{
	struct fleet f = {.nodes = 2 + next(seed) % (NODES - 2), .pods = next(seed) % PODS};

	for (size_t i = 0; i < f.nodes; i++) {
		f.node[i].cpus = 2 + (int64_t)(next(seed) % 5);
		f.node[i].zone = next(seed) % 3;
		f.node[i].ours = next(seed) % 5 != 0;
	}
	for (size_t i = 0; i < f.pods; i++) {
		int64_t left;
		bool clash = false;

		f.pod[i].at = f.pod[i].to = next(seed) % f.nodes;
		f.pod[i].cpus = 1 + (int64_t)(next(seed) % 2);
		f.pod[i].app = next(seed) % 3;
		f.pod[i].apart = next(seed) % 4 == 0;
		f.pod[i].picky = next(seed) % 4 == 0;
		f.pod[i].kept = next(seed) % 12 == 0;
		left = f.node[f.pod[i].at].cpus - f.pod[i].cpus;
		for (size_t k = 0; k < i; k++) {
			if (f.pod[k].at != f.pod[i].at)
				continue;
			left -= f.pod[k].cpus;
			clash |= f.pod[k].app == f.pod[i].app && (f.pod[k].apart || f.pod[i].apart);
		}
		if (left < 0 || clash) {
			i--;
			f.pods--;
		}
	}
	return f;
}

static void put_fleet(const struct set *s, const struct fleet *f, bool backwards)
{
	static struct world_topology apart[3];

	for (size_t k = 0; k < 3; k++) {
		apart[k] = rule(s, WORLD_APART, HOST);
		apart[k].pods = worlds_term(s->a, arena_printf(s->a, "app in (a%zu)", k));
	}
	for (size_t k = 0; k < f->nodes; k++) {
		const size_t i = backwards ? f->nodes - 1 - k : k;
		const char *name = arena_printf(s->a, "n%02zu", i);
		struct world_node n = f->node[i].ours ? serving(s, name) : worlds_node(s->a, name);

		n.labels = worlds_labels(
			s->a, arena_printf(s->a, HOST "=%s,zone=z%zu", name, f->node[i].zone));
		n.allocatable = worlds_resources(
			s->a, arena_printf(s->a, "cpu=%d,pods=100", (int)f->node[i].cpus));
		world_put_node(s->w, &n);
	}
	for (size_t k = 0; k < f->pods; k++) {
		const size_t i = backwards ? f->pods - 1 - k : k;
		struct world_pod p = on(s, arena_printf(s->a, "n%02zu", f->pod[i].at),
					arena_printf(s->a, "p%02zu", i),
					arena_printf(s->a, "cpu=%d", (int)f->pod[i].cpus));

		p.labels = worlds_labels(s->a, arena_printf(s->a, "app=a%zu", f->pod[i].app));
		p.keep = f->pod[i].kept ? WORLD_KEEP_ASKED : WORLD_KEEP_NOT;
		if (f->pod[i].picky)
			p.node_selector = worlds_labels(
				s->a, arena_printf(s->a, "zone=z%zu", f->node[f->pod[i].at].zone));
		if (f->pod[i].apart) {
			p.topology.v = &apart[f->pod[i].app];
			p.topology.n = 1;
		}
		world_put_pod(s->w, &p);
	}
}

/* True if pod may be on node together with the pods that `to` assigns to it. */
static bool may_be(const struct fleet *f, size_t pod, size_t node)
{
	int64_t left = f->node[node].cpus - f->pod[pod].cpus;

	if (f->pod[pod].picky && f->node[node].zone != f->node[f->pod[pod].at].zone)
		return false;
	for (size_t k = 0; k < f->pods; k++) {
		if (k == pod || f->pod[k].to != node)
			continue;
		left -= f->pod[k].cpus;
		if (f->pod[k].app == f->pod[pod].app && (f->pod[k].apart || f->pod[pod].apart))
			return false;
	}
	return left >= 0;
}

static size_t index_of(const char *name)
{
	return (size_t)(name[1] - '0') * 10 + (size_t)(name[2] - '0');
}

static void check(struct fleet *f, const struct consolidate *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct consolidate_node *n = &c->v[i];

		f->node[index_of(n->node)].gives = n->verdict == CONSOLIDATE_GIVE;
		assert_true(f->node[index_of(n->node)].ours);
		for (size_t k = 0; k < n->nmoves; k++)
			f->pod[index_of(n->moves[k].pod)].to = index_of(n->moves[k].to);
	}
	for (size_t i = 0; i < f->pods; i++) {
		assert_false(f->node[f->pod[i].to].gives);
		assert_true(f->pod[i].to == f->pod[i].at || !f->pod[i].kept);
		assert_true(f->pod[i].to == f->pod[i].at || f->node[f->pod[i].at].gives);
		assert_true(may_be(f, i, f->pod[i].to));
	}
}

static bool takes(const struct fleet *f, size_t node)
{
	for (size_t i = 0; i < f->pods; i++)
		if (f->pod[i].to == node)
			return true;
	return !f->node[node].ours;
}

/* Asserts that each pod reported as having no room fits on no Node that remains after all
 * given-back Nodes are gone. */
static void check_left(const struct fleet *f, const struct consolidate *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const size_t pod = c->v[i].pod ? index_of(c->v[i].pod) : 0;
		size_t others = 0, room = 0;

		if (c->v[i].verdict != CONSOLIDATE_NO_ROOM)
			continue;
		for (size_t k = 0; k < f->pods; k++)
			others += k != pod && f->pod[k].at == f->pod[pod].at;
		for (size_t k = 0; k < f->nodes && !others; k++)
			room += k != f->pod[pod].at && !f->node[k].gives && takes(f, k) &&
				may_be(f, pod, k);
		assert_int_equal(room, 0);
	}
}

static void what_is_given_back_leaves_all_pods_with_a_place(void **state)
{
	uint64_t seed = 20261123;
	size_t given = 0, kept = 0;

	(void)state;
	for (int i = 0; i < WORLDS; i++) {
		struct set s = start(), t = start();
		struct fleet f = make(&seed);
		const struct consolidate *c;

		put_fleet(&s, &f, false);
		put_fleet(&t, &f, true);
		assert_string_equal(text_of(&s), text_of(&t));
		c = sweep(&s, UINT64_MAX);
		check(&f, c);
		check_left(&f, c);
		given += c->given;
		kept += c->n - c->given;
		stop(&s);
		stop(&t);
	}
	assert_true(given > 200);
	assert_true(kept > 200);
}

/* Neither the division of a sweep into slices nor a plan between two slices changes the result. */
static void a_sweep_in_slices_says_the_same(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct set s = start();
		struct fleet f = make(&seed);
		const struct consolidate *whole, *sliced;

		put_fleet(&s, &f, false);
		whole = sweep(&s, UINT64_MAX);
		(void)plan_make(s.w, 0, s.a);
		sliced = sweep(&s, 1);
		assert_int_equal(sliced->n, whole->n);
		for (size_t k = 0; k < whole->n; k++) {
			assert_string_equal(sliced->v[k].node, whole->v[k].node);
			assert_int_equal(sliced->v[k].verdict, whole->v[k].verdict);
			assert_int_equal(sliced->v[k].nmoves, whole->v[k].nmoves);
		}
		stop(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_whose_pods_have_room_elsewhere_goes),
		cmocka_unit_test(a_node_stays_for_which_a_pod_is_nominated),
		cmocka_unit_test(a_node_stays_where_one_of_its_pods_has_no_room),
		cmocka_unit_test(several_nodes_go_at_once_and_share_what_room_there_is),
		cmocka_unit_test(an_empty_node_takes_nothing),
		cmocka_unit_test(nothing_goes_to_another_tenant),
		cmocka_unit_test(nodes_of_other_pools_take_pods_and_stay),
		cmocka_unit_test(a_pool_that_gives_back_empty_nodes_alone_has_none_that_are_tried),
		cmocka_unit_test(what_costs_least_to_end_goes_first),
		cmocka_unit_test(who_waits_has_room_first),
		cmocka_unit_test(who_is_evicted_has_room_first),
		cmocka_unit_test(pods_that_may_not_be_moved_keep_their_node),
		cmocka_unit_test(one_that_may_not_be_moved_for_a_time_may_be_then),
		cmocka_unit_test(a_gang_is_not_taken_apart),
		cmocka_unit_test(daemons_keep_no_node),
		cmocka_unit_test(selectors_and_taints_hold_where_pods_go),
		cmocka_unit_test(spread_and_anti_affinity_hold_where_pods_go),
		cmocka_unit_test(a_pod_that_leaves_its_zone_is_not_counted_there),
		cmocka_unit_test(what_is_given_back_leaves_all_pods_with_a_place),
		cmocka_unit_test(a_sweep_in_slices_says_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
