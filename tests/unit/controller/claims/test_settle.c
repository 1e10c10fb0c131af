#include "tests/unit/testing.h"

#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "controller/claims/settle.h"
#include "planner/burst.h"

#define HOUR INT64_C(3600000)
#define DAY (24 * HOUR)
#define NOW (INT64_C(1790000000000)) /* 2026-09-21, a Monday */

struct names {
	const char *there;
};

static bool is_there(const char *uid, void *arg)
{
	return str_eq(uid, ((struct names *)arg)->there);
}

static int64_t micros(const char *text)
{
	int64_t m;
	struct err e;

	assert_ok(money_parse(text, &m, &e), &e);
	return m;
}

/* One after another, as claims end; there: the claim of the last one. */
static struct burst_policy settle(const struct burst_policy *p, int64_t at, int64_t now,
				  const char *tenant, const char *amount, struct arena *a)
{
	struct burst_policy out = *p;
	const struct burst_policy_settled row = {
		.time = at,
		.claim = "last",
		.tenant = tenant,
		.work = arena_printf(a, "default/%s-%lld", tenant, (long long)at),
		.provider = "sky",
		.currency = "USD",
		.amount = amount};
	struct names there = {.there = NULL};
	struct settle_list l = settle_add(p, &row, now, is_there, &there, a);

	out.status.settled.v = l.v;
	out.status.settled.n = l.n;
	return out;
}

static int64_t sum(const struct burst_policy *p, int64_t from)
{
	int64_t total = 0;

	for (size_t i = 0; i < p->status.settled.n; i++)
		if (p->status.settled.v[i].time >= from)
			total += micros(p->status.settled.v[i].amount);
	return total;
}

/* Whatever is summed: of each period that can be asked for there is as much as there was. */
static void no_period_ever_loses_or_gains(void **state)
{
	OWN(arena) a = arena_new();
	struct burst_policy p = {0};
	int64_t want[BURST_TOTAL + 1];

	(void)state;
	for (int64_t at = NOW - 95 * DAY; at <= NOW; at += 17 * HOUR + 11 * 60000) {
		p = settle(&p, at, at + HOUR, "team-a", "1.5", a);
		for (enum burst_period per = BURST_HOUR; per <= BURST_TOTAL; per++) {
			want[per] = 0;
			for (int64_t x = NOW - 95 * DAY; x <= at; x += 17 * HOUR + 11 * 60000)
				if (x >= burst_period_start(per, at + HOUR))
					want[per] += 1500000;
			assert_int_equal(sum(&p, burst_period_start(per, at + HOUR)), want[per]);
		}
	}
	assert_in_range(p.status.settled.n, 1, 12);
}

static void what_is_there_keeps_its_row(void **state)
{
	OWN(arena) a = arena_new();
	struct burst_policy_settled v[] = {
		{NOW, "one", "team-a", "default/x", "sky", "USD", "1.00"},
		{NOW, "two", "team-a", "default/y", "sky", "USD", "2.00"},
		{NOW, NULL, "team-a", NULL, "sky", "USD", "3.00"},
		{NOW, NULL, "team-a", NULL, "sky", "EUR", "4.00"},
	};
	struct burst_policy p = {.status.settled = {v, 4}};
	const struct burst_policy_settled row = {NOW,	"three", "team-b", "default/z",
						 "sky", "USD",	 "5.00"};
	struct names there = {.there = "one"};
	struct settle_list l = settle_add(&p, &row, NOW, is_there, &there, a);

	(void)state;
	assert_int_equal(l.n, 4);
	assert_string_equal(l.v[0].claim, "one");
	assert_string_equal(l.v[0].work, "default/x");
	assert_null(l.v[1].claim);
	assert_int_equal(micros(l.v[1].amount), 5000000);
	assert_string_equal(l.v[2].currency, "EUR");
	assert_string_equal(l.v[3].claim, "three");
}

/* A budget for each Workload keeps them apart, until they are too many: then the sum is kept. */
static void more_than_the_list_holds_is_summed(void **state)
{
	OWN(arena) a = arena_new();
	struct burst_policy_budget b = {.scope = BURST_OF_WORKLOAD, .per = BURST_TOTAL};
	struct burst_policy p = {.spec.budget = {&b, 1}};

	(void)state;
	p.status.settled.v = arena_calloc(a, BURST_POLICY_SETTLED, sizeof(*p.status.settled.v));
	for (int64_t i = 0; i + 1 < BURST_POLICY_SETTLED; i++)
		p.status.settled.v[p.status.settled.n++] = (struct burst_policy_settled){
			.time = NOW - i,
			.tenant = "team-a",
			.work = arena_printf(a, "default/%lld", (long long)i),
			.provider = "sky",
			.currency = "USD",
			.amount = "1"};
	p = settle(&p, NOW, NOW, "team-a", "1", a);
	assert_int_equal(p.status.settled.n, BURST_POLICY_SETTLED);
	p = settle(&p, NOW - HOUR / 1000 * BURST_POLICY_SETTLED, NOW, "team-a", "1", a);
	assert_in_range(p.status.settled.n, 1, 3);
	assert_int_equal(sum(&p, INT64_MIN), (BURST_POLICY_SETTLED + 1) * MONEY_UNIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_period_ever_loses_or_gains),
		cmocka_unit_test(what_is_there_keeps_its_row),
		cmocka_unit_test(more_than_the_list_holds_is_summed),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
