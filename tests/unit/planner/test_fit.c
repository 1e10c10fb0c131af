#include "planner/fit.h"
#include "base/str.h"
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

static bool tolerated(const struct world_toleration *t, const char *taint)
{
	OWN(arena) a = arena_new();
	struct world_taints taints = worlds_taints(a, taint);
	struct world_toleration one = t ? *t : (struct world_toleration){0};
	const struct world_pod p = {.tolerations = {.v = &one, .n = t ? 1 : 0}};

	return !fit_taints(&p, &taints);
}

static void a_taint_must_be_tolerated(void **state)
{
	const struct world_toleration equal = {.key = "k", .value = "v"},
				      key = {.key = "k", .op = WORLD_TOLERATES_EXISTS},
				      all = {.op = WORLD_TOLERATES_EXISTS},
				      here = {.key = "k", .value = "v", .effect = "NoExecute"},
				      nothing = {.value = "v"};

	(void)state;
	assert_false(tolerated(NULL, "k=v:NoSchedule"));
	assert_false(tolerated(NULL, "k=v:NoExecute"));
	assert_true(tolerated(&equal, "k=v:NoSchedule"));
	assert_false(tolerated(&equal, "k=w:NoSchedule"));
	assert_false(tolerated(&equal, "j=v:NoSchedule"));
	assert_true(tolerated(&key, "k=w:NoSchedule"));
	assert_true(tolerated(&all, "k=w:NoSchedule"));
	assert_true(tolerated(&here, "k=v:NoExecute"));
	assert_false(tolerated(&here, "k=v:NoSchedule"));
	assert_false(tolerated(&nothing, "k=v:NoSchedule"));
}

static void a_toleration_without_value_equals_the_empty_value(void **state)
{
	const struct world_toleration t = {.key = "k"};

	(void)state;
	assert_true(tolerated(&t, "k=:NoSchedule"));
	assert_false(tolerated(&t, "k=v:NoSchedule"));
}

