#include "tests/unit/testing.h"

#include "base/money.h"
#include "base/str.h"
#include "controller/rules/ledger.h"

#define HOUR (INT64_C(3600) * 1000)

static int64_t at(const char *text)
{
	int64_t t = 0;

	assert_true(str_to_time(text, &t));
	return t;
}

static const struct virtual_cluster_charge ready = {.pool = "gpus",
						    .provider = "rack",
						    .instance_type = "h100",
						    .phase = PHASE_READY,
						    .price_per_hour = 6500000,
						    .currency = "EUR",
						    .gpus = 8};

static struct virtual_cluster_charges machines(size_t n, struct arena *a)
{
	struct virtual_cluster_charges held = {0};

	for (size_t i = 0; i < n; i++)
		ledger_count(&held, &ready, 1, a);
	return held;
}

/* Returns the sum of all charges as of that time. */
static int64_t total(const struct virtual_cluster_cost *c)
{
	int64_t sum = 0;

	for (size_t i = 0; i < c->charges.n; i++)
		assert_true(money_add(&sum, c->charges.v[i].seconds));
	return sum;
}

static void time_goes_on_for_the_machines_that_were_written(void **state)
{
	OWN(arena) a = arena_new();
	struct virtual_cluster_charges two = machines(2, a), none = {0};
	struct virtual_cluster_cost c = ledger_at(NULL, at("2026-11-10T00:00:00Z"), a);
	int64_t micro, gpu;

	(void)state;
	assert_true(ledger_holds(&c, &none));
	assert_false(ledger_holds(&c, &two));
	assert_int_equal(ledger_hold(&c, &two, a), 0);
	assert_true(ledger_holds(&c, &two));
	c = ledger_at(&c, at("2026-11-10T03:00:00Z"), a);
	assert_int_equal(c.charges.n, 1);
	assert_int_equal(c.charges.v[0].seconds, 6 * 3600);
	assert_true(ledger_amount(&c.charges.v[0], &micro));
	assert_int_equal(micro, 39 * MONEY_UNIT);
	assert_true(ledger_gpu_seconds(&c.charges.v[0], &gpu));
	assert_int_equal(gpu, 48 * 3600);
	ledger_hold(&c, &none, a);
	c = ledger_at(&c, at("2026-11-11T00:00:00Z"), a);
	assert_int_equal(total(&c), 6 * 3600);
}

/* The sums depend neither on how often they are written nor on which leader writes them. */
static void writing_in_between_changes_no_sum(void **state)
{
	OWN(arena) a = arena_new();
	const int64_t from = at("2026-10-31T22:17:13Z"), to = at("2027-01-02T01:00:00Z");
	struct virtual_cluster_charges three = machines(3, a);
	struct virtual_cluster_cost once = ledger_at(NULL, from, a), often = once;

	(void)state;
	ledger_hold(&once, &three, a);
	often = once;
	once = ledger_at(&once, to, a);
	for (int64_t t = from; t < to; t += 7 * HOUR + 1237) {
		often = ledger_at(&often, t, a);
		ledger_hold(&often, &three, a);
	}
	often = ledger_at(&often, to, a);
	assert_int_equal(total(&once), 3 * (to - from) / 1000);
	assert_int_equal(once.charges.n, 4); /* October to January */
	assert_int_equal(often.charges.n, once.charges.n);
	for (size_t i = 0; i < once.charges.n; i++) {
		assert_string_equal(often.charges.v[i].month, once.charges.v[i].month);
		assert_int_equal(often.charges.v[i].seconds, once.charges.v[i].seconds);
	}
	assert_string_equal(once.charges.v[1].month, "2026-11");
	assert_int_equal(once.charges.v[1].seconds, 3 * 30 * 24 * 3600);
	assert_int_equal(once.charges.v[1].machines, 0);
	assert_int_equal(once.charges.v[3].machines, 3);
}

static void a_clock_that_went_back_counts_nothing_twice(void **state)
{
	OWN(arena) a = arena_new();
	const int64_t t = at("2026-11-10T00:00:00Z");
	struct virtual_cluster_charges one = machines(1, a);
	struct virtual_cluster_cost c = ledger_at(NULL, t, a);

	(void)state;
	ledger_hold(&c, &one, a);
	c = ledger_at(&c, t + 5 * HOUR, a);
	c = ledger_at(&c, t + 2 * HOUR, a);
	assert_int_equal(c.time, t + 5 * HOUR);
	c = ledger_at(&c, t + 6 * HOUR, a);
	assert_int_equal(total(&c), 6 * 3600);
}

