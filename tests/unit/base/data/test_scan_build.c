/* test_scan_build: tests which values are built, within which limits, and their digests. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/buf.h"
#include "base/data/scan_build.h"

static const struct scan_want deep[] = {SCAN_PLAIN("a"), SCAN_ALL("b", 0), SCAN_END};
static const struct scan_want rest[] = {SCAN_DROP("a"), SCAN_SOME("c", deep), SCAN_REST};
static const struct scan_want bound[] = {SCAN_ALL("a", 200), SCAN_SOME_OF("b", deep, 150),
					 SCAN_PLAIN("c"), SCAN_END};
static const struct scan_want none[] = {SCAN_END};
static const struct scan_want mixed[] = {SCAN_SOME("a", deep),	SCAN_SOME("b", rest),
					 SCAN_SOME("c", bound), SCAN_SOME("\xc3\xa9", none),
					 SCAN_ALL("", 0),	SCAN_END};

/* --- selection of members --------------------------------------------------------------------- */

static json_t *scan_text(const char *text, const struct scan_want *want)
{
	struct err e;
	json_t *j = scan_parse(text, strlen(text), want, &e);

	if (!j)
		fail_msg("%s: %s", text, e.text);
	return j;
}

static void assert_kept(const char *text, const struct scan_want *want, const char *kept)
{
	OWN_JSON j = scan_text(text, want);
	char *out = json_text(j);

	assert_string_equal(out, kept);
	free(out);
}

static void only_what_is_wanted_is_kept(void **state)
{
	(void)state;
	assert_kept("{\"x\":{\"a\":1},\"a\":{\"a\":1,\"b\":[{\"z\":1}],\"x\":[1]},"
		    "\"b\":{\"a\":1,\"q\":2}}",
		    mixed, "{\"a\":{\"a\":1,\"b\":[{\"z\":1}]},\"b\":{\"q\":2}}");
	/* The table of a member applies to each object in an array, at every depth. */
	assert_kept("{\"a\":[{\"a\":1,\"x\":2},7,[{\"a\":3,\"y\":4}]]}", mixed,
		    "{\"a\":[{\"a\":1},7,[{\"a\":3}]]}");
	/* If the table wants a plain value but the text has an array or object, an empty one is
	 * built. */
	assert_kept("{\"a\":[1,{}],\"b\":2}", deep, "{\"a\":[],\"b\":2}");
	assert_kept("{\"a\":{\"a\":1}}", deep, "{\"a\":{}}");
	/* Escapes in a name make no difference. */
	assert_kept("{\"\\u0061\":1,\"\\u00e9\":{\"a\":1}}", mixed, "{\"a\":1,\"\xc3\xa9\":{}}");
	assert_kept("[1,\"a\",{\"a\":2,\"d\":3}]", deep, "[1,\"a\",{\"a\":2}]");
	assert_kept("7", deep, "7");
}

/* --- limits ----------------------------------------------------------------------------------- */

static void a_member_is_kept_up_to_its_bound_and_then_weighs_as_much(void **state)
{
	const json_t *a;
	struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 1u << 22);
	buf_puts(&b, "{\"a\":{");
	for (unsigned i = 0; i < 100000; i++)
		buf_printf(&b, "\"k%u\":[],", i);
	buf_puts(&b, "\"z\":1},\"c\":\"kept\"}");
	OWN_JSON j = scan_parse(b.data, b.len, bound, &e);

	assert_non_null(j);
	a = json_object_get(j, "a");
	assert_in_range(scan_weight(a), 200, 200 + SCAN_VALUE_BYTES + 8);
	assert_in_range(json_object_size(a), 4, 6);
	assert_string_equal(json_str_at(j, "c"), "kept");
	buf_done(&b);
}

static void a_bound_ends_with_its_member(void **state)
{
	(void)state;
	/* The limit is on the weight of an array "b": 32 (SCAN_VALUE_BYTES) for the array itself,
	 * 33 for each one-digit number. The element with which the weight reaches the limit is
	 * built, later ones are not. The next array has a limit of its own. */
	assert_kept("[{\"b\":[1,2,3,4,5]},{\"b\":[1,2,3,4,5]}]", bound,
		    "[{\"b\":[1,2,3,4]},{\"b\":[1,2,3,4]}]");
}

static int keep_one(json_t *value, void *arg, struct err *e)
{
	(void)e;
	json_decref(*(json_t **)arg);
	*(json_t **)arg = json_incref(value);
	return 0;
}

