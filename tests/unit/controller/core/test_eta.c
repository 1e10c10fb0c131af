#include "tests/unit/testing.h"

#include "base/str.h"
#include "controller/core/eta.h"

#define S 1000
#define BEGAN 1000000

struct clock {
	struct eta *e;
	int64_t now;
	struct machine m;
	/* Result of the last change */
	struct eta_end end;
};

static void enter(struct clock *c, enum machine_state s)
{
	struct machine was = c->m;

	c->m.status.state = machine_state_info[s].name;
	c->m.status.state_since = c->now;
	c->end = eta_saw(c->e, was.status.state ? &was : NULL, &c->m);
}

/* Enters one state after the other and stays in each, except the last, for s seconds. */
static void goes(struct clock *c, int s, const enum machine_state *states)
{
	for (; *states != MACHINE_GONE; states++) {
		enter(c, *states);
		c->now += states[1] == MACHINE_GONE ? 0 : s * S;
	}
}

#define GOES(c, s, ...) goes(c, s, (const enum machine_state[]){__VA_ARGS__, MACHINE_GONE})
#define COMES(c, s)                                                                                \
	GOES(c, s, MACHINE_FREE, MACHINE_CLAIMED, MACHINE_IMAGING, MACHINE_ATTACHING,              \
	     MACHINE_BOOTING, MACHINE_JOINING, MACHINE_GATING, MACHINE_SERVING)

static struct clock clock_new(void)
{
	return (struct clock){.e = eta_new(),
			      .now = BEGAN,
			      .m = {.meta.name = "m",
				    .spec = {.provider_ref.name = "hall", .instance_type = "hgx"}}};
}

static bool expected(struct clock *c, enum machine_state s, struct eta_span *out)
{
	return eta_from(c->e, "hall", "hgx", s, 0, out);
}

static void three_have_to_come_before_anything_is_said(void **state)
{
	struct clock c = clock_new();
	struct eta_span span;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_false(expected(&c, MACHINE_CLAIMED, &span));
		COMES(&c, 10);
	}
	assert_true(expected(&c, MACHINE_CLAIMED, &span));
	assert_int_equal(span.p50, 60 * S);
	assert_true(expected(&c, MACHINE_JOINING, &span));
	assert_int_equal(span.p50, 20 * S);
	assert_false(eta_from(c.e, "hall", "old", MACHINE_CLAIMED, 0, &span));
	assert_false(eta_from(c.e, "other", "hgx", MACHINE_CLAIMED, 0, &span));
	assert_false(expected(&c, MACHINE_SERVING, &span));
	assert_false(expected(&c, MACHINE_WIPING, &span));
	assert_false(eta_from(NULL, "hall", "hgx", MACHINE_CLAIMED, 0, &span));
	eta_free(c.e);
}

static void half_are_ready_by_p50_and_nine_of_ten_by_p90(void **state)
{
	struct clock c = clock_new();
	struct eta_span span;

	(void)state;
	for (int i = 0; i < 10; i++)
		GOES(&c, (i * 7 % 10 + 1) * 10, MACHINE_FREE, MACHINE_GATING, MACHINE_SERVING);
	assert_true(expected(&c, MACHINE_GATING, &span));
	assert_int_equal(span.p50, 50 * S);
	assert_int_equal(span.p90, 90 * S);
	eta_free(c.e);
}

/* If one machine in five is slow, and slow in two states, still only one whole transition in five
 * is slow. */
static void a_whole_way_is_measured_and_not_its_states(void **state)
{
	struct clock c = clock_new();
	struct eta_span span;

	(void)state;
	for (int i = 0; i < 20; i++) {
		enter(&c, MACHINE_JOINING);
		c.now += (i % 5 == 0 ? 100 : 10) * S;
		enter(&c, MACHINE_GATING);
		c.now += (i % 5 == 1 ? 100 : 10) * S;
		enter(&c, MACHINE_SERVING);
	}
	assert_true(expected(&c, MACHINE_JOINING, &span));
	assert_int_equal(span.p50, 20 * S);
	/* The sum of the p90 values of the states would be 200 s. */
	assert_int_equal(span.p90, 110 * S);
	eta_free(c.e);
}

static void who_has_waited_is_told_of_those_that_took_longer(void **state)
{
	struct clock c = clock_new();
	struct eta_span span;

	(void)state;
	for (int i = 1; i <= 10; i++)
		GOES(&c, i * 10, MACHINE_FREE, MACHINE_GATING, MACHINE_SERVING);
	assert_true(eta_from(c.e, "hall", "hgx", MACHINE_GATING, 65 * S, &span));
	assert_int_equal(span.p50, 80 * S);
	assert_int_equal(span.p90, 100 * S);
	assert_true(eta_from(c.e, "hall", "hgx", MACHINE_GATING, 100 * S, &span));
	assert_false(eta_from(c.e, "hall", "hgx", MACHINE_GATING, 100 * S + 1, &span));
	eta_free(c.e);
}

