#include "tests/unit/testing.h"

#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "controller/burst/settle.h"
#include "planner/burst/burst.h"

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

#define USD(n) ((n)*MONEY_UNIT)

/* Time zones of the budgets beside UTC. */
static struct settle_zone zones[1];
static size_t nzones;

/* Returns the ledger *p with one row added, of a claim that ended at `at`. The claims of the
 * earlier rows no longer exist. */
static struct burst_ledger settle(const struct burst_ledger *p, int64_t at, int64_t now,
				  const char *tenant, int64_t amount, bool by_work, struct arena *a)
{
	struct burst_ledger out = *p;
	struct burst_ledger_row row = {
		.time = at,
		.claim = "last",
		.tenant = tenant,
		.work = arena_printf(a, "default/%s-%lld", tenant, (long long)at),
		.provider = "sky",
		.currency = "USD",
		.amount = amount};
	struct names there = {.there = NULL};
	const struct settle_times starts = settle_times_of(zones, nzones, now, a);
	const struct settle_list rows = {&row, 1},
				 l = settle_add(p, &rows, by_work, &starts, is_there, &there, a);

	out.status.rows.v = l.v;
	out.status.rows.n = l.n;
	return out;
}

static int64_t sum(const struct burst_ledger *p, int64_t from)
{
	int64_t total = 0;

	for (size_t i = 0; i < p->status.rows.n; i++)
		if (p->status.rows.v[i].time >= from)
			total += p->status.rows.v[i].amount;
	return total;
}

/* Summing up rows changes no amount in any period that a budget can query. */
static void no_period_ever_loses_or_gains(void **state)
{
	OWN(arena) a = arena_new();
	struct burst_ledger p = {0};
	int64_t want[BURST_TOTAL + 1];

	(void)state;
	for (int64_t at = NOW - 95 * DAY; at <= NOW; at += 17 * HOUR + 11 * 60000) {
		p = settle(&p, at, at + HOUR, "team-a", USD(3) / 2, false, a);
		for (enum burst_period per = BURST_HOUR; per <= BURST_TOTAL; per++) {
			want[per] = 0;
			for (int64_t x = NOW - 95 * DAY; x <= at; x += 17 * HOUR + 11 * 60000)
				if (x >= burst_period_start(per, NULL, at + HOUR))
					want[per] += 1500000;
			assert_int_equal(sum(&p, burst_period_start(per, NULL, at + HOUR)),
					 want[per]);
		}
	}
	assert_in_range(p.status.rows.n, 1, 12);
}

/* Neither do the periods of a budget in another time zone, nor the last ones, for carryOver. */
static void no_period_in_a_time_zone_loses_or_gains(void **state)
{
	const int64_t step = 5 * HOUR + 11 * 60000;
	OWN(zones) zs = zones_new();
	OWN(arena) a = arena_new();
	struct burst_ledger p = {0};
	struct err e;

	(void)state;
	assert_ok(zones_get(zs, "America/New_York", &zones[0].zone, &e), &e);
	nzones = 1;
	zones[0].last = true;
	for (int64_t at = NOW - 95 * DAY; at <= NOW; at += step) {
		p = settle(&p, at, at + HOUR, "team-a", USD(3) / 2, false, a);
		for (enum burst_period per = BURST_HOUR; per <= BURST_TOTAL; per++) {
			const int64_t start = burst_period_start(per, zones[0].zone, at + HOUR);
			int64_t want = 0;

			const int64_t last = burst_period_before(per, zones[0].zone, at + HOUR);
			int64_t before = 0;

			for (int64_t x = NOW - 95 * DAY; x <= at; x += step) {
				want += x >= start ? 1500000 : 0;
				before += x >= last ? 1500000 : 0;
			}
			assert_int_equal(sum(&p, start), want);
			assert_int_equal(sum(&p, last), before);
		}
	}
	assert_true(p.status.rows.n < 20);
	nzones = 0;
	zones[0].last = false;
}

