/* test_reclaim: tests which machines a plan takes back from one tenant for another. */
#include <stdlib.h>

#include "base/str.h"
#include "planner/reclaim.h"
#include "planner/usage.h"
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

#define GPU "nvidia.com/gpu"
#define HOUR ((int64_t)3600 * 1000)
#define NOW (1000 * HOUR)

static void put_tenant(struct world *w, struct arena *a, const char *name, unsigned gpus,
		       int64_t priority)
{
	struct world_tenant t = worlds_tenant(a);

	t.name = name;
	t.quota = worlds_resources(a, arena_printf(a, GPU "=%u", gpus));
	t.cohort = "research";
	t.priority = priority;
	world_put_tenant(w, &t);
}

static void allow(struct world *w, struct arena *a, enum world_reclaim what)
{
	struct world_pool p = worlds_pool(a);

	p.reclaim = what;
	world_put_pool(w, &p);
}

/* Puts a claim and its Node, on which a pod of the tenant has run for `hours`. gang NULL: the pod
 * belongs to no gang. */
static void serve(struct world *w, struct arena *a, const char *tenant, const char *name,
		  int64_t hours, const char *gang)
{
	struct world_machine m = worlds_machine(arena_printf(a, "m-%s", name), "gpu");
	struct world_claim c = worlds_claim(a, name, m.name);
	struct world_node n = worlds_node(a, name);
	struct world_pod p = worlds_pod(a, arena_printf(a, "on-%s", name), GPU "=8");

	m.offered = false;
	m.not_offered = "serving";
	world_put_machine(w, &m);
	c.tenant = n.tenant = p.tenant = tenant;
	c.instance_type = "gpu";
	c.capacity = n.allocatable = worlds_resources(a, "cpu=64,memory=512Gi,pods=110," GPU "=8");
	c.ready = true;
	c.created_ms = NOW - 500 * HOUR;
	world_put_claim(w, &c);
	n.claim = name;
	world_put_node(w, &n);
	p.node = name;
	p.unschedulable = false;
	p.since = NOW - hours * HOUR;
	p.gang.key = gang;
	p.gang.min = 2;
	world_put_pod(w, &p);
}

static void wait_for(struct world *w, struct arena *a, const char *tenant, const char *name,
		     const char *asks, int64_t hours, int64_t gang)
{
	struct world_pod p = worlds_pod(a, name, asks);

	p.tenant = tenant;
	p.since = NOW - hours * HOUR;
	p.gang.key = gang ? "waits" : NULL;
	p.gang.min = gang;
	world_put_pod(w, &p);
}

/* Returns the machines that the plan takes back, such as "c1 of b for a, c2 of b for a". */
static const char *takes(struct world *w, struct arena *a)
{
	const struct plan *p = plan_make(w, NOW, a);
	const char *text = "";

	for (size_t i = 0; i < p->nreclaims; i++)
		text = arena_printf(a, "%s%s%s of %s for %s", text, i ? ", " : "",
				    p->reclaims[i].claim, p->reclaims[i].tenant,
				    p->reclaims[i].name);
	return text;
}

/* Returns a world in which a pod of acme has waited for `waited`, within acme's quota of two
 * machines. Tenant other has one machine of its own quota and borrows two. */
static struct world *lent(struct arena *a, int64_t waited)
{
	struct world *w = worlds_new(a);

	allow(w, a, WORLD_RECLAIM_BORROWED);
	put_tenant(w, a, "acme", 16, 0);
	put_tenant(w, a, "other", 8, 0);
	serve(w, a, "other", "c1", 6, NULL);
	serve(w, a, "other", "c2", 3, NULL);
	serve(w, a, "other", "c3", 9, NULL);
	wait_for(w, a, "acme", "train", GPU "=8", waited, 0);
	return w;
}

static void nothing_is_taken_back_where_no_pool_allows_it(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = lent(a, 10);

	(void)state;
	assert_string_equal(takes(w, a), "c2 of other for train");
	allow(w, a, WORLD_RECLAIM_NEVER);
	assert_string_equal(takes(w, a), "");
}

