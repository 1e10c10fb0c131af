/* test_holds: tests which machines are reserved for gangs that lack machines, for how long, and
 * that no pod or gang waits for ever. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "tests/unit/planner/worlds.h"

#define NOW 1000000
#define HOLD_MS 1800000
#define RACK "topology.drover.dev/rack"

static struct world *world_that_holds(struct arena *a)
{
	struct world *w = worlds_new(a);

	world_put_hold(w, HOLD_MS);
	return w;
}

/* Returns a machine that is expected to be free `at` seconds after NOW (p50; the p90 is twice
 * that). at 0: free now; -1: at an unknown time. */
static struct world_machine machine_at(const char *name, const char *type, int64_t at)
{
	struct world_machine m = worlds_machine(name, type);

	if (!at)
		return m;
	m.offered = false;
	m.not_offered = "serving";
	m.returns = true;
	m.free_p50_ms = at > 0 ? NOW + at * 1000 : 0;
	m.free_p90_ms = at > 0 ? NOW + at * 2000 : 0;
	return m;
}

static void put(struct world *w, const char *name, const char *type, int64_t at)
{
	const struct world_machine m = machine_at(name, type, at);

	world_put_machine(w, &m);
}

static void put_in(struct world *w, struct arena *a, const char *rack, const char *name, int64_t at)
{
	struct world_machine m = machine_at(name, "small", at);

	m.labels = worlds_labels(a, arena_printf(a, RACK "=%s", rack));
	world_put_machine(w, &m);
}

/* Returns a pod that has waited for `age` seconds. The oldest pod is the first in the queue. */
static struct world_pod pod(struct arena *a, const char *name, int64_t age)
{
	struct world_pod p = worlds_pod(a, name, "cpu=3");

	p.since = NOW - age * 1000;
	return p;
}

static void wait_for(struct world *w, struct arena *a, const char *name, int64_t age)
{
	const struct world_pod p = pod(a, name, age);

	world_put_pod(w, &p);
}

static void put_gang(struct world *w, struct arena *a, const char *gang, int64_t n, int64_t age)
{
	for (int64_t i = 0; i < n; i++) {
		struct world_pod p = pod(a, arena_printf(a, "%s-%lld", gang, (long long)i), age);

		p.gang.key = gang;
		p.gang.min = n;
		world_put_pod(w, &p);
	}
}

static const struct plan_pod *find(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->npods; i++)
		if (str_eq(p->pods[i].name, name))
			return &p->pods[i];
	fail_msg("pod %s is not in the plan", name);
	return NULL;
}

static void says(const struct plan *p, const char *name, const char *want, struct arena *a)
{
	const char *is = worlds_pod_text(p, name, a);

	if (!strstr(is, want))
		fail_msg("pod %s: want \"%s\" in \"%s\"", name, want, is);
}

static void what_is_free_is_held_until_the_last_comes(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_that_holds(a);
	const struct plan *p;

	(void)state;
	put(w, "m-1", "small", 0);
	put(w, "m-2", "small", 0);
	put(w, "m-3", "small", 600);
	put_gang(w, a, "train", 3, 9);
	wait_for(w, a, "lone", 5);
	p = plan_make(w, NOW, a);
	assert_int_equal(p->nclaims, 0);
	says(p, "train-0",
	     "room for 2 of 3 pods, and a gang starts only as a whole; 2 machines are "
	     "reserved for it; NoCapacity",
	     a);
	says(p, "train-2", "expects m-3 at 1600000 to 2200000", a);
	says(p, "lone",
	     "nothing; HeldForGang: pool main: 3 machines fit, all taken (2 reserved for "
	     "gang train, 1 serving)",
	     a);
	assert_null(find(p, "lone")->expected.machine);
	assert_int_equal(p->nholds, 1);
	assert_string_equal(p->holds[0].gang, "train");
	assert_string_equal(p->holds[0].tenant, "acme");
	assert_int_equal(p->holds[0].free, 2);
	assert_false(p->holds[0].rests);
	put(w, "m-3", "small", 0);
	p = plan_make(w, NOW + 600000, a);
	assert_int_equal(p->nclaims, 3);
	assert_int_equal(p->nholds, 0);
}

