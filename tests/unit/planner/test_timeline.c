#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "tests/unit/planner/worlds.h"

#define NOW 1000000

/* Returns a busy machine that is expected to be free `at` seconds after NOW (p50; the p90 is twice
 * that). at 0: at an unknown time. */
static struct world_machine busy(const char *name, const char *type, int64_t at)
{
	struct world_machine m = worlds_machine(name, type);

	m.offered = false;
	m.not_offered = "wiping";
	if (at) {
		m.free_p50_ms = NOW + at * 1000;
		m.free_p90_ms = NOW + at * 2000;
	}
	return m;
}

struct want {
	const char *pod, *machine;
	/* Expected time, seconds after NOW */
	int64_t at;
};

static const struct plan_pod *find(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->npods; i++)
		if (str_eq(p->pods[i].name, name))
			return &p->pods[i];
	fail_msg("pod %s is not in the plan", name);
	return NULL;
}

static void expect(struct world *w, struct arena *a, const struct want *v, size_t n)
{
	const struct plan *p = plan_make(w, NOW, a);

	for (size_t i = 0; i < n; i++) {
		const struct plan_pod *pod = find(p, v[i].pod);

		if (!str_eq(str_or(pod->expected.machine, ""), str_or(v[i].machine, "")) ||
		    pod->expected.p50 != (v[i].machine ? NOW + v[i].at * 1000 : 0))
			fail_msg("pod %s: want %s at %lld in\n%s", v[i].pod,
				 str_or(v[i].machine, "none"), (long long)v[i].at,
				 worlds_text(p, a));
	}
}
#define EXPECT(w, a, ...)                                                                          \
	expect(w, a, (const struct want[]){__VA_ARGS__},                                           \
	       sizeof((const struct want[]){__VA_ARGS__}) / sizeof(struct want))

static void put(struct world *w, struct world_machine m)
{
	world_put_machine(w, &m);
}

/* Puts a pod that has waited for `age` seconds. The oldest pod is the first in the queue. */
static void wait_for(struct world *w, struct arena *a, const char *name, const char *requests,
		     int64_t age)
{
	struct world_pod p = worlds_pod(a, name, requests);

	p.since = NOW - age * 1000;
	world_put_pod(w, &p);
}

static void who_waits_has_the_earliest_machine_that_will_do(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	const struct plan_pod *p;

	(void)state;
	put(w, busy("m-1", "small", 60));
	put(w, busy("m-2", "small", 30));
	put(w, busy("m-3", "big", 90));
	put(w, busy("m-4", "small", 0));
	wait_for(w, a, "first", "cpu=3", 9);
	wait_for(w, a, "second", "cpu=3", 8);
	wait_for(w, a, "large", "cpu=9", 7);
	wait_for(w, a, "third", "cpu=3", 6);
	wait_for(w, a, "fourth", "cpu=3", 5);
	wait_for(w, a, "last", "cpu=3", 4);
	EXPECT(w, a, {"first", "m-2", 30}, {"second", "m-1", 60}, {"large", "m-3", 90},
	       {"third", "m-3", 90}, {"fourth", "m-3", 90}, {"last", NULL, 0});
	p = find(plan_make(w, NOW, a), "first");
	assert_int_equal(p->expected.p90, NOW + 60000);
	assert_string_equal(p->expected.instance_type, "small");
	assert_string_equal(p->expected.provider, "metal");
	assert_int_equal(p->reasons[0].code, PLAN_NO_MACHINE);
}

/* EASY backfill: the small pod at the end of the queue gets a machine only if that does not delay
 * the first pod. */
static void a_small_pod_fills_a_hole_and_moves_nobody_before_it(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);

	(void)state;
	put(w, busy("m-1", "small", 10));
	put(w, busy("m-2", "big", 60));
	wait_for(w, a, "head", "cpu=9", 9);
	wait_for(w, a, "small", "cpu=3", 5);
	EXPECT(w, a, {"head", "m-2", 60}, {"small", "m-1", 10});
	wait_for(w, a, "more", "cpu=12", 1);
	EXPECT(w, a, {"head", "m-2", 60}, {"small", "m-1", 10}, {"more", NULL, 0});
	wait_for(w, a, "beside", "cpu=4", 1);
	EXPECT(w, a, {"head", "m-2", 60}, {"beside", "m-2", 60});
}

