#include "tests/unit/testing.h"

#include "base/retry.h"

static void delays_double_up_to_the_cap_with_jitter(void **state)
{
	struct backoff b = {.base_ms = 100, .cap_ms = 3000};
	const int64_t want[] = {100, 200, 400, 800, 1600, 3000, 3000};

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (unsigned i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
			struct backoff low = b, high = b;

			assert_int_equal(backoff_next(&low, 0), want[i] / 2);
			assert_int_equal(backoff_next(&high, (uint64_t)(want[i] - want[i] / 2)),
					 want[i]);
			backoff_next(&b, i);
		}
		backoff_reset(&b);
	}
}

static void every_delay_of_the_range_occurs(void **state)
{
	bool seen[101] = {false};

	(void)state;
	for (uint64_t r = 0; r < 1000; r++) {
		struct backoff b = {.base_ms = 100, .cap_ms = 1000};
		int64_t d = backoff_next(&b, r * 0x9e3779b97f4a7c15u);

		assert_true(d >= 50 && d <= 100);
		seen[d] = true;
	}
	for (int d = 50; d <= 100; d++)
		assert_true(seen[d]);
}

static void extremes_do_not_overflow(void **state)
{
	struct backoff b = {.base_ms = 1, .cap_ms = INT64_MAX};
	struct backoff many = {.base_ms = 1000, .cap_ms = 60000, .failures = UINT32_MAX};
	struct backoff zero = {0};

	(void)state;
	for (int i = 0; i < 200; i++)
		assert_true(backoff_next(&b, UINT64_MAX) >= 0);
	assert_true(backoff_next(&b, 0) == INT64_MAX / 2);
	assert_int_equal(backoff_next(&many, 0), 30000);
	assert_int_equal(backoff_next(&many, 0), 30000);
	assert_int_equal(backoff_next(&zero, 99), 0);
}

static void a_bucket_gives_its_burst_and_then_its_rate(void **state)
{
	struct bucket b;
	int64_t now = 1000000;
	int taken = 0;

	(void)state;
	bucket_init(&b, 4, 3, now);
	for (int i = 0; i < 3; i++)
		assert_int_equal(bucket_take(&b, now), 0);
	assert_int_equal(bucket_take(&b, now), 250);
	assert_int_equal(bucket_take(&b, now), 250); /* the failed take removed no token */
	assert_int_equal(bucket_take(&b, now + 100), 150);
	assert_int_equal(bucket_take(&b, now + 249), 1);
	assert_int_equal(bucket_take(&b, now + 250), 0);
	for (int64_t t = now + 250; t < now + 10250; t++)
		taken += bucket_take(&b, t) == 0;
	assert_in_range(taken, 39, 40);
}

static void who_waits_as_told_gets_a_token(void **state)
{
	static const double rates[] = {0.001, 0.3, 1, 3, 7, 33.3, 999, 12345};

	(void)state;
	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct bucket b;
		int64_t now = 1700000000000;

		bucket_init(&b, rates[i], 1, now);
		for (int k = 0; k < 200; k++) {
			int64_t wait = bucket_take(&b, now);

			if (wait > 0) {
				now += wait;
				assert_int_equal(bucket_take(&b, now), 0);
			}
		}
	}
}

static void a_full_bucket_does_not_grow(void **state)
{
	struct bucket b;

	(void)state;
	bucket_init(&b, 10, 2, 0);
	assert_int_equal(bucket_take(&b, 3600000), 0);
	assert_int_equal(bucket_take(&b, 3600000), 0);
	assert_int_equal(bucket_take(&b, 3600000), 100);
}

static void a_bucket_without_rate_gives_its_burst_only(void **state)
{
	struct bucket b;

	(void)state;
	bucket_init(&b, 0, 0.5, 0); /* a burst below one token would never allow anything */
	assert_int_equal(bucket_take(&b, 0), 0);
	assert_true(bucket_take(&b, 1000000) == INT64_MAX);
	bucket_init(&b, 1e-300, 1, 0);
	assert_int_equal(bucket_take(&b, 0), 0);
	assert_true(bucket_take(&b, 1) == INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(delays_double_up_to_the_cap_with_jitter),
		cmocka_unit_test(every_delay_of_the_range_occurs),
		cmocka_unit_test(extremes_do_not_overflow),
		cmocka_unit_test(a_bucket_gives_its_burst_and_then_its_rate),
		cmocka_unit_test(who_waits_as_told_gets_a_token),
		cmocka_unit_test(a_full_bucket_does_not_grow),
		cmocka_unit_test(a_bucket_without_rate_gives_its_burst_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
