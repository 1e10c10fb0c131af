#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/data/fields.h"
#include "base/str.h"

struct part {
	const char *name;
	int64_t count;
	bool on;
};
struct inner {
	const char *a;
	int64_t b;
};
struct whole {
	const char *str, *limited, *label, *digest;
	bool flag, on_by_default;
	int64_t nodes, at_least, plain, fifty;
	int color, shade;
	struct quantity q;
	int64_t wait, grace, forever;
	int64_t when;
	struct labels map;
	struct resources res, counts;
	struct strings strs, colors;
	struct ints ints;
	struct inner in;
	struct inner *ptr;
	struct {
		struct part *v;
		size_t n;
	} parts;
	const char *any;
	struct {
		int64_t deep;
	} anon;
};

static const char *const color_names[] = {"Red", "Green", "Blue", NULL};
static const char *const shade_names[] = {"", "Dark", "Light", NULL};

static const struct field part_fields[] = {
	FIELD(part, name, "name", FIELD_STR, .required = true),
	FIELD(part, count, "count", FIELD_I64, .min = 1, .max = 9, .def = "3"),
	FIELD(part, on, "on", FIELD_BOOL),
	FIELDS_END,
};
static const struct field inner_fields[] = {
	FIELD(inner, a, "a", FIELD_STR, .def = "\"x\""),
	FIELD(inner, b, "b", FIELD_I64, .required = true),
	FIELDS_END,
};
static const struct field anon_fields[] = {
	FIELD_IN(whole, anon, deep, "deep", FIELD_I64, .max = 5),
	FIELDS_END,
};
static const struct field whole_fields[] = {
	FIELD(whole, str, "str", FIELD_STR, .doc = "Any | text."),
	FIELD(whole, limited, "limited", FIELD_STR, .max_len = 4),
	FIELD(whole, label, "label", FIELD_STR, .pattern = "unused", .valid = str_is_dns_label,
	      .want = "a DNS label"),
	FIELD(whole, digest, "digest", FIELD_STR, .pattern = "^sha256:[0-9a-f]{4}$"),
	FIELD(whole, flag, "flag", FIELD_BOOL),
	FIELD(whole, on_by_default, "onByDefault", FIELD_BOOL, .def = "true"),
	FIELD(whole, nodes, "nodes", FIELD_I64, .min = 0, .max = 100000),
	FIELD(whole, at_least, "atLeast", FIELD_I64, .min = 2),
	FIELD(whole, plain, "plain", FIELD_I64),
	FIELD(whole, fifty, "fifty", FIELD_I64, .def = "50", .immutable = true),
	FIELD(whole, color, "color", FIELD_ENUM, .enums = color_names),
	FIELD(whole, shade, "shade", FIELD_ENUM, .enums = shade_names, .def = "\"Light\""),
	FIELD(whole, q, "q", FIELD_QUANTITY),
	FIELD(whole, wait, "wait", FIELD_DURATION, .min = 60000, .max = 3600000),
	FIELD(whole, grace, "grace", FIELD_DURATION),
	FIELD(whole, forever, "forever", FIELD_DURATION, .never = true, .def = "\"Never\""),
	FIELD(whole, when, "when", FIELD_TIME),
	FIELD(whole, map, "map", FIELD_MAP, .max_items = 3, .max_len = 5),
	FIELD(whole, res, "res", FIELD_RESOURCES),
	FIELD(whole, counts, "counts", FIELD_RESOURCES, .whole = true),
	FIELD(whole, strs, "strs", FIELD_STRINGS, .max_items = 2),
	FIELD(whole, colors, "colors", FIELD_STRINGS, .enums = color_names),
	FIELD(whole, ints, "ints", FIELD_INTS, .min = 0, .max = 255),
	FIELD_OBJ(whole, in, "in", inner_fields),
	FIELD_PTR(whole, ptr, "ptr", inner_fields),
	FIELD_ITEMS(whole, parts, "parts", part_fields, .max_items = 3, .list_key = "name"),
	FIELD(whole, any, "any", FIELD_ANY, .max_len = 20),
	FIELD_OBJ(whole, anon, "anon", anon_fields),
	FIELDS_END,
};

static const struct field_rule strict_rules[] = {
	{"self.a < self.b", "a must be below b"},
	{NULL, NULL},
};
static const struct field strict_fields[] = {
	FIELD(inner, a, "a", FIELD_STR, .required = true, .rules = strict_rules),
	FIELD(inner, b, "b", FIELD_I64, .required = true),
	FIELDS_END,
};