static void what_it_cannot_use_and_what_it_does_not_need_is_for_others(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_that_holds(a);
	struct world_pod big = pod(a, "big", 4);
	const struct plan *p;

	(void)state;
	put(w, "m-1", "small", 0);
	put(w, "m-2", "small", 60);
	put(w, "m-3", "small", 30);
	put(w, "m-4", "big", 0);
	for (int i = 0; i < 2; i++) {
		struct world_pod x = pod(a, i ? "train-1" : "train-0", 9);

		x.node_selector = worlds_labels(a, "disk=ssd");
		x.gang.key = "train";
		x.gang.min = 2;
		world_put_pod(w, &x);
	}
	big.requests = worlds_resources(a, "cpu=16");
	world_put_pod(w, &big);
	wait_for(w, a, "lone", 1);
	p = plan_make(w, NOW, a);
	says(p, "train-0", "expects m-3 at 1030000", a);
	says(p, "big", "new 0 on m-4", a);
	says(p, "lone", "expects m-2 at 1060000", a);
}

static void who_is_before_it_comes_first(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_that_holds(a);
	const struct plan *p;

	(void)state;
	put(w, "m-1", "small", 0);
	put(w, "m-2", "small", 10);
	put(w, "m-3", "small", 20);
	put(w, "m-4", "small", 30);
	wait_for(w, a, "first", 20);
	wait_for(w, a, "second", 19);
	put_gang(w, a, "train", 2, 9);
	wait_for(w, a, "last", 1);
	p = plan_make(w, NOW, a);
	says(p, "first", "new 0 on m-1", a);
	says(p, "second", "expects m-2 at 1010000", a);
	says(p, "train-1", "expects m-4 at 1030000", a);
	assert_null(find(p, "last")->expected.machine);
}

static void another_tenants_gang_is_not_named(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_that_holds(a);
	struct world_tenant other = worlds_tenant(a);
	struct world_pod p = pod(a, "lone", 5);

	(void)state;
	other.name = "other";
	world_put_tenant(w, &other);
	put(w, "m-1", "small", 0);
	put(w, "m-2", "small", 600);
	put_gang(w, a, "train", 2, 9);
	p.tenant = "other";
	world_put_pod(w, &p);
	says(plan_make(w, NOW, a), "lone",
	     "HeldForGang: pool main: 2 machines fit, all taken (1 reserved for a gang, 1 serving)",
	     a);
}

/* Two gangs want the same machines: first all that the first gang needs is reserved, then what the
 * second needs. */
static void each_reservation_stands_in_the_order_of_the_queue(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_that_holds(a);
	const struct plan *p;

	(void)state;
	put(w, "m-1", "small", 0);
	put(w, "m-2", "small", 0);
	put(w, "m-3", "small", 100);
	put(w, "m-4", "small", 200);
	put(w, "m-5", "small", 300);
	put(w, "m-6", "small", 400);
	put_gang(w, a, "one", 3, 9);
	put_gang(w, a, "two", 3, 8);
	p = plan_make(w, NOW, a);
	says(p, "one-0", "2 machines are reserved for it", a);
	says(p, "one-0", "expects m-3 at 1100000", a);
	says(p, "two-0", "expects m-6 at 1400000", a);
}

static void it_waits_for_the_narrowest_level_that_is_whole_the_soonest(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_that_holds(a);
	const char *const levels[] = {RACK};
	const struct plan *p;

	(void)state;
	world_put_levels(w, levels, 1);
	put_in(w, a, "r1", "m-1", 0);
	put_in(w, a, "r1", "m-2", 500);
	put_in(w, a, "r2", "m-3", 100);
	put_in(w, a, "r2", "m-4", 300);
	put_in(w, a, "r3", "m-5", 300);
	put_gang(w, a, "train", 2, 9);
	wait_for(w, a, "lone", 1);
	/* m-1 and m-3, in two racks, are free the soonest. */
	p = plan_make(w, NOW, a);
	says(p, "train-0", "expects m-3 at 1100000", a);
	says(p, "lone", "HeldForGang", a);
	/* Two machines in one rack are free equally soon: these are reserved instead, and m-1 is
	 * available to others. */
	put_in(w, a, "r2", "m-4", 100);
	world_del_machine(w, "m-1");
	put_in(w, a, "r1", "m-1", 100);
	put_in(w, a, "r3", "m-5", 0);
	world_del_machine(w, "m-5");
	p = plan_make(w, NOW, a);
	says(p, "train-0", "expects m-4 at 1100000", a);
}

