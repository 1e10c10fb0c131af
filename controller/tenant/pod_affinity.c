#include "controller/tenant/pod_affinity.h"

#include <string.h>

#include "base/str.h"
#include "controller/tenant/pod_topology.h"

#define ITEMS_MAX 256 /* maximum number of required terms, and of preferred terms, of one pod */
#define SHOWN 100     /* maximum length of a key or operator in a message, in bytes */
#define FIELD "metadata.name"
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

/* --- requirements ----------------------------------------------------------------------------- */

static bool has_its_values(const struct requirement *q)
{
	int64_t n;

	switch (q->op) {
	case SELECTOR_IN:
	case SELECTOR_NOT_IN:
		return q->nvalues > 0;
	case SELECTOR_EXISTS:
	case SELECTOR_DOES_NOT_EXIST:
		return q->nvalues == 0;
	case SELECTOR_GT:
	case SELECTOR_LT:
		return q->nvalues == 1 && str_to_i64(q->values[0], 0, INT64_MAX, &n);
	case SELECTOR_GTE:
	case SELECTOR_LTE:
	case SELECTOR_CONTAINS:
	case SELECTOR_CONTAINS_LOWER:
		break;
	}
	return false;
}

static bool is_of_labels(const struct requirement *q)
{
	for (size_t i = 0; i < q->nvalues; i++)
		if (!str_is_label_value(q->values[i]))
			return false;
	return has_its_values(q) && str_is_qualified_name(q->key);
}

static bool is_of_fields(const struct requirement *q)
{
	return str_eq(q->key, FIELD) && q->nvalues == 1 &&
	       (q->op == SELECTOR_IN || q->op == SELECTOR_NOT_IN);
}

/* Adds the requirements of the list to *out, which has room for them. Returns the first requirement
 * that kube-scheduler cannot read, and ends there; NULL: it can read all. reads(): true if
 * kube-scheduler can read this requirement. */
static const json_t *add_requirements(const json_t *list, bool (*reads)(const struct requirement *),
				      struct selector *out, struct arena *a)
{
	json_t *r;
	size_t i;

	json_array_foreach (list, i, r) {
		struct requirement *q = &out->v[out->n];

		if (!demand_requirement(r, q, a) || !reads(q))
			return r;
		out->n++;
	}
	return NULL;
}

/* --- terms ------------------------------------------------------------------------------------ */

static const char *unread_text(const char *list, const json_t *r, struct arena *a)
{
	return arena_printf(a, "a node affinity that cannot be read: %s %.*s %.*s", list, SHOWN,
			    str_or(json_str_at(r, "key"), "without a key"), SHOWN,
			    str_or(json_str_at(r, "operator"), "without an operator"));
}

static bool is_empty(const json_t *term)
{
	return !json_array_size(json_object_get(term, "matchExpressions")) &&
	       !json_array_size(json_object_get(term, "matchFields"));
}

/* Reads the term into *out. *unread: text that names the first requirement in the term that
 * kube-scheduler cannot read, in which case *out is not set; NULL: it can read all. Returns NULL,
 * or why the term is not supported. */
static const char *term_read(const json_t *term, struct selector *out, const char **unread,
			     struct arena *a)
{
	const json_t *labels = json_object_get(term, "matchExpressions"),
		     *fields = json_object_get(term, "matchFields"), *odd;
	size_t nlabels = json_array_size(labels), nfields = json_array_size(fields);
	struct selector s = {.v = arena_calloc(a, nlabels + nfields + 1, sizeof(*s.v))};

	odd = add_requirements(labels, is_of_labels, &s, a);
	*unread = odd ? unread_text("matchExpressions", odd, a) : NULL;
	if (odd)
		return NULL;
	odd = add_requirements(fields, is_of_fields, &s, a);
	*unread = odd ? unread_text("matchFields", odd, a) : NULL;
	if (odd)
		return NULL;
	if (nlabels > ITEMS_MAX || nfields > ITEMS_MAX)
		return "a node affinity with too many requirements in a term";
	for (size_t i = nlabels; i < s.n; i++)
		s.v[i].key = WORLD_NODE_NAME;
	*out = s;
	return NULL;
}