static json_t *parse(const char *text)
{
	struct err e;
	json_t *j = json_parse(text, strlen(text), &e);

	if (!j)
		fail_msg("%s: %s", text, e.text);
	return j;
}

static int decode(const char *text, struct whole *w, struct arena *a, struct err *e)
{
	OWN_JSON j = parse(text);

	memset(w, 0, sizeof(*w));
	return fields_decode(whole_fields, j, "spec", w, a, e);
}

static void assert_json(const json_t *j, const char *want)
{
	OWN_JSON w = parse(want);
	char *got = json_text_sorted(j), *expected = json_text_sorted(w);

	assert_string_equal(got, expected);
	free(got);
	free(expected);
}

static const char full[] =
	"{\"str\":\"a b\",\"limited\":\"abcd\",\"label\":\"gpu-1\","
	"\"digest\":\"sha256:00ff\",\"flag\":true,"
	"\"onByDefault\":false,\"nodes\":7,\"atLeast\":2,\"plain\":-9,\"fifty\":0,"
	"\"color\":\"Blue\",\"shade\":\"Dark\","
	"\"q\":\"500m\",\"wait\":\"1m\",\"grace\":\"1h30m\",\"forever\":\"2s\","
	"\"when\":\"2026-12-01T10:20:00Z\","
	"\"map\":{\"b\":\"2\",\"a\":\"\"},\"res\":{\"nvidia.com/gpu\":\"8\",\"cpu\":\"500m\"},"
	"\"counts\":{\"free\":11},"
	"\"strs\":[\"x\",\"y\"],\"colors\":[\"Red\"],\"ints\":[0,255],\"in\":{\"a\":\"y\",\"b\":0},"
	"\"ptr\":{\"a\":\"x\",\"b\":5},\"parts\":[{\"name\":\"p\",\"count\":9,\"on\":true},"
	"{\"name\":\"q\",\"count\":3}],"
	"\"any\":{\"k\":[1,null]},\"anon\":{\"deep\":4}}";

static void every_type_is_decoded(void **state)
{
	OWN(arena) a = arena_new();
	struct whole w;
	struct err e;

	(void)state;
	assert_ok(decode(full, &w, a, &e), &e);
	assert_string_equal(w.str, "a b");
	assert_string_equal(w.label, "gpu-1");
	assert_true(w.flag);
	assert_false(w.on_by_default);
	assert_int_equal(w.nodes, 7);
	assert_int_equal(w.plain, -9);
	assert_int_equal(w.fifty, 0);
	assert_int_equal(w.color, 2);
	assert_int_equal(w.shade, 1);
	assert_int_equal(quantity_milli_ceil(w.q), 500);
	assert_int_equal(w.wait, 60000);
	assert_int_equal(w.grace, 5400000);
	assert_int_equal(w.forever, 2000);
	assert_int_equal(w.when, 1796120400000);
	assert_int_equal(w.map.n, 2);
	assert_string_equal(w.map.v[0].key, "a"); /* the map is sorted by key */
	assert_string_equal(labels_get(&w.map, "b"), "2");
	assert_string_equal(w.res.v[0].name, "cpu");
	assert_int_equal(quantity_floor(*resources_get(&w.res, "nvidia.com/gpu")), 8);
	assert_int_equal(quantity_floor(*resources_get(&w.counts, "free")), 11);
	assert_int_equal(w.strs.n, 2);
	assert_string_equal(w.strs.v[1], "y");
	assert_string_equal(w.colors.v[0], "Red");
	assert_int_equal(w.ints.v[1], 255);
	assert_string_equal(w.in.a, "y");
	assert_int_equal(w.ptr->b, 5);
	assert_int_equal(w.parts.n, 2);
	assert_string_equal(w.parts.v[1].name, "q");
	assert_int_equal(w.parts.v[1].count, 3);
	assert_string_equal(w.any, "{\"k\":[1,null]}");
	assert_int_equal(w.anon.deep, 4);
}

static void what_was_decoded_is_encoded_to_the_same_json(void **state)
{
	OWN(arena) a = arena_new();
	struct whole w;
	struct err e;

	(void)state;
	assert_ok(decode(full, &w, a, &e), &e);
	OWN_JSON j = fields_encode(whole_fields, &w);
	assert_json(j, full);
}

