#include "tests/unit/testing.h"

#include "base/data/exact.h"
#include "base/mem.h"
#include "base/str.h"

static struct exact read_ok(const char *text)
{
	struct exact v;
	struct err e;

	assert_ok(exact_read(text, strlen(text), &v, &e), &e);
	return v;
}

static void what_is_no_json_is_refused(void **state)
{
	static const char *const bad[] = {
		"",    "{",	  "{\"a\"}",   "{\"a\":}", "{\"a\":1,}", "[1,]",     "[1 2]",
		"01",  "1.",	  "1e",	       "-",	   "+1",	 ".5",	     "nul",
		"\"a", "\"\\x\"", "\"\\u12\"", "\"\n\"",   "{} {}",	 "\"\xff\"", "{a:1}",
		"NaN", "\"\\",	  "\"\\u",     "[",	   "tru",	 "--1",	     "{\"a\":1"};
	static const char *const good[] = {"0",
					   "-0.50e+3",
					   " null ",
					   "[]",
					   "{}",
					   "\"\\u00e4\\n\"",
					   "[1,[2,{\"a\":[true,false]}]]",
					   "\"\xc3\xa4\""};
	char deep[160];
	struct exact v;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (exact_read(bad[i], strlen(bad[i]), &v, &e) == 0)
			fail_msg("taken: %s", bad[i]);
		assert_int_equal(e.kind, ERR_PROTOCOL);
		assert_null(v.at);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		read_ok(good[i]);
	memset(deep, '[', 64);
	memset(deep + 64, ']', 64);
	assert_ok(exact_read(deep, 128, &v, &e), &e);
	memset(deep, '[', 65);
	memset(deep + 65, ']', 65);
	assert_int_equal(exact_read(deep, 130, &v, &e), -1);
}

static void members_are_found_in_place(void **state)
{
	OWN(arena) a = arena_new();
	struct exact o =
		read_ok("{ \"n\" : 18446744073709551615 , \"s\":\"a\\\"}b\",\"l\":[1, {\"x\":2},"
			"\"]\"],\"\\u0065\":{},\"t\":true,\"z\":null , \"i\":-7}");
	struct exact_iter it;
	int64_t i;
	size_t n = 0;

	(void)state;
	assert_int_equal(exact_member(o, "n").len, 20);
	assert_false(exact_i64(exact_member(o, "n"), &i));
	assert_true(exact_i64(exact_member(o, "i"), &i) && i == -7);
	assert_string_equal(exact_str_at(o, "s", a), "a\"}b");
	assert_int_equal(exact_kind(exact_member(o, "e")), EXACT_OBJECT);
	assert_int_equal(exact_kind(exact_member(o, "t")), EXACT_TRUE);
	assert_int_equal(exact_kind(exact_member(o, "z")), EXACT_NULL);
	assert_int_equal(exact_kind(exact_member(o, "absent")), EXACT_NONE);
	assert_int_equal(exact_kind(exact_member(exact_member(o, "n"), "a")), EXACT_NONE);
	assert_null(exact_str_at(o, "t", a));
	exact_for_each(it, exact_member(o, "l"))
	{
		n++;
		assert_null(it.name.at);
	}
	assert_int_equal(n, 3);
	assert_null(exact_str(read_ok("\"a\\u0000b\""), a));
	assert_null(exact_str(read_ok("\"\\ud800\""), a));
}

static void a_change_leaves_the_rest_letter_for_letter(void **state)
{
	OWN(arena) a = arena_new();
	struct exact o = read_ok("{\"a\": 1.50, \"b\" :{\"x\":1e400} ,\"c\":[]}");
	struct err e;

	(void)state;
	assert_string_equal(exact_with(o, "b", "\"new\"", a, &e),
			    "{\"a\": 1.50, \"b\" :\"new\" ,\"c\":[]}");
	assert_string_equal(exact_with(o, "d", "7", a, &e),
			    "{\"a\": 1.50, \"b\" :{\"x\":1e400} ,\"c\":[],\"d\":7}");
	assert_string_equal(exact_with(read_ok("{}"), "d", "7", a, &e), "{\"d\":7}");
	assert_string_equal(exact_without(o, "a", a, &e), "{ \"b\" :{\"x\":1e400} ,\"c\":[]}");
	assert_string_equal(exact_without(o, "b", a, &e), "{\"a\": 1.50 ,\"c\":[]}");
	assert_string_equal(exact_without(o, "c", a, &e), "{\"a\": 1.50, \"b\" :{\"x\":1e400}}");
	assert_string_equal(exact_without(read_ok("{\"a\":1}"), "a", a, &e), "{}");
	assert_string_equal(exact_without(o, "none", a, &e),
			    "{\"a\": 1.50, \"b\" :{\"x\":1e400} ,\"c\":[]}");
	assert_null(exact_with(read_ok("[]"), "a", "1", a, &e));
	assert_int_equal(e.kind, ERR_PROTOCOL);
	assert_null(exact_with(read_ok("{\"a\":1,\"\\u0061\":2}"), "a", "1", a, &e));
	assert_int_equal(e.kind, ERR_PROTOCOL);
	assert_string_equal(exact_quote("a\"b\n", a), "\"a\\\"b\\n\"");
}

static void white_space_alone_is_no_difference(void **state)
{
	(void)state;
	assert_true(
		exact_same(read_ok("{\"a\": [1, \"x y\"]}"), read_ok(" { \"a\":[1,\"x y\"] }")));
	assert_false(exact_same(read_ok("{\"a\":1.50}"), read_ok("{\"a\":1.5}")));
	assert_false(exact_same(read_ok("\"x y\""), read_ok("\"xy\"")));
	assert_false(exact_same(read_ok("\"x\\\" y\""), read_ok("\"x\\\"y\"")));
	assert_false(exact_same(read_ok("[1]"), read_ok("[1,2]")));
	assert_false(exact_same((struct exact){0}, read_ok("[1]")));
	assert_true(exact_same((struct exact){0}, (struct exact){0}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_json_is_refused),
		cmocka_unit_test(members_are_found_in_place),
		cmocka_unit_test(a_change_leaves_the_rest_letter_for_letter),
		cmocka_unit_test(white_space_alone_is_no_difference),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
