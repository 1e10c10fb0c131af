#include <string.h>
#include "base/market.h"
#include "tests/unit/testing.h"

static void a_copy_needs_nothing_of_the_original(void **state)
{
	OWN(arena) a = arena_new();
	char region[] = "eu-west-1", zone[] = "a", type[] = "p5", reservation[] = "cr-1",
	     usd[] = "USD";
	const struct offer o = {.region = region,
				.zone = zone,
				.type = type,
				.reservation = reservation,
				.market = MARKET_RESERVED,
				.micros_per_hour = 6500000,
				.currency = usd,
				.available = 3,
				.ends_at = 7};
	const struct offer copy = offer_copy(&o, a);

	(void)state;
	memset(region, 'x', strlen(region));
	memset(zone, 'x', strlen(zone));
	memset(type, 'x', strlen(type));
	memset(reservation, 'x', strlen(reservation));
	memset(usd, 'x', strlen(usd));
	assert_string_equal(copy.region, "eu-west-1");
	assert_string_equal(copy.zone, "a");
	assert_string_equal(copy.type, "p5");
	assert_string_equal(copy.reservation, "cr-1");
	assert_string_equal(copy.currency, "USD");
	assert_string_equal(market_names[copy.market], "Reserved");
	assert_int_equal(copy.micros_per_hour, 6500000);
	assert_int_equal(copy.available, 3);
	assert_int_equal(copy.ends_at, 7);
}

static void what_is_not_known_stays_unknown(void **state)
{
	OWN(arena) a = arena_new();
	const struct offer o = {.region = "r", .type = "t", .micros_per_hour = -1, .available = -1};
	const struct offer copy = offer_copy(&o, a);

	(void)state;
	assert_null(copy.zone);
	assert_null(copy.reservation);
	assert_null(copy.currency);
	assert_int_equal(copy.micros_per_hour, -1);
	assert_int_equal(copy.available, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_needs_nothing_of_the_original),
		cmocka_unit_test(what_is_not_known_stays_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