static void absent_and_null_leave_the_default_or_zero(void **state)
{
	static const char *const texts[] = {
		"{}",
		"null",
		("{\"str\":null,\"fifty\":null,\"color\":null,\"in\":null,\"ptr\":null,"
		 "\"parts\":null,\"onByDefault\":null}"),
	};
	OWN(arena) a = arena_new();
	struct whole w;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_ok(decode(texts[i], &w, a, &e), &e);
		assert_null(w.str);
		assert_true(w.on_by_default);
		assert_int_equal(w.fifty, 50);
		assert_int_equal(w.color, -1);
		assert_int_equal(w.shade, 2);
		assert_int_equal(w.forever, -1);
		/* Object `in` is absent. Its member a has its default, and its required member b is
		 * not reported as missing. */
		assert_string_equal(w.in.a, "x");
		assert_null(w.ptr);
		assert_int_equal(w.parts.n, 0);

		OWN_JSON j = fields_encode(whole_fields, &w);
		assert_json(j, "{\"onByDefault\":true,\"fifty\":50,\"shade\":\"Light\","
			       "\"forever\":\"Never\"}");
	}
}

static void defaults_are_what_decoding_nothing_gives_and_ask_for_nothing(void **state)
{
	OWN(arena) a = arena_new();
	struct inner in = {0};
	struct whole w = {0};

	(void)state;
	fields_defaults(strict_fields, &in, a);
	assert_null(in.a);
	fields_defaults(whole_fields, &w, a);
	assert_int_equal(w.color, -1);
	assert_int_equal(w.fifty, 50);
}

static void errors_name_the_field_what_is_wanted_and_what_came(void **state)
{
	static const struct {
		const char *json, *want;
	} rows[] = {
		{"{\"nodes\":-3}", "spec.nodes: want 0 to 100000, got -3"},
		{"{\"nodes\":\"100001\"}", "spec.nodes: want 0 to 100000, got \"100001\""},
		{"{\"nodes\":1.5}", "spec.nodes: want 0 to 100000, got 1.5"},
		{"{\"nodes\":[]}", "spec.nodes: want 0 to 100000, got a list"},
		{"{\"atLeast\":1}", "spec.atLeast: want a whole number of at least 2, got 1"},
		{"{\"plain\":\"a\"}", "spec.plain: want a whole number, got \"a\""},
		{"{\"str\":7}", "spec.str: want text, in quotes, got 7"},
		{"{\"limited\":\"abcde\"}", "spec.limited: want at most 4 bytes, got 5"},
		{"{\"label\":\"A\"}", "spec.label: want a DNS label, got \"A\""},
		{"{\"digest\":\"md5:1\"}",
		 "spec.digest: want text that matches ^sha256:[0-9a-f]{4}$, got \"md5:1\""},
		{"{\"flag\":\"true\"}", "spec.flag: want true or false, got \"true\""},
		{"{\"color\":\"Pink\"}", "spec.color: want Red, Green or Blue, got \"Pink\""},
		{"{\"color\":1}", "spec.color: want Red, Green or Blue, got 1"},
		{"{\"shade\":\"\"}", "spec.shade: want Dark or Light, got \"\""},
		{"{\"q\":\"8x\"}", "spec.q: want a quantity such as 8, 500m or 64Gi, got \"8x\""},
		{"{\"q\":-1}", "spec.q: want a quantity such as 8, 500m or 64Gi, got -1"},
		{"{\"wait\":\"59s\"}", "spec.wait: want 1m to 1h, got \"59s\""},
		{"{\"wait\":\"Never\"}", "spec.wait: want 1m to 1h, got \"Never\""},
		{"{\"grace\":\"-1s\"}", "spec.grace: want a duration such as 30m, got \"-1s\""},
		{"{\"forever\":5}", "spec.forever: want a duration such as 30m or Never, got 5"},
		{"{\"when\":\"today\"}",
		 "spec.when: want a time such as 2026-12-01T10:20:00Z, got \"today\""},
		{"{\"map\":{\"a\":1}}", "spec.map[\"a\"]: want text, in quotes, got 1"},
		{"{\"map\":{\"a\":\"123456\"}}", "spec.map[\"a\"]: want at most 5 bytes, got 6"},
		{"{\"map\":{\"a\":\"\",\"b\":\"\",\"c\":\"\",\"d\":\"\"}}",
		 "spec.map: want at most 3 entries, got 4"},
		{"{\"res\":{\"cpu\":\"x\"}}",
		 "spec.res.cpu: want a quantity such as 8, 500m or 64Gi, got \"x\""},
		{"{\"res\":{\"nvidia.com/gpu\":true}}",
		 "spec.res[\"nvidia.com/gpu\"]: want a quantity such as 8, 500m or 64Gi, got true"},
		{"{\"counts\":{\"free\":\"500m\"}}",
		 "spec.counts.free: want a whole number, got \"500m\""},
		{"{\"strs\":[\"a\",1]}", "spec.strs[1]: want text, in quotes, got 1"},
		{"{\"strs\":[\"a\",\"b\",\"c\"]}", "spec.strs: want at most 2 entries, got 3"},
		{"{\"colors\":[\"Red\",\"Pink\"]}",
		 "spec.colors[1]: want Red, Green or Blue, got \"Pink\""},
		{"{\"ints\":[256]}", "spec.ints[0]: want 0 to 255, got 256"},
		{"{\"in\":[]}", "spec.in: want an object, got a list"},
		{"{\"in\":{\"a\":\"b\"}}", "spec.in.b: required"},
		{"{\"ptr\":{}}", "spec.ptr.b: required"},
		{"{\"parts\":{}}", "spec.parts: want a list, got an object"},
		{"{\"parts\":[{\"name\":\"a\"},{}]}", "spec.parts[1].name: required"},
		{"{\"parts\":[{\"name\":\"\"}]}", "spec.parts[0].name: must not be empty"},
		{"{\"parts\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"a\"}]}",
		 "spec.parts[2].name: must not be there twice, got \"a\""},
		{"{\"any\":\"12345678901234567890\"}", "spec.any: want at most 20 bytes, got 22"},
		{"{\"anon\":{\"deep\":6}}", "spec.anon.deep: want 0 to 5, got 6"},
		{"[]", "spec: want an object, got a list"},
	};
	OWN(arena) a = arena_new();
	struct whole w;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (decode(rows[i].json, &w, a, &e) == 0)
			fail_msg("accepted: %s", rows[i].json);
		assert_int_equal(e.kind, ERR_INVALID);
		assert_string_equal(e.text, rows[i].want);
	}
}