static void a_toleration_may_compare_numbers(void **state)
{
	static const struct {
		enum world_tolerates op;
		const char *value, *taint;
		bool tolerated;
	} rows[] = {
		{WORLD_TOLERATES_GT, "900", "950", true},
		{WORLD_TOLERATES_GT, "900", "900", false},
		{WORLD_TOLERATES_GT, "900", "850", false},
		{WORLD_TOLERATES_LT, "900", "850", true},
		{WORLD_TOLERATES_LT, "900", "900", false},
		{WORLD_TOLERATES_LT, "900", "950", false},
		/* Values are compared as numbers, not as text. */
		{WORLD_TOLERATES_GT, "9", "10", true},
		{WORLD_TOLERATES_LT, "0", "-1", true},
		{WORLD_TOLERATES_GT, "-2", "-1", true},
		{WORLD_TOLERATES_GT, "9223372036854775806", "9223372036854775807", true},
		{WORLD_TOLERATES_GT, "1", "9223372036854775808", false},
		{WORLD_TOLERATES_GT, "1", "02", false},
		{WORLD_TOLERATES_GT, "01", "2", false},
		{WORLD_TOLERATES_GT, "1", "+2", false},
		{WORLD_TOLERATES_GT, "-1", "-0", false},
		{WORLD_TOLERATES_GT, "-1", "-", false},
		{WORLD_TOLERATES_GT, "-1", "0", true},
		{WORLD_TOLERATES_GT, "1", "2x", false},
		{WORLD_TOLERATES_GT, "1", "high", false},
		{WORLD_TOLERATES_GT, "1", "", false},
		{WORLD_TOLERATES_GT, NULL, "1", false},
		{WORLD_TOLERATES_LT, "", "1", false},
		{WORLD_TOLERATES_NONE, "1", "1", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world_toleration t = {.key = "k", .value = rows[i].value, .op = rows[i].op};
		struct world_taint taint = {"k", rows[i].taint, "NoSchedule"};
		const struct world_pod p = {.tolerations = {&t, 1}};

		if (!fit_taints(&p, &(struct world_taints){&taint, 1}) != rows[i].tolerated)
			fail_msg("row %zu: %s and %s", i, str_or(rows[i].value, "-"),
				 rows[i].taint);
		t.key = "j";
		assert_non_null(fit_taints(&p, &(struct world_taints){&taint, 1}));
		t.key = NULL;
		assert_non_null(fit_taints(&p, &(struct world_taints){&taint, 1}));
	}
}

static void prefer_no_schedule_keeps_nobody_out(void **state)
{
	(void)state;
	assert_true(tolerated(NULL, "k=v:PreferNoSchedule"));
}

static void the_taint_that_is_in_the_way_is_named(void **state)
{
	OWN(arena) a = arena_new();
	struct world_toleration t = {.key = "a", .op = WORLD_TOLERATES_EXISTS};
	const struct world_pod p = {.tolerations = {&t, 1}};
	struct world_taints taints =
		worlds_taints(a, "a=1:NoSchedule,b=2:NoSchedule,c=3:NoExecute");

	(void)state;
	assert_string_equal(fit_taints(&p, &taints)->key, "b");
}

static bool fits(const char *node_selector, const char *term1, const char *term2, const char *node)
{
	OWN(arena) a = arena_new();
	struct selector terms[2];
	struct labels l = worlds_labels(a, node);
	struct world_pod p = {.node_selector = worlds_labels(a, node_selector)};

	p.affinity.v = terms;
	if (term1)
		terms[p.affinity.n++] = worlds_term(a, term1);
	if (term2)
		terms[p.affinity.n++] = worlds_term(a, term2);
	return fit_labels(&p, &l);
}

static void every_label_of_the_node_selector_must_be_there(void **state)
{
	(void)state;
	assert_true(fits("", NULL, NULL, "a=1"));
	assert_true(fits("a=1", NULL, NULL, "a=1,b=2"));
	assert_false(fits("a=1,b=2", NULL, NULL, "a=1"));
	assert_false(fits("a=2", NULL, NULL, "a=1"));
}

static void one_affinity_term_is_enough_and_all_its_parts_must_hold(void **state)
{
	(void)state;
	assert_true(fits("", "a in (1,2)", NULL, "a=2"));
	assert_false(fits("", "a in (1,2)", NULL, "a=3"));
	assert_true(fits("", "a in (1)", "b in (2)", "b=2"));
	assert_false(fits("", "a in (1),b in (2)", NULL, "b=2"));
	assert_false(fits("c=1", "a in (1)", NULL, "a=1"));
	assert_true(fits("", "a notin (1)", NULL, "b=2"));
	assert_true(fits("", "!a", NULL, "b=2"));
	assert_false(fits("", "a", NULL, "b=2"));
}

/* True if a pod with node affinity term (NULL: none) and these volumes fits on a node with these
 * labels. first, second: topology terms of a volume, such as "a in (1)|a in (2)"; NULL: no such
 * volume. */
static bool volumes_fit(const char *first, const char *second, const char *term, const char *node)
{
	OWN(arena) a = arena_new();
	const char *texts[] = {first, second};
	struct world_volume volumes[2] = {0};
	struct selector terms[2][4], affinity[] = {worlds_term(a, str_or(term, ""))};
	struct world_pod p = {.volumes = {volumes, 0}};
	struct labels l = worlds_labels(a, node);

	for (size_t i = 0; i < 2 && texts[i]; i++) {
		struct world_volume *v = &volumes[p.volumes.n++];
		char *text = arena_strdup(a, texts[i]), *end;

		v->v = terms[i];
		for (; text; text = end) {
			end = strchr(text, '|');
			if (end)
				*end++ = '\0';
			v->v[v->n++] = worlds_term(a, text);
		}
	}
	p.affinity.v = affinity;
	p.affinity.n = term != NULL;
	return fit_labels(&p, &l);
}

static void a_node_has_to_suit_one_term_of_each_volume(void **state)
{
	static const struct {
		const char *first, *second, *affinity, *node;
		bool fits;
	} rows[] = {
		{"zone in (a)", NULL, NULL, "zone=a", true},
		{"zone in (a)", NULL, NULL, "zone=b", false},
		{"zone in (a)", NULL, NULL, "", false},
		{"zone in (a)|zone in (b)", NULL, NULL, "zone=b", true},
		{"zone in (a,b)", "zone in (b,c)", NULL, "zone=b", true},
		{"zone in (a,b)", "zone in (b,c)", NULL, "zone=a", false},
		{"zone in (a)", NULL, "disk in (ssd)", "disk=ssd,zone=a", true},
		{"zone in (a)", NULL, "disk in (ssd)", "zone=a", false},
		{"zone in (a)", NULL, "disk in (ssd)", "disk=ssd", false},
		{"zone in (a),rack in (1)", NULL, NULL, "rack=2,zone=a", false},
		{"zone in (a),rack in (1)", NULL, NULL, "rack=1,zone=a", true},
		/* As in node affinity, an empty term matches nothing. */
		{"", NULL, NULL, "zone=a", false},
		{"|zone in (a)", NULL, NULL, "zone=a", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (volumes_fit(rows[i].first, rows[i].second, rows[i].affinity, rows[i].node) !=
		    rows[i].fits)
			fail_msg("row %zu: %s, %s on %s", i, rows[i].first,
				 str_or(rows[i].second, "-"), rows[i].node);
}

static void what_does_not_fit_is_named_with_its_key(void **state)
{
	static const struct {
		const char *selector, *volume, *affinity, *node, *says, *key;
	} rows[] = {
		{"a=1,b=2", NULL, NULL, "a=1", "nodeSelector b=2", "b"},
		{"a=1", "zone in (x)", "c", "", "nodeSelector a=1", "a"},
		{"", "zone in (x,y)", "c", "zone=z", "the topology of a volume zone In (x, y)",
		 "zone"},
		{"", "", NULL, "", "the topology of a volume, which matches nothing", NULL},
		{"", "zone in (x)", "c,d in (1,2,3,4)", "c=1,zone=x",
		 "node affinity d In (1, 2, 3, ...)", "d"},
		{"", NULL, "!c", "c=1", "node affinity c DoesNotExist", "c"},
		{"", NULL, "n>3", "n=2", "node affinity n Gt (3)", "n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		OWN(arena) a = arena_new();
		struct selector there = worlds_term(a, str_or(rows[i].volume, "")),
				term = worlds_term(a, str_or(rows[i].affinity, ""));
		struct world_volume v = {.v = &there, .n = 1};
		struct world_pod p = {.node_selector = worlds_labels(a, rows[i].selector)};
		struct labels l = worlds_labels(a, rows[i].node);
		const char *key, *text;

		p.volumes.v = &v;
		p.volumes.n = rows[i].volume != NULL;
		p.affinity.v = &term;
		p.affinity.n = rows[i].affinity != NULL;
		assert_false(fit_labels(&p, &l));
		text = fit_labels_miss(&p, &l, &key, a);
		if (!str_eq(text, rows[i].says) || !str_eq(key, rows[i].key))
			fail_msg("row %zu: %s, %s", i, text, str_or(key, "-"));
	}
}

static void what_is_asked_of_a_name_is_named_as_a_field(void **state)
{
	OWN(arena) a = arena_new();
	const char *name = "n1", *key = "x";
	struct requirement q = {
		.key = WORLD_NODE_NAME, .op = SELECTOR_IN, .values = &name, .nvalues = 1};
	struct selector terms[] = {{NULL, 0}, {&q, 1}};
	struct world_pod p = {.affinity = {terms, 2}};
	struct label has = {WORLD_NODE_NAME, "n1"};

	(void)state;
	assert_false(fit_labels(&p, &(struct labels){NULL, 0}));
	assert_string_equal(fit_labels_miss(&p, &(struct labels){NULL, 0}, &key, a),
			    "node affinity field metadata.name In (n1)");
	assert_null(key);
	assert_true(fit_labels(&p, &(struct labels){&has, 1}));
	q.op = SELECTOR_NOT_IN;
	assert_true(fit_labels(&p, &(struct labels){NULL, 0}));
	assert_false(fit_labels(&p, &(struct labels){&has, 1}));
}

static void an_empty_term_matches_nothing(void **state)
{
	(void)state;
	assert_false(fits("", "", NULL, "a=1"));
	assert_true(fits("", "", "a", "a=1"));
}

static void greater_and_less_want_integers(void **state)
{
	(void)state;
	assert_true(fits("", "n>3", NULL, "n=4"));
	assert_false(fits("", "n>3", NULL, "n=3"));
	assert_true(fits("", "n<10", NULL, "n=9"));
	assert_false(fits("", "n<10", NULL, "n=nine"));
	assert_false(fits("", "n>3", NULL, "m=4"));
}

static const char *lacks_beside(const char *requests, const char *room, const char *taken)
{
	OWN(arena) a = arena_new();
	struct resources q = worlds_resources(a, requests), r = worlds_resources(a, room);
	struct resources t = worlds_resources(a, taken);
	const char *name = fit_resources(&q, &r, &t);

	return !name			? ""
	       : str_eq(name, "cpu")	? "cpu"
	       : str_eq(name, "memory") ? "memory"
	       : name[0] == ':'		? "port"
					: "other";
}

static void what_was_learnt_of_a_pod_must_hold_beside_its_own_terms(void **state)
{
	OWN(arena) a = arena_new();
	struct selector own = worlds_term(a, "zone in (x)");
	struct world_pod p = {.affinity = {&own, 1}, .also = worlds_term(a, "host notin (n1)")};
	const struct labels good = worlds_labels(a, "host=n2,zone=x"),
			    coming = worlds_labels(a, "zone=x"),
			    refused = worlds_labels(a, "host=n1,zone=x"),
			    elsewhere = worlds_labels(a, "host=n2,zone=y");
	const char *key = NULL;

	(void)state;
	assert_true(fit_labels(&p, &good));
	assert_true(fit_labels(&p, &coming));
	assert_false(fit_labels(&p, &elsewhere));
	assert_false(fit_labels(&p, &refused));
	assert_string_equal(fit_labels_miss(&p, &refused, &key, a),
			    "the exclusion of nodes where kube-scheduler did not bind "
			    "the pod: host NotIn (n1)");
	assert_string_equal(key, "host");
}

static const char *lacks(const char *requests, const char *room)
{
	return lacks_beside(requests, room, "");
}

static void what_is_taken_is_no_room(void **state)
{
	(void)state;
	assert_string_equal(lacks_beside("cpu=3", "cpu=4", "cpu=1,memory=1Gi"), "");
	assert_string_equal(lacks_beside("cpu=3001m", "cpu=4", "cpu=1"), "cpu");
	assert_string_equal(lacks_beside("memory=0", "cpu=4", "memory=1"), "");
	assert_string_equal(lacks_beside(":TCP/80=1", "cpu=4", ":UDP/80=1,:TCP/81=1"), "");
	assert_string_equal(lacks_beside(":TCP/80=1", "cpu=4", ":TCP/80=1"), "port");
}

static void every_resource_must_have_room(void **state)
{
	(void)state;
	assert_string_equal(lacks("cpu=1,memory=1Gi", "cpu=1,memory=1Gi"), "");
	assert_string_equal(lacks("cpu=1001m,memory=1Gi", "cpu=1,memory=1Gi"), "cpu");
	assert_string_equal(lacks("cpu=1,memory=1Gi", "cpu=1,memory=1G"), "memory");
	assert_string_equal(lacks("example.com/fpga=1", "cpu=1"), "other");
	assert_string_equal(lacks("example.com/fpga=0", "cpu=1"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_taint_must_be_tolerated),
		cmocka_unit_test(a_toleration_without_value_equals_the_empty_value),
		cmocka_unit_test(a_toleration_may_compare_numbers),
		cmocka_unit_test(prefer_no_schedule_keeps_nobody_out),
		cmocka_unit_test(the_taint_that_is_in_the_way_is_named),
		cmocka_unit_test(every_label_of_the_node_selector_must_be_there),
		cmocka_unit_test(one_affinity_term_is_enough_and_all_its_parts_must_hold),
		cmocka_unit_test(what_was_learnt_of_a_pod_must_hold_beside_its_own_terms),
		cmocka_unit_test(a_node_has_to_suit_one_term_of_each_volume),
		cmocka_unit_test(what_does_not_fit_is_named_with_its_key),
		cmocka_unit_test(what_is_asked_of_a_name_is_named_as_a_field),
		cmocka_unit_test(an_empty_term_matches_nothing),
		cmocka_unit_test(greater_and_less_want_integers),
		cmocka_unit_test(what_is_taken_is_no_room),
		cmocka_unit_test(every_resource_must_have_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
