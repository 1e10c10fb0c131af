#include "controller/tenant/pod_affinity.h"
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

/* Parses JSON that is written with single instead of double quotes. */
static json_t *read_json(const char *text)
{
	char *copy = mem_strdup(text);
	struct err e;
	json_t *j;

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	j = json_parse(copy, strlen(copy), &e);
	if (!j)
		fail_msg("%s: %s", e.text, copy);
	free(copy);
	return j;
}

/* Returns a pod whose nodeAffinity has these terms (JSON; NULL: none); each preferred term has
 * weight 7. */
static struct world_pod affinity(const char *required, const char *preferred, const char **why,
				 struct arena *a)
{
	OWN_JSON spec = json_object();
	json_t *node = json_object(), *preferences = json_array(), *t;
	OWN_JSON list = preferred ? read_json(preferred) : json_array();
	struct world_pod p = {0};
	size_t i;

	json_array_foreach (list, i, t)
		json_array_append_new(preferences,
				      json_pack("{s:i, s:O}", "weight", 7, "preference", t));
	if (required)
		json_object_set_new(node, "requiredDuringSchedulingIgnoredDuringExecution",
				    json_pack("{s:o}", "nodeSelectorTerms", read_json(required)));
	json_object_set_new(node, "preferredDuringSchedulingIgnoredDuringExecution", preferences);
	json_object_set_new(spec, "affinity", json_pack("{s:o}", "nodeAffinity", node));
	*why = pod_affinity_read(spec, &p, a);
	return p;
}

static void tell(struct buf *b, const struct selector *s)
{
	for (size_t i = 0; i < s->n; i++) {
		buf_printf(b, "%s%s %s", i ? " & " : "", s->v[i].key, selector_op_name(s->v[i].op));
		for (size_t k = 0; k < s->v[i].nvalues; k++)
			buf_printf(b, " %s", s->v[i].values[k]);
	}
}

#define LABEL(key, op, values) "{'key': '" key "', 'operator': '" op "', 'values': [" values "]}"
#define LABELS(list) "{'matchExpressions': [" list "]}"
#define FIELDS(list) "{'matchFields': [" list "]}"
#define NAME(op, values) LABEL("metadata.name", op, values)
#define UNREAD "a node affinity that cannot be read: "

