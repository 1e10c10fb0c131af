#include "planner/capacity_table.h"
#include "tests/unit/testing.h"

#define COLUMNS 3

static uint64_t next(uint64_t *s)
{
	*s ^= *s << 13; /* source: xorshift64, Marsaglia 2003 */
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static size_t slowly(const struct capacity_table *r, size_t n, size_t from, struct asks asks)
{
	for (size_t i = from; i < n; i++)
		if (capacity_table_fit(r, i, asks))
			return i;
	return CAPACITY_TABLE_NONE;
}

static void compare_with_a_look_at_each(size_t expected)
{
	OWN(arena) a = arena_new();
	struct capacity_table *r = capacity_table_new(a, COLUMNS);
	uint64_t s = 7, steps = 0;
	size_t n = 0;

	capacity_table_expect(r, expected);
	for (int i = 0; i < 20000; i++) {
		int64_t row[COLUMNS];
		struct ask v[COLUMNS] = {{0, 1}};
		struct asks asks = {v, 1};
		size_t at, from = next(&s) % (n + 3);

		for (uint32_t c = 0; c < COLUMNS; c++) {
			row[c] = (int64_t)(next(&s) % 9) - 1;
			if (c && next(&s) % 3)
				v[asks.n++] = (struct ask){c, (int64_t)(next(&s) % 8) + 1};
		}
		if (next(&s) % 4 == 0)
			assert_int_equal(capacity_table_add(r, row), n++);
		at = capacity_table_next(r, from, asks, &steps);
		assert_int_equal(at, slowly(r, n, from, asks));
		if (at != CAPACITY_TABLE_NONE && next(&s) % 20 == 0)
			capacity_table_close(r, at);
		else if (at != CAPACITY_TABLE_NONE)
			capacity_table_subtract(r, at, asks);
	}
	assert_true(n > 4000);
}

static void the_first_with_room_is_the_one_that_a_look_at_each_finds(void **state)
{
	(void)state;
	compare_with_a_look_at_each(0);
	compare_with_a_look_at_each(1);
	compare_with_a_look_at_each(700);
	compare_with_a_look_at_each(10000);
}

static void what_is_full_is_passed_over_in_a_few_steps(void **state)
{
	OWN(arena) a = arena_new();
	struct capacity_table *r = capacity_table_new(a, 1);
	uint64_t steps = 0;

	(void)state;
	for (size_t i = 0; i < 100000; i++)
		assert_int_equal(capacity_table_add(r, &(int64_t){i == 99999}), i);
	assert_int_equal(capacity_table_next(r, 1, (struct asks){&(struct ask){0, 1}, 1}, &steps),
			 99999);
	assert_true(steps < 200);
	capacity_table_close(r, 99999);
	assert_int_equal(capacity_table_next(r, 1, (struct asks){&(struct ask){0, 1}, 1}, &steps),
			 CAPACITY_TABLE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_with_room_is_the_one_that_a_look_at_each_finds),
		cmocka_unit_test(what_is_full_is_passed_over_in_a_few_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
