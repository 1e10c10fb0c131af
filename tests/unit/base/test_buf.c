#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/buf.h"

static void an_empty_buffer_is_an_empty_text(void **state)
{
	struct buf b;
	char *s;

	(void)state;
	buf_init(&b, 10);
	assert_string_equal(b.data, "");
	buf_clear(&b);
	buf_drop(&b, 0);
	buf_puts(&b, "");
	buf_printf(&b, "%s", "");
	assert_string_equal(b.data, "");
	s = buf_steal(&b);
	assert_string_equal(s, "");
	free(s);
	buf_done(&b);
	buf_done(&b);
}

static void it_holds_its_maximum_and_not_a_byte_more(void **state)
{
	struct err e;
	struct buf b;

	(void)state;
	for (size_t max = 0; max < 200; max++) {
		buf_init(&b, max);
		for (size_t i = 0; i < max; i++)
			assert_ok(buf_add(&b, "x", 1, &e), &e);
		assert_false(b.over);
		assert_int_equal(b.len, max);
		assert_int_equal(strlen(b.data), max);
		assert_int_equal(buf_add(&b, "x", 1, &e), -1);
		assert_int_equal(e.kind, ERR_PROTOCOL);
		assert_true(b.over);
		assert_int_equal(b.len, max);
		buf_done(&b);
	}
}

static void after_too_much_nothing_is_added_until_it_is_cleared(void **state)
{
	struct err e;
	struct buf b;

	(void)state;
	buf_init(&b, 4);
	buf_puts(&b, "ab");
	buf_puts(&b, "cde");
	buf_puts(&b, "f");
	buf_printf(&b, "%d", 1);
	assert_string_equal(b.data, "ab");
	assert_int_equal(buf_add(&b, "", 0, &e), -1);
	buf_clear(&b);
	assert_ok(buf_add(&b, "cdef", 4, &e), &e);
	assert_string_equal(b.data, "cdef");
	buf_done(&b);
}

static void any_bytes_are_kept(void **state)
{
	char all[256];
	struct buf b;

	(void)state;
	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	buf_init(&b, 100000);
	for (int i = 0; i < 300; i++)
		buf_put(&b, all, sizeof(all));
	assert_int_equal(b.len, 300 * sizeof(all));
	for (int i = 0; i < 300; i++)
		assert_memory_equal(b.data + i * 256, all, sizeof(all));
	assert_int_equal(b.data[b.len], 0);
	buf_done(&b);
}

static void the_front_may_be_dropped(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 100);
	buf_printf(&b, "%s%d", "line", 1);
	buf_drop(&b, 4);
	assert_string_equal(b.data, "1");
	buf_drop(&b, 1);
	assert_string_equal(b.data, "");
	buf_puts(&b, "more");
	assert_string_equal(b.data, "more");
	buf_done(&b);
}

static void what_is_given_away_is_the_callers(void **state)
{
	struct buf b;
	char *s;

	(void)state;
	buf_init(&b, 100);
	buf_puts(&b, "mine");
	s = buf_steal(&b);
	assert_int_equal(b.len, 0);
	buf_puts(&b, "next");
	assert_string_equal(s, "mine");
	assert_string_equal(b.data, "next");
	free(s);
	buf_done(&b);
}

static void a_buffer_without_limit_grows(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, SIZE_MAX);
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "%010d", i);
	assert_int_equal(b.len, 10000);
	assert_false(b.over);
	assert_memory_equal(b.data + 9990, "0000000999", 11);
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_buffer_is_an_empty_text),
		cmocka_unit_test(it_holds_its_maximum_and_not_a_byte_more),
		cmocka_unit_test(after_too_much_nothing_is_added_until_it_is_cleared),
		cmocka_unit_test(any_bytes_are_kept),
		cmocka_unit_test(the_front_may_be_dropped),
		cmocka_unit_test(what_is_given_away_is_the_callers),
		cmocka_unit_test(a_buffer_without_limit_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
