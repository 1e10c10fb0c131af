#include "tests/unit/testing.h"

#include <stdlib.h>
#include "controller/claims/gang_holds.h"
#include "controller/billing/held_gpus.h"
#include "tests/unit/planner/worlds.h"

#define H ((int64_t)60000)

struct rig {
	struct arena *a;
	struct world *w;
	struct context c;
	struct gang_holds *h;
	int64_t now, due;
};

static void begin(struct rig *r)
{
	*r = (struct rig){.a = arena_new(), .now = 5000000};
	r->w = worlds_new(r->a);
	r->c.o.gang_hold_ms = H;
	r->c.held_gpus = held_gpus_new();
	r->h = gang_holds_new(&r->c);
	world_put_hold(r->w, H);
}

static void end(struct rig *r)
{
	gang_holds_free(r->h);
	held_gpus_free(r->c.held_gpus);
	world_free(r->w);
	arena_free(r->a);
}

static void put_machine(struct rig *r, const char *name, bool offered)
{
	struct world_machine m = worlds_machine(name, "gpu");

	m.offered = offered;
	m.returns = !offered;
	world_put_machine(r->w, &m);
}

static void put_gang(struct rig *r, const char *tenant, const char *gang)
{
	for (int i = 0; i < 2; i++) {
		struct world_pod p =
			worlds_pod(r->a, arena_printf(r->a, "%s-%d", gang, i), "cpu=40");

		p.tenant = tenant;
		p.gang.key = gang;
		p.gang.min = 2;
		world_put_pod(r->w, &p);
	}
}

static void del_gang(struct rig *r, const char *tenant, const char *gang)
{
	for (int i = 0; i < 2; i++)
		(void)world_del_pod(r->w, tenant, "default", arena_printf(r->a, "%s-%d", gang, i));
}

/* Makes a plan; returns the number of machines that are reserved for gangs. */
static size_t held(struct rig *r)
{
	const struct plan *p;
	size_t n = 0;

	gang_holds_before(r->h, r->w, r->now);
	p = plan_make(r->w, r->now, r->a);
	r->due = gang_holds_after(r->h, p, r->now);
	for (size_t i = 0; i < p->nholds; i++)
		n += p->holds[i].free;
	return n;
}

/* Advances the time by ms and makes each plan that is due. Returns for how many ms at least one
 * machine was reserved. */
static int64_t pass(struct rig *r, int64_t ms)
{
	const int64_t until = r->now + ms;
	int64_t sum = 0;

	while (r->now < until) {
		const bool holds = held(r) > 0;
		const int64_t next = r->due && r->due < until ? r->due : until;

		sum += holds ? next - r->now : 0;
		r->now = next;
	}
	return sum;
}

static void a_hold_ends_and_rests_and_comes_back_for_twice_as_long(void **state)
{
	static const int64_t lasts[] = {H, 2 * H};
	struct rig r;

	(void)state;
	begin(&r);
	put_machine(&r, "m-1", true);
	put_machine(&r, "m-2", false);
	assert_int_equal(held(&r), 0);
	assert_int_equal(r.due, 0);
	put_gang(&r, "acme", "train");
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(held(&r), 1);
		assert_int_equal(r.due, r.now + lasts[i]);
		r.now += lasts[i] - 1;
		assert_int_equal(held(&r), 1);
		r.now += 1;
		assert_int_equal(held(&r), 0);
		assert_int_equal(r.due, r.now + lasts[i]);
		r.now += lasts[i];
	}
	assert_int_equal(held(&r), 1);
	assert_true(r.due - r.now > 2 * H && r.due - r.now <= 4 * H);
	end(&r);
}