static void where_nobody_knows_when_what_is_free_is_held_wherever_it_stands(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_that_holds(a);
	const char *const levels[] = {RACK};
	const struct plan *p;

	(void)state;
	world_put_levels(w, levels, 1);
	put_in(w, a, "r1", "m-1", -1);
	put_in(w, a, "r1", "m-2", -1);
	put_in(w, a, "r1", "m-3", -1);
	put_in(w, a, "r2", "m-4", 0);
	put_in(w, a, "r3", "m-5", 0);
	put_in(w, a, "r3", "m-6", -1);
	put_gang(w, a, "train", 3, 9);
	wait_for(w, a, "lone", 1);
	p = plan_make(w, NOW, a);
	assert_int_equal(p->nclaims, 0);
	says(p, "train-0", "2 machines are reserved for it", a);
	assert_null(find(p, "train-0")->expected.machine);
	says(p, "lone", "HeldForGang", a);
}

static void nothing_is_held_for_what_will_never_be_whole(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_that_holds(a);
	struct world_tenant t = worlds_tenant(a);
	struct world_machine m = machine_at("m-3", "small", -1);

	(void)state;
	put(w, "m-1", "small", 0);
	put(w, "m-2", "small", 0);
	m.returns = false;
	world_put_machine(w, &m);
	put_gang(w, a, "train", 3, 9);
	wait_for(w, a, "lone", 1);
	says(plan_make(w, NOW, a), "lone", "new 0 on m-1", a);
	m.returns = true;
	assert_true(world_put_machine(w, &m));
	says(plan_make(w, NOW, a), "lone", "HeldForGang", a);
	t.quota = worlds_resources(a, "cpu=8");
	world_put_tenant(w, &t);
	says(plan_make(w, NOW, a), "lone", "new 0 on m-1", a);
	t.quota = worlds_resources(a, "cpu=12");
	world_put_tenant(w, &t);
	/* The gang's reservation uses up the quota. */
	says(plan_make(w, NOW, a), "lone", "QuotaExceeded", a);
}

static void a_hold_ends_and_rests(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_that_holds(a);
	const struct plan *p;

	(void)state;
	put(w, "m-1", "small", 0);
	put(w, "m-2", "small", 600);
	put_gang(w, a, "train", 2, 9);
	wait_for(w, a, "lone", 1);
	/* Reservations end at NOW + 700 s: after the p50 (600 s) of the time at which the gang has
	 * all machines, but before the p90. */
	world_put_tenant_hold(w, "acme", 0, NOW + 700000);
	p = plan_make(w, NOW, a);
	says(p, "train-0", "1 machine is reserved for it", a);
	assert_null(find(p, "train-0")->expected.machine);
	world_put_tenant_hold(w, "acme", NOW + 800000, 0);
	p = plan_make(w, NOW + 700000, a);
	says(p, "train-0", "nothing; GangHoldOver: machines were reserved for the tenant's gangs",
	     a);
	says(p, "train-0", "until 1970-01-01T00:30:00Z; GangNotWhole: gang train: room for 1 of 2",
	     a);
	assert_true(find(p, "train-0")->place);
	assert_int_equal(p->nholds, 1);
	assert_true(p->holds[0].rests);
	assert_int_equal(p->holds[0].free, 0);
	says(p, "lone", "new 0 on m-1", a);
	p = plan_make(w, NOW + 800000, a);
	says(p, "lone", "HeldForGang", a);
	world_put_hold(w, 0);
	says(plan_make(w, NOW + 800000, a), "lone", "new 0 on m-1", a);
}

static struct world_tenant another(struct arena *a, struct world *w)
{
	struct world_tenant t = worlds_tenant(a);

	t.name = "other";
	world_put_tenant(w, &t);
	return t;
}