static void what_is_there_keeps_its_row(void **state)
{
	OWN(arena) a = arena_new();
	struct burst_ledger_row v[] = {
		{NOW, "one", "p", "team-a", "default/x", "sky", "USD", USD(1), -1},
		{NOW, "two", "p", "team-a", "default/y", "sky", "USD", USD(2), -1},
		{NOW, NULL, "p", "team-a", NULL, "sky", "USD", USD(3), -1},
		{NOW, NULL, "p", "team-a", NULL, "sky", "EUR", USD(4), -1},
	};
	struct burst_ledger p = {.status.rows = {v, 4}};
	struct burst_ledger_row row = {NOW,   "three", "p",    "team-b", "default/z",
				       "sky", "USD",   USD(5), -1};
	const struct settle_list rows = {&row, 1};
	struct names there = {.there = "one"};
	const struct settle_times starts = settle_times_of(NULL, 0, NOW, a);
	struct settle_list l = settle_add(&p, &rows, false, &starts, is_there, &there, a);

	(void)state;
	assert_int_equal(l.n, 4);
	assert_string_equal(l.v[0].claim, "one");
	assert_string_equal(l.v[0].work, "default/x");
	assert_null(l.v[1].claim);
	assert_int_equal(l.v[1].amount, 5000000);
	assert_string_equal(l.v[2].currency, "EUR");
	assert_string_equal(l.v[3].claim, "three");
}

/* Budgets of scope Workload need separate rows for each workload. Beyond the list's limit, only the
 * sum is kept. */
static void more_than_the_list_holds_is_summed(void **state)
{
	OWN(arena) a = arena_new();
	struct burst_ledger p = {0};

	(void)state;
	p.status.rows.v = arena_calloc(a, BURST_LEDGER_ROWS, sizeof(*p.status.rows.v));
	for (int64_t i = 0; i + 1 < BURST_LEDGER_ROWS; i++)
		p.status.rows.v[p.status.rows.n++] = (struct burst_ledger_row){
			.time = NOW - i,
			.tenant = "team-a",
			.work = arena_printf(a, "default/%lld", (long long)i),
			.provider = "sky",
			.currency = "USD",
			.amount = USD(1)};
	p = settle(&p, NOW, NOW, "team-a", USD(1), true, a);
	assert_int_equal(p.status.rows.n, BURST_LEDGER_ROWS);
	p = settle(&p, NOW - HOUR / 1000 * BURST_LEDGER_ROWS, NOW, "team-a", USD(1), true, a);
	assert_in_range(p.status.rows.n, 1, 3);
	assert_int_equal(sum(&p, INT64_MIN), (BURST_LEDGER_ROWS + 1) * MONEY_UNIT);
}

/* A claim costs 20 per hour. 40 were committed for two hours at 22:00, and the claim still runs at
 * 03:30 of the next day. */
