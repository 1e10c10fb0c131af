#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/data/selector.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Returns labels for "a=1,b=2"; the text must be sorted. */
static struct labels labels_of(struct arena *a, const char *text)
{
	struct labels l = {0};
	char *s = arena_strdup(a, text), *save = NULL;

	l.v = arena_calloc(a, 8, sizeof(l.v[0]));
	for (char *t = strtok_r(s, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		char *value = strchr(t, '=');

		*value++ = '\0';
		l.v[l.n++] = (struct label){t, value};
	}
	return l;
}

/* Semantics of labels.Requirement.Matches, operator by operator. */
static void operators_match_as_in_kubernetes(void **state)
{
	static const struct {
		enum selector_op op;
		const char *values[3];
		const char *labels;
		bool want;
	} cases[] = {
		{SELECTOR_IN, {"1", "2"}, "k=1", true},
		{SELECTOR_IN, {"1", "2"}, "k=2", true},
		{SELECTOR_IN, {"1", "2"}, "k=3", false},
		{SELECTOR_IN, {"1", "2"}, "x=1", false},
		{SELECTOR_IN, {"1", "2"}, "", false},
		{SELECTOR_IN, {""}, "k=", true},
		{SELECTOR_IN, {""}, "x=", false},
		{SELECTOR_IN, {NULL}, "k=1", false},
		{SELECTOR_NOT_IN, {"1", "2"}, "k=1", false},
		{SELECTOR_NOT_IN, {"1", "2"}, "k=3", true},
		{SELECTOR_NOT_IN, {"1", "2"}, "x=1", true}, /* an absent label matches */
		{SELECTOR_NOT_IN, {"1"}, "", true},
		{SELECTOR_NOT_IN, {""}, "k=", false},
		{SELECTOR_EXISTS, {NULL}, "k=", true},
		{SELECTOR_EXISTS, {NULL}, "j=1,l=1", false},
		{SELECTOR_DOES_NOT_EXIST, {NULL}, "k=1", false},
		{SELECTOR_DOES_NOT_EXIST, {NULL}, "j=1", true},
		{SELECTOR_GT, {"9"}, "k=10", true}, /* compared as numbers, not as text */
		{SELECTOR_GT, {"9"}, "k=9", false},
		{SELECTOR_GT, {"9"}, "k=8", false},
		{SELECTOR_GT, {"-1"}, "k=0", true},
		{SELECTOR_GT, {"9"}, "x=10", false},
		{SELECTOR_GT, {"9"}, "k=ten", false},
		{SELECTOR_GT, {"9"}, "k=10.5", false},
		{SELECTOR_GT, {"9"}, "k=", false},
		{SELECTOR_GT, {"nine"}, "k=10", false},
		{SELECTOR_GT, {"9", "8"}, "k=10", false},
		{SELECTOR_GT, {NULL}, "k=10", false},
		{SELECTOR_GT, {"9"}, "k=9223372036854775807", true},
		{SELECTOR_GT, {"9"}, "k=9223372036854775808", false}, /* beyond int64 */
		{SELECTOR_GT, {"+9"}, "k=010", true},
		{SELECTOR_LT, {"10"}, "k=9", true},
		{SELECTOR_LT, {"10"}, "k=10", false},
		{SELECTOR_LT, {"10"}, "k=11", false},
		{SELECTOR_LT, {"10"}, "x=9", false},
		{SELECTOR_LT, {"10"}, "k=-9223372036854775808", true},
		{SELECTOR_GTE, {"10"}, "k=9", false},
		{SELECTOR_GTE, {"10"}, "k=10", true},
		{SELECTOR_GTE, {"10"}, "k=11", true},
		{SELECTOR_GTE, {"10"}, "k=ten", false},
		{SELECTOR_GTE, {"10"}, "x=11", false},
		{SELECTOR_LTE, {"10"}, "k=9", true},
		{SELECTOR_LTE, {"10"}, "k=10", true},
		{SELECTOR_LTE, {"10"}, "k=11", false},
		{SELECTOR_LTE, {"10"}, "x=9", false},
		{SELECTOR_CONTAINS, {"H100"}, "k=NVIDIA-H100-80GB", true},
		{SELECTOR_CONTAINS, {"L4", "80GB"}, "k=NVIDIA-H100-80GB", true},
		{SELECTOR_CONTAINS, {"h100"}, "k=NVIDIA-H100-80GB", false},
		{SELECTOR_CONTAINS, {"H100-80GB-"}, "k=H100-80GB", false},
		{SELECTOR_CONTAINS, {"a"}, "k=", false},
		{SELECTOR_CONTAINS, {""}, "k=", true},
		{SELECTOR_CONTAINS, {"a"}, "x=a", false},
		{SELECTOR_CONTAINS_LOWER, {"h100"}, "k=NVIDIA-H100-80GB", true},
		{SELECTOR_CONTAINS_LOWER, {"H100"}, "k=NVIDIA-H100-80GB", false},
		{SELECTOR_CONTAINS_LOWER, {"h100"}, "x=h100", false},
	};
	OWN(arena) a = arena_new();

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *values[3] = {cases[i].values[0], cases[i].values[1],
					 cases[i].values[2]};
		struct requirement r = {.key = "k", .op = cases[i].op, .values = values};
		struct labels l = labels_of(a, cases[i].labels);

		while (r.nvalues < 3 && values[r.nvalues])
			r.nvalues++;
		if (requirement_matches(&r, &l) != cases[i].want)
			fail_msg("case %zu: %s %s on %s", i, selector_op_name(r.op),
				 values[0] ? values[0] : "", cases[i].labels);
	}
}