static void what_is_late_is_expected_from_now_on_and_what_is_too_late_not_at_all(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_machine m = busy("m-1", "small", 0);

	(void)state;
	m.free_p50_ms = NOW - 5000;
	m.free_p90_ms = NOW + 1000;
	put(w, m);
	wait_for(w, a, "x", "cpu=1", 1);
	EXPECT(w, a, {"x", "m-1", 0});
	m.free_p90_ms = NOW;
	put(w, m);
	EXPECT(w, a, {"x", NULL, 0});
}

/* These pods do not wait for a machine, so the time at which a machine becomes free tells nothing
 * about them. */
static void who_waits_for_a_quota_a_limit_or_for_ever_has_no_time(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);
	struct world_pool pool = worlds_pool(a);

	(void)state;
	put(w, busy("m-1", "small", 10));
	put(w, busy("m-2", "small", 20));
	put(w, busy("m-3", "small", 30));
	wait_for(w, a, "a", "cpu=3", 9);
	wait_for(w, a, "b", "cpu=3", 8);
	wait_for(w, a, "huge", "cpu=3000", 7);
	t.quota = worlds_resources(a, "cpu=4");
	world_put_tenant(w, &t);
	EXPECT(w, a, {"a", "m-1", 10}, {"b", NULL, 0}, {"huge", NULL, 0});
	t.quota = worlds_resources(a, "cpu=3");
	world_put_tenant(w, &t);
	EXPECT(w, a, {"a", NULL, 0}, {"b", NULL, 0});
	t.quota = (struct resources){0};
	world_put_tenant(w, &t);
	pool.limits = worlds_resources(a, "nodes=1");
	world_put_pool(w, &pool);
	EXPECT(w, a, {"a", "m-1", 10}, {"b", NULL, 0});
}

static void a_machine_that_was_wiped_below_the_floor_is_nobodys(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pool pool = worlds_pool(a);
	struct world_machine m = busy("m-1", "small", 10);

	(void)state;
	pool.minimum_level_flash = 2;
	world_put_pool(w, &pool);
	m.level_flash = 1;
	put(w, m);
	put(w, busy("m-2", "small", 20));
	wait_for(w, a, "x", "cpu=1", 1);
	EXPECT(w, a, {"x", "m-2", 20});
}

static void who_keeps_away_from_others_has_a_machine_alone(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_topology apart = {.kind = WORLD_APART,
				       .key = "kubernetes.io/hostname",
				       .pods = worlds_term(a, "app in (x)")};
	struct world_pod p;

	(void)state;
	put(w, busy("m-1", "big", 10));
	put(w, busy("m-2", "big", 20));
	put(w, busy("m-3", "big", 30));
	for (int i = 0; i < 2; i++) {
		p = worlds_pod(a, i ? "y" : "x", "cpu=1");
		p.since = NOW - 9000 + i;
		p.labels = worlds_labels(a, "app=x");
		p.topology.v = &apart;
		p.topology.n = 1;
		world_put_pod(w, &p);
	}
	wait_for(w, a, "z", "cpu=1", 1);
	EXPECT(w, a, {"x", "m-1", 10}, {"y", "m-2", 20}, {"z", "m-3", 30});
}

/* Tenants with equal weights take turns with machines that become free later, just as with free
 * ones. */
static void tenants_take_turns(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = worlds_tenant(a);

	(void)state;
	t.name = "other";
	world_put_tenant(w, &t);
	for (int i = 0; i < 4; i++)
		put(w, busy(arena_printf(a, "m-%d", i + 1), "gpu", 10 * (i + 1)));
	for (int i = 0; i < 4; i++) {
		struct world_pod p =
			worlds_pod(a, arena_printf(a, "p%d", i), "cpu=1,nvidia.com/gpu=8");

		p.since = NOW - 1000 + i;
		p.tenant = i < 2 ? "acme" : "other";
		world_put_pod(w, &p);
	}
	EXPECT(w, a, {"p0", "m-1", 10}, {"p2", "m-2", 20}, {"p1", "m-3", 30}, {"p3", "m-4", 40});
}

static void another_time_is_kept_and_is_no_reason_for_another_plan(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_machine m = busy("m-1", "small", 10);

	(void)state;
	put(w, m);
	wait_for(w, a, "x", "cpu=1", 1);
	m = busy("m-1", "small", 40);
	assert_false(world_put_machine(w, &m));
	EXPECT(w, a, {"x", "m-1", 40});
}

/* --- a day of plans, one whenever a machine becomes free -------------------------------------- */

#define MACHINES 12
#define PODS 24