static void the_rest_of_one_tenant_is_not_another_tenants(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_that_holds(a);
	struct world_pod x = pod(a, "x", 1);

	(void)state;
	(void)another(a, w);
	put(w, "m-1", "small", 0);
	put(w, "m-2", "small", -1);
	put_gang(w, a, "train", 2, 9);
	x.tenant = "other";
	world_put_pod(w, &x);
	world_put_tenant_hold(w, "other", NOW + 1, 0);
	says(plan_make(w, NOW, a), "train-0", "1 machine is reserved for it", a);
	world_put_tenant_hold(w, "acme", NOW + 1, 0);
	says(plan_make(w, NOW, a), "train-0", "GangHoldOver", a);
	says(plan_make(w, NOW, a), "x", "new 0 on m-1", a);
	world_put_tenant_hold(w, "acme", 0, 0);
	says(plan_make(w, NOW, a), "x", "HeldForGang", a);
}

static void a_machine_that_rests_is_held_for_nobody(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_that_holds(a);
	const struct plan *p;

	(void)state;
	put(w, "m-1", "small", 0);
	put(w, "m-2", "small", 0);
	put(w, "m-3", "small", -1);
	put_gang(w, a, "train", 3, 9);
	wait_for(w, a, "lone", 1);
	world_put_machine_rest(w, "m-1", NOW + 1);
	p = plan_make(w, NOW, a);
	says(p, "lone", "new 0 on m-1", a);
	assert_int_equal(p->nholds, 1);
	assert_int_equal(p->holds[0].free, 1);
	assert_string_equal(p->holds[0].machines[0], "m-2");
	says(plan_make(w, NOW + 1, a), "lone", "HeldForGang", a);
	world_put_machine_rest(w, "m-1", 0);
	says(plan_make(w, NOW, a), "lone", "HeldForGang", a);
}

/* Puts two gangs of one tenant that want machines of different types, so that each gang could
 * reserve its own. */
static void put_two_gangs(struct world *w, struct arena *a)
{
	put(w, "m-1", "small", 0);
	put(w, "m-2", "small", -1);
	put(w, "b-1", "big", 0);
	put(w, "b-2", "big", -1);
	for (int i = 0; i < 4; i++) {
		struct world_pod x = pod(a, arena_printf(a, "pod-%d", i), 9 - i / 2);

		x.gang.key = i < 2 ? "one" : "two";
		x.gang.min = 2;
		if (i < 2)
			x.node_selector = worlds_labels(a, "disk=ssd");
		else
			x.requests = worlds_resources(a, "cpu=16");
		world_put_pod(w, &x);
	}
}

static void a_second_gang_of_a_tenant_holds_nothing_while_another_tenant_waits(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_that_holds(a);
	struct world_pod x = pod(a, "x", 1);
	const struct plan *p;

	(void)state;
	(void)another(a, w);
	put_two_gangs(w, a);
	p = plan_make(w, NOW, a);
	assert_int_equal(p->nholds, 2);
	x.tenant = "other";
	x.requests = worlds_resources(a, "cpu=16");
	world_put_pod(w, &x);
	p = plan_make(w, NOW, a);
	assert_int_equal(p->nholds, 1);
	assert_string_equal(p->holds[0].gang, "one");
	says(p, "pod-2", "machines are reserved for another gang of the tenant", a);
	says(p, "x", "new 0 on b-1", a);
}

static void a_check_for_room_comes_last_and_holds_nothing(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = world_that_holds(a);
	struct world_pod x = pod(a, "check-0", 99);
	const struct plan *p;

	(void)state;
	put(w, "m-1", "small", 0);
	put(w, "m-2", "small", -1);
	x.priority = 1000;
	x.check = true;
	x.gang.key = "check";
	x.gang.min = 1;
	assert_true(world_put_pod(w, &x));
	assert_false(world_put_pod(w, &x));
	p = plan_make(w, NOW, a);
	says(p, "check-0", "new 0 on m-1", a);
	assert_true(find(p, "check-0")->check);
	wait_for(w, a, "lone", 1);
	p = plan_make(w, NOW, a);
	says(p, "lone", "new 0 on m-1", a);
	says(p, "check-0", "NoCapacity", a);
	assert_int_equal(p->nholds, 0);
	x.check = false;
	assert_true(world_put_pod(w, &x));
	says(plan_make(w, NOW, a), "check-0", "new 0 on m-1", a);
	x.check = true;
	x.gang.min = 2;
	world_put_pod(w, &x);
	x.name = x.uid = "check-1";
	world_put_pod(w, &x);
	assert_true(world_del_pod(w, "acme", "default", "lone"));
	assert_int_equal(plan_make(w, NOW, a)->nholds, 0);
}

