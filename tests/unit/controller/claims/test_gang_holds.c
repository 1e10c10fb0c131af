#include "tests/unit/testing.h"

#include "controller/claims/gang_holds.h"
#include "tests/unit/planner/worlds.h"

#define MS 1000

/* What the planner has of gang acme/train now. */
struct has {
	bool rests, holds;
};

static void put_gang(struct world *w, struct arena *a)
{
	for (int i = 0; i < 2; i++) {
		struct world_pod p = worlds_pod(a, i ? "x" : "y", "cpu=3");

		p.gang.key = "train";
		p.gang.min = 2;
		world_put_pod(w, &p);
	}
}

/* The planner at that time, and what is made of it. */
static struct has at(struct gang_holds *h, struct world *w, struct arena *a, int64_t now,
		     int64_t due)
{
	const struct plan *p;

	gang_holds_before(h, w, now);
	p = plan_make(w, now, a);
	assert_int_equal(gang_holds_after(h, p, now), due);
	assert_true(p->nholds <= 1);
	return p->nholds ? (struct has){p->holds[0].rests, p->holds[0].free}
			 : (struct has){false, false};
}

static void a_hold_ends_rests_and_comes_back_for_twice_as_long(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_machine m = worlds_machine("m-2", "small");
	struct gang_holds *h = gang_holds_new(MS);
	int64_t now = 5000;

	(void)state;
	world_put_hold(w, MS);
	world_put_machine(w, &(struct world_machine[]){worlds_machine("m-1", "small")}[0]);
	m.offered = false;
	m.returns = true;
	world_put_machine(w, &m);
	assert_false(at(h, w, a, now, 0).holds);
	put_gang(w, a);
	for (unsigned n = 0; n < GANG_HOLDS_DOUBLINGS + 2; n++) {
		const int64_t lasts = MS << (n < GANG_HOLDS_DOUBLINGS ? n : GANG_HOLDS_DOUBLINGS);

		assert_true(at(h, w, a, now, now + lasts).holds);
		assert_true(at(h, w, a, now + lasts - 1, now + lasts).holds);
		now += lasts;
		assert_true(at(h, w, a, now, now + MS).rests);
		assert_true(at(h, w, a, now + MS - 1, now + MS).rests);
		now += MS;
	}
	/* Whole: forgotten, once what ran is over. */
	m.offered = true;
	world_put_machine(w, &m);
	assert_false(at(h, w, a, now, now + 32 * MS).holds);
	assert_false(at(h, w, a, now + 32 * MS, 0).holds);
	m.offered = false;
	world_put_machine(w, &m);
	assert_true(at(h, w, a, now + 64 * MS, now + 65 * MS).holds);
	gang_holds_free(h);
}

static void what_is_not_held_runs_no_clock(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_machine m = worlds_machine("m-1", "small");
	struct gang_holds *h = gang_holds_new(MS);

	(void)state;
	world_put_hold(w, MS);
	put_gang(w, a);
	m.offered = false;
	m.returns = true;
	world_put_machine(w, &m);
	m.name = "m-2";
	world_put_machine(w, &m);
	assert_false(at(h, w, a, 5000, 0).holds);
	m.offered = true;
	world_put_machine(w, &m);
	assert_true(at(h, w, a, 9000, 9000 + MS).holds);
	/* It went: nothing was idle for it at the end. */
	m.offered = false;
	world_put_machine(w, &m);
	assert_false(at(h, w, a, 9500, 9000 + MS).holds);
	assert_false(at(h, w, a, 9000 + MS, 9000 + 2 * MS).rests);
	gang_holds_free(h);
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
		cmocka_unit_test(a_hold_ends_rests_and_comes_back_for_twice_as_long),
		cmocka_unit_test(what_is_not_held_runs_no_clock),
		cmocka_unit_test(options_have_a_usual_length_and_none_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