struct day {
	struct arena *a;
	struct world *w;
	struct world_machine m[MACHINES];
	struct world_pod pods[PODS];
	size_t nmachines, npods;
	/* Unix ms at which the pod got its machine; 0: never. */
	int64_t got[PODS];
	unsigned claims;
};

static unsigned below(uint64_t *s, unsigned n)
{
	*s = *s * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(*s >> 33) % n;
}

static void make_day(struct day *d, uint64_t *s)
{
	static const char *const types[] = {"small", "big", "gpu"},
				 *const asks[] = {"cpu=1",
						  "cpu=3",
						  "cpu=4,memory=1Gi",
						  "cpu=9",
						  "cpu=16",
						  "cpu=1,nvidia.com/gpu=1",
						  "cpu=8,nvidia.com/gpu=8",
						  "cpu=2,memory=6Gi"},
				 *const selects[] = {"", "", "", "disk=ssd", "rack=r1"};
	struct world_tenant t = worlds_tenant(d->a);
	struct world_pool pool = worlds_pool(d->a);

	d->w = worlds_new(d->a);
	t.name = "first";
	t.priority = 5;
	world_put_tenant(d->w, &t);
	d->nmachines = below(s, MACHINES) + 1;
	d->npods = below(s, PODS) + 1;
	for (size_t i = 0; i < d->nmachines; i++) {
		/* Multiples of MACHINES plus i + 1: no two machines become free at the same
		 * time. */
		const int64_t at = (int64_t)(below(s, 1000) * MACHINES + i + 1);

		d->m[i] = busy(arena_printf(d->a, "m-%zu", i), types[below(s, 3)],
			       below(s, 5) ? at : 0);
		d->m[i].labels = worlds_labels(d->a, below(s, 2) ? "rack=r1" : "rack=r2");
		d->m[i].level_flash = (int)below(s, 4) ? 2 : 0;
		world_put_machine(d->w, &d->m[i]);
	}
	pool.name = "strict";
	pool.weight = 20;
	pool.minimum_level_flash = 1;
	world_put_pool(d->w, &pool);
	for (size_t i = 0; i < d->npods; i++) {
		struct world_pod *p = &d->pods[i];

		*p = worlds_pod(d->a, arena_printf(d->a, "p-%zu", i), asks[below(s, 8)]);
		p->tenant = below(s, 2) ? "acme" : "first";
		p->priority = (int64_t)below(s, 2);
		p->since = NOW - (int64_t)i * 1000;
		p->node_selector = worlds_labels(d->a, selects[below(s, 5)]);
		world_put_pod(d->w, p);
	}
}

static struct world_machine *machine_of(struct day *d, const char *name)
{
	for (size_t i = 0; i < d->nmachines; i++)
		if (str_eq(d->m[i].name, name))
			return &d->m[i];
	return NULL;
}

/* Puts the claims that the plan makes on machines that became free. */
static void act(struct day *d, const struct plan *p, int64_t now)
{
	for (size_t i = 0; i < p->nclaims; i++) {
		const struct plan_claim *c = &p->claims[i];
		struct world_machine *m = machine_of(d, c->machine);
		struct world_provider metal = worlds_provider(d->a);
		struct world_claim claim = {
			.name = arena_printf(d->a, "c-%u", d->claims++),
			.tenant = arena_strdup(d->a, c->tenant),
			.pool = arena_strdup(d->a, c->pool),
			.machine = m->name,
			.instance_type = m->instance_type,
			.provider = "metal",
			.created_ms = now,
			.pods = c->pods,
			.npods = c->npods,
		};

		for (size_t k = 0; k < metal.types.n; k++)
			if (str_eq(metal.types.v[k].name, m->instance_type))
				claim.capacity = metal.types.v[k].capacity;
		for (size_t k = 0; k < c->npods; k++)
			for (size_t j = 0; j < d->npods; j++)
				if (str_eq(d->pods[j].uid, c->pods[k]))
					d->got[j] = now;
		m->offered = false;
		m->not_offered = "claimed";
		m->free_p50_ms = m->free_p90_ms = 0;
		world_put_claim(d->w, &claim);
		world_put_machine(d->w, m);
	}
}

static int by_free(const void *x, const void *y)
{
	const struct world_machine *a = *(struct world_machine *const *)x,
				   *b = *(struct world_machine *const *)y;

	return a->free_p50_ms < b->free_p50_ms ? -1 : a->free_p50_ms > b->free_p50_ms;
}

