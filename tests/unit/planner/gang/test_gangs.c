/*
 * test_gangs: tests that either all pods of a gang are placed or none, and where they are placed.
 * The last test plans random fleets and checks the plan's counts. It also removes the gangs that
 * were not placed, to see that trying to place them left no trace.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"
#include "base/str.h"

#define ZONE "topology.kubernetes.io/zone"
#define RACK "topology.drover.dev/rack"
#define SPINE "topology.drover.dev/spine"
#define HOST "kubernetes.io/hostname"

static void add_machine(struct world *w, struct arena *a, const char *name, const char *labels)
{
	struct world_machine m = worlds_machine(name, "small");

	m.labels = worlds_labels(a, labels);
	world_put_machine(w, &m);
}

static void add_machines(struct world *w, struct arena *a, const char *prefix, size_t n,
			 const char *labels)
{
	for (size_t i = 0; i < n; i++)
		add_machine(w, a, arena_printf(a, "%s%zu", prefix, i), labels);
}

static struct world_pod member(struct arena *a, const char *gang, size_t i, int64_t min)
{
	struct world_pod p = worlds_pod(a, arena_printf(a, "%s-%zu", gang, i), "cpu=3");

	p.gang.key = gang;
	p.gang.min = min;
	return p;
}

static void add_gang(struct world *w, struct arena *a, const char *gang, size_t n, int64_t min)
{
	for (size_t i = 0; i < n; i++)
		world_put_pod(w, &(struct world_pod[]){member(a, gang, i, min)}[0]);
}

static const char *said(struct world *w, struct arena *a, const char *pod)
{
	return worlds_pod_text(plan_make(w, 0, a), pod, a);
}

/* Comparison function for qsort() of machine names. */
static int by_text(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static const char *machines(struct world *w, struct arena *a)
{
	const struct plan *p = plan_make(w, 0, a);
	const char **v = arena_calloc(a, p->nclaims + 1, sizeof(*v)), *text = "";

	for (size_t i = 0; i < p->nclaims; i++)
		v[i] = p->claims[i].machine;
	qsort(v, p->nclaims, sizeof(*v), by_text);
	for (size_t i = 0; i < p->nclaims; i++)
		text = arena_printf(a, "%s%s%s", text, i ? " " : "", v[i]);
	return text;
}

static void a_gang_gets_all_its_places_or_none(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	const struct plan *p;

	(void)state;
	add_machines(w, a, "m", 3, "");
	add_gang(w, a, "train", 4, 4);
	p = plan_make(w, 0, a);
	assert_int_equal(p->nclaims, 0);
	assert_string_equal(worlds_pod_text(p, "train-3", a),
			    "nothing; GangNotWhole: gang train: room for 3 of 4 pods, and a gang "
			    "starts only as a whole; NoCapacity: pool main: 3 machines fit, all "
			    "taken (3 claimed)");
	assert_true(p->pods[0].place > 0);
	add_machine(w, a, "m9", "");
	p = plan_make(w, 0, a);
	assert_int_equal(p->nclaims, 4);
	assert_string_equal(p->pods[0].gang_key, "train");
	assert_int_equal(p->pods[0].gang_size, 4);
	assert_int_equal(p->pods[0].gang_begun, 0);
	assert_int_equal(p->ngangs, 1);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(p->claims[i].gang, 1);
		assert_string_equal(p->claims[i].gang_key, "train");
		assert_int_equal(p->pods[i].outcome, PLAN_ON_NEW);
		assert_int_equal(p->pods[i].gang, 1);
	}
}

static void what_a_gang_could_not_use_is_for_others(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = worlds_pod(a, "lone", "cpu=3");

	(void)state;
	p.since = 2000; /* The pod is queued behind the gang. */
	add_machines(w, a, "m", 3, "");
	add_gang(w, a, "train", 4, 4);
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "lone"), "new 0 on m0");
	world_del_machine(w, "m0");
	assert_string_equal(said(w, a, "lone"), "new 0 on m1");
}

static void a_gang_that_is_not_all_there_waits(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	const struct plan *p;

	(void)state;
	add_machines(w, a, "m", 9, "");
	add_gang(w, a, "train", 3, 4);
	p = plan_make(w, 0, a);
	assert_int_equal(p->nclaims, 0);
	assert_int_equal(p->pods[0].place, 0);
	assert_string_equal(
		worlds_pod_text(p, "train-0", a),
		"nothing; GangIncomplete: gang train: only 3 of the 4 pods that it needs exist");
	add_gang(w, a, "train", 4, 4);
	assert_string_equal(machines(w, a), "m0 m1 m2 m3");
	/* If the pods specify different sizes, the largest counts. */
	world_put_pod(w, &(struct world_pod[]){member(a, "train", 1, 5)}[0]);
	assert_string_equal(machines(w, a), "");
}