static void what_is_lost_is_never_more_than_what_is_saved(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = lent(a, 1);
	struct world_provider p = worlds_provider(a);
	struct world_pod pod = worlds_pod(a, "on-c2", GPU "=8");

	(void)state;
	/* The loss is 8 GPUs for 3.5 h: the 3 h that the pod on c2 has run, and half an hour for
	 * the move. The saving is 8 GPUs for 4 h: the 1 h that pod train has waited, and the
	 * estimated 3 h that it would still wait. */
	assert_string_equal(takes(w, a), "c2 of other for train");
	p.types.v[0].move_ms = HOUR;
	world_put_provider(w, &p);
	assert_string_equal(takes(w, a), "c2 of other for train");
	p.types.v[0].move_ms = HOUR + 1;
	world_put_provider(w, &p);
	assert_string_equal(takes(w, a), "");
	/* A small pod saves less than the loss, however long it waits. */
	world_del_pod(w, "acme", "default", "train");
	wait_for(w, a, "acme", "small", GPU "=1", 20, 0);
	assert_string_equal(takes(w, a), "");
	/* A pod that saves its work when it is terminated loses none. */
	pod.tenant = "other";
	pod.node = "c2";
	pod.unschedulable = false;
	pod.since = NOW - 3 * HOUR;
	pod.saves = true;
	world_put_pod(w, &pod);
	assert_string_equal(takes(w, a), "c2 of other for small");
}

static void who_has_its_quota_or_less_keeps_it(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = lent(a, 400);

	(void)state;
	put_tenant(w, a, "other", 16, 0);
	assert_string_equal(takes(w, a), "c2 of other for train");
	put_tenant(w, a, "other", 20, 0); /* The tenant exceeds its quota by half a machine only. */
	assert_string_equal(takes(w, a), "");
}

static void who_waits_beyond_its_quota_takes_nothing(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = lent(a, 400);

	(void)state;
	put_tenant(w, a, "acme", 4, 0);
	assert_string_equal(takes(w, a), "");
	put_tenant(w, a, "acme", 8, 0);
	assert_string_equal(takes(w, a), "c2 of other for train");
}

static void no_more_is_taken_than_is_needed(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = lent(a, 10);
	struct world_machine m = worlds_machine("on-its-way", "gpu");

	(void)state;
	/* Both waiting pods fit on one machine. */
	world_del_pod(w, "acme", "default", "train");
	wait_for(w, a, "acme", "half-1", GPU "=4", 10, 0);
	wait_for(w, a, "acme", "half-2", GPU "=4", 10, 0);
	assert_string_equal(takes(w, a), "c2 of other for half-1");
	/* A machine is already being wiped and will be free. */
	m.offered = false;
	m.not_offered = "wiping";
	m.coming = true;
	world_put_machine(w, &m);
	/* acme may not use that machine, because its quota is still lent to tenant other. So a
	 * machine of tenant other is taken back nevertheless. */
	assert_string_equal(takes(w, a), "c2 of other for half-1");
	world_del_claim(w, "c3");
	assert_string_equal(takes(w, a), "");
}

static void what_is_taken_back_has_room_for_daemonsets(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = lent(a, 10);
	struct world_machine m = worlds_machine("on-its-way", "gpu");
	struct world_pod set = worlds_pod(a, "cni:daemonset", "cpu=30");

	(void)state;
	world_del_pod(w, "acme", "default", "train");
	wait_for(w, a, "acme", "half-1", "cpu=20," GPU "=4", 10, 0);
	wait_for(w, a, "acme", "half-2", "cpu=20," GPU "=4", 10, 0);
	assert_string_equal(takes(w, a), "c2 of other for half-1");
	set.daemon = set.daemon_set = true;
	set.unschedulable = false;
	set.node_selector = worlds_labels(a, "gpu=h100");
	world_put_pod(w, &set);
	/* Beside the DaemonSet's pod, a machine has room for one of them. */
	assert_string_equal(takes(w, a), "c2 of other for half-1, c1 of other for half-2");
	/* Both machines are taken for a gang at once. */
	wait_for(w, a, "acme", "half-1", "cpu=20," GPU "=4", 10, 2);
	wait_for(w, a, "acme", "half-2", "cpu=20," GPU "=4", 10, 2);
	assert_string_equal(takes(w, a), "c2 of other for half-1, c1 of other for half-1");
	wait_for(w, a, "acme", "half-1", "cpu=20," GPU "=4", 10, 0);
	wait_for(w, a, "acme", "half-2", "cpu=20," GPU "=4", 10, 0);
	m.offered = false;
	m.not_offered = "wiping";
	m.coming = true;
	world_put_machine(w, &m);
	world_del_claim(w, "c3");
	assert_string_equal(takes(w, a), "c2 of other for half-2");
	world_del_pod(w, "acme", "default", "cni:daemonset");
	assert_string_equal(takes(w, a), "");
}