/* --- random days, with a plan whenever a machine becomes free --------------------------------- */

enum { MACHINES = 14, GANGS = 4, SIZE = 5, LONE = 10, PODS = GANGS * SIZE + LONE, DAYS = 3000 };

struct day {
	struct arena *a;
	struct world *w;
	uint64_t seed;
	struct world_machine m[MACHINES];
	size_t nmachines, ngangs, npods;
	struct world_pod pods[PODS];
	/* Number of the pod's gang, from 1; 0: no gang */
	size_t gang[PODS];
	int64_t min[GANGS + 1], said[GANGS + 1], got[GANGS + 1];
	unsigned claims, late;
};

static unsigned below(uint64_t *s, unsigned n)
{
	*s = *s * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(*s >> 33) % n;
}

static void add_pod(struct day *d, size_t gang, const char *requests, const char *selector,
		    const char *tenant, int64_t since)
{
	struct world_pod *p = &d->pods[d->npods];

	*p = worlds_pod(d->a, arena_printf(d->a, "p-%zu", d->npods), requests);
	p->tenant = tenant;
	p->since = since;
	p->node_selector = worlds_labels(d->a, selector);
	if (gang) {
		p->gang.key = arena_printf(d->a, "g%zu", gang);
		p->gang.min = d->min[gang];
	}
	d->gang[d->npods++] = gang;
	world_put_pod(d->w, p);
}

static void make_pods(struct day *d)
{
	static const char *const asks[] = {"cpu=1", "cpu=3", "cpu=3", "cpu=9",
					   "cpu=1,nvidia.com/gpu=4"},
				 *const selects[] = {"", "", "disk=ssd"};
	uint64_t *s = &d->seed;

	d->ngangs = below(s, GANGS) + 1;
	for (size_t g = 1; g <= d->ngangs; g++) {
		const unsigned n = below(s, SIZE) + 1, ask = below(s, 5), select = below(s, 3);
		const bool mixed = !below(s, 4);
		const char *tenant = below(s, 2) ? "acme" : "first";
		const int64_t since = NOW - 1000 * (int64_t)below(s, 100);

		d->min[g] = below(s, 4) ? n : below(s, n) + 1;
		for (unsigned i = 0; i < n; i++)
			add_pod(d, g, asks[mixed ? below(s, 5) : ask], selects[select], tenant,
				since);
	}
	for (unsigned i = below(s, LONE); i > 0; i--)
		add_pod(d, 0, asks[below(s, 5)], selects[below(s, 3)],
			below(s, 2) ? "acme" : "first", NOW - 1000 * (int64_t)below(s, 100));
}

static void make_day(struct day *d)
{
	static const char *const types[] = {"small", "small", "small", "big", "gpu"},
				 *const levels[] = {RACK};
	struct world_tenant t = worlds_tenant(d->a);
	uint64_t *s = &d->seed;

	d->w = worlds_new(d->a);
	world_put_hold(d->w, (int64_t)1 << 50);
	world_put_levels(d->w, levels, below(s, 2));
	t.name = "first";
	t.priority = 5;
	world_put_tenant(d->w, &t);
	d->nmachines = below(s, MACHINES) + 1;
	for (size_t i = 0; i < d->nmachines; i++) {
		/* Multiples of MACHINES plus i + 1: no two machines become free at the same
		 * time. */
		const int64_t at = (int64_t)(below(s, 1000) * MACHINES + i + 1);
		const unsigned how = below(s, 8);

		d->m[i] = machine_at(arena_printf(d->a, "m-%zu", i), types[below(s, 5)],
				     how < 2	? 0
				     : how == 2 ? -1
						: at);
		d->m[i].labels = worlds_labels(d->a, arena_printf(d->a, RACK "=r%u", below(s, 3)));
		d->m[i].failures = below(s, 3);
		world_put_machine(d->w, &d->m[i]);
	}
	make_pods(d);
}