static void a_long_value_is_cut_in_the_error_but_not_inside_a_character(void **state)
{
	OWN(arena) a = arena_new();
	char json[512] = "{\"color\":\"x";
	struct whole w;
	struct err e;

	(void)state;
	for (int i = 0; i < 50; i++)
		strcat(json, "\303\244");
	strcat(json, "\"}");
	assert_int_equal(decode(json, &w, a, &e), -1);
	assert_true(str_ends(e.text, "\303\244..."));
	assert_true(strlen(e.text) < 130);
}

static void at_the_top_there_is_no_path_in_front(void **state)
{
	OWN(arena) a = arena_new();
	OWN_JSON j = parse("{\"a\":\"\"}");
	struct inner in = {0};
	struct err e;

	(void)state;
	assert_int_equal(fields_decode(strict_fields, j, NULL, &in, a, &e), -1);
	assert_string_equal(e.text, "a: must not be empty");
	assert_int_equal(fields_decode(strict_fields, NULL, "spec", &in, a, &e), -1);
	assert_string_equal(e.text, "spec.a: required");
}

/* Decodes text into memory with arbitrary contents; the result must not depend on them. */
static void assert_sets_all(const char *text)
{
	OWN(arena) a = arena_new();
	OWN_JSON j = parse(text);
	struct whole clean, dirty;
	struct err e;

	memset(&clean, 0, sizeof(clean));
	memset(&dirty, 0x5a, sizeof(dirty));
	assert_ok(fields_decode(whole_fields, j, "", &clean, a, &e), &e);
	assert_ok(fields_decode(whole_fields, j, "", &dirty, a, &e), &e);

	OWN_JSON of_clean = fields_encode(whole_fields, &clean);
	OWN_JSON of_dirty = fields_encode(whole_fields, &dirty);

	assert_true(json_equal(of_clean, of_dirty));
	assert_int_equal(dirty.color, clean.color);
	assert_int_equal(dirty.plain, clean.plain);
	assert_int_equal(dirty.when, clean.when);
	assert_int_equal(dirty.ptr == NULL, clean.ptr == NULL);
}

static void each_member_is_set_whatever_it_was_before(void **state)
{
	(void)state;
	assert_sets_all("{\"in\":{\"b\":1}}");
	assert_sets_all("{\"in\":{\"b\":1},\"str\":null,\"map\":null,\"ptr\":null,\"parts\":null}");
	assert_sets_all("{\"in\":{\"b\":1},\"map\":{\"a\":\"b\"},\"res\":{\"cpu\":\"1\"},"
			"\"strs\":[\"a\"],\"ints\":[1,2],\"parts\":[{\"name\":\"p\"}],"
			"\"ptr\":{\"b\":2},\"any\":{\"x\":1},\"q\":\"5\",\"color\":\"Red\"}");
}