static void a_machine_that_leaves_is_measured_until_it_is_free(void **state)
{
	struct clock c = clock_new();
	struct eta_span span;

	(void)state;
	for (int i = 0; i < 3; i++)
		GOES(&c, 10, MACHINE_SERVING, MACHINE_DRAINING, MACHINE_STOPPING, MACHINE_ISOLATING,
		     MACHINE_LEAVING, MACHINE_DIRTY, MACHINE_INSPECTING, MACHINE_WIPING,
		     MACHINE_DIRTY, MACHINE_INSPECTING, MACHINE_WIPING, MACHINE_VERIFYING,
		     MACHINE_FREE);
	assert_true(expected(&c, MACHINE_DRAINING, &span));
	assert_int_equal(span.p50, 110 * S);
	/* The machine was dirty twice; the transition is measured from the first time. */
	assert_true(expected(&c, MACHINE_DIRTY, &span));
	assert_int_equal(span.p50, 70 * S);
	assert_true(expected(&c, MACHINE_VERIFYING, &span));
	assert_int_equal(span.p50, 10 * S);
	eta_free(c.e);
}

static void quarantine_counts_from_there_on_and_only_where_drover_ends_it(void **state)
{
	struct machine_quarantine q = {.exit = EXIT_AUTO};
	struct clock c = clock_new();
	struct eta_span span;

	(void)state;
	c.m.status.quarantine = &q;
	for (int i = 0; i < 3; i++)
		GOES(&c, 10, MACHINE_SERVING, MACHINE_DRAINING, MACHINE_QUARANTINED,
		     MACHINE_STOPPING, MACHINE_FREE);
	assert_false(expected(&c, MACHINE_DRAINING, &span));
	assert_true(expected(&c, MACHINE_QUARANTINED, &span));
	assert_int_equal(span.p50, 20 * S);
	q.exit = EXIT_OPERATOR;
	for (int i = 0; i < ETA_RECENT; i++)
		GOES(&c, 1000, MACHINE_SERVING, MACHINE_QUARANTINED, MACHINE_STOPPING,
		     MACHINE_FREE);
	assert_true(expected(&c, MACHINE_QUARANTINED, &span));
	assert_int_equal(span.p90, 20 * S);
	eta_free(c.e);
}

static void the_last_fifty_count(void **state)
{
	struct clock c = clock_new();
	struct eta_span span;

	(void)state;
	for (int i = 0; i < 70; i++)
		COMES(&c, 1000);
	for (int i = 0; i < ETA_RECENT; i++)
		COMES(&c, 10);
	assert_true(expected(&c, MACHINE_GATING, &span));
	assert_int_equal(span.p90, 10 * S);
	eta_free(c.e);
}

static void what_was_given_up_on_the_way_does_not_count(void **state)
{
	struct clock c = clock_new();
	struct eta_span span;

	(void)state;
	for (int i = 0; i < 5; i++) {
		GOES(&c, 1800, MACHINE_FREE, MACHINE_BOOTING, MACHINE_STOPPING);
		GOES(&c, 5, MACHINE_FREE, MACHINE_CLAIMED, MACHINE_FREE);
		GOES(&c, 5, MACHINE_SERVING, MACHINE_DRAINING, MACHINE_SERVING);
	}
	assert_false(expected(&c, MACHINE_BOOTING, &span));
	assert_false(expected(&c, MACHINE_CLAIMED, &span));
	assert_false(expected(&c, MACHINE_DRAINING, &span));
	assert_int_equal(eta_saw(c.e, NULL, NULL).by, ETA_BY_NONE);
	eta_free(c.e);
}

/* When a Machine is first seen, its entry into the state was not seen. */
static void a_machine_seen_on_its_way_is_measured_from_the_state_it_was_in(void **state)
{
	struct clock c = clock_new();
	struct eta_span span;

	(void)state;
	for (int i = 0; i < 3; i++) {
		c.m.status.state = NULL;
		GOES(&c, 10, MACHINE_BOOTING, MACHINE_JOINING, MACHINE_SERVING);
		assert_int_equal(c.end.by, ETA_BY_NONE);
	}
	assert_true(expected(&c, MACHINE_BOOTING, &span));
	assert_int_equal(span.p50, 20 * S);
	assert_false(expected(&c, MACHINE_CLAIMED, &span));
	eta_saw(c.e, &c.m, NULL);
	eta_free(c.e);
}