static void a_machine_that_leaves_already_is_not_asked_for_twice(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = lent(a, 10);
	struct world_claim c = worlds_claim(a, "c2", "m-c2");
	struct world_machine m = worlds_machine("m-c2", "gpu");

	(void)state;
	m.offered = false;
	m.not_offered = "draining";
	m.coming = true;
	world_put_machine(w, &m);
	c.tenant = "other";
	c.instance_type = "gpu";
	c.capacity = worlds_resources(a, "cpu=64,memory=512Gi,pods=110," GPU "=8");
	c.ready = true;
	c.leaving = true;
	c.created_ms = 1;
	world_put_claim(w, &c);
	assert_string_equal(takes(w, a), "");
	/* The machine that is being given back serves only one pod. A second machine is taken for
	 * the second pod. */
	wait_for(w, a, "acme", "train-2", GPU "=8", 400, 0);
	assert_string_equal(takes(w, a), "c1 of other for train");
}

static void a_gang_goes_as_a_whole_or_not_at_all(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	allow(w, a, WORLD_RECLAIM_BORROWED);
	put_tenant(w, a, "acme", 32, 0);
	put_tenant(w, a, "other", 0, 0);
	serve(w, a, "other", "c1", 1, "job");
	serve(w, a, "other", "c2", 1, "job");
	serve(w, a, "other", "c3", 6, NULL);
	wait_for(w, a, "acme", "train", GPU "=8", 8, 0);
	/* Taking c1 and c2, with 1 h of work each, loses less than taking c3, with 6 h, although
	 * two machines must be moved. */
	assert_string_equal(takes(w, a), "c1 of other for train, c2 of other for train");
	/* Tenant other borrows only one machine, so the gang's two cannot be taken. */
	put_tenant(w, a, "other", 16, 0);
	put_tenant(w, a, "acme", 16, 0);
	assert_string_equal(takes(w, a), "c3 of other for train");
}

static void a_gang_that_waits_gets_all_that_it_needs_or_nothing_is_taken(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = lent(a, 10);

	(void)state;
	world_del_pod(w, "acme", "default", "train");
	for (unsigned i = 0; i < 2; i++)
		wait_for(w, a, "acme", arena_printf(a, "g%u", i), GPU "=8", 10, 2);
	assert_string_equal(takes(w, a), "c2 of other for g0, c1 of other for g0");
	/* Tenant other borrows only one machine, but the gang needs two. */
	put_tenant(w, a, "other", 16, 0);
	assert_string_equal(takes(w, a), "");
}

static void what_a_larger_unit_makes_needless_stays(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	allow(w, a, WORLD_RECLAIM_BORROWED);
	put_tenant(w, a, "acme", 24, 0);
	put_tenant(w, a, "other", 0, 0);
	serve(w, a, "other", "c1", 2, "job");
	serve(w, a, "other", "c2", 2, "job");
	serve(w, a, "other", "c3", 1, NULL);
	for (unsigned i = 0; i < 2; i++)
		wait_for(w, a, "acme", arena_printf(a, "g%u", i), GPU "=8", 10, 2);
	assert_string_equal(takes(w, a), "c1 of other for g0, c2 of other for g0");
}