/* Metadata and the rest of an object are decoded by two tables into one struct. */
static void members_of_other_tables_stay(void **state)
{
	static const struct field str_fields[] = {
		FIELD(whole, str, "str", FIELD_STR),
		FIELDS_END,
	};
	OWN(arena) a = arena_new();
	OWN_JSON j = parse("{}");
	struct whole w = {.str = "before", .plain = 7};
	struct err e;

	(void)state;
	assert_ok(fields_decode(str_fields, j, "", &w, a, &e), &e);
	assert_null(w.str);
	assert_int_equal(w.plain, 7);
}

static void unknown_members_are_refused_only_when_strict_and_at_any_depth(void **state)
{
	OWN(arena) a = arena_new();
	OWN_JSON j = parse("{\"str\":\"a\",\"parts\":[{\"name\":\"x\",\"colour\":1}]}");
	struct whole w = {0};
	struct err e;

	(void)state;
	assert_ok(fields_decode(whole_fields, j, "", &w, a, &e), &e);
	assert_int_equal(fields_decode_strict(whole_fields, j, "", &w, a, &e), -1);
	assert_string_equal(e.text, "parts[0].colour: unknown field");
}

static void an_empty_object_behind_a_pointer_is_kept(void **state)
{
	static const struct field empty_fields[] = {
		FIELD(inner, a, "a", FIELD_STR),
		FIELDS_END,
	};
	struct holder {
		struct inner *ptr;
	};
	static const struct field holder_fields[] = {
		FIELD_PTR(holder, ptr, "ptr", empty_fields),
		FIELDS_END,
	};
	OWN(arena) a = arena_new();
	OWN_JSON j = parse("{\"ptr\":{}}");
	struct holder h = {0};
	struct err e;

	(void)state;
	assert_ok(fields_decode(holder_fields, j, "", &h, a, &e), &e);
	assert_non_null(h.ptr);
	OWN_JSON out = fields_encode(holder_fields, &h);
	assert_json(out, "{\"ptr\":{}}");
}

static int want_even(const char *s, struct err *e)
{
	return strlen(s) % 2 ? err_set(e, ERR_INVALID, 0, "want an even number of bytes") : 0;
}

struct typed {
	const char *count, *even;
	struct strings parts;
};
static const struct field typed_fields[] = {
	FIELD(typed, count, "count", FIELD_STR, .number = true, .required = true, .max_len = 3,
	      .pattern = "^[0-9]+%?$", .want = "a count or a percentage"),
	FIELD(typed, parts, "parts", FIELD_STRINGS, .number = true),
	FIELD(typed, even, "even", FIELD_STR, .check = want_even),
	FIELDS_END,
};

static void assert_typed(const char *text, const char *want)
{
	OWN(arena) a = arena_new();
	OWN_JSON j = parse(text);
	struct typed t;
	struct err e;

	assert_int_equal(fields_decode(typed_fields, j, "", &t, a, &e), -1);
	assert_string_equal(e.text, want);
}

static void a_whole_number_may_stand_for_its_text(void **state)
{
	OWN(arena) a = arena_new();
	OWN_JSON j = parse("{\"count\":0,\"parts\":[7,\"8\"],\"even\":\"ab\"}");
	struct typed t;
	struct err e;

	(void)state;
	if (fields_decode(typed_fields, j, "", &t, a, &e) < 0)
		fail_msg("%s", e.text);
	assert_string_equal(t.count, "0");
	assert_string_equal(t.parts.v[0], "7");
	assert_string_equal(t.parts.v[1], "8");
	assert_typed("{\"count\":-1}", "count: want a count or a percentage, got \"-1\"");
	assert_typed("{\"count\":1000}", "count: want at most 3 bytes, got 4");
	assert_typed("{\"count\":1.5}", "count: want text, in quotes, got 1.5");
	assert_typed("{\"count\":1,\"even\":\"abc\"}",
		     "even: want an even number of bytes, got \"abc\"");
	OWN_JSON s = fields_schema(typed_fields);
	assert_json(json_at(s, "properties", "count"),
		    "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}],"
		    "\"x-kubernetes-int-or-string\":true,\"minimum\":0,\"minLength\":1,"
		    "\"maxLength\":3,\"pattern\":\"^[0-9]+%?$\"}");
}