/* Sets p->affinity to the required terms. A term without requirements matches no Node. An empty
 * list of terms becomes one such term, so that the pod matches no Node. Returns NULL, or why no
 * term can be used. */
static const char *required_of(const json_t *required, struct world_pod *p, struct arena *a)
{
	const json_t *terms = json_object_get(required, "nodeSelectorTerms");
	const char *unread = NULL, *odd, *why;
	bool judged = false;
	json_t *t;
	size_t i;

	p->affinity.v = arena_calloc(a, json_array_size(terms) + 1, sizeof(*p->affinity.v));
	p->affinity.n = json_is_object(required) && !json_array_size(terms);
	json_array_foreach (terms, i, t) {
		struct selector *s = &p->affinity.v[p->affinity.n++];

		why = term_read(t, s, &odd, a);
		unread = unread ? unread : odd;
		if (/* mutant: term-unread */ odd || is_empty(t))
			continue;
		judged = true;
		if (why)
			return why;
	}
	return judged ? NULL : unread;
}

static const char *preferred_of(const json_t *list, struct world_pod *p, struct arena *a)
{
	const char *odd, *why = NULL;
	json_t *t;
	size_t i;

	p->preferences.v = arena_calloc(a, json_array_size(list) + 1, sizeof(*p->preferences.v));
	json_array_foreach (list, i, t) {
		const json_t *term = json_object_get(t, "preference");
		struct world_preference *w = &p->preferences.v[p->preferences.n];

		w->weight = json_int_at(t, "weight");
		if (!w->weight || is_empty(term))
			continue;
		p->preferences.n++;
		why = term_read(term, &w->term, &odd, a);
		why = odd ? odd : why;
		if (why)
			return why;
	}
	return NULL;
}

const char *pod_affinity_read(const json_t *spec, struct world_pod *p, struct arena *a)
{
	const json_t *node = json_at(spec, "affinity", "nodeAffinity"),
		     *required = json_object_get(node, REQUIRED),
		     *preferred = json_object_get(node, PREFERRED);
	const char *why;

	if (json_array_size(json_object_get(required, "nodeSelectorTerms")) > ITEMS_MAX ||
	    json_array_size(preferred) > ITEMS_MAX)
		return "a node affinity with too many terms";
	why = required_of(required, p, a);
	return why ? why : preferred_of(preferred, p, a);
}

/* --- tolerations ------------------------------------------------------------------------------ */

static enum world_tolerates operator_of(const char *s)
{
	static const char *const names[] = {[WORLD_TOLERATES_EQUAL] = "Equal",
					    [WORLD_TOLERATES_EXISTS] = "Exists",
					    [WORLD_TOLERATES_GT] = "Gt",
					    [WORLD_TOLERATES_LT] = "Lt"};

	if (str_empty(s))
		return WORLD_TOLERATES_EQUAL;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (str_eq(s, names[i]))
			return (enum world_tolerates)i;
	return WORLD_TOLERATES_NONE;
}

static const char *copy(struct arena *a, const json_t *s)
{
	return arena_strdup(a, json_string_value(s));
}

void pod_tolerations_read(const json_t *spec, struct world_pod *p, struct arena *a)
{
	const json_t *list = json_object_get(spec, "tolerations");
	json_t *t;
	size_t i;

	p->tolerations.v = arena_calloc(a, json_array_size(list) + 1, sizeof(*p->tolerations.v));
	json_array_foreach (list, i, t) {
		if (p->node && str_starts(str_or(json_str_at(t, "key"), ""), "node.kubernetes.io/"))
			continue;
		p->tolerations.v[p->tolerations.n++] = (struct world_toleration){
			.key = copy(a, json_object_get(t, "key")),
			.value = copy(a, json_object_get(t, "value")),
			.effect = copy(a, json_object_get(t, "effect")),
			.op = operator_of(json_str_at(t, "operator")),
		};
	}
}