static void what_comes_soon_enough_is_waited_for(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = lent(a, 10);
	struct world_machine m = worlds_machine("expires", "gpu");

	(void)state;
	/* The third tenant's quota is unused. So acme lacks no quota, only a machine. */
	put_tenant(w, a, "third", 8, 0);
	m.offered = false;
	m.not_offered = "serving";
	m.free_p50_ms = NOW + HOUR;
	m.free_p90_ms = NOW + 2 * HOUR;
	world_put_machine(w, &m);
	assert_string_equal(takes(w, a), "");
	m.free_p50_ms = NOW + 20 * HOUR;
	m.free_p90_ms = NOW + 21 * HOUR;
	world_put_machine(w, &m);
	assert_string_equal(takes(w, a), "c2 of other for train");
}

static void nobody_behind_takes_what_one_before_it_would_get(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = lent(a, 10);
	struct world_tenant t = worlds_tenant(a);

	(void)state;
	/* Tenant third is in no cohort, and its pod is before acme's in the queue. */
	t.name = "third";
	t.priority = 1;
	world_put_tenant(w, &t);
	wait_for(w, a, "third", "first", GPU "=8", 1, 0);
	assert_string_equal(takes(w, a), "");
	/* No machine is large enough for this pod. So it is not in the way of acme's pod. */
	world_del_pod(w, "third", "default", "first");
	wait_for(w, a, "third", "first", "cpu=1000", 1, 0);
	assert_string_equal(takes(w, a), "c2 of other for train");
}

static void who_would_come_back_before_it_is_left_alone(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = lent(a, 10);

	(void)state;
	put_tenant(w, a, "other", 8, 1);
	assert_string_equal(takes(w, a), "");
}

static void a_higher_priority_takes_where_the_pool_names_it(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = lent(a, 10);

	(void)state;
	put_tenant(w, a, "acme", 64, 5);
	put_tenant(w, a, "other", 64, 0);
	assert_string_equal(takes(w, a), "");
	allow(w, a, WORLD_RECLAIM_LOWER_PRIORITY);
	assert_string_equal(takes(w, a), "c2 of other for train");
	put_tenant(w, a, "acme", 64, 0);
	assert_string_equal(takes(w, a), "");
}

static void a_young_claim_is_left_alone(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = lent(a, 10);
	struct world_claim c = worlds_claim(a, "c2", "m-c2");

	(void)state;
	c.tenant = "other";
	c.instance_type = "gpu";
	c.capacity = worlds_resources(a, "cpu=64,memory=512Gi,pods=110," GPU "=8");
	c.ready = true;
	c.created_ms = NOW - RECLAIM_KEEP_MS + 1;
	world_put_claim(w, &c);
	assert_string_equal(takes(w, a), "c1 of other for train");
	c.created_ms--;
	world_put_claim(w, &c);
	assert_string_equal(takes(w, a), "c2 of other for train");
}

/* --- random fleets ---------------------------------------------------------------------------- */

#define TENANTS 3
#define MACHINES 8

static uint64_t below(uint64_t *s, uint64_t n)
{
	*s ^= *s << 13; /* source: xorshift64, Marsaglia 2003 */
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s % n;
}

struct fleet {
	/* Owner and gang of each machine; gang 0: none */
	size_t owner[MACHINES], gang[MACHINES];
	/* Machines that each tenant has; its quota in machines */
	size_t has[TENANTS], quota[TENANTS];
	int64_t priority[TENANTS];
	bool lower;
};

static const char *const names[TENANTS] = {"ta", "tb", "tc"};

static struct world *make_fleet(struct arena *a, struct fleet *f, uint64_t *s)
{
	struct world *w = worlds_new(a);

