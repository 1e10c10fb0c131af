#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/yaml.h"

static void assert_yaml(const char *text, const char *want)
{
	struct err e;
	OWN_JSON j = yaml_parse(text, strlen(text), &e);
	char *got;

	if (!j)
		fail_msg("%s: %s", text, e.text);
	got = json_text(j);
	assert_string_equal(got, want);
	free(got);
}

static void assert_wrong(const char *text, const char *want)
{
	struct err e;
	OWN_JSON j = yaml_parse(text, strlen(text), &e);

	if (j)
		fail_msg("accepted: %s", text);
	assert_int_equal(e.kind, ERR_INVALID);
	if (!strstr(e.text, want))
		fail_msg("%s: want \"%s\", got \"%s\"", text, want, e.text);
}

static void mappings_sequences_and_scalars_become_json(void **state)
{
	(void)state;
	assert_yaml("a: 1\nb:\n- x\n- {y: [1, 2]}\nc:\n  d: |\n    two\n    lines\n",
		    "{\"a\":1,\"b\":[\"x\",{\"y\":[1,2]}],\"c\":{\"d\":\"two\\nlines\\n\"}}");
	assert_yaml("- # comment\n- 'it''s'\n- \"\\u00e4\\n\"\n",
		    "[null,\"it's\",\"\303\244\\n\"]");
	assert_yaml("---\na: {}\n...\n", "{\"a\":{}}");
	assert_yaml("{\"json\": [1, true, null]}", "{\"json\":[1,true,null]}");
}

static void plain_scalars_follow_the_core_schema_and_quoted_ones_are_text(void **state)
{
	(void)state;
	assert_yaml("[~, null, NULL, true, False, yes, No, on, 'true', \"7\", nuLL]",
		    "[null,null,null,true,false,\"yes\",\"No\",\"on\",\"true\",\"7\",\"nuLL\"]");
	assert_yaml("[0, -7, +7, 007, 0o17, 0x1F, 9223372036854775807, 1_000, 0b1, 0o8, 0x, -]",
		    "[0,-7,7,7,15,31,9223372036854775807,\"1_000\",\"0b1\",\"0o8\",\"0x\",\"-\"]");
	assert_yaml("[1.5, -.5, 5., 1e3, 1.25E-2, 1e, ., 1.2.3, e1]",
		    "[1.5,-0.5,5.0,1000.0,0.012500000000000001,\"1e\",\".\",\"1.2.3\",\"e1\"]");
	assert_yaml("[1.36.3, 10.0.0.1, 2026-12-01, 1h30m, b8:ce:f6:01:02:03, 64Gi]",
		    "[\"1.36.3\",\"10.0.0.1\",\"2026-12-01\",\"1h30m\","
		    "\"b8:ce:f6:01:02:03\",\"64Gi\"]");
	assert_yaml("1: a\ntrue: b\n~: c\n", "{\"1\":\"a\",\"true\":\"b\",\"~\":\"c\"}");
}

static void what_is_not_plain_data_is_refused_with_line_and_column(void **state)
{
	(void)state;
	assert_wrong("- *x\n", "line 1, column 3: an alias of no anchor before it");
	assert_wrong("a: &x [*x]\n", "an alias of no anchor before it");
	assert_wrong("*x : 1\n", "a key must not be an alias");
	assert_wrong("&x a: 1\n", "a key must not have an anchor");
	assert_wrong("a: !!str 1\n", "line 1, column 4: tags are not allowed");
	assert_wrong("a: !x [1]\n", "tags are not allowed");
	assert_wrong("a:\n  <<: 1\n", "a merge key wants a mapping, or a list of them");
	assert_wrong("a:\n  <<: {}\n  <<: {}\n", "line 3, column 3: key << is there twice");
	assert_wrong("a: 1\nb: 2\na: 3\n", "line 3, column 1: key a is there twice");
	assert_wrong("? [1]\n: 2\n", "a key must be text");
	assert_wrong("a: .inf\n", "number that JSON does not have");
	assert_wrong("a: 1e999\n", "number that JSON does not have");
	assert_wrong("a: 99999999999999999999\n", "line 1, column 4: number out of range");
	assert_wrong("a: \"\\0\"\n", "text must not hold a NUL");
	assert_wrong("\"a\\0b\": 1\n", "text must not hold a NUL");
	assert_wrong("a: [1\nb: 2\n", "line 2, column ");
	assert_wrong("a: \"\xff\"\n", "line ");
	assert_wrong("\ta: 1\n", "line 1: indented with a tab: YAML wants spaces");
	assert_wrong("a:\n  b: 1\r\n  \tc: 2\n", "line 3: indented with a tab");
	assert_wrong("a: 1\n---\nb: 2\n", "want one YAML document, got 2");
	assert_wrong("# nothing\n", "want one YAML document, got 0");
}