static void the_schema_carries_types_bounds_defaults_and_rules(void **state)
{
	OWN_JSON s = fields_schema(whole_fields);
	json_t *p = json_object_get(s, "properties");

	(void)state;
	assert_json(json_at(p, "str"),
		    "{\"type\":\"string\",\"maxLength\":1024,\"description\":\"Any | text.\"}");
	assert_json(
		json_at(p, "digest"),
		"{\"type\":\"string\",\"maxLength\":1024,\"pattern\":\"^sha256:[0-9a-f]{4}$\"}");
	assert_json(json_at(p, "nodes"),
		    "{\"type\":\"integer\",\"format\":\"int64\",\"minimum\":0,\"maximum\":100000}");
	assert_json(json_at(p, "fifty"),
		    "{\"type\":\"integer\",\"format\":\"int64\",\"default\":50,"
		    "\"x-kubernetes-validations\":"
		    "[{\"message\":\"is immutable\",\"rule\":\"self == oldSelf\"}]}");
	assert_json(json_at(p, "shade"),
		    "{\"type\":\"string\",\"enum\":[\"Dark\",\"Light\"],\"default\":\"Light\"}");
	assert_json(json_at(p, "wait", "x-kubernetes-validations"),
		    "[{\"message\":\"must be 1m to 1h\","
		    "\"rule\":\"duration(self) >= duration('1m') &&"
		    " duration(self) <= duration('1h')\"}]");
	assert_json(json_at(p, "when"), "{\"type\":\"string\",\"format\":\"date-time\"}");
	assert_json(json_at(p, "map"),
		    "{\"type\":\"object\",\"maxProperties\":3,"
		    "\"additionalProperties\":{\"type\":\"string\",\"maxLength\":5}}");
	assert_true(json_true_at(p, "res", "additionalProperties", "x-kubernetes-int-or-string"));
	assert_json(json_at(p, "colors"),
		    "{\"type\":\"array\",\"maxItems\":256,\"x-kubernetes-list-type\":\"atomic\","
		    "\"items\":{\"type\":\"string\",\"maxLength\":1024,"
		    "\"enum\":[\"Red\",\"Green\",\"Blue\"]}}");
	assert_json(json_at(p, "parts", "x-kubernetes-list-map-keys"), "[\"name\"]");
	assert_json(json_at(p, "parts", "items", "required"), "[\"name\"]");
	assert_json(json_at(p, "any"), "{\"x-kubernetes-preserve-unknown-fields\":true}");
	assert_null(json_object_get(s, "required"));

	OWN_JSON strict = fields_schema(strict_fields);
	assert_json(strict, "{\"type\":\"object\",\"required\":[\"a\",\"b\"],\"properties\":{"
			    "\"a\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":1024,"
			    "\"x-kubernetes-validations\":"
			    "[{\"message\":\"a must be below b\",\"rule\":\"self.a < self.b\"}]},"
			    "\"b\":{\"type\":\"integer\",\"format\":\"int64\"}}}");
}

static void the_reference_has_one_row_for_each_field_at_any_depth(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 65536);
	fields_reference(whole_fields, "spec", &b);
	assert_non_null(strstr(b.data, "| `spec.str` | text |  |  | Any \\| text. |\n"));
	assert_non_null(strstr(b.data, "| `spec.nodes` | integer |  | 0 to 100000 |  |\n"));
	assert_non_null(strstr(b.data, "| `spec.fifty` | integer | `50` | immutable |  |\n"));
	assert_non_null(
		strstr(b.data, "| `spec.shade` | enum | `\"Light\"` | `Dark`, `Light` |  |\n"));
	assert_non_null(strstr(b.data, "| `spec.wait` | duration |  | 1m to 1h |  |\n"));
	assert_non_null(
		strstr(b.data,
		       "| `spec.forever` | duration | `\"Never\"` | a duration or `Never` |  |\n"));
	assert_non_null(strstr(b.data, "| `spec.parts[].name` | text |  | required |  |\n"));
	buf_done(&b);
}

static const struct field *row(const struct field *f, const char *name)
{
	while (!str_eq(f->name, name))
		f++;
	return f;
}