static void terms_are_alternatives_of_labels_and_fields(void **state)
{
	static const struct {
		const char *terms, *read, *why;
	} rows[] = {
		{"[" LABELS(LABEL("a", "In", "'1', '2'")) "]", "a In 1 2", NULL},
		{"[" LABELS(LABEL("a", "Exists", "") ", " LABEL("b", "Lt", "'3'")) "]",
		 "a Exists & b Lt 3", NULL},
		{"[" FIELDS(NAME("In", "'n1'")) "]", ":metadata.name In n1", NULL},
		{"[" FIELDS(NAME("NotIn", "'n1'") ", " NAME("NotIn", "'n2'")) "]",
		 ":metadata.name NotIn n1 & :metadata.name NotIn n2", NULL},
		{"[{'matchExpressions': [" LABEL("a", "NotIn", "'1'") "], 'matchFields': [" NAME(
			 "In", "'n1'") "]}]",
		 "a NotIn 1 & :metadata.name In n1", NULL},
		/* A label named metadata.name does not count as the field metadata.name. */
		{"[" LABELS(NAME("In", "'n1'")) "]", "metadata.name In n1", NULL},
		/* an empty term matches no Node, alone or beside others */
		{"[{}]", "", NULL},
		{"[{'matchExpressions': [], 'matchFields': []}]", "", NULL},
		{"[]", "", NULL},
		{"[{}, " LABELS(LABEL("a", "Exists", "")) "]", "|a Exists", NULL},
		/* a term that kube-scheduler cannot read matches no Node either */
		{"[" FIELDS(LABEL("spec.x", "In", "'1'")) ", " LABELS(LABEL("a", "Gt", "'07'")) "]",
		 "|a Gt 07", NULL},
		{"[" LABELS(LABEL("a", "In", "'1'")) ", " LABELS(LABEL("b", "Gt", "'x'")) "]",
		 "a In 1|", NULL},
		/* if no term can be read, the first unreadable requirement is named */
		{"[" FIELDS(LABEL("spec.x", "In", "'1'")) "]", "", UNREAD "matchFields spec.x In"},
		{"[" FIELDS(LABEL("spec.x", "NotIn", "'1'")) ", {}]", "|",
		 UNREAD "matchFields spec.x NotIn"},
		{"[" FIELDS(NAME("Exists", "")) "]", "", UNREAD "matchFields metadata.name Exists"},
		{"[" FIELDS(NAME("In", "'a', 'b'")) "]", "", UNREAD "matchFields metadata.name In"},
		{"[" FIELDS(NAME("In", "")) "]", "", UNREAD "matchFields metadata.name In"},
		{"[" LABELS(LABEL("a", "Like", "'1'")) "]", "", UNREAD "matchExpressions a Like"},
		{"[" LABELS(LABEL("a", "Gte", "'1'")) "]", "", UNREAD "matchExpressions a Gte"},
		{"[" LABELS(LABEL("a", "Lt", "'1', '2'")) "]", "", UNREAD "matchExpressions a Lt"},
		{"[" LABELS(LABEL("a", "Lt", "'one'")) "]", "", UNREAD "matchExpressions a Lt"},
		{"[" LABELS(LABEL("a", "Gt", "'-1'")) "]", "", UNREAD "matchExpressions a Gt"},
		{"[" LABELS(LABEL("a", "In", "")) "]", "", UNREAD "matchExpressions a In"},
		{"[" LABELS(LABEL("a", "In", "'1', 'not a value'")) "]", "",
		 UNREAD "matchExpressions a In"},
		{"[" LABELS(LABEL("a", "Exists", "'1'")) "]", "",
		 UNREAD "matchExpressions a Exists"},
		{"[" LABELS(LABEL("not a key", "Exists", "")) "]", "",
		 UNREAD "matchExpressions not a key Exists"},
		{"[{'matchExpressions': [7]}]", "",
		 UNREAD "matchExpressions without a key without an operator"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		OWN(arena) a = arena_new();
		const char *why;
		const struct world_pod p = affinity(rows[i].terms, NULL, &why, a);
		struct buf b;

		buf_init(&b, 4096);
		for (size_t k = 0; k < p.affinity.n; k++) {
			buf_puts(&b, k ? "|" : "");
			tell(&b, &p.affinity.v[k]);
		}
		if (!str_eq(why, rows[i].why) || !str_eq(b.data, rows[i].read) || !p.affinity.n)
			fail_msg("%s: \"%s\", %s", rows[i].terms, b.data, str_or(why, "-"));
		buf_done(&b);
	}
}

static void a_pod_without_required_terms_may_be_anywhere(void **state)
{
	OWN(arena) a = arena_new();
	const char *why;

	(void)state;
	assert_int_equal(affinity(NULL, NULL, &why, a).affinity.n, 0);
	assert_null(why);
}

static void preferences_are_of_labels_and_fields(void **state)
{
	OWN(arena) a = arena_new();
	const char *why;
	struct world_pod p = affinity(
		NULL,
		"[{}, " FIELDS(NAME("NotIn", "'n1'")) ", " LABELS(LABEL("a", "Exists", "")) "]",
		&why, a);

	(void)state;
	assert_null(why);
	/* Two of three: kube-scheduler skips an empty preference. */
	assert_int_equal(p.preferences.n, 2);
	assert_int_equal(p.preferences.v[0].weight, 7);
	assert_string_equal(p.preferences.v[0].term.v[0].key, WORLD_NODE_NAME);
	assert_string_equal(p.preferences.v[1].term.v[0].key, "a");
	(void)affinity(NULL, "[" LABELS(LABEL("a", "Gt", "'x'")) "]", &why, a);
	assert_string_equal(why, UNREAD "matchExpressions a Gt");
	(void)affinity(NULL, "[" FIELDS(LABEL("spec.x", "In", "'1'")) "]", &why, a);
	assert_string_equal(why, UNREAD "matchFields spec.x In");
}

static void operators_of_tolerations_are_read(void **state)
{
	static const struct {
		const char *text;
		enum world_tolerates op;
	} rows[] = {
		{"{'key': 'k'}", WORLD_TOLERATES_EQUAL},
		{"{'key': 'k', 'operator': ''}", WORLD_TOLERATES_EQUAL},
		{"{'key': 'k', 'operator': 'Equal'}", WORLD_TOLERATES_EQUAL},
		{"{'key': 'k', 'operator': 'Exists'}", WORLD_TOLERATES_EXISTS},
		{"{'key': 'k', 'operator': 'Gt'}", WORLD_TOLERATES_GT},
		{"{'key': 'k', 'operator': 'Lt'}", WORLD_TOLERATES_LT},
		{"{'key': 'k', 'operator': 'Gte'}", WORLD_TOLERATES_NONE},
		{"{'key': 'k', 'operator': 'equal'}", WORLD_TOLERATES_NONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		OWN(arena) a = arena_new();
		OWN_JSON t = read_json(rows[i].text);
		OWN_JSON spec = json_pack("{s:[O]}", "tolerations", t);
		struct world_pod p = {0};

		pod_tolerations_read(spec, &p, a);
		assert_int_equal(p.tolerations.n, 1);
		assert_string_equal(p.tolerations.v[0].key, "k");
		if (p.tolerations.v[0].op != rows[i].op)
			fail_msg("%s: %d", rows[i].text, (int)p.tolerations.v[0].op);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terms_are_alternatives_of_labels_and_fields),
		cmocka_unit_test(a_pod_without_required_terms_may_be_anywhere),
		cmocka_unit_test(preferences_are_of_labels_and_fields),
		cmocka_unit_test(operators_of_tolerations_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