	world_del_tenant(w, "acme");
	f->lower = below(s, 3) == 0;
	allow(w, a, f->lower ? WORLD_RECLAIM_LOWER_PRIORITY : WORLD_RECLAIM_BORROWED);
	for (size_t i = 0; i < TENANTS; i++) {
		f->quota[i] = below(s, 5);
		f->priority[i] = (int64_t)below(s, 2);
		put_tenant(w, a, names[i], (unsigned)(8 * f->quota[i]), f->priority[i]);
	}
	for (size_t i = 0; i < MACHINES; i++) {
		f->owner[i] = below(s, TENANTS);
		f->gang[i] = below(s, 3) ? 0 : 1 + below(s, 2);
		f->has[f->owner[i]]++;
		serve(w, a, names[f->owner[i]], arena_printf(a, "c%zu", i),
		      1 + (int64_t)below(s, 9),
		      f->gang[i] ? arena_printf(a, "job-%zu", f->gang[i]) : NULL);
	}
	for (size_t i = 0; i < 6; i++) {
		const bool gang = below(s, 4) == 0;
		const char *tenant = names[below(s, TENANTS)];

		for (size_t k = 0; k < (gang ? 2 : 1); k++) {
			struct world_pod p = worlds_pod(a, arena_printf(a, "p%zu-%zu", i, k),
							gang || below(s, 2) ? GPU "=8" : GPU "=4");

			p.tenant = tenant;
			p.since = NOW - (int64_t)below(s, 30) * HOUR - 1;
			p.priority = (int64_t)below(s, 2);
			p.gang.key = gang ? arena_printf(a, "waits-%zu", i) : NULL;
			p.gang.min = 2;
			world_put_pod(w, &p);
		}
	}
	return w;
}

static size_t tenant_of(const char *name)
{
	return (size_t)(name[1] - 'a');
}

/* Checks the result by independent arithmetic in whole machines. */
static void check_fleet(const struct fleet *f, const struct plan *p, uint64_t seed)
{
	size_t gives[TENANTS] = {0}, gets[TENANTS] = {0}, parts[TENANTS][3] = {{0}};
	bool goes[MACHINES] = {0};

	for (size_t i = 0; i < p->nreclaims; i++) {
		const struct plan_reclaim *k = &p->reclaims[i];
		const size_t at = (size_t)(k->claim[1] - '0'), from = tenant_of(k->tenant),
			     to = tenant_of(k->to);

		if (goes[at] || f->owner[at] != from || from == to)
			fail_msg("seed %llu: %s", (unsigned long long)seed, k->claim);
		goes[at] = true;
		gives[from]++;
		gets[to]++;
		if (f->priority[from] > f->priority[to])
			fail_msg("seed %llu: from a higher priority", (unsigned long long)seed);
	}
	for (size_t i = 0; i < MACHINES; i++)
		if (goes[i])
			parts[f->owner[i]][f->gang[i]]++;
	for (size_t i = 0; i < MACHINES; i++)
		if (f->gang[i] && !goes[i] && parts[f->owner[i]][f->gang[i]])
			fail_msg("seed %llu: a gang goes in parts", (unsigned long long)seed);
	for (size_t i = 0; i < TENANTS && !f->lower; i++) {
		if (gives[i] && f->has[i] - gives[i] < f->quota[i])
			fail_msg("seed %llu: %s gives of its quota", (unsigned long long)seed,
				 names[i]);
		if (gets[i] && f->has[i] + gets[i] > f->quota[i])
			fail_msg("seed %llu: %s gets beyond its quota", (unsigned long long)seed,
				 names[i]);
	}
}

static void nobody_gives_of_its_quota_and_no_gang_in_parts(void **state)
{
	size_t takes_seen = 0, gangs_seen = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 600; seed++) {
		OWN(arena) a = arena_new();
		uint64_t s = seed * 0x9e3779b97f4a7c15u;
		struct fleet f = {0};
		OWN(world) w = make_fleet(a, &f, &s);
		const struct plan *p = plan_make(w, NOW, a);

		check_fleet(&f, p, seed);
		takes_seen += p->nreclaims;
		gangs_seen += p->nreclaims > 0 && f.gang[p->reclaims[0].claim[1] - '0'];
	}
	assert_true(takes_seen > 100 && gangs_seen > 10);
}

/* --- shares over a long time ------------------------------------------------------------------ */