static void a_bound_on_the_whole_document_holds(void **state)
{
	static const struct scan_ops ops = {.on_value = keep_one};
	static const char line[] = "{\"a\":1,\"b\":[1,2,3],\"c\":{}}\n";
	struct err e;
	OWN_JSON kept = NULL;
	OWN(scan)
	s = scan_new(&(struct scan_spec){.want = scan_all,
					 .lines = true,
					 .max_bytes = 64,
					 .most = 100,
					 .ops = &ops,
					 .arg = &kept});

	(void)state;
	for (int i = 0; i < 2; i++) {
		char *text;

		assert_ok(scan_feed(s, line, strlen(line), &e), &e);
		text = json_text(kept);
		assert_string_equal(text, "{\"a\":1,\"b\":[1]}");
		free(text);
		assert_in_range(scan_weight(kept), 100, 150);
	}
}

static void a_weight_counts_strings_and_values(void **state)
{
	OWN_JSON o = json_pack("{s:s, s:[i, n]}", "ab", "xyz", "c", 1);

	(void)state;
	assert_int_equal(scan_weight(NULL), 32);
	assert_int_equal(scan_weight(o), 5 * 32 + 2 + 3 + 1);
}

/* --- digests ---------------------------------------------------------------------------------- */

/* Reports {"a": {"a": number, "b": [true]}, "x": "text"} and returns the digest. x is not wanted.
 * The value is built unless this is a dry run. */
static uint64_t digest_of(bool dry, json_int_t number, const char *text, json_t **built)
{
	static const struct scan_want want[] = {SCAN_SOME("a", deep), SCAN_END};
	const struct scan_number n = {.i = number};
	char digits[24];
	struct scan_build b;
	uint64_t digest;

	(void)snprintf(digits, sizeof(digits), "%lld", (long long)number);
	scan_build_init(&b, true);
	scan_build_start(&b, want, 0);
	b.dry = dry;
	scan_build_value_begins(&b);
	(void)scan_build_open(&b, false);
	scan_build_name(&b, "a", 1);
	scan_build_value_begins(&b);
	(void)scan_build_open(&b, false);
	scan_build_name(&b, "a", 1);
	scan_build_value_begins(&b);
	scan_build_number(&b, digits, strlen(digits), &n);
	scan_build_name(&b, "b", 1);
	scan_build_value_begins(&b);
	assert_true(scan_build_open(&b, true)->kept);
	scan_build_value_begins(&b);
	scan_build_word(&b, "true", 4, json_true());
	scan_build_next(&b);
	scan_build_close(&b);
	scan_build_close(&b);
	scan_build_name(&b, "x", 1);
	scan_build_value_begins(&b);
	scan_build_string(&b, text, strlen(text));
	assert_false(scan_build_at_base(&b));
	scan_build_close(&b);
	assert_true(scan_build_at_base(&b));
	digest = scan_build_digest(&b);
	*built = b.root;
	b.root = NULL;
	scan_build_done(&b);
	return digest;
}

static void a_dry_run_has_the_digest_of_what_would_be_built(void **state)
{
	json_t *built, *other, *nothing;
	const uint64_t digest = digest_of(false, 7, "one", &built);
	char *text = json_text(built);

	(void)state;
	assert_string_equal(text, "{\"a\":{\"a\":7,\"b\":[true]}}");
	free(text);
	assert_true(digest_of(true, 7, "one", &nothing) == digest);
	assert_null(nothing);
	assert_true(digest_of(true, 7, "another", &nothing) == digest);
	assert_true(digest_of(false, 8, "one", &other) != digest);
	json_decref(built);
	json_decref(other);
}

static void an_element_is_built_alone(void **state)
{
	static const struct scan_want want[] = {SCAN_EACH("items", deep), SCAN_END};
	struct scan_build b;

	(void)state;
	scan_build_init(&b, false);
	scan_build_start(&b, want, 0);
	scan_build_value_begins(&b);
	(void)scan_build_open(&b, false);
	scan_build_name(&b, "items", 5);
	assert_true(b.handling.each);
	scan_build_value_begins(&b);
	(void)scan_build_open(&b, true);
	assert_true(scan_build_at_element(&b));
	scan_build_element_begins(&b);
	assert_false(scan_build_at_element(&b));
	scan_build_value_begins(&b);
	scan_build_string(&b, "one", 3);
	assert_true(scan_build_at_base(&b));
	scan_build_element_ends(&b);
	assert_string_equal(json_string_value(b.element), "one");
	scan_build_close(&b);
	scan_build_close(&b);
	assert_int_equal(json_object_size(b.root), 0);
	scan_build_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_is_wanted_is_kept),
		cmocka_unit_test(a_member_is_kept_up_to_its_bound_and_then_weighs_as_much),
		cmocka_unit_test(a_bound_ends_with_its_member),
		cmocka_unit_test(a_bound_on_the_whole_document_holds),
		cmocka_unit_test(a_weight_counts_strings_and_values),
		cmocka_unit_test(a_dry_run_has_the_digest_of_what_would_be_built),
		cmocka_unit_test(an_element_is_built_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