static void a_field_is_described_without_markdown(void **state)
{
	OWN_JSON str = fields_describe(row(whole_fields, "str"));
	OWN_JSON shade = fields_describe(row(whole_fields, "shade"));
	OWN_JSON forever = fields_describe(row(whole_fields, "forever"));
	static const struct field_rule rules[] = {{"self != 'x'", "must not be x"}, {NULL, NULL}};
	OWN_JSON ruled = fields_describe(
		&(struct field){.name = "ruled", .type = FIELD_STR, .rules = rules});

	(void)state;
	assert_json(str, "{\"type\":\"text\",\"meaning\":\"Any | text.\"}");
	assert_json(shade, "{\"type\":\"enum\",\"default\":\"\\\"Light\\\"\","
			   "\"allowed\":\"Dark, Light\"}");
	assert_json(forever, "{\"type\":\"duration\",\"default\":\"\\\"Never\\\"\","
			     "\"allowed\":\"a duration or Never\"}");
	assert_json(ruled, "{\"type\":\"text\",\"rules\":[\"must not be x\"]}");
}

/* --- values that nothing acts on -------------------------------------------------------------- */

struct some {
	const char *kept;
	int mode;
};
static const char *const mode_names[] = {"Off", "Slow", "Fast", NULL};
static const char *const modes_acted_upon[] = {"Off", "Slow", NULL};
static const char *const sizes_acted_upon[] = {"small", NULL};
static const struct field some_fields[] = {
	FIELD(some, kept, "kept", FIELD_STR),
	FIELD(some, mode, "mode", FIELD_ENUM, .enums = mode_names, .only = modes_acted_upon),
	FIELD_UNKEPT("size", FIELD_STR, .only = sizes_acted_upon, .def = "\"small\""),
	FIELD_UNKEPT("color", FIELD_ENUM, .enums = color_names, .refused = true),
	FIELD_REFUSED("later", .doc = "Not yet."),
	FIELDS_END,
};