static void an_overrun_is_charged_to_the_periods_in_which_it_occurs(void **state)
{
	const int64_t midnight = burst_period_start(BURST_DAY, NULL, NOW);
	const struct node_claim_burst b = {.policy_ref = {"research", "p"},
					   .work = "default/train",
					   .workload = "Job default/train",
					   .price = USD(20),
					   .currency = "USD",
					   .committed = USD(40),
					   .decided_time = midnight - 2 * HOUR};
	const struct object_name_ref sky = {"sky"};
	const struct node_claim n = {.meta.uid = "u",
				     .spec = {.virtual_cluster_ref.name = "team-a",
					      .provider_ref = (struct object_name_ref *)&sky,
					      .burst = &b}};
	const int64_t now = midnight + 3 * HOUR + HOUR / 2;
	OWN(zones) zs = zones_new();
	OWN(arena) a = arena_new();
	struct settle_times starts;
	struct settle_list l;
	struct err e;

	(void)state;
	assert_int_equal(settle_paid_until(&n, midnight), midnight);
	starts = settle_times_of(NULL, 0, midnight - HOUR, a);
	l = settle_rows(&n, USD(30), midnight - HOUR, &starts, a);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.v[0].amount, USD(30));
	starts = settle_times_of(NULL, 0, now, a);
	l = settle_rows(&n, USD(110), now, &starts, a);
	assert_int_equal(l.n, 3);
	assert_int_equal(l.v[0].time, b.decided_time);
	assert_int_equal(l.v[0].amount, USD(40));
	assert_string_equal(l.v[0].work, "Job default/train");
	assert_int_equal(l.v[1].time, midnight);
	assert_int_equal(l.v[1].amount, USD(60));
	/* Beginning of the current hour, whose share is not over yet. */
	assert_int_equal(l.v[2].time, midnight + 3 * HOUR);
	assert_int_equal(l.v[2].amount, USD(10));
	/* The day of a budget in Cape Verde begins an hour later, at 01:00. */
	assert_ok(zones_get(zs, "Atlantic/Cape_Verde", &zones[0].zone, &e), &e);
	starts = settle_times_of(zones, 1, now, a);
	l = settle_rows(&n, USD(110), now, &starts, a);
	assert_int_equal(l.n, 4);
	assert_int_equal(l.v[1].amount, USD(20));
	assert_int_equal(l.v[2].time, midnight + HOUR);
	assert_int_equal(l.v[2].amount, USD(40));
}

/* Two hours at 20 and 7 for data were committed. Moving the data buys no time. */
static void moving_data_is_paid_in_addition_to_the_time(void **state)
{
	const int64_t midnight = burst_period_start(BURST_DAY, NULL, NOW), now = midnight + HOUR;
	const struct node_claim_burst b = {.policy_ref = {"research", "p"},
					   .work = "default/train",
					   .price = USD(20),
					   .currency = "USD",
					   .committed = USD(47),
					   .egress = USD(7),
					   .decided_time = midnight - 2 * HOUR};
	const struct object_name_ref sky = {"sky"};
	const struct node_claim n = {.meta.uid = "u",
				     .spec = {.virtual_cluster_ref.name = "team-a",
					      .provider_ref = (struct object_name_ref *)&sky,
					      .burst = &b}};
	struct burst_ledger p = {0};
	struct names there = {.there = NULL};
	OWN(arena) a = arena_new();
	struct settle_times starts;
	struct settle_list l;

	(void)state;
	assert_int_equal(settle_paid_until(&n, midnight), midnight);
	starts = settle_times_of(NULL, 0, now, a);
	l = settle_rows(&n, USD(67), now, &starts, a);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.v[0].amount, USD(47));
	assert_int_equal(l.v[0].egress, USD(7));
	assert_int_equal(l.v[1].amount, USD(20));
	assert_true(l.v[1].egress < 0);
	/* Rows that are added up keep their sum, also with a row without data. */
	l.v[1].time = l.v[0].time;
	l.v[0].claim = l.v[1].claim = NULL;
	p.status.rows.v = l.v;
	p.status.rows.n = 1;
	l = settle_add(&p, &(struct settle_list){l.v + 1, 1}, false, &starts, is_there, &there, a);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.v[0].amount, USD(67));
	assert_int_equal(l.v[0].egress, USD(7));
	p.status.rows.v = (struct burst_ledger_row[]){l.v[0], l.v[0]};
	p.status.rows.v[0].egress = -1;
	l = settle_add(&p, &(struct settle_list){p.status.rows.v + 1, 1}, false, &starts, is_there,
		       &there, a);
	assert_int_equal(l.v[0].egress, USD(7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_period_ever_loses_or_gains),
		cmocka_unit_test(an_overrun_is_charged_to_the_periods_in_which_it_occurs),
		cmocka_unit_test(moving_data_is_paid_in_addition_to_the_time),
		cmocka_unit_test(no_period_in_a_time_zone_loses_or_gains),
		cmocka_unit_test(what_is_there_keeps_its_row),
		cmocka_unit_test(more_than_the_list_holds_is_summed),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