static void a_way_that_ends_says_by_when_it_was_expected(void **state)
{
	static const struct {
		int s;
		enum eta_by by;
	} cases[] = {{40, ETA_BY_P50}, {50, ETA_BY_P50}, {51, ETA_BY_P90},
		     {90, ETA_BY_P90}, {91, ETA_LATER},	 {5000, ETA_LATER}};
	struct clock c;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		c = clock_new();
		for (int k = 1; k <= 10; k++) {
			GOES(&c, k * 10, MACHINE_FREE, MACHINE_GATING, MACHINE_SERVING);
			assert_int_equal(c.end.by == ETA_BY_NONE, k <= 3);
		}
		GOES(&c, cases[i].s, MACHINE_FREE, MACHINE_GATING, MACHINE_SERVING);
		assert_int_equal(c.end.by, cases[i].by);
		assert_int_equal(c.end.transition, ETA_SERVING);
		eta_free(c.e);
	}
}

static struct provider_object_instance_type hgx = {
	.name = "hgx", .expected = {.serving = 900 * S, .free = 3600 * S}};
static const struct provider_object hall = {.meta.name = "hall", .spec.instance_types = {&hgx, 1}};

static const struct provider_object_path *row(const struct provider_object_status *s,
					      const char *from)
{
	for (size_t i = 0; i < s->paths.n; i++)
		if (str_eq(s->paths.v[i].from, from))
			return &s->paths.v[i];
	return NULL;
}

static void what_is_declared_stands_in_until_three_were_measured(void **state)
{
	OWN(arena) a = arena_new();
	struct clock c = clock_new();
	struct provider_object_status s = {0};
	struct eta_span span;

	(void)state;
	eta_provider(c.e, &hall);
	assert_true(expected(&c, MACHINE_CLAIMED, &span));
	assert_int_equal(span.p90, 900 * S);
	assert_true(expected(&c, MACHINE_WIPING, &span));
	assert_int_equal(span.p90, 3600 * S);
	assert_false(eta_from(c.e, "hall", "hgx", MACHINE_WIPING, 3601 * S, &span));
	assert_false(expected(&c, MACHINE_QUARANTINED, &span));
	COMES(&c, 10);
	eta_paths(c.e, &hall, a, &s);
	assert_int_equal(row(&s, "claimed")->source, PATH_DECLARED);
	assert_int_equal(row(&s, "claimed")->seen, 1);
	assert_int_equal(row(&s, "draining")->source, PATH_DECLARED);
	assert_null(row(&s, "wiping"));
	COMES(&c, 10);
	COMES(&c, 20);
	eta_paths(c.e, &hall, a, &s);
	assert_int_equal(row(&s, "claimed")->source, PATH_MEASURED);
	assert_int_equal(row(&s, "claimed")->p90, 120 * S);
	assert_int_equal(row(&s, "gating")->recent.v[2], 20);
	eta_free(c.e);
}

static void a_restart_forgets_nothing(void **state)
{
	OWN(arena) a = arena_new();
	struct clock c = clock_new(), d = clock_new();
	struct provider_object p = hall;
	struct provider_object_status again = {0};
	struct eta_span x, y;

	(void)state;
	eta_provider(c.e, &hall);
	for (int i = 1; i <= 70; i++)
		COMES(&c, i);
	eta_paths(c.e, &hall, a, &p.status);
	assert_int_equal(row(&p.status, "claimed")->recent.n, ETA_RECENT);
	/* A sample that this process recorded before it read the Provider's status. */
	COMES(&d, 9999);
	eta_provider(d.e, &p);
	eta_paths(d.e, &hall, a, &again);
	assert_int_equal(again.paths.n, p.status.paths.n);
	for (int s = MACHINE_CLAIMED; s <= (int)MACHINE_GATING; s++) {
		assert_true(expected(&c, (enum machine_state)s, &x));
		assert_true(expected(&d, (enum machine_state)s, &y));
		assert_int_equal(x.p50, y.p50);
		assert_int_equal(x.p90, y.p90);
	}
	for (size_t i = 0; i < again.paths.n; i++)
		assert_memory_equal(again.paths.v[i].recent.v, p.status.paths.v[i].recent.v,
				    again.paths.v[i].recent.n * sizeof(int64_t));
	/* A sample recorded after the status was read is not overwritten by reading the same status
	 * again. */
	COMES(&d, 1);
	eta_provider(d.e, &p);
	eta_paths(d.e, &hall, a, &again);
	assert_int_equal(row(&again, "claimed")->seen, 71);
	eta_free(c.e);
	eta_free(d.e);
}