static void refused(const char *text, const char *error)
{
	OWN(arena) a = arena_new();
	OWN_JSON j = json_loads(text, 0, NULL);
	struct some s = {0};
	struct err e = {0};

	assert_int_equal(fields_decode(some_fields, j, "spec", &s, a, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	assert_string_equal(e.text, error);
}

static void what_nothing_acts_on_is_refused_by_name(void **state)
{
	(void)state;
	refused("{\"mode\":\"Fast\"}",
		"spec.mode: not supported by this version: want Off or Slow, got \"Fast\"");
	refused("{\"mode\":\"Odd\"}", "spec.mode: want Off, Slow or Fast, got \"Odd\"");
	refused("{\"size\":\"big\"}",
		"spec.size: not supported by this version: want small, got \"big\"");
	refused("{\"size\":7}", "spec.size: want text, in quotes, got 7");
	refused("{\"color\":\"Red\"}", "spec.color: not supported by this version");
	refused("{\"later\":{}}", "spec.later: not supported by this version");
	refused("{\"later\":7}", "spec.later: not supported by this version");
}

static void what_is_not_kept_has_no_place_in_the_struct_and_its_one_value_is_encoded(void **state)
{
	OWN(arena) a = arena_new();
	OWN_JSON j = json_loads("{\"kept\":\"a\",\"mode\":\"Slow\",\"size\":\"small\","
				"\"color\":null,\"later\":null}",
				0, NULL);
	OWN_JSON want =
		json_loads("{\"kept\":\"a\",\"mode\":\"Slow\",\"size\":\"small\"}", 0, NULL);
	struct some s, d;
	struct err e;

	(void)state;
	memset(&d, 0, sizeof(d));
	memset(&s, 0, sizeof(s));
	assert_ok(fields_decode_strict(some_fields, j, NULL, &s, a, &e), &e);
	assert_string_equal(s.kept, "a");
	assert_int_equal(s.mode, 1);
	OWN_JSON back = fields_encode(some_fields, &s);
	assert_true(json_equal(back, want));
	fields_defaults(some_fields, &d, a);
	assert_null(d.kept);
	assert_int_equal(d.mode, -1);
}

static const char *rule(const json_t *schema, const char *name, const char *what)
{
	return json_str_at(
		json_array_get(json_at(schema, "properties", name, "x-kubernetes-validations"), 0),
		what);
}

static void schema_and_reference_say_what_nothing_acts_on(void **state)
{
	OWN_JSON s = fields_schema(some_fields);
	struct buf b;

	(void)state;
	assert_null(rule(s, "kept", "rule"));
	assert_string_equal(rule(s, "mode", "rule"), "self in ['Off', 'Slow']");
	assert_string_equal(rule(s, "mode", "message"),
			    "not supported by this version: want Off or Slow");
	assert_string_equal(rule(s, "later", "rule"), "false");
	assert_string_equal(rule(s, "later", "message"), "not supported by this version");
	assert_string_equal(json_str_at(s, "properties", "later", "type"), "object");
	buf_init(&b, 4096);
	fields_reference(some_fields, "spec", &b);
	buf_put(&b, "", 1);
	assert_non_null(strstr(b.data, "| `spec.mode` | enum |  | `Off`, `Slow` |"));
	assert_non_null(strstr(b.data, "| `spec.size` | text | `\"small\"` | `small` |"));
	assert_non_null(strstr(
		b.data, "| `spec.later` | object |  | not supported by this version | Not yet. |"));
	buf_done(&b);
}

struct priced {
	int64_t price, share;
};
static const struct field priced_fields[] = {
	FIELD(priced, price, "price", FIELD_DECIMAL, .want = "an amount such as \"6.50\""),
	FIELD(priced, share, "share", FIELD_DECIMAL, .max = 1000000, .want = "a fraction"),
	FIELDS_END,
};

static void a_decimal_is_exact_millionths(void **state)
{
	static const struct {
		const char *json, *again;
		int64_t price, share;
	} rows[] = {
		{"{}", "{}", -1, -1},
		{"{\"price\":0,\"share\":\"0\"}", "{\"price\":\"0.00\",\"share\":\"0.00\"}", 0, 0},
		{"{\"price\":\"6.5\",\"share\":1}", "{\"price\":\"6.50\",\"share\":\"1.00\"}",
		 6500000, 1000000},
		{"{\"price\":\"999999999999.999999\"}", "{\"price\":\"999999999999.999999\"}",
		 999999999999999999, -1},
	};
	static const struct {
		const char *json, *want;
	} wrong[] = {
		{"{\"price\":\"-1\"}", "price: want an amount such as \"6.50\", got \"-1\""},
		{"{\"price\":-1}", "price: want an amount such as \"6.50\", got -1"},
		{"{\"price\":1000000000000}",
		 "price: want an amount such as \"6.50\", got 1000000000000"},
		{"{\"price\":1.5}", "price: want text, in quotes, got 1.5"},
		{"{\"share\":\"1.000001\"}", "share: want a fraction, got \"1.000001\""},
	};
	OWN(arena) a = arena_new();
	struct priced p;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		OWN_JSON j = parse(rows[i].json);

		assert_ok(fields_decode(priced_fields, j, "", &p, a, &e), &e);
		assert_int_equal(p.price, rows[i].price);
		assert_int_equal(p.share, rows[i].share);
		OWN_JSON out = fields_encode(priced_fields, &p);
		assert_json(out, rows[i].again);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		OWN_JSON j = parse(wrong[i].json);

		assert_int_equal(fields_decode(priced_fields, j, "", &p, a, &e), -1);
		assert_string_equal(e.text, wrong[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_decimal_is_exact_millionths),
		cmocka_unit_test(every_type_is_decoded),
		cmocka_unit_test(what_was_decoded_is_encoded_to_the_same_json),
		cmocka_unit_test(absent_and_null_leave_the_default_or_zero),
		cmocka_unit_test(defaults_are_what_decoding_nothing_gives_and_ask_for_nothing),
		cmocka_unit_test(errors_name_the_field_what_is_wanted_and_what_came),
		cmocka_unit_test(a_long_value_is_cut_in_the_error_but_not_inside_a_character),
		cmocka_unit_test(at_the_top_there_is_no_path_in_front),
		cmocka_unit_test(each_member_is_set_whatever_it_was_before),
		cmocka_unit_test(members_of_other_tables_stay),
		cmocka_unit_test(unknown_members_are_refused_only_when_strict_and_at_any_depth),
		cmocka_unit_test(an_empty_object_behind_a_pointer_is_kept),
		cmocka_unit_test(a_whole_number_may_stand_for_its_text),
		cmocka_unit_test(the_schema_carries_types_bounds_defaults_and_rules),
		cmocka_unit_test(what_nothing_acts_on_is_refused_by_name),
		cmocka_unit_test(
			what_is_not_kept_has_no_place_in_the_struct_and_its_one_value_is_encoded),
		cmocka_unit_test(schema_and_reference_say_what_nothing_acts_on),
		cmocka_unit_test(the_reference_has_one_row_for_each_field_at_any_depth),
		cmocka_unit_test(a_field_is_described_without_markdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