static void a_gang_whose_size_nobody_knows_opens_nothing(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = member(a, "train", 0, 0);

	(void)state;
	add_machines(w, a, "m", 9, "");
	p.gang_wait = "PodGroup train is not there";
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "train-0"),
			    "nothing; GangUnknown: PodGroup train is not there");
	assert_int_equal(plan_make(w, 0, a)->pods[0].gang_size, 0);
}

static void those_that_have_their_places_count(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_node n = worlds_node(a, "n1");
	struct world_claim c = worlds_claim(a, "c1", "m0");
	const char *uid = "train-1";
	struct world_pod p;

	(void)state;
	add_machines(w, a, "m", 3, "");
	add_gang(w, a, "train", 4, 4);
	world_put_node(w, &n);
	p = member(a, "train", 0, 4);
	p.node = "n1";
	p.unschedulable = false;
	world_put_pod(w, &p);
	c.pods = &uid;
	c.npods = 1;
	world_put_claim(w, &c);
	assert_string_equal(machines(w, a), "m1 m2");
	assert_string_equal(said(w, a, "train-1"), "claim c1");
	world_del_machine(w, "m2");
	assert_string_equal(machines(w, a), "");
	/* The pod stays on the claim that was planned for it. */
	assert_string_equal(said(w, a, "train-1"), "claim c1");
	assert_non_null(strstr(said(w, a, "train-2"), "room for 3 of 4 pods"));
}

/* A slot on a Ready node that was planned for a pod of the gang is not given to another pod before
 * the gang starts. */
static void a_gang_keeps_its_seats_on_nodes_that_are_ready(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_node n = worlds_node(a, "c1");
	struct world_claim c = worlds_claim(a, "c1", "m0");
	struct world_pod before = worlds_pod(a, "before", "cpu=3");
	const char *uid = "train-0";

	(void)state;
	add_machines(w, a, "m", 4, "");
	add_gang(w, a, "train", 2, 2);
	before.since = 1;
	world_put_pod(w, &before);
	c.pods = &uid;
	c.npods = 1;
	c.ready = true;
	world_put_claim(w, &c);
	n.claim = "c1";
	world_put_node(w, &n);
	assert_string_equal(said(w, a, "train-0"), "node c1");
	assert_string_equal(said(w, a, "before"), "new 0 on m1");
}

/* Once a gang has started, it does not wait for pods that have ended. */
static void a_gang_that_has_begun_is_not_waited_for(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_node n = worlds_node(a, "n1");
	struct world_pod p = member(a, "train", 0, 4);

	(void)state;
	world_put_node(w, &n);
	p.node = "n1";
	p.unschedulable = false;
	world_put_pod(w, &p);
	world_put_pod(w, &(struct world_pod[]){member(a, "train", 1, 4)}[0]);
	world_put_pod(w, &(struct world_pod[]){member(a, "train", 2, 4)}[0]);
	add_machine(w, a, "m0", "");
	assert_non_null(strstr(said(w, a, "train-1"), "room for 2 of 3 pods"));
	assert_int_equal(plan_make(w, 0, a)->pods[0].gang_begun, 1);
	add_machine(w, a, "m1", "");
	assert_string_equal(machines(w, a), "m0 m1");
}

static void put_done(struct world *w, struct arena *a, size_t i, int64_t min)
{
	struct world_pod p = member(a, "train", i, min);

	p.unschedulable = false;
	p.done = true;
	assert_true(world_put_pod(w, &p));
	assert_false(world_put_pod(w, &p));
}

/* One pod of a gang of two has succeeded. The other was lost and is created again. */
static void what_is_left_of_a_gang_that_ran_is_served(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = member(a, "train", 0, 3);

	(void)state;
	add_machines(w, a, "m", 9, "");
	add_gang(w, a, "train", 2, 3);
	assert_string_equal(machines(w, a), "");
	put_done(w, a, 7, 3);
	assert_string_equal(machines(w, a), "m0 m1");
	assert_true(world_del_pod(w, "acme", "default", "train-7"));
	assert_string_equal(machines(w, a), "");
	put_done(w, a, 7, 3);
	/* A new pod has the name of the pod that succeeded, so no pod of the gang has ended: all
	 * three must be placed. */
	p.name = p.uid = "train-7";
	assert_true(world_put_pod(w, &p));
	assert_string_equal(machines(w, a), "m0 m1 m2");
	assert_true(world_del_pod(w, "acme", "default", "train-7"));
	assert_string_equal(machines(w, a), "");
}

