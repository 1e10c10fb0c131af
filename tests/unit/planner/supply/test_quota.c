/* test_quota: tests how many resources a tenant may have, and how many it may borrow from its
 * cohort. */
#include "base/str.h"
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

#define GPU "nvidia.com/gpu"

static uint64_t below(uint64_t *seed, uint64_t n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed >> 33) % n;
}

static struct world_tenant member(struct arena *a, const char *name, const char *quota)
{
	struct world_tenant t = worlds_tenant(a);

	t.name = name;
	t.quota = worlds_resources(a, quota);
	t.cohort = "research";
	return t;
}

/* Puts n pods of the tenant that need a whole machine each. */
static void want(struct world *w, struct arena *a, const char *tenant, unsigned n, int64_t since)
{
	for (unsigned i = 0; i < n; i++) {
		struct world_pod p = worlds_pod(a, arena_printf(a, "%s-%02u", tenant, i), GPU "=8");

		p.tenant = tenant;
		p.since = since;
		world_put_pod(w, &p);
	}
}

static void machines(struct world *w, struct arena *a, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct world_machine m = worlds_machine(arena_printf(a, "m%02u", i), "gpu");

		world_put_machine(w, &m);
	}
}

static void hold(struct world *w, struct arena *a, const char *tenant, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct world_claim c =
			worlds_claim(a, arena_printf(a, "%s-c%02u", tenant, i), NULL);

		c.tenant = tenant;
		c.instance_type = "gpu";
		c.capacity = worlds_resources(a, "cpu=64," GPU "=8");
		c.ready = true;
		c.taints = worlds_taints(a, "full=yes:NoSchedule");
		world_put_claim(w, &c);
	}
}

static size_t got(const struct plan *p, const char *tenant)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nclaims; i++)
		n += str_eq(p->claims[i].tenant, tenant);
	return n;
}

static const char *why(const struct plan *p, const char *pod)
{
	for (size_t i = 0; i < p->npods; i++)
		if (str_eq(p->pods[i].name, pod) && p->pods[i].nreasons)
			return p->pods[i].reasons[0].text;
	return "";
}

static void what_others_do_not_use_is_borrowed(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = member(a, "acme", GPU "=16");
	const struct plan *p;

	(void)state;
	world_put_tenant(w, &t);
	machines(w, a, 10);
	want(w, a, "acme", 10, 1000);
	/* acme is the only tenant in its cohort. */
	assert_int_equal(got(plan_make(w, 0, a), "acme"), 2);
	t = member(a, "other", GPU "=24");
	world_put_tenant(w, &t);
	p = plan_make(w, 0, a);
	assert_int_equal(got(p, "acme"), 5);
	assert_string_equal(why(p, "acme-09"),
			    "pool main: the tenant's quota of " GPU
			    " is used up: 40 of 16 used, 24 borrowed, cohort research has lent 40 "
			    "of 40, a machine of type gpu would add 8");
	/* Quota of a tenant in another cohort is not lent to acme. */
	t.cohort = "sales";
	world_put_tenant(w, &t);
	assert_int_equal(got(plan_make(w, 0, a), "acme"), 2);
}

static void borrowing_and_lending_have_limits(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = member(a, "acme", GPU "=16"), other = member(a, "other", GPU "=24");
	const struct plan *p;

	(void)state;
	t.borrowing = worlds_resources(a, GPU "=8");
	world_put_tenant(w, &t);
	world_put_tenant(w, &other);
	machines(w, a, 10);
	want(w, a, "acme", 10, 1000);
	p = plan_make(w, 0, a);
	assert_int_equal(got(p, "acme"), 3);
	assert_string_equal(why(p, "acme-09"), "pool main: the tenant's quota of " GPU
					       " is used up: 24 of 16 used, 8 of at most 8 "
					       "borrowed, a machine of type gpu would add 8");
	t.borrowing = (struct resources){0};
	world_put_tenant(w, &t);
	other.lending = worlds_resources(a, GPU "=16");
	world_put_tenant(w, &other);
	assert_int_equal(got(plan_make(w, 0, a), "acme"), 4);
	/* Only the tenant itself may use quota that it does not lend. */
	hold(w, a, "acme", 4);
	want(w, a, "other", 3, 1000);
	p = plan_make(w, 0, a);
	assert_int_equal(got(p, "acme"), 0);
	assert_int_equal(got(p, "other"), 1);
	assert_string_equal(why(p, "other-02"), "pool main: the tenant's unused quota of " GPU
						" is lent to other tenants: the tenant uses 8 of "
						"24, cohort research has lent 32 of 32, a machine "
						"of type gpu would add 8");
}