static void files_that_other_programs_wrote_are_read(void **state)
{
	static const char utf16[] = "\xff\xfe"
				    "a\0:\0 \0\xe4\0\r\0\n";
	struct err e;

	(void)state;
	assert_yaml("\xef\xbb\xbf"
		    "a: 1\r\nb: |\r\n  c\r\n  z\r\n",
		    "{\"a\":1,\"b\":\"c\\nz\\n\"}");
	assert_yaml("# x\n---\n# y\n---\na: 1\n---\n", "{\"a\":1}");
	assert_yaml("---\n---\na: 1\n...\n---\n# z", "{\"a\":1}");
	assert_yaml("---\n# nothing\n---\n", "null");
	OWN_JSON j = yaml_parse(utf16, sizeof(utf16), &e);
	assert_non_null(j);
	assert_string_equal(json_string_value(json_object_get(j, "a")), "\xc3\xa4");
}

static void aliases_and_merge_keys_are_copies(void **state)
{
	(void)state;
	assert_yaml("a: &x {b: 1}\nc: *x\nz: [*x, &y 2, *y]\n",
		    "{\"a\":{\"b\":1},\"c\":{\"b\":1},\"z\":[{\"b\":1},2,2]}");
	assert_yaml("a: &x 1\nb: &x 2\nc: *x\n", "{\"a\":1,\"b\":2,\"c\":2}");
	assert_yaml("base: &b {image: i, cpu: 1}\none:\n  cpu: 2\n  <<: *b\n  gpu: 3\n",
		    "{\"base\":{\"image\":\"i\",\"cpu\":1},"
		    "\"one\":{\"cpu\":2,\"gpu\":3,\"image\":\"i\"}}");
	assert_yaml("- &p {a: 1, b: 1}\n- &q {b: 2, c: 2}\n- <<: [*p, *q]\n",
		    "[{\"a\":1,\"b\":1},{\"b\":2,\"c\":2},{\"a\":1,\"b\":1,\"c\":2}]");
	assert_yaml("\"<<\": 1\n", "{\"<<\":1}");
	assert_wrong("a: &x 1\n---\nb: *x\n", "line 3, column 4: an alias of no anchor before it");
}