static size_t machine_of(const struct day *d, const char *name)
{
	size_t i = 0;

	while (!str_eq(d->m[i].name, name))
		i++;
	return i;
}

static size_t pod_of(const struct day *d, const char *uid)
{
	size_t i = 0;

	while (i < d->npods && !str_eq(d->pods[i].uid, uid))
		i++;
	return i;
}

/* Puts the claims that the plan makes; they are never released. */
static void act(struct day *d, const struct plan *p, int64_t now)
{
	const struct world_provider metal = worlds_provider(d->a);
	struct world_claim v[MACHINES];

	for (size_t i = 0; i < p->nclaims; i++) {
		struct world_machine *m = &d->m[machine_of(d, p->claims[i].machine)];

		m->offered = false;
		m->not_offered = "claimed";
		m->returns = true;
		v[i] = (struct world_claim){.name = arena_printf(d->a, "c-%u", d->claims++),
					    .tenant = arena_strdup(d->a, p->claims[i].tenant),
					    .pool = "main",
					    .machine = m->name,
					    .instance_type = m->instance_type,
					    .provider = "metal",
					    .created_ms = now,
					    .pods = p->claims[i].pods,
					    .npods = p->claims[i].npods};
		for (size_t k = 0; k < metal.types.n; k++)
			if (str_eq(metal.types.v[k].name, m->instance_type))
				v[i].capacity = metal.types.v[k].capacity;
	}
	for (size_t i = 0; i < p->nclaims; i++) {
		const struct world_machine *m = &d->m[machine_of(d, v[i].machine)];

		world_put_claim(d->w, &v[i]);
		world_put_machine(d->w, m);
	}
}

/* Records which gangs have all their machines for the first time. From then on, such a gang must
 * keep them. */
static void look(struct day *d, const struct plan *p, int64_t now, const char *text)
{
	int64_t has[GANGS + 1] = {0};

	for (size_t i = 0; i < p->npods; i++) {
		const size_t at = pod_of(d, p->pods[i].uid);

		if (at < d->npods)
			has[d->gang[at]] += p->pods[i].outcome != PLAN_NOTHING;
	}
	for (size_t g = 1; g <= d->ngangs; g++) {
		if (d->got[g] && has[g] < d->min[g])
			fail_msg("gang %zu lost its places\n%s", g, text);
		if (!d->got[g] && has[g] >= d->min[g])
			d->got[g] = now;
	}
}

static int by_free(const void *x, const void *y)
{
	const struct world_machine *a = *(struct world_machine *const *)x,
				   *b = *(struct world_machine *const *)y;

	return a->free_p50_ms < b->free_p50_ms ? -1 : a->free_p50_ms > b->free_p50_ms;
}

/* Adds a pod behind all others in the queue, which must not delay any of them. */
static void one_comes(struct day *d, int64_t now)
{
	struct world_pod p = pod(d->a, arena_printf(d->a, "late-%u", d->late++), 0);

	p.since = now;
	world_put_pod(d->w, &p);
}

static void run_day(struct day *d, const char *text)
{
	struct world_machine *order[MACHINES];
	size_t n = 0;

	for (size_t i = 0; i < d->nmachines; i++)
		if (d->m[i].free_p50_ms)
			order[n++] = &d->m[i];
	qsort(order, n, sizeof(*order), by_free);
	for (size_t i = 0; i < n; i++) {
		const int64_t now = order[i]->free_p50_ms;
		const struct plan *p;

		order[i]->free_p50_ms = order[i]->free_p90_ms = 0;
		order[i]->offered = true;
		order[i]->not_offered = NULL;
		world_put_machine(d->w, order[i]);
		if (i % 2)
			one_comes(d, now);
		p = plan_make(d->w, now, d->a);
		look(d, p, now, text);
		act(d, p, now);
	}
}