/* A smaller job has the same name as a larger job, of which pods still exist. */
static void pods_of_an_older_job_do_not_say_how_large_a_gang_is(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = member(a, "train", 9, 8);

	(void)state;
	add_machines(w, a, "m", 9, "");
	add_gang(w, a, "train", 2, 2);
	put_done(w, a, 8, 8);
	assert_string_equal(machines(w, a), "m0 m1");
	p.node = "n9";
	p.unschedulable = false;
	p.terminating = true;
	world_put_pod(w, &p);
	assert_string_equal(machines(w, a), "m0 m1");
	p.terminating = false;
	world_put_pod(w, &p);
	assert_int_equal(plan_make(w, 0, a)->nclaims, 2);
}

static void beyond_its_size_each_is_served_alone(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	add_machines(w, a, "m", 3, "");
	add_gang(w, a, "train", 5, 2);
	assert_string_equal(machines(w, a), "m0 m1 m2");
	assert_non_null(strstr(said(w, a, "train-4"), "nothing; NoCapacity"));
}

static void a_gang_stays_in_the_smallest_domain_that_has_room(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	const char *const levels[] = {RACK, SPINE};

	(void)state;
	world_put_levels(w, levels, 2);
	add_machines(w, a, "a", 8, RACK "=r1," SPINE "=s1");
	add_machines(w, a, "b", 2, RACK "=r2," SPINE "=s1");
	add_machines(w, a, "c", 4, RACK "=r3," SPINE "=s2");
	add_machines(w, a, "d", 3, RACK "=r4," SPINE "=s2");
	add_gang(w, a, "train", 3, 3);
	assert_string_equal(machines(w, a), "d0 d1 d2");
	add_gang(w, a, "train", 4, 4);
	assert_string_equal(machines(w, a), "c0 c1 c2 c3");
	add_gang(w, a, "train", 8, 8);
	assert_string_equal(machines(w, a), "a0 a1 a2 a3 a4 a5 a6 a7");
	/* No rack has room for nine: one spine (group of racks) is used, and its largest rack is
	 * filled first. */
	add_gang(w, a, "train", 9, 9);
	assert_string_equal(machines(w, a), "a0 a1 a2 a3 a4 a5 a6 a7 b0");
	/* No spine has room for eleven: the largest spine is filled, and the rest goes to the
	 * smallest rack. */
	add_gang(w, a, "train", 11, 11);
	assert_string_equal(machines(w, a), "a0 a1 a2 a3 a4 a5 a6 a7 b0 b1 d0");
	add_gang(w, a, "train", 17, 17);
	assert_string_equal(machines(w, a), "a0 a1 a2 a3 a4 a5 a6 a7 b0 b1 c0 c1 c2 c3 d0 d1 d2");
}

static void what_came_later_goes_where_the_others_stand(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	const char *const levels[] = {RACK};
	struct world_node n = worlds_node(a, "n1");
	struct world_pod p = member(a, "train", 0, 3);

	(void)state;
	world_put_levels(w, levels, 1);
	n.labels = worlds_labels(a, RACK "=r2");
	world_put_node(w, &n);
	p.node = "n1";
	world_put_pod(w, &p);
	add_machines(w, a, "a", 2, RACK "=r1");
	add_machines(w, a, "b", 5, RACK "=r2");
	world_put_pod(w, &(struct world_pod[]){member(a, "train", 1, 3)}[0]);
	world_put_pod(w, &(struct world_pod[]){member(a, "train", 2, 3)}[0]);
	assert_string_equal(machines(w, a), "b0 b1");
}

static void room_that_is_there_comes_before_a_domain(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	const char *const levels[] = {RACK};

	(void)state;
	world_put_levels(w, levels, 1);
	for (size_t i = 0; i < 4; i++) {
		struct world_node n = worlds_node(a, arena_printf(a, "n%zu", i));

		n.labels = worlds_labels(a, arena_printf(a, RACK "=r%zu", i / 2));
		world_put_node(w, &n);
	}
	add_machines(w, a, "a", 3, RACK "=r1");
	add_gang(w, a, "train", 4, 4);
	assert_string_equal(machines(w, a), "");
	/* A fifth pod: the existing room is used, and one new machine. */
	add_gang(w, a, "train", 5, 5);
	assert_string_equal(machines(w, a), "a0 a1 a2");
}