static void a_selector_text_matches_what_kubernetes_matches(void **state)
{
	static const struct {
		const char *selector, *labels;
		bool want;
	} cases[] = {
		{"", "a=1", true},
		{"  ", "", true},
		{"x=y", "x=y", true},
		{"x==y", "x=y", true},
		{"x=y,z=w", "x=y,z=w", true},
		{"x=y,z=w", "x=y", false},
		{"x=y,z=w", "x=z,z=w", false},
		{" x = y , z == w ", "x=y,z=w", true},
		{"x!=y", "x=z", true},
		{"x!=y", "a=b", true},
		{"x!=y", "x=y", false},
		{"x=", "x=", true},
		{"x=", "a=b", false},
		{"x=,z=w", "x=,z=w", true},
		{"x!=", "x=1", true},
		{"x!=", "x=", false},
		{"x", "x=1", true},
		{"x", "a=1", false},
		{"!x", "a=1", true},
		{"! x", "x=1", false},
		{"!x,y", "y=1", true},
		{"x in (a,b)", "x=b", true},
		{"x in ( a , b )", "x=a", true},
		{"x in(a)", "x=a", true},
		{"x in (a,b)", "x=c", false},
		{"x in (a,b)", "y=a", false},
		{"x in ()", "x=", true},
		{"x in (a,,b)", "x=", true},
		{"x in (a,)", "x=", true},
		{"x notin (a,b)", "x=c", true},
		{"x notin (a,b)", "x=a", false},
		{"x notin (a,b)", "y=a", true},
		{"x notin (a),!y,z=1", "x=b,z=1", true},
		{"x>1", "x=2", true},
		{"x>1", "x=1", false},
		{"x > 1, x < 5", "x=4", true},
		{"x > 1, x < 5", "x=5", false},
		{"in in (in)", "in=in", true},
		{"notin", "notin=1", true},
		{"x=in", "x=in", true},
		{"nvidia.com/gpu.product=H100-SXM", "nvidia.com/gpu.product=H100-SXM", true},
		{"kubernetes.io/os in (linux),gpu", "gpu=,kubernetes.io/os=linux", true},
	};
	OWN(arena) a = arena_new();
	struct selector s;
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct labels l = labels_of(a, cases[i].labels);

		assert_ok(selector_parse(cases[i].selector, a, &s, &e), &e);
		if (selector_matches(&s, &l) != cases[i].want)
			fail_msg("\"%s\" on %s", cases[i].selector, cases[i].labels);
	}
}