static void each_gang_is_whole_by_the_time_that_was_said_first(void **state)
{
	size_t said = 0, at_once = 0, unknown = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= DAYS; seed++) {
		OWN(arena) a = arena_new();
		struct day d = {.a = a, .seed = seed * UINT64_C(0x9e3779b97f4a7c15)};
		const struct plan *p;
		const char *text;

		make_day(&d);
		p = plan_make(d.w, NOW, a);
		text = worlds_text(p, a);
		for (size_t i = 0; i < p->npods; i++)
			d.said[d.gang[pod_of(&d, p->pods[i].uid)]] = p->pods[i].expected.p50;
		look(&d, p, NOW, text);
		act(&d, p, NOW);
		run_day(&d, text);
		for (size_t g = 1; g <= d.ngangs; g++) {
			if (d.said[g] && (!d.got[g] || d.got[g] > d.said[g]))
				fail_msg("seed %llu, gang %zu: said %lld, got %lld\n%s",
					 (unsigned long long)seed, g, (long long)d.said[g],
					 (long long)d.got[g], text);
			said += d.said[g] != 0;
			at_once += d.got[g] == NOW;
			unknown += !d.said[g] && d.got[g] != NOW;
		}
		world_free(d.w);
	}
	assert_true(said > 500 && at_once > 500 && unknown > 500);
}

/* --- an endless series of small pods ---------------------------------------------------------- */

enum { FLEET = 8, TURNS = 100 };

/* Simulates TURNS turns. In each turn one pod ends and its machine becomes free, while more pods
 * wait than there are machines. Returns the turn in which a gang of half the fleet has all its
 * machines; TURNS: never. */
static int turns_until_it_is_whole(int64_t hold_ms, size_t *machines)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant other = worlds_tenant(a);
	unsigned comes = 0;

	other.name = "other";
	world_put_tenant(w, &other);
	world_put_hold(w, hold_ms);
	for (int i = 0; i < FLEET; i++)
		put(w, arena_printf(a, "m-%d", i), "small", -1);
	put_gang(w, a, "train", FLEET / 2, 9);
	for (int turn = 0; turn < TURNS; turn++) {
		const char *ends = arena_printf(a, "m-%d", turn % FLEET);
		const int64_t now = NOW + turn * 60000;
		const struct plan *p;

		put(w, ends, "small", 0);
		for (int i = 0; i < 2; i++) {
			struct world_pod x = pod(a, arena_printf(a, "x-%u", comes++), 0);

			x.tenant = "other";
			x.since = now;
			world_put_pod(w, &x);
		}
		p = plan_make(w, now, a);
		if (p->ngangs) {
			*machines = p->nclaims;
			return turn;
		}
		for (size_t i = 0; i < p->nclaims; i++) {
			const struct plan_claim *c = &p->claims[i];
			const char *name = arena_strdup(a, c->machine),
				   *served = arena_strdup(a, c->pods[0]);

			world_del_pod(w, "other", "default", served);
			put(w, name, "small", -1);
		}
	}
	return TURNS;
}

static void a_gang_does_not_starve_behind_those_who_need_one_machine_each(void **state)
{
	size_t machines = 0;

	(void)state;
	assert_int_equal(turns_until_it_is_whole(0, &machines), TURNS);
	assert_int_equal(turns_until_it_is_whole(HOLD_MS, &machines), FLEET / 2 - 1);
	assert_int_equal(machines, FLEET / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_free_is_held_until_the_last_comes),
		cmocka_unit_test(what_it_cannot_use_and_what_it_does_not_need_is_for_others),
		cmocka_unit_test(who_is_before_it_comes_first),
		cmocka_unit_test(another_tenants_gang_is_not_named),
		cmocka_unit_test(each_reservation_stands_in_the_order_of_the_queue),
		cmocka_unit_test(it_waits_for_the_narrowest_level_that_is_whole_the_soonest),
		cmocka_unit_test(where_nobody_knows_when_what_is_free_is_held_wherever_it_stands),
		cmocka_unit_test(nothing_is_held_for_what_will_never_be_whole),
		cmocka_unit_test(a_hold_ends_and_rests),
		cmocka_unit_test(the_rest_of_one_tenant_is_not_another_tenants),
		cmocka_unit_test(a_machine_that_rests_is_held_for_nobody),
		cmocka_unit_test(
			a_second_gang_of_a_tenant_holds_nothing_while_another_tenant_waits),
		cmocka_unit_test(a_check_for_room_comes_last_and_holds_nothing),
		cmocka_unit_test(each_gang_is_whole_by_the_time_that_was_said_first),
		cmocka_unit_test(a_gang_does_not_starve_behind_those_who_need_one_machine_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