static void a_gang_of_different_pods_is_one(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod leader = member(a, "train", 0, 3);

	(void)state;
	leader.requests = worlds_resources(a, "cpu=12");
	add_machines(w, a, "m", 2, "");
	add_gang(w, a, "train", 3, 3);
	world_put_pod(w, &leader);
	assert_non_null(strstr(said(w, a, "train-2"), "room for 2 of 3 pods"));
	world_put_machine(w, &(struct world_machine[]){worlds_machine("z0", "big")}[0]);
	assert_string_equal(machines(w, a), "m0 z0");
	leader.requests = worlds_resources(a, "cpu=12,nvidia.com/gpu=64");
	/* No machine is large enough for the leader, so the gang can never be placed and must not
	 * delay another pod. */
	world_put_pod(w, &leader);
	assert_non_null(strstr(said(w, a, "train-2"), "TooBig"));
	assert_int_equal(plan_make(w, 0, a)->pods[0].place, 0);
}

static void quota_keeps_a_gang_out_whole(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);

	(void)state;
	t.quota = worlds_resources(a, "cpu=12");
	world_put_tenant(w, &t);
	add_machines(w, a, "m", 9, "");
	add_gang(w, a, "train", 4, 4);
	assert_string_equal(machines(w, a), "");
	assert_non_null(strstr(said(w, a, "train-0"), "QuotaExceeded"));
	add_gang(w, a, "less", 3, 3);
	assert_string_equal(machines(w, a),
			    /* The quota that the first gang's failed attempt used is free again. */
			    "m0 m1 m2");
}

/* --- random fleets ---------------------------------------------------------------------------- */

enum { WORLDS = 300, NODES = 8, MACHINES = 24, GANGS = 6, LONE = 10, RACKS = 5 };