static void other_gangs_of_the_tenant_get_no_more(void **state)
{
	struct rig r;
	int64_t sum = 0;

	(void)state;
	begin(&r);
	put_machine(&r, "m-1", true);
	put_machine(&r, "m-2", false);
	/* Each gang is deleted one second before its reservation ends, and a gang of another name
	 * follows. The reservations count against the tenant, not the gang. */
	for (int i = 0; i < 100; i++) {
		const char *name = arena_printf(r.a, "gang-%d", i);

		put_gang(&r, "acme", name);
		sum += pass(&r, H - 1000);
		del_gang(&r, "acme", name);
		sum += pass(&r, 1000);
	}
	assert_true(sum > 10 * H);
	assert_true(sum <= 50 * H);
	end(&r);
}

static void a_day_has_twelve_holds_at_most(void **state)
{
	struct rig r;
	int64_t first, second;

	(void)state;
	begin(&r);
	put_machine(&r, "m-1", true);
	put_machine(&r, "m-2", false);
	put_gang(&r, "acme", "train");
	first = pass(&r, 48 * H);
	second = pass(&r, 48 * H);
	assert_true(first > 8 * H && first <= 12 * H);
	assert_true(second > 5 * H && second <= 7 * H);
	end(&r);
}

/* Each tenant stays within its own limits. Even so, many tenants together must not reserve a
 * machine for longer than 4 H without a break. */
static void many_tenants_do_not_hold_one_machine_for_longer(void **state)
{
	struct rig r;
	struct world_tenant t;
	int64_t since = 0, longest = 0;

	(void)state;
	begin(&r);
	put_machine(&r, "m-1", true);
	put_machine(&r, "m-2", false);
	for (int i = 0; i < 20; i++) {
		t = worlds_tenant(r.a);
		t.name = arena_printf(r.a, "t-%d", i);
		world_put_tenant(r.w, &t);
		put_gang(&r, t.name, arena_printf(r.a, "gang-%d", i));
	}
	for (int64_t i = 0; i < 1000; i++) {
		since = held(&r) ? since : 0;
		if (held(&r) && !since)
			since = r.now;
		if (since && r.now - since > longest)
			longest = r.now - since;
		r.now += H / 30;
	}
	assert_true(longest > 2 * H && longest <= 4 * H);
	end(&r);
}

static void what_is_not_held_counts_nothing(void **state)
{
	struct rig r;

	(void)state;
	begin(&r);
	put_gang(&r, "acme", "train");
	put_machine(&r, "m-1", false);
	put_machine(&r, "m-2", false);
	assert_int_equal(pass(&r, 10 * H), 0);
	put_machine(&r, "m-1", true);
	assert_int_equal(held(&r), 1);
	assert_int_equal(r.due, r.now + H);
	end(&r);
}

static void gpus_that_are_held_are_used(void **state)
{
	struct rig r;
	int64_t ms, from;

	(void)state;
	begin(&r);
	put_machine(&r, "m-1", true);
	put_machine(&r, "m-2", false);
	put_gang(&r, "acme", "train");
	from = r.now;
	ms = pass(&r, 3 * H);
	assert_true(ms > 0);
	assert_int_equal(held_gpus_seconds(r.c.held_gpus, "acme", from, r.now), 8 * ms / 1000);
	end(&r);
}

static void options_have_a_usual_length_and_none_at_all(void **state)
{
	struct context c = {0};

	(void)state;
	assert_int_equal(gang_holds_ms(&c), 30 * 60 * 1000);
	c.o.gang_hold_ms = 7;
	assert_int_equal(gang_holds_ms(&c), 7);
	c.o.gang_hold_ms = -1;
	assert_int_equal(gang_holds_ms(&c), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hold_ends_and_rests_and_comes_back_for_twice_as_long),
		cmocka_unit_test(other_gangs_of_the_tenant_get_no_more),
		cmocka_unit_test(a_day_has_twelve_holds_at_most),
		cmocka_unit_test(many_tenants_do_not_hold_one_machine_for_longer),
		cmocka_unit_test(what_is_not_held_counts_nothing),
		cmocka_unit_test(gpus_that_are_held_are_used),
		cmocka_unit_test(options_have_a_usual_length_and_none_at_all),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
