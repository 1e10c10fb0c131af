#include "tests/unit/testing.h"

#include "base/str.h"
#include "controller/rules/disruption_budget.h"

static int64_t at(const char *text)
{
	int64_t ms;

	assert_true(str_to_time(text, &ms));
	return ms;
}

#define HOURS(n) (INT64_C(3600000) * (n))

static void a_schedule_counts_from_its_time_on_for_its_duration(void **state)
{
	static const struct {
		const char *schedule, *now;
		int64_t duration;
		bool in;
	} cases[] = {
		{"0 9 * * *", "2026-11-20T08:59:59Z", HOURS(8), false},
		{"0 9 * * *", "2026-11-20T09:00:00Z", HOURS(8), true},
		{"0 9 * * *", "2026-11-20T16:59:59Z", HOURS(8), true},
		{"0 9 * * *", "2026-11-20T17:00:00Z", HOURS(8), false},
		/* 20 November 2026 is a Friday. */
		{"0 9 * * mon-fri", "2026-11-20T10:00:00Z", HOURS(8), true},
		{"0 9 * * 1-5", "2026-11-21T10:00:00Z", HOURS(8), false},
		/* The window reaches past midnight. */
		{"0 22 * * 5", "2026-11-21T03:00:00Z", HOURS(8), true},
		{"0 0 * * 7", "2026-11-22T03:00:00Z", HOURS(8), true},
		{"0 0 1 * *", "2026-11-20T03:00:00Z", HOURS(24 * 31), true},
		{"0 0 1 * *", "2026-11-20T03:00:00Z", HOURS(24 * 19), false},
		{"0 0 1 JAN *", "2026-11-20T03:00:00Z", HOURS(24 * 31), false},
		/* Matches the day of the month or the day of the week, as in cron. */
		{"0 0 1 * 5", "2026-11-20T03:00:00Z", HOURS(8), true},
		{"*/15 * * * *", "2026-11-20T03:16:00Z", 60000, false},
		{"*/15 * * * *", "2026-11-20T03:15:59Z", 60000, true},
		{"10,20-22 * * * *", "2026-11-20T03:22:00Z", 60000, true},
		{"@daily", "2026-11-20T00:59:00Z", HOURS(1), true},
		{"@weekly", "2026-11-20T00:59:00Z", HOURS(1), false},
		{"@hourly", "2026-11-20T13:59:00Z", HOURS(1), true},
		{"@monthly", "2026-11-20T13:59:00Z", HOURS(1), false},
		{"@yearly", "2026-01-01T00:30:00Z", HOURS(1), true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (disruption_budget_window(cases[i].schedule, cases[i].duration,
					     at(cases[i].now)) != cases[i].in)
			fail_msg("%s at %s", cases[i].schedule, cases[i].now);
}

static void a_schedule_that_cannot_be_read_counts_always(void **state)
{
	static const char *const bad[] = {"",
					  "*",
					  "60 * * * *",
					  "* * 0 * *",
					  "5-1 * * * *",
					  "* * * * * *",
					  "a b c d e",
					  "*/0 * * * *",
					  "1, * * * *",
					  "99999999999999999999 * * * *",
					  "@reboot"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!disruption_budget_window(bad[i], 60000, at("2026-11-20T03:16:00Z")))
			fail_msg("%s", bad[i]);
}

static void the_smallest_budget_that_counts_wins(void **state)
{
	const char *empty[] = {"Empty"}, *taken[] = {"Reclaimed", "Underutilized"};
	struct node_pool_budget v[] = {
		{.nodes = "10%"},
		{.nodes = "2", .reasons = {empty, 1}},
		{.nodes = "1", .reasons = {taken, 2}},
		{.nodes = "0", .schedule = "0 9 * * *", .duration = HOURS(8)},
	};
	struct node_pool p = {.spec.disruption.budgets = {v, 4}};
	int64_t night = at("2026-11-20T03:00:00Z"), day = at("2026-11-20T12:00:00Z");

	(void)state;
	assert_int_equal(disruption_budget_allow(&p, "Empty", 100, night), 2);
	assert_int_equal(disruption_budget_allow(&p, "Reclaimed", 100, night), 1);
	assert_int_equal(disruption_budget_allow(&p, "Expired", 100, night), 10);
	assert_int_equal(disruption_budget_allow(&p, "Expired", 101, night), 11); /* rounds up */
	assert_int_equal(disruption_budget_allow(&p, "Expired", 1, night), 1);
	assert_int_equal(disruption_budget_allow(&p, "Empty", 100, day), 0);
	p.spec.disruption.budgets.n = 0;
	assert_true(disruption_budget_allow(&p, "Empty", 100, day) == INT64_MAX);
}

/* Asserts that one machine in this state adds `nodes` to the number of machines and `leaving` to
 * the number of leaving machines. */
static void counts(const char *state, const char *reason, bool deleted, bool decided, int64_t nodes,
		   int64_t leaving)
{
	struct machine_leave leave = {.reason = reason};
	struct machine m = {.status = {.state = state, .leave = reason ? &leave : NULL}};
	struct node_claim n = {.meta.deletion_timestamp = deleted ? 1 : 0};
	struct disruption d = {0};

	disruption_count(&d, &m, &n, decided);
	if (d.nodes != nodes || d.leaving != leaving)
		fail_msg("%s %s: %lld nodes, %lld leaving", state, reason ? reason : "",
			 (long long)d.nodes, (long long)d.leaving);
}

static void whatever_is_on_its_way_out_counts(void **state)
{
	(void)state;
	/* A machine that has not served yet is not counted: no work runs on it. */
	counts("joining", NULL, true, true, 0, 0);
	counts("serving", NULL, false, false, 1, 0);
	counts("serving", NULL, true, false, 1, 1);
	counts("serving", NULL, false, true, 1, 1);
	counts("draining", "Drain", false, false, 1, 1);
	counts("draining", "Empty", false, false, 1, 1);
	counts("stopping", NULL, false, false, 1, 1);
	counts("leaving", "ClaimDeleted", true, false, 1, 1);
	counts("quarantined", "ClaimDeleted", true, false, 0, 0);
	counts("quarantined", "Expired", false, false, 1, 1);
	counts("quarantined", NULL, false, true, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_schedule_counts_from_its_time_on_for_its_duration),
		cmocka_unit_test(a_schedule_that_cannot_be_read_counts_always),
		cmocka_unit_test(the_smallest_budget_that_counts_wins),
		cmocka_unit_test(whatever_is_on_its_way_out_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