static uint64_t next(uint64_t *s)
{
	*s ^= *s << 13; /* source: xorshift64, Marsaglia 2003 */
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

struct fleet {
	uint64_t seed;
	struct arena *a;
	struct world_node nodes[NODES];
	size_t nnodes;
	struct world_machine machines[MACHINES];
	size_t nmachines;
	struct world_pod pods[GANGS * 8 + LONE];
	int64_t cpus[GANGS * 8 + LONE];
	/* Number of the pod's gang, from 1; 0: no gang */
	size_t gang[GANGS * 8 + LONE];
	size_t npods;
	struct {
		size_t n, min;
		/* True: the gang has no topology constraints */
		bool plain;
	} gangs[GANGS + 1];
	size_t ngangs;
};

static const char *place(struct fleet *f)
{
	const size_t rack = next(&f->seed) % RACKS;

	return arena_printf(f->a, RACK "=r%zu," ZONE "=z%zu," SPINE "=s%zu", rack,
			    next(&f->seed) % 2, rack / 3);
}

static void constrain(struct fleet *f, struct world_pod *p, const char *app, size_t how)
{
	static const char *const keys[] = {HOST, RACK, ZONE, ZONE};
	static const enum world_topology_kind kinds[] = {WORLD_APART, WORLD_APART, WORLD_SPREAD,
							 WORLD_TOGETHER};

	p->labels = worlds_labels(f->a, arena_printf(f->a, "app=%s", app));
	if (how >= 4)
		return;
	p->topology.v = arena_calloc(f->a, 1, sizeof(*p->topology.v));
	p->topology.n = 1;
	p->topology.v[0] = (struct world_topology){
		.kind = kinds[how],
		.key = keys[how],
		.max_skew = 1,
		.pods = worlds_term(f->a, arena_printf(f->a, "app in (%s)", app))};
}

static void add_pod(struct fleet *f, const char *name, size_t gang, int64_t cpus, size_t how)
{
	struct world_pod *p = &f->pods[f->npods];

	*p = worlds_pod(f->a, name, arena_printf(f->a, "cpu=%lld", (long long)cpus));
	constrain(f, p, arena_printf(f->a, "%s%zu", gang && how >= 4 ? "p" : "a", gang % 3), how);
	p->since = 1000 + (int64_t)(next(&f->seed) % 5);
	p->priority = (int64_t)(next(&f->seed) % 2);
	if (gang) {
		p->gang.key = arena_printf(f->a, "g%zu", gang);
		p->gang.min = (int64_t)f->gangs[gang].min;
	}
	f->cpus[f->npods] = cpus;
	f->gang[f->npods++] = gang;
}

static void make_fleet(struct fleet *f)
{
	f->nnodes = next(&f->seed) % NODES;
	for (size_t i = 0; i < f->nnodes; i++) {
		f->nodes[i] = worlds_node(f->a, arena_printf(f->a, "n%zu", i));
		f->nodes[i].labels =
			worlds_labels(f->a, arena_printf(f->a, "%s," HOST "=n%zu", place(f), i));
	}
	f->nmachines = next(&f->seed) % MACHINES;
	for (size_t i = 0; i < f->nmachines; i++) {
		f->machines[i] = worlds_machine(arena_printf(f->a, "m%02zu", i), "small");
		f->machines[i].labels = worlds_labels(f->a, place(f));
	}
	f->ngangs = 1 + next(&f->seed) % GANGS;
	for (size_t g = 1; g <= f->ngangs; g++) {
		const size_t how = next(&f->seed) % 8, n = 1 + next(&f->seed) % 8;
		const bool mixed = next(&f->seed) % 3 == 0;

		f->gangs[g].n = n;
		f->gangs[g].min = next(&f->seed) % 4 ? n : 1 + next(&f->seed) % n;
		f->gangs[g].plain = how >= 4;
		for (size_t i = 0; i < n; i++)
			add_pod(f, arena_printf(f->a, "g%zu-%zu", g, i), g,
				1 + (int64_t)(mixed ? next(&f->seed) % 4 : g % 4), how);
	}
	for (size_t i = 0, n = next(&f->seed) % LONE; i < n; i++)
		add_pod(f, arena_printf(f->a, "x%zu", i), 0, 1 + (int64_t)(next(&f->seed) % 4),
			next(&f->seed) % 8);
}

/* Builds the world of the fleet. without: bit mask of gangs that are left out. backwards: puts the
 * objects in reverse order. */
static struct world *world_of(const struct fleet *f, uint64_t without, bool backwards)
{
	struct world *w = worlds_new(f->a);
	const char *const levels[] = {RACK, SPINE};
	struct world_tenant t = worlds_tenant(f->a);

	t.quota = worlds_resources(f->a, "cpu=72");
	world_put_tenant(w, &t);
	world_put_levels(w, levels, 2);
	for (size_t i = 0; i < f->nnodes; i++)
		world_put_node(w, &f->nodes[backwards ? f->nnodes - 1 - i : i]);
	for (size_t i = 0; i < f->nmachines; i++)
		world_put_machine(w, &f->machines[backwards ? f->nmachines - 1 - i : i]);
	for (size_t i = 0; i < f->npods; i++) {
		const size_t at = backwards ? f->npods - 1 - i : i;

		if (!(without >> f->gang[at] & 1))
			world_put_pod(w, &f->pods[at]);
	}
	return w;
}

static size_t pod_at(const struct fleet *f, const char *name)
{
	size_t i = 0;

	while (!str_eq(f->pods[i].name, name))
		i++;
	return i;
}

/* Asserts that no node gets more pods than it has room for, and that no machine is claimed twice.
 * Leaves the remaining CPUs of nodes in left, of new machines in left_new. */
static void nothing_is_overcommitted(const struct fleet *f, const struct plan *p, int64_t *left,
				     int64_t *left_new)
{
	for (size_t i = 0; i < f->nnodes; i++)
		left[i] = 4;
	for (size_t i = 0; i < p->nclaims; i++) {
		left_new[i] = 4;
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(p->claims[i].machine, p->claims[k].machine);
	}
	assert_true(p->nclaims * 4 <= 72);
	for (size_t i = 0; i < p->npods; i++) {
		const struct plan_pod *d = &p->pods[i];
		const int64_t cpus = f->cpus[pod_at(f, d->name)];
		size_t n = 0;

		if (d->outcome == PLAN_ON_NEW)
			assert_true((left_new[d->new_claim] -= cpus) >= 0);
		if (d->outcome != PLAN_ON_NODE)
			continue;
		while (!str_eq(f->nodes[n].name, d->target))
			n++;
		assert_true((left[n] -= cpus) >= 0);
	}
}

/* Asserts that a gang that was not placed really lacks room. The room at the end is what remained
 * after all gangs; if it were enough, it would have been enough at the gang's turn. */
static void it_could_not_have_been_served(const struct fleet *f, const struct plan *p, size_t gang,
					  const int64_t *left, const int64_t *left_new)
{
	const size_t quota = 18 - p->nclaims, free = f->nmachines - p->nclaims;
	int64_t cpus = 0;
	size_t n = 0;

	for (size_t i = 0; i < f->npods; i++) {
		if (f->gang[i] != gang)
			continue;
		if (cpus && cpus != f->cpus[i])
			return; /* Gangs with pods of different sizes are not checked. */
		cpus = f->cpus[i];
	}
	for (size_t i = 0; i < f->nnodes; i++)
		n += (size_t)(left[i] / cpus);
	for (size_t i = 0; i < p->nclaims; i++)
		n += (size_t)(left_new[i] / cpus);
	n += (free < quota ? free : quota) * (size_t)(4 / cpus);
	assert_true(n < f->gangs[gang].min);
}

static uint64_t count_gangs(const struct fleet *f, const struct plan *p)
{
	int64_t left[NODES], left_new[MACHINES];
	size_t placed[GANGS + 1] = {0};
	uint64_t none = 0;

	nothing_is_overcommitted(f, p, left, left_new);
	for (size_t i = 0; i < p->npods; i++)
		placed[f->gang[pod_at(f, p->pods[i].name)]] += p->pods[i].outcome != PLAN_NOTHING;
	for (size_t g = 1; g <= f->ngangs; g++) {
		if (placed[g]) {
			assert_true(placed[g] >= f->gangs[g].min);
			continue;
		}
		none |= (uint64_t)1 << g;
		if (f->gangs[g].plain)
			it_could_not_have_been_served(f, p, g, left, left_new);
	}
	return none;
}

static void nothing_shows_what_was_tried(const struct fleet *f, const struct plan *p, uint64_t none)
{
	OWN(world) w = world_of(f, none, false);
	const struct plan *without = plan_make(w, 0, f->a);

	assert_int_equal(p->nclaims, without->nclaims);
	for (size_t i = 0; i < without->npods; i++)
		if (without->pods[i].outcome != PLAN_NOTHING)
			assert_string_equal(worlds_pod_text(p, without->pods[i].name, f->a),
					    worlds_pod_text(without, without->pods[i].name, f->a));
}

static void fleets_at_random(void **state)
{
	size_t whole = 0, nothing = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		OWN(arena) a = arena_new();
		struct fleet *f = arena_new_obj(a, struct fleet);
		const struct plan *p;
		uint64_t none;

		f->seed = seed * UINT64_C(0x9e3779b97f4a7c15);
		f->a = a;
		make_fleet(f);
		OWN(world) w = world_of(f, 0, false);
		OWN(world) back = world_of(f, 0, true);
		p = plan_make(w, 0, a);
		none = count_gangs(f, p);
		nothing_shows_what_was_tried(f, p, none);
		assert_string_equal(worlds_text(p, a), worlds_text(plan_make(back, 0, a), a));
		nothing += (size_t)__builtin_popcountll(none);
		whole += p->ngangs;
	}
	assert_true(whole > WORLDS / 2 && nothing > WORLDS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gang_gets_all_its_places_or_none),
		cmocka_unit_test(what_a_gang_could_not_use_is_for_others),
		cmocka_unit_test(a_gang_that_is_not_all_there_waits),
		cmocka_unit_test(a_gang_whose_size_nobody_knows_opens_nothing),
		cmocka_unit_test(those_that_have_their_places_count),
		cmocka_unit_test(a_gang_keeps_its_seats_on_nodes_that_are_ready),
		cmocka_unit_test(a_gang_that_has_begun_is_not_waited_for),
		cmocka_unit_test(what_is_left_of_a_gang_that_ran_is_served),
		cmocka_unit_test(pods_of_an_older_job_do_not_say_how_large_a_gang_is),
		cmocka_unit_test(beyond_its_size_each_is_served_alone),
		cmocka_unit_test(a_gang_stays_in_the_smallest_domain_that_has_room),
		cmocka_unit_test(what_came_later_goes_where_the_others_stand),
		cmocka_unit_test(room_that_is_there_comes_before_a_domain),
		cmocka_unit_test(a_gang_of_different_pods_is_one),
		cmocka_unit_test(quota_keeps_a_gang_out_whole),
		cmocka_unit_test(fleets_at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