static void what_aliases_stand_for_is_bounded(void **state)
{
	char text[4096] = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n", *big;
	struct err e;

	(void)state;
	for (int i = 1; i < 9; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i,
			 i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
	assert_wrong(text, "aliases stand for too many values");
	assert_null(yaml_parse_all(text, strlen(text), &e));
	strcpy(text, "a: &a [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n"
		     "b: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[*a]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n");
	assert_wrong(text, "line 2, column 38: deeper than 64 levels");
	big = calloc(1, 2000000 + 64);
	memcpy(big, "- &a ", 5);
	memset(big + 5, 'x', 2000000);
	strcat(big, "\n- *a\n- *a\n");
	OWN_JSON j = yaml_parse(big, strlen(big), &e);
	assert_non_null(j);
	strcat(big, "- *a\n");
	assert_wrong(big, "line 4, column 3: aliases stand for too many values");
	free(big);
}

static void depth_is_bounded_at_64(void **state)
{
	char text[200];
	struct err e;

	(void)state;
	memset(text, '[', 65);
	memset(text + 65, ']', 65);
	text[130] = '\0';
	assert_wrong(text, "line 1, column 65: deeper than 64 levels");
	OWN_JSON j = yaml_parse(text + 1, 128, &e);
	assert_non_null(j);
}

static void very_many_values_are_refused(void **state)
{
	const size_t n = JSON_VALUES_MAX + 1;
	char *text = malloc(2 * n + 2);
	struct err e;

	(void)state;
	text[0] = '[';
	for (size_t i = 0; i < n; i++)
		memcpy(text + 1 + 2 * i, "1,", 2);
	text[2 * n] = ']';
	assert_null(yaml_parse(text, 2 * n + 1, &e));
	assert_non_null(strstr(e.text, "more than 500000 values"));

	OWN_JSON all = yaml_parse_all(text, 2 * n + 1, &e);
	assert_non_null(all);
	free(text);
}

static void a_stream_gives_one_element_a_document(void **state)
{
	static const char text[] = "a: 1\n---\n---\n- 2\n";
	struct err e;
	OWN_JSON j = yaml_parse_all(text, strlen(text), &e);
	char *got = json_text(j);

	(void)state;
	assert_string_equal(got, "[{\"a\":1},null,[2]]");
	free(got);
	OWN_JSON none = yaml_parse_all("", 0, &e);
	assert_int_equal(json_array_size(none), 0);
}

static void assert_printed(const char *json, const char *want)
{
	struct err e;
	OWN_JSON j = json_parse(json, strlen(json), &e);
	struct buf b;

	buf_init(&b, 4096);
	yaml_print(j, &b);
	assert_string_equal(b.data, want);
	OWN_JSON back = yaml_parse(b.data, b.len, &e);
	assert_true(json_equal(j, back));
	buf_done(&b);
}

static void printed_yaml_reads_well_and_back_to_the_same_value(void **state)
{
	(void)state;
	assert_printed("{\"kind\":\"A\",\"spec\":{\"count\":1,\"list\":[\"x\","
		       "{\"a\":1,\"b\":[true]},[1,[2]],{}],\"none\":[]},\"z\":null}",
		       "kind: A\nspec:\n  count: 1\n  list:\n  - x\n  - a: 1\n    b:\n    - true\n"
		       "  -\n    - 1\n    -\n      - 2\n"
		       "  - {}\n  none: []\nz: null\n");
	assert_printed("\"a\"", "a\n");
	/* YAML treats NEL, line separator, DEL and the byte order mark as line breaks or drops
	 * them. */
	assert_printed("\"\xc2\x85U\xe2\x80\xa8\x7f\xef\xbb\xbf\"",
		       "\"\\u0085U\\u2028\\u007f\\ufeff\"\n");
	assert_printed("[]", "[]\n");
}

static void text_that_might_be_taken_for_something_else_is_quoted(void **state)
{
	(void)state;
	assert_printed("[\"yes\",\"On\",\"null\",\"1\",\"\",\"a: b\",\"a #b\",\"- a\",\"a \","
		       "\" a\",\"a\\nb\",\"{a}\",\"*a\",\".5\"]",
		       "- \"yes\"\n- \"On\"\n- \"null\"\n- \"1\"\n- \"\"\n- \"a: b\"\n- \"a #b\"\n"
		       "- \"- a\"\n- \"a \"\n- \" a\"\n"
		       "- \"a\\nb\"\n- \"{a}\"\n- \"*a\"\n- \".5\"\n");
	assert_printed("{\"nvidia.com/gpu\":\"at most 5, so far\",\"no\":1}",
		       "nvidia.com/gpu: at most 5, so far\n\"no\": 1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_sequences_and_scalars_become_json),
		cmocka_unit_test(plain_scalars_follow_the_core_schema_and_quoted_ones_are_text),
		cmocka_unit_test(what_is_not_plain_data_is_refused_with_line_and_column),
		cmocka_unit_test(files_that_other_programs_wrote_are_read),
		cmocka_unit_test(aliases_and_merge_keys_are_copies),
		cmocka_unit_test(what_aliases_stand_for_is_bounded),
		cmocka_unit_test(depth_is_bounded_at_64),
		cmocka_unit_test(very_many_values_are_refused),
		cmocka_unit_test(a_stream_gives_one_element_a_document),
		cmocka_unit_test(printed_yaml_reads_well_and_back_to_the_same_value),
		cmocka_unit_test(text_that_might_be_taken_for_something_else_is_quoted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