static void another_price_is_another_sum(void **state)
{
	OWN(arena) a = arena_new();
	const int64_t t = at("2026-11-10T00:00:00Z");
	struct virtual_cluster_charge dear = ready;
	struct virtual_cluster_charges one = machines(1, a), other = {0};
	struct virtual_cluster_cost c = ledger_at(NULL, t, a);
	int64_t micro = 0;

	(void)state;
	ledger_hold(&c, &one, a);
	dear.price_per_hour = 7000000;
	ledger_count(&other, &dear, 1, a);
	c = ledger_at(&c, t + HOUR, a);
	assert_false(ledger_holds(&c, &other));
	ledger_hold(&c, &other, a);
	c = ledger_at(&c, t + 2 * HOUR, a);
	assert_int_equal(c.charges.n, 2);
	assert_true(ledger_amount(&c.charges.v[0], &micro));
	assert_int_equal(micro, 6500000);
	assert_true(ledger_amount(&c.charges.v[1], &micro));
	assert_int_equal(micro, 7000000);
	dear.price_per_hour = -1;
	assert_false(ledger_amount(&dear, &micro));
}

static void fourteen_months_are_kept(void **state)
{
	OWN(arena) a = arena_new();
	struct virtual_cluster_charges one = machines(1, a);
	struct virtual_cluster_cost c = ledger_at(NULL, at("2026-01-15T00:00:00Z"), a);

	(void)state;
	ledger_hold(&c, &one, a);
	c = ledger_at(&c, at("2027-02-28T00:00:00Z"), a);
	assert_int_equal(c.charges.n, LEDGER_MONTHS);
	assert_string_equal(c.charges.v[0].month, "2026-01");
	c = ledger_at(&c, at("2027-03-01T00:00:01Z"), a);
	assert_int_equal(c.charges.n, LEDGER_MONTHS);
	assert_string_equal(c.charges.v[0].month, "2026-02");
	c = ledger_at(&c, at("2028-01-31T23:59:59Z"), a);
	assert_string_equal(c.charges.v[0].month, "2026-12");
	c = ledger_at(&c, at("2028-02-01T00:00:01Z"), a);
	assert_string_equal(c.charges.v[0].month, "2027-01");
	assert_int_equal(c.charges.n, LEDGER_MONTHS);
}

static void too_many_sums_lose_the_oldest_month(void **state)
{
	OWN(arena) a = arena_new();
	struct virtual_cluster_charges held = machines(1, a), none = {0};
	struct virtual_cluster_cost c = ledger_at(NULL, at("2026-10-15T00:00:00Z"), a);

	(void)state;
	ledger_hold(&c, &held, a);
	c = ledger_at(&c, at("2026-11-15T00:00:00Z"), a);
	for (int i = 0; i < LEDGER_CHARGES - 1; i++) {
		struct virtual_cluster_charge like = ready;

		like.pool = arena_printf(a, "pool-%d", i);
		ledger_count(&held, &like, 1, a);
	}
	assert_int_equal(ledger_hold(&c, &held, a), 1);
	assert_int_equal(c.charges.n, LEDGER_CHARGES);
	for (size_t i = 0; i < c.charges.n; i++)
		assert_string_equal(c.charges.v[i].month, "2026-11");
	ledger_hold(&c, &none, a);
}

static void what_is_nobodys_is_on_no_bill(void **state)
{
	int phase = -1;

	(void)state;
	assert_false(ledger_phase(MACHINE_FREE, &phase));
	assert_false(ledger_phase(MACHINE_QUARANTINED, &phase));
	assert_false(ledger_phase(MACHINE_KNOWN, &phase));
	assert_true(ledger_phase(MACHINE_CLAIMED, &phase) && phase == PHASE_ALLOCATED);
	assert_true(ledger_phase(MACHINE_SERVING, &phase) && phase == PHASE_READY);
	assert_true(ledger_phase(MACHINE_LEAVING, &phase) && phase == PHASE_DRAINING);
	assert_true(ledger_phase(MACHINE_VERIFYING, &phase) && phase == PHASE_WIPING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_goes_on_for_the_machines_that_were_written),
		cmocka_unit_test(writing_in_between_changes_no_sum),
		cmocka_unit_test(a_clock_that_went_back_counts_nothing_twice),
		cmocka_unit_test(another_price_is_another_sum),
		cmocka_unit_test(fourteen_months_are_kept),
		cmocka_unit_test(too_many_sums_lose_the_oldest_month),
		cmocka_unit_test(what_is_nobodys_is_on_no_bill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