static void the_parts_of_a_text_are_found(void **state)
{
	OWN(arena) a = arena_new();
	struct selector s;
	struct err e;

	(void)state;
	assert_ok(selector_parse("a=b,c!=d,e in (f,g),!h,i>3,j<4,k notin (l),m", a, &s, &e), &e);
	assert_int_equal(s.n, 8);
	assert_string_equal(s.v[0].key, "a");
	assert_int_equal(s.v[0].op, SELECTOR_IN);
	assert_string_equal(s.v[0].values[0], "b");
	assert_int_equal(s.v[1].op, SELECTOR_NOT_IN);
	assert_int_equal(s.v[2].op, SELECTOR_IN);
	assert_int_equal(s.v[2].nvalues, 2);
	assert_string_equal(s.v[2].values[1], "g");
	assert_int_equal(s.v[3].op, SELECTOR_DOES_NOT_EXIST);
	assert_int_equal(s.v[3].nvalues, 0);
	assert_int_equal(s.v[4].op, SELECTOR_GT);
	assert_int_equal(s.v[5].op, SELECTOR_LT);
	assert_int_equal(s.v[6].op, SELECTOR_NOT_IN);
	assert_int_equal(s.v[7].op, SELECTOR_EXISTS);
}

static void a_wrong_text_is_refused_with_its_place(void **state)
{
	static const char *const bad[] = {
		",",
		"a,",
		",a",
		"a,,b",
		"=",
		"=a",
		"!",
		"!=a",
		"!a=b",
		"a b",
		"a=b c",
		"a=!b",
		"a=b=c",
		"a===b",
		"a in",
		"a in b",
		"a in (",
		"a in (b",
		"a in (b c)",
		"a in (b))",
		"a in (b),",
		"a notin",
		"a inn (b)",
		"a >",
		"a > b",
		"a > 1.5",
		"a>1,a<",
		"a<9x",
		"(a)",
		"a)",
		"a in ((b)",
		"-a=b",
		"a=-b",
		"a=b/c",
		"A/B/c=d",
		"a/=b",
		"/a=b",
		"a=b-",
		"a\x01=b",
		"a~b",
		"a in (b,-c)",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"a=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	};
	OWN(arena) a = arena_new();
	struct selector s = {.n = 77};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (selector_parse(bad[i], a, &s, &e) == 0)
			fail_msg("\"%s\" was read", bad[i]);
		assert_int_equal(e.kind, ERR_INVALID);
	}
	assert_int_equal(s.n, 77);
	assert_int_equal(selector_parse("a=b,c ~ d", a, &s, &e), -1);
	assert_string_equal(e.text, "selector: want an operator at \"~ d\"");
}

static void operators_have_their_kubernetes_names(void **state)
{
	static const char *const names[] = {"In", "NotIn", "Exists", "DoesNotExist",
					    "Gt", "Lt",	   "Gte",    "Lte"};
	enum selector_op op = SELECTOR_LT;

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		assert_true(selector_op_parse(names[i], &op));
		assert_int_equal(op, i);
		assert_string_equal(selector_op_name(op), names[i]);
	}
	assert_false(selector_op_parse("in", &op));
	assert_false(selector_op_parse(selector_op_name(SELECTOR_CONTAINS), &op));
	assert_false(selector_op_parse("", &op));
	assert_false(selector_op_parse(NULL, &op));
	assert_int_equal(op, SELECTOR_LTE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_match_as_in_kubernetes),
		cmocka_unit_test(a_selector_text_matches_what_kubernetes_matches),
		cmocka_unit_test(the_parts_of_a_text_are_found),
		cmocka_unit_test(a_wrong_text_is_refused_with_its_place),
		cmocka_unit_test(operators_have_their_kubernetes_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