static void who_is_within_its_quota_comes_before_who_borrows(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_tenant t = member(a, "acme", GPU "=16");
	const struct plan *p;

	(void)state;
	t.weight = 1000;
	world_put_tenant(w, &t);
	t = member(a, "other", GPU "=24");
	t.used_milli = 1000000;
	world_put_tenant(w, &t);
	machines(w, a, 4);
	want(w, a, "acme", 5, 1);
	want(w, a, "other", 5, 1000);
	p = plan_make(w, 0, a);
	assert_int_equal(got(p, "acme"), 2);
	assert_int_equal(got(p, "other"), 2);
}

/* Asserts, in whole GPUs, that no tenant and no cohort exceeds its limits. */
static void check(const struct world_tenant *t, const size_t *has, const int64_t *lends, size_t n)
{
	int64_t lent = 0, used = 0;

	for (size_t i = 0; i < n; i++) {
		const int64_t quota = quantity_floor(*resources_get(&t[i].quota, GPU)),
			      held = 8 * (int64_t)has[i],
			      gives = lends[i] < quota ? lends[i] : quota;
		const struct quantity *most = resources_get(&t[i].borrowing, GPU);

		lent += gives;
		used += held > quota - gives ? held - (quota - gives) : 0;
		if (most)
			assert_true(held <= quota + quantity_floor(*most));
	}
	assert_true(used <= lent);
}

static void no_quota_is_exceeded_but_by_what_is_lent(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		OWN(arena) a = arena_new();
		OWN(world) w = worlds_new(a);
		uint64_t r = seed;
		struct world_tenant t[5];
		size_t has[5];
		int64_t lends[5], total = 0;
		const struct plan *p;
		size_t n, taken = 0, count;

		n = 2 + below(&r, 4);
		count = below(&r, 20);
		world_del_tenant(w, "acme");
		machines(w, a, (unsigned)count);
		for (size_t i = 0; i < n; i++) {
			const int64_t quota = 4 * (int64_t)below(&r, 9);
			const unsigned wants = (unsigned)below(&r, 8);

			t[i] = member(a, arena_printf(a, "t%zu", i),
				      arena_printf(a, GPU "=%lld", (long long)quota));
			t[i].weight = 1 + (int64_t)below(&r, 3);
			lends[i] = INT64_MAX;
			if (below(&r, 3) == 0)
				lends[i] = 4 * (int64_t)below(&r, 9);
			if (lends[i] != INT64_MAX)
				t[i].lending = worlds_resources(
					a, arena_printf(a, GPU "=%lld", (long long)lends[i]));
			if (below(&r, 3) == 0)
				t[i].borrowing = worlds_resources(
					a,
					arena_printf(a, GPU "=%u", (unsigned)(4 * below(&r, 6))));
			world_put_tenant(w, &t[i]);
			want(w, a, t[i].name, wants, 1000 + (int64_t)below(&r, 5));
			total += quota;
		}
		p = plan_make(w, 0, a);
		for (size_t i = 0; i < n; i++)
			taken += has[i] = got(p, t[i].name);
		check(t, has, lends, n);
		assert_true(8 * (int64_t)taken <= total);
		/* A machine is left over only if no tenant may have it. */
		for (size_t i = 0; i < p->npods && taken < count; i++)
			if (p->pods[i].outcome == PLAN_NOTHING) {
				const size_t who = (size_t)(p->pods[i].tenant[1] - '0');
				const int64_t quota =
					quantity_floor(*resources_get(&t[who].quota, GPU));

				assert_int_equal(p->pods[i].reasons[0].code, PLAN_QUOTA);
				/* A tenant may always have the part of its quota that it does not
				 * lend. */
				assert_true(8 * (int64_t)has[who] + 8 >
					    quota - (lends[who] < quota ? lends[who] : quota));
			}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_others_do_not_use_is_borrowed),
		cmocka_unit_test(borrowing_and_lending_have_limits),
		cmocka_unit_test(who_is_within_its_quota_comes_before_who_borrows),
		cmocka_unit_test(no_quota_is_exceeded_but_by_what_is_lent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
