/* test_replacement: tests which machine replaces that of a claim, and when no machine does. */
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

#include <string.h>

#include "base/str.h"
#include "planner/replacement.h"

struct set {
	struct arena *a;
	struct world *w;
};

/* Sets up claim c, which has m-0 (small), and the free machines m-1 (small) and m-2 (big). */
static struct set start(void)
{
	struct set s = {.a = arena_new()};
	struct world_machine m = worlds_machine("m-0", "small"),
			     m1 = worlds_machine("m-1", "small"), m2 = worlds_machine("m-2", "big");
	struct world_claim c;

	s.w = worlds_new(s.a);
	m.offered = false;
	m.not_offered = "serving";
	world_put_machine(s.w, &m);
	world_put_machine(s.w, &m1);
	world_put_machine(s.w, &m2);
	c = worlds_claim(s.a, "c", "m-0");
	c.ready = true;
	world_put_claim(s.w, &c);
	return s;
}

static const char *found(const struct set *s, const char *claim)
{
	struct plan_claim out;

	return plan_replacement(s->w, claim, s->a, &out)
		       ? arena_printf(s->a, "%s %s %s %s %s", out.tenant, out.pool, out.machine,
				      out.instance_type, out.version)
		       : "none";
}

static void expect(struct set *s, const char *text)
{
	assert_string_equal(found(s, "c"), text);
	world_free(s->w);
	arena_free(s->a);
}

static void it_is_of_the_same_pool_and_type(void **state)
{
	struct set s = start();

	(void)state;
	assert_string_equal(found(&s, "unknown"), "none");
	/* A query reserves nothing, so a second one finds the same machine. */
	assert_string_equal(found(&s, "c"), "acme main m-1 small 1.36");
	expect(&s, "acme main m-1 small 1.36");
}

static void what_is_claimed_or_not_offered_is_not_found(void **state)
{
	struct set s = start(), t = start();
	struct world_claim c = worlds_claim(s.a, "d", "m-1");
	struct world_machine m = worlds_machine("m-1", "small");

	(void)state;
	world_put_claim(s.w, &c);
	expect(&s, "none");
	m.offered = false;
	m.not_offered = "wiping";
	world_put_machine(t.w, &m);
	expect(&t, "none");
}

static void quota_and_limits_hold_beside_what_there_is(void **state)
{
	static const struct {
		const char *quota, *limits, *text;
	} cases[] = {
		{"cpu=8", "", "acme main m-1 small 1.36"},
		{"cpu=7", "", "none"},
		{"cpu=8", "nodes=2", "acme main m-1 small 1.36"},
		{"cpu=8", "nodes=1", "none"},
		{"cpu=8", "cpu=7", "none"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct set s = start();
		struct world_tenant t = worlds_tenant(s.a);
		struct world_pool p = worlds_pool(s.a);

		t.quota = worlds_resources(s.a, cases[i].quota);
		world_put_tenant(s.w, &t);
		if (*cases[i].limits)
			p.limits = worlds_resources(s.a, cases[i].limits);
		world_put_pool(s.w, &p);
		expect(&s, cases[i].text);
	}
}

static void a_pool_or_tenant_that_stands_still_gets_none(void **state)
{
	struct set s = start(), u = start(), v = start();
	struct world_pool p = worlds_pool(s.a);
	struct world_tenant t = worlds_tenant(u.a);

	(void)state;
	p.paused = true;
	world_put_pool(s.w, &p);
	expect(&s, "none");
	t.paused = true;
	world_put_tenant(u.w, &t);
	expect(&u, "none");
	p = worlds_pool(v.a);
	p.requirements = worlds_term(v.a, "node.kubernetes.io/instance-type in (big)");
	world_put_pool(v.w, &p);
	expect(&v, "none");
}

/* --- random worlds, with an independent checker ----------------------------------------------- */

enum { MACHINES = 8 };

struct made {
	bool big, offered, claimed;
};

static uint64_t seed;

static unsigned roll(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* Puts machines of random types, of which some are claimed and some free. The claim to be replaced
 * is "c-0", on m-0. */
static void make(const struct set *s, struct made *m, int *quota, int *limit)
{
	struct world_tenant t = worlds_tenant(s->a);
	struct world_pool p = worlds_pool(s->a);

	*quota = 4 * (int)(1 + roll(24));
	*limit = 1 + (int)roll(MACHINES);
	t.quota = worlds_resources(s->a, arena_printf(s->a, "cpu=%d", *quota));
	p.limits = worlds_resources(s->a, arena_printf(s->a, "nodes=%d", *limit));
	world_put_tenant(s->w, &t);
	world_put_pool(s->w, &p);
	for (int i = 0; i < MACHINES; i++) {
		const char *name = arena_printf(s->a, "m-%d", i);
		struct world_machine x;
		struct world_claim c;

		m[i] = (struct made){.big = roll(2), .claimed = !i || !roll(3)};
		m[i].offered = !m[i].claimed && roll(3);
		x = worlds_machine(name, m[i].big ? "big" : "small");
		x.offered = m[i].offered;
		x.not_offered = x.offered ? NULL : "serving";
		world_put_machine(s->w, &x);
		if (!m[i].claimed)
			continue;
		c = worlds_claim(s->a, arena_printf(s->a, "c-%d", i), name);
		c.instance_type = x.instance_type;
		c.capacity = worlds_resources(s->a,
					      m[i].big ? "cpu=16,memory=64Gi" : "cpu=4,memory=8Gi");
		c.ready = true;
		world_put_claim(s->w, &c);
	}
}

static bool may_be(const struct made *m, int quota, int limit)
{
	int cpus = m[0].big ? 16 : 4, nodes = 1;
	bool free = false;

	for (int i = 0; i < MACHINES; i++) {
		cpus += !m[i].claimed ? 0 : m[i].big ? 16 : 4;
		nodes += m[i].claimed;
		free |= m[i].offered && m[i].big == m[0].big;
	}
	return free && cpus <= quota && nodes <= limit;
}

static void what_is_found_may_be_had_and_where_none_is_none_is_there(void **state)
{
	unsigned found_some = 0;

	(void)state;
	for (seed = 1; seed < 2000; seed++) {
		const uint64_t from = seed;
		struct set s = {.a = arena_new()};
		struct made m[MACHINES];
		struct plan_claim out, again;
		int quota, limit, at;
		bool is;

		s.w = worlds_new(s.a);
		make(&s, m, &quota, &limit);
		is = plan_replacement(s.w, "c-0", s.a, &out);
		if (is != may_be(m, quota, limit))
			fail_msg("world %llu: found: %d", (unsigned long long)from, is);
		if (is) {
			found_some++;
			at = out.machine[2] - '0';
			assert_true(m[at].offered && m[at].big == m[0].big);
			assert_true(plan_replacement(s.w, "c-0", s.a, &again));
			assert_string_equal(out.machine, again.machine);
		}
		world_free(s.w);
		arena_free(s.a);
		seed = from;
	}
	assert_true(found_some > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_of_the_same_pool_and_type),
		cmocka_unit_test(what_is_claimed_or_not_offered_is_not_found),
		cmocka_unit_test(quota_and_limits_hold_beside_what_there_is),
		cmocka_unit_test(what_is_found_may_be_had_and_where_none_is_none_is_there),
		cmocka_unit_test(a_pool_or_tenant_that_stands_still_gets_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