/* All tenants want more machines than there are. Each machine that becomes free serves the first
 * pod of the queue for some hours. */
static void shares_come_to_the_weights(void **state)
{
	enum { FLEET = 40, HOURS = 300 };
	static const int64_t weights[TENANTS] = {1, 2, 5};
	const int64_t half_life = 24 * HOUR;
	int64_t used[TENANTS] = {0}, got[TENANTS] = {0}, until[FLEET] = {0};
	size_t owner[FLEET] = {0};
	uint64_t s = 7;

	(void)state;
	for (int64_t h = 0; h < HOURS; h++) {
		OWN(arena) a = arena_new();
		OWN(world) w = worlds_new(a);
		size_t has[TENANTS] = {0};
		const struct plan *p;

		for (size_t i = 0; i < FLEET; i++) {
			struct world_machine m = worlds_machine(arena_printf(a, "m%zu", i), "gpu");
			struct world_claim c = worlds_claim(a, arena_printf(a, "c%zu", i), m.name);

			m.offered = until[i] <= h;
			world_put_machine(w, &m);
			if (m.offered)
				continue;
			c.tenant = names[owner[i]];
			c.capacity = worlds_resources(a, GPU "=8");
			c.taints = worlds_taints(a, "full=yes:NoSchedule");
			world_put_claim(w, &c);
			has[owner[i]]++;
		}
		for (size_t i = 0; i < TENANTS; i++) {
			struct world_tenant t = worlds_tenant(a);

			t.name = names[i];
			t.weight = weights[i];
			t.used_milli = usage_average(used[i], half_life);
			world_put_tenant(w, &t);
			for (unsigned k = 0; k < FLEET; k++)
				wait_for(w, a, names[i], arena_printf(a, "%zu-%u", i, k), GPU "=8",
					 1, 0);
		}
		p = plan_make(w, NOW, a);
		for (size_t i = 0; i < p->nclaims; i++) {
			const size_t at = (size_t)atoi(p->claims[i].machine + 1);

			owner[at] = tenant_of(p->claims[i].tenant);
			/* Jobs of the first tenant run five times as long. */
			until[at] = h + (owner[at] ? 1 : 5) * (1 + (int64_t)below(&s, 5));
			has[owner[at]]++;
		}
		for (size_t i = 0; i < TENANTS; i++) {
			used[i] = usage_after(used[i], (int64_t)has[i] * 8000, HOUR, half_life);
			got[i] += (int64_t)has[i];
		}
	}
	for (size_t i = 0; i < TENANTS; i++)
		assert_in_range(got[i], FLEET * HOURS * weights[i] / 8 * 93 / 100,
				FLEET * HOURS * weights[i] / 8 * 107 / 100);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_taken_back_where_no_pool_allows_it),
		cmocka_unit_test(what_is_lost_is_never_more_than_what_is_saved),
		cmocka_unit_test(who_has_its_quota_or_less_keeps_it),
		cmocka_unit_test(who_waits_beyond_its_quota_takes_nothing),
		cmocka_unit_test(no_more_is_taken_than_is_needed),
		cmocka_unit_test(what_is_taken_back_has_room_for_daemonsets),
		cmocka_unit_test(a_machine_that_leaves_already_is_not_asked_for_twice),
		cmocka_unit_test(a_gang_goes_as_a_whole_or_not_at_all),
		cmocka_unit_test(a_gang_that_waits_gets_all_that_it_needs_or_nothing_is_taken),
		cmocka_unit_test(what_a_larger_unit_makes_needless_stays),
		cmocka_unit_test(what_comes_soon_enough_is_waited_for),
		cmocka_unit_test(nobody_behind_takes_what_one_before_it_would_get),
		cmocka_unit_test(who_would_come_back_before_it_is_left_alone),
		cmocka_unit_test(a_higher_priority_takes_where_the_pool_names_it),
		cmocka_unit_test(a_young_claim_is_left_alone),
		cmocka_unit_test(nobody_gives_of_its_quota_and_no_gang_in_parts),
		cmocka_unit_test(shares_come_to_the_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
