#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/data/json.h"

static json_t *parse(const char *text)
{
	struct err e;
	json_t *j = json_parse(text, strlen(text), &e);

	if (!j)
		fail_msg("%s: %s", text, e.text);
	return j;
}

static void assert_json(const json_t *j, const char *want)
{
	char *text = json_text_sorted(j);

	assert_string_equal(text, want);
	free(text);
}

static void what_is_parsed_is_written_back_compactly(void **state)
{
	static const char *const same[] = {
		"{}",
		"[]",
		"null",
		"true",
		"-7",
		"\"a\"",
		"[1,[2,[3]]]",
		"{\"a\":{\"b\":[\"\\\"}\",1]},\"c\":\"\303\244\"}",
		"9223372036854775807",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		OWN_JSON j = parse(same[i]);
		char *text = json_text(j);

		assert_string_equal(text, same[i]);
		free(text);
	}
}

static void sorted_text_does_not_depend_on_the_order_of_members(void **state)
{
	OWN_JSON j = parse("{\"b\": 1, \"a\": {\"d\": 2, \"c\": 3}}");

	(void)state;
	assert_json(j, "{\"a\":{\"c\":3,\"d\":2},\"b\":1}");
}

static void bad_text_is_refused_with_line_and_column(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"", "line 1, column 0: "},
		{"{\"a\":1,\n \"a\":2}", "line 2, column 4: duplicate object key"},
		{"{} {}", "line 1, column 4: end of file expected"},
		{"[1,\n2", "line 2, column 1: "},
		{"NaN", "line 1, column 3: "},
		{"[\"\xff\"]", "line 1, column "},
		{"[\"\\u0000\"]", "\\u0000 is not allowed"},
		{"9223372036854775808", "too big integer"},
		{"{\"a\" 1}", "':' expected"},
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		OWN_JSON j = json_parse(rows[i].text, strlen(rows[i].text), &e);

		assert_null(j);
		assert_int_equal(e.kind, ERR_PROTOCOL);
		if (!strstr(e.text, rows[i].want))
			fail_msg("%s: got \"%s\"", rows[i].text, e.text);
	}
}

static void a_byte_order_mark_before_the_value_is_ignored(void **state)
{
	struct err e;
	OWN_JSON j = json_parse("\xef\xbb\xbf{\"a\":1}", 10, &e);

	(void)state;
	assert_int_equal(json_int_at(j, "a"), 1);
	/* one byte order mark is ignored, but only one */
	assert_null(json_parse("\xef\xbb\xbf\xef\xbb\xbf{}", 8, &e));
	assert_null(json_parse("\xef\xbb", 2, &e));
	assert_null(json_parse("{\xef\xbb\xbf}", 5, &e));
}

static void depth_is_bounded_at_64_and_brackets_in_strings_do_not_count(void **state)
{
	char text[256];
	struct err e;

	(void)state;
	memset(text, '[', 65);
	memset(text + 65, ']', 65);
	assert_null(json_parse(text, 130, &e));
	assert_non_null(strstr(e.text, "line 1, column 65: JSON of more than 64 levels"));

	OWN_JSON j = json_parse(text + 1, 128, &e);
	assert_non_null(j);

	text[0] = '"';
	memset(text + 1, '[', 100);
	memcpy(text + 101, "\\\"[[", 4);
	text[105] = '"';
	OWN_JSON s = json_parse(text, 106, &e);
	assert_int_equal(json_string_length(s), 103);
}

/* Each value has three bytes of text but would use 220 bytes of memory. */
static void very_many_values_are_refused_before_they_are_built(void **state)
{
	const size_t n = JSON_VALUES_MAX + 1;
	char *text = malloc(3 * n + 2);
	struct err e;

	(void)state;
	text[0] = '[';
	for (size_t i = 0; i < n; i++)
		memcpy(text + 1 + 3 * i, "{},", 3);
	text[3 * n] = ']';
	assert_null(json_parse(text, 3 * n + 1, &e));
	assert_int_equal(e.kind, ERR_PROTOCOL);
	assert_non_null(strstr(e.text, "JSON of more than 500000 values"));
	free(text);

	OWN_JSON three = json_parse_most("[1,\",,,,\"]", 10, 3, &e);
	assert_non_null(three);
	assert_null(json_parse_most("[1,2,3]", 7, 3, &e));
}

static void members_are_found_by_path_and_anything_missing_on_the_way_is_null(void **state)
{
	OWN_JSON j = parse("{\"status\":{\"power\":{\"state\":\"On\",\"watts\":7,\"ok\":true}}}");

	(void)state;
	assert_string_equal(json_str_at(j, "status", "power", "state"), "On");
	assert_int_equal(json_int_at(j, "status", "power", "watts"), 7);
	assert_true(json_true_at(j, "status", "power", "ok"));
	assert_null(json_at(j, "status", "fan", "state"));
	assert_null(json_at(j, "status", "power", "state", "deeper"));
	assert_null(json_str_at(j, "status", "power", "watts"));
	assert_null(json_str_at(NULL, "status"));
	assert_ptr_equal(json_at(j, "status"), json_object_get(j, "status"));
}