/* The Provider's status may contain anything, since other writers may change it. */
static void nonsense_in_the_status_does_no_harm(void **state)
{
	static int64_t wild[] = {-5, INT64_MAX, INT64_MIN};
	static struct provider_object_path rows[] = {
		{.instance_type = "hgx", .from = "serving", .seen = 9, .recent = {wild, 3}},
		{.instance_type = "hgx", .from = "no such", .seen = 9, .recent = {wild, 3}},
		{.instance_type = "hgx", .seen = 9},
		{.from = "claimed", .seen = 9},
		{.instance_type = "hgx", .from = "gating", .seen = INT64_MAX, .recent = {wild, 3}},
	};
	struct provider_object p = hall;
	struct clock c = clock_new();
	struct eta_span span;

	(void)state;
	p.status.paths.v = rows;
	p.status.paths.n = 5;
	eta_provider(c.e, &p);
	assert_true(expected(&c, MACHINE_GATING, &span));
	assert_in_range(span.p90, 0, INT64_C(400) * 86400 * S);
	COMES(&c, 10);
	eta_free(c.e);
}

/* Elastic machines go from claimed to booting directly. */
static void a_state_that_a_type_does_not_have_takes_no_time(void **state)
{
	struct clock c = clock_new();
	struct eta_span span;

	(void)state;
	for (int i = 0; i < 3; i++)
		GOES(&c, 25, MACHINE_FREE, MACHINE_CLAIMED, MACHINE_BOOTING, MACHINE_JOINING,
		     MACHINE_GATING, MACHINE_SERVING);
	assert_true(expected(&c, MACHINE_CLAIMED, &span));
	assert_int_equal(span.p50, 100 * S);
	assert_false(expected(&c, MACHINE_IMAGING, &span));
	eta_free(c.e);
}

static void the_text_has_few_steps(void **state)
{
	static const struct {
		int64_t s;
		const char *text;
	} cases[] = {
		{-100, "about 1 min"}, {0, "about 1 min"},   {61, "about 2 min"},
		{200, "about 4 min"},  {361, "about 7 min"}, {2700, "about 45 min"},
		{2701, "about 1 h"},   {3661, "about 2 h"},
	};
	char t[40];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(eta_text(cases[i].s * S, t, sizeof(t)), cases[i].text);
}

static void times_are_told_the_coarser_the_further_they_are(void **state)
{
	static const struct {
		const char *now, *p50, *p90, *text;
	} cases[] = {
		{"2026-12-01T10:00:30Z", "2026-12-01T10:20:59Z", "2026-12-01T10:30:01Z",
		 "10:20 to 10:31 UTC"},
		{"2026-12-01T10:00:00Z", "2026-12-01T10:20:00Z", "2026-12-01T10:30:00Z",
		 "10:20 to 10:30 UTC"},
		{"2026-12-01T10:00:00Z", "2026-12-01T10:21:00Z", "2026-12-01T10:31:00Z",
		 "10:20 to 10:35 UTC"},
		{"2026-12-01T10:00:00Z", "2026-12-01T10:21:00Z", "2026-12-01T14:31:00Z",
		 "10:15 to 14:45 UTC"},
		{"2026-12-01T10:00:00Z", "2026-12-01T20:21:00Z", "2026-12-02T14:31:00Z",
		 "20:00 to 2026-12-02 15:00 UTC"},
		{"2026-12-01T23:50:00Z", "2026-12-02T00:05:00Z", "2026-12-02T00:06:00Z",
		 "2026-12-02 00:05 to 2026-12-02 00:06 UTC"},
	};
	char t[ETA_BETWEEN_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct eta_span at;
		int64_t now;

		assert_true(str_to_time(cases[i].now, &now));
		assert_true(str_to_time(cases[i].p50, &at.p50));
		assert_true(str_to_time(cases[i].p90, &at.p90));
		assert_string_equal(eta_between(&at, now, t), cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_have_to_come_before_anything_is_said),
		cmocka_unit_test(half_are_ready_by_p50_and_nine_of_ten_by_p90),
		cmocka_unit_test(a_whole_way_is_measured_and_not_its_states),
		cmocka_unit_test(who_has_waited_is_told_of_those_that_took_longer),
		cmocka_unit_test(a_machine_that_leaves_is_measured_until_it_is_free),
		cmocka_unit_test(quarantine_counts_from_there_on_and_only_where_drover_ends_it),
		cmocka_unit_test(the_last_fifty_count),
		cmocka_unit_test(what_was_given_up_on_the_way_does_not_count),
		cmocka_unit_test(a_machine_seen_on_its_way_is_measured_from_the_state_it_was_in),
		cmocka_unit_test(a_way_that_ends_says_by_when_it_was_expected),
		cmocka_unit_test(what_is_declared_stands_in_until_three_were_measured),
		cmocka_unit_test(a_restart_forgets_nothing),
		cmocka_unit_test(nonsense_in_the_status_does_no_harm),
		cmocka_unit_test(a_state_that_a_type_does_not_have_takes_no_time),
		cmocka_unit_test(the_text_has_few_steps),
		cmocka_unit_test(times_are_told_the_coarser_the_further_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