static void run_day(struct day *d)
{
	struct world_machine *order[MACHINES];
	size_t n = 0;

	for (size_t i = 0; i < d->nmachines; i++)
		if (d->m[i].free_p50_ms)
			order[n++] = &d->m[i];
	qsort(order, n, sizeof(*order), by_free);
	for (size_t i = 0; i < n; i++) {
		const int64_t now = order[i]->free_p50_ms;

		order[i]->free_p50_ms = order[i]->free_p90_ms = 0;
		order[i]->offered = true;
		order[i]->not_offered = NULL;
		world_put_machine(d->w, order[i]);
		act(d, plan_make(d->w, now, d->a), now);
	}
}

static void what_is_expected_is_what_plans_bring_machine_by_machine(void **state)
{
	size_t expected = 0, none = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		OWN(arena) a = arena_new();
		uint64_t s = seed;
		struct day d = {.a = a};
		const struct plan *p;
		int64_t said[PODS];
		bool waits[PODS];
		const char *text;

		make_day(&d, &s);
		p = plan_make(d.w, NOW, a);
		text = worlds_text(p, a);
		for (size_t i = 0; i < d.npods; i++) {
			const struct plan_pod *pod = find(p, d.pods[i].name);

			said[i] = pod->expected.p50;
			waits[i] = pod->reasons[0].code == PLAN_NO_MACHINE;
			if (!waits[i])
				assert_null(pod->expected.machine);
		}
		run_day(&d);
		for (size_t i = 0; i < d.npods; i++) {
			if (waits[i] && said[i] != d.got[i])
				fail_msg("seed %llu, pod %s: said %lld, got %lld\n%s",
					 (unsigned long long)seed, d.pods[i].name,
					 (long long)said[i], (long long)d.got[i], text);
			expected += waits[i] && said[i];
			none += waits[i] && !said[i];
		}
		world_free(d.w);
	}
	assert_true(expected > 5000);
	assert_true(none > 5000);
}

/* Pods arrive one after the other. The last one must not change the expected time of those before
 * it. */
static void nobody_is_later_for_those_behind_him(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		OWN(arena) a = arena_new();
		uint64_t s = seed;
		struct day d = {.a = a};
		const struct plan *all, *fewer;

		make_day(&d, &s);
		all = plan_make(d.w, NOW, a);
		for (size_t cut = all->npods; cut-- > 1;) {
			world_del_pod(d.w, all->pods[cut].tenant, "default", all->pods[cut].name);
			fewer = plan_make(d.w, NOW, a);
			for (size_t i = 0; i < cut; i++) {
				assert_string_equal(fewer->pods[i].name, all->pods[i].name);
				assert_int_equal(fewer->pods[i].expected.p50,
						 all->pods[i].expected.p50);
			}
		}
		world_free(d.w);
	}
}

static void the_order_of_changes_means_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		OWN(arena) a = arena_new();
		uint64_t s = seed;
		struct day d = {.a = a};
		const char *text;

		make_day(&d, &s);
		text = worlds_text(plan_make(d.w, NOW, a), a);
		for (size_t i = d.nmachines; i-- > 0;) {
			world_del_machine(d.w, d.m[i].name);
			world_put_machine(d.w, &d.m[i]);
		}
		for (size_t i = d.npods; i-- > 0;) {
			world_del_pod(d.w, d.pods[i].tenant, "default", d.pods[i].name);
			world_put_pod(d.w, &d.pods[i]);
		}
		assert_string_equal(worlds_text(plan_make(d.w, NOW, a), a), text);
		world_free(d.w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_has_the_earliest_machine_that_will_do),
		cmocka_unit_test(a_small_pod_fills_a_hole_and_moves_nobody_before_it),
		cmocka_unit_test(
			what_is_late_is_expected_from_now_on_and_what_is_too_late_not_at_all),
		cmocka_unit_test(who_waits_for_a_quota_a_limit_or_for_ever_has_no_time),
		cmocka_unit_test(a_machine_that_was_wiped_below_the_floor_is_nobodys),
		cmocka_unit_test(who_keeps_away_from_others_has_a_machine_alone),
		cmocka_unit_test(tenants_take_turns),
		cmocka_unit_test(another_time_is_kept_and_is_no_reason_for_another_plan),
		cmocka_unit_test(what_is_expected_is_what_plans_bring_machine_by_machine),
		cmocka_unit_test(nobody_is_later_for_those_behind_him),
		cmocka_unit_test(the_order_of_changes_means_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