/* The examples of RFC 7386, appendix A: target, patch, result. */
static void merge_patches_apply_as_in_the_rfc(void **state)
{
	static const char *const rows[][3] = {
		{"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
		{"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
		{"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
		{"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
		{"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
		{"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
		{"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}",
		 "{\"a\":{\"b\":\"d\"}}"},
		{"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
		{"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
		{"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
		{"{\"a\":\"foo\"}", "null", "null"},
		{"{\"a\":\"foo\"}", "\"bar\"", "\"bar\""},
		{"{\"e\":null}", "{\"a\":1}", "{\"a\":1,\"e\":null}"},
		{"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
		{"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		OWN_JSON to = parse(rows[i][0]);
		OWN_JSON patch = parse(rows[i][1]);
		OWN_JSON out = json_merge_apply(to, patch);

		assert_json(out, rows[i][2]);
		assert_json(to, rows[i][0]);
	}
}

static void a_diff_says_only_what_changed_and_applying_it_gives_the_new_value(void **state)
{
	static const char *const rows[][3] = {
		{"{\"a\":1}", "{\"a\":1}", "{}"},
		{"{}", "{\"a\":{}}", "{\"a\":{}}"},
		{"{\"a\":1,\"b\":{\"c\":1,\"d\":[1]}}", "{\"a\":1,\"b\":{\"c\":2,\"d\":[1]}}",
		 "{\"b\":{\"c\":2}}"},
		{"{\"a\":1,\"b\":{\"c\":1}}", "{\"b\":{}}", "{\"a\":null,\"b\":{\"c\":null}}"},
		{"{\"a\":{\"b\":1}}", "{\"a\":5}", "{\"a\":5}"},
		{"{\"a\":5}", "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}"},
		{"{\"a\":[1,2]}", "{\"a\":[1]}", "{\"a\":[1]}"},
		{"{\"a\":[1,2]}", "{\"a\":{}}", "{\"a\":{}}"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		OWN_JSON from = parse(rows[i][0]);
		OWN_JSON to = parse(rows[i][1]);
		OWN_JSON patch = json_merge_diff(from, to);
		OWN_JSON out = json_merge_apply(from, patch);

		assert_json(patch, rows[i][2]);
		assert_json(out, rows[i][1]);
	}
}

static void null_in_a_diff_means_absent_on_both_sides(void **state)
{
	OWN_JSON from = parse("{\"a\":null,\"b\":1}");
	OWN_JSON to = parse("{\"b\":null,\"c\":null}");
	OWN_JSON patch = json_merge_diff(from, to);

	(void)state;
	assert_json(patch, "{\"b\":null}");
}

static int by_number(const void *a, const void *b)
{
	return (int)(json_integer_value(*(json_t *const *)a) -
		     json_integer_value(*(json_t *const *)b));
}

static void arrays_are_sorted(void **state)
{
	json_t *list = parse("[3,1,2]"), *none = json_array();

	(void)state;
	json_sort(&list, by_number);
	assert_json(list, "[1,2,3]");
	json_sort(&none, by_number);
	assert_json(none, "[]");
	json_decref(list);
	json_decref(none);
}

static void a_text_is_found_in_an_array(void **state)
{
	OWN_JSON j = parse("[7, null, [\"b\"], \"a\"]");
	OWN_JSON o = parse("{\"a\": \"a\"}");

	(void)state;
	assert_true(json_has_str(j, "a"));
	assert_false(json_has_str(j, "b"));
	assert_false(json_has_str(j, ""));
	assert_false(json_has_str(o, "a"));
	assert_false(json_has_str(json_object_get(o, "a"), "a"));
	assert_false(json_has_str(NULL, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_parsed_is_written_back_compactly),
		cmocka_unit_test(sorted_text_does_not_depend_on_the_order_of_members),
		cmocka_unit_test(bad_text_is_refused_with_line_and_column),
		cmocka_unit_test(a_byte_order_mark_before_the_value_is_ignored),
		cmocka_unit_test(depth_is_bounded_at_64_and_brackets_in_strings_do_not_count),
		cmocka_unit_test(very_many_values_are_refused_before_they_are_built),
		cmocka_unit_test(members_are_found_by_path_and_anything_missing_on_the_way_is_null),
		cmocka_unit_test(merge_patches_apply_as_in_the_rfc),
		cmocka_unit_test(a_diff_says_only_what_changed_and_applying_it_gives_the_new_value),
		cmocka_unit_test(null_in_a_diff_means_absent_on_both_sides),
		cmocka_unit_test(arrays_are_sorted),
		cmocka_unit_test(a_text_is_found_in_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
