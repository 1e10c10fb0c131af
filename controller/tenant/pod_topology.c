/*
 * pod_topology: converts a pod's topology spread and pod affinity to the form that the planner
 * reads. Separate from projection.c because of the size of that file.
 */
#include "controller/tenant/pod_topology.h"

#include "base/str.h"

#define ITEMS_MAX 256 /* maximum number of items in one list of an object */
/* Maximum number of constraints of one pod. Each constraint makes a group, and the planner compares
 * each pod with each group. */
#define CONSTRAINTS_MAX 32
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

static const char *copy(struct arena *a, const json_t *s)
{
	return arena_strdup(a, json_string_value(s));
}

bool demand_requirement(const json_t *r, struct requirement *q, struct arena *a)
{
	const json_t *values = json_object_get(r, "values");
	json_t *v;
	size_t i;

	*q = (struct requirement){0};
	if (!selector_op_parse(str_or(json_str_at(r, "operator"), ""), &q->op) ||
	    !json_str_at(r, "key") || json_array_size(values) > ITEMS_MAX)
		return false;
	q->key = arena_strdup(a, json_str_at(r, "key"));
	q->values = arena_calloc(a, json_array_size(values) + 1, sizeof(*q->values));
	json_array_foreach (values, i, v)
		q->values[q->nvalues++] = str_or(copy(a, v), "");
	return true;
}

bool demand_requirements(const json_t *list, size_t more, struct selector *out, struct arena *a)
{
	json_t *r;
	size_t i;

	if (json_array_size(list) > ITEMS_MAX)
		return false;
	out->v = arena_calloc(a, json_array_size(list) + more + 1, sizeof(*out->v));
	json_array_foreach (list, i, r) {
		if (!demand_requirement(r, &out->v[out->n], a))
			return false;
		out->n++;
	}
	return true;
}

static void require(struct selector *s, enum selector_op op, const char *key, const char *value,
		    struct arena *a)
{
	struct requirement *q = &s->v[s->n++];

	*q = (struct requirement){.key = key, .op = op};
	if (value) {
		q->values = arena_calloc(a, 1, sizeof(*q->values));
		q->values[q->nvalues++] = value;
	}
}

/* Adds one requirement per key: another pod's label must equal (SELECTOR_IN) or differ from
 * (SELECTOR_NOT_IN) the value that pod p has. */
static void own_values(struct selector *s, const json_t *keys, enum selector_op op,
		       const struct world_pod *p, struct arena *a)
{
	json_t *key;
	size_t i;

	json_array_foreach (keys, i, key) {
		const char *name = json_string_value(key),
			   *value = name ? labels_get(&p->labels, name) : NULL;

		if (value)
			require(s, op, arena_strdup(a, name), value, a);
	}
}

/* Reads which pods a spread constraint or an affinity term selects (labelSelector, matchLabelKeys,
 * mismatchLabelKeys). Returns false if they cannot be read. */
static bool pods_of(const json_t *term, struct selector *out, const struct world_pod *p,
		    struct arena *a)
{
	const json_t *selector = json_object_get(term, "labelSelector"),
		     *labels = json_object_get(selector, "matchLabels"),
		     *same = json_object_get(term, "matchLabelKeys"),
		     *other = json_object_get(term, "mismatchLabelKeys");
	const char *key;
	json_t *v;

	if (json_object_size(labels) > ITEMS_MAX || json_array_size(same) > ITEMS_MAX ||
	    json_array_size(other) > ITEMS_MAX ||
	    !demand_requirements(json_object_get(selector, "matchExpressions"),
				 json_object_size(labels) + json_array_size(same) +
					 json_array_size(other) + 2,
				 out, a))
		return false;
	if (!json_is_object(selector)) {
		/* No selector: add two contradictory requirements, so that no pod is selected. */
		require(out, SELECTOR_EXISTS, "none", NULL, a);
		require(out, SELECTOR_DOES_NOT_EXIST, "none", NULL, a);
		return true;
	}
	json_object_foreach ((json_t *)labels, key, v) {
		if (!json_is_string(v))
			return false;
		require(out, SELECTOR_IN, arena_strdup(a, key), copy(a, v), a);
	}
	own_values(out, same, SELECTOR_IN, p, a);
	own_values(out, other, SELECTOR_NOT_IN, p, a);
	return true;
}

/* Sets *is_other: true if the policy in `member` is `other`, false if it is `usual` or missing.
 * Returns false for any other value. */
static bool policy_of(const json_t *c, const char *member, const char *usual, const char *other,
		      bool *is_other)
{
	const char *policy = str_or(json_str_at(c, member), usual);

	*is_other = str_eq(policy, other);
	return *is_other || str_eq(policy, usual);
}

static const char *spread_of(const json_t *c, struct world_pod *p, struct arena *a)
{
	struct world_topology *t = &p->topology.v[p->topology.n];

	if (!str_eq(json_str_at(c, "whenUnsatisfiable"), "DoNotSchedule"))
		return NULL;
	*t = (struct world_topology){.kind = WORLD_SPREAD,
				     .key = copy(a, json_object_get(c, "topologyKey")),
				     .max_skew = json_int_at(c, "maxSkew"),
				     .min_domains = json_int_at(c, "minDomains")};
	if (!t->key || t->max_skew < 1 || !pods_of(c, &t->pods, p, a) ||
	    !policy_of(c, "nodeAffinityPolicy", "Honor", "Ignore", &t->nodes.ignore_affinity) ||
	    !policy_of(c, "nodeTaintsPolicy", "Ignore", "Honor", &t->nodes.honor_taints))
		return "topologySpreadConstraints that cannot be read";
	p->topology.n++;
	return NULL;
}

/* True if the selector is empty, so that it selects everything. */
static bool selects_all(const json_t *selector)
{
	return !json_object_size(json_object_get(selector, "matchLabels")) &&
	       !json_array_size(json_object_get(selector, "matchExpressions"));
}

static const char *term_of(const json_t *term, enum world_topology_kind kind, struct world_pod *p,
			   struct arena *a)
{
	struct world_topology *t = &p->topology.v[p->topology.n];
	const json_t *names = json_object_get(term, "namespaces"),
		     *where = json_object_get(term, "namespaceSelector");
	json_t *v;
	size_t i;

	/* drover does not read Namespaces, so it cannot know which of them the namespaceSelector
	 * matches. The anti-affinity of a bound pod counts for all namespaces, so that no pod is
	 * planned on a Node that it may not use. */
	if (json_is_object(where) && !selects_all(where) && !p->node)
		return kind == WORLD_APART ? "required pod anti-affinity with a namespaceSelector"
					   : "required pod affinity with a namespaceSelector";
	*t = (struct world_topology){.kind = kind,
				     .key = copy(a, json_object_get(term, "topologyKey")),
				     .everywhere = json_is_object(where)};
	if (!t->key || json_array_size(names) > ITEMS_MAX || !pods_of(term, &t->pods, p, a))
		return kind == WORLD_APART ? "a required pod anti-affinity that cannot be read"
					   : "a required pod affinity that cannot be read";
	t->namespaces = arena_calloc(a, json_array_size(names) + 1, sizeof(*t->namespaces));
	json_array_foreach (names, i, v)
		t->namespaces[t->nnamespaces++] = str_or(copy(a, v), "");
	p->topology.n++;
	return NULL;
}

const char *demand_topology(const json_t *spec, struct world_pod *p, struct arena *a)
{
	const json_t *apart = json_at(spec, "affinity", "podAntiAffinity", REQUIRED),
		     *together =
			     p->node ? NULL : json_at(spec, "affinity", "podAffinity", REQUIRED),
		     *spreads = p->node ? NULL : json_object_get(spec, "topologySpreadConstraints");
	const char *why = NULL, *odd;
	json_t *o;
	size_t i, n = json_array_size(apart) + json_array_size(together) + json_array_size(spreads);

	p->topology.n = 0;
	if (!n)
		return NULL;
	if (n > CONSTRAINTS_MAX)
		return "too many constraints on other pods";
	p->topology.v = arena_calloc(a, n, sizeof(*p->topology.v));
	json_array_foreach (apart, i, o) {
		odd = term_of(o, WORLD_APART, p, a);
		why = why ? why : odd;
	}
	json_array_foreach (together, i, o) {
		odd = term_of(o, WORLD_TOGETHER, p, a);
		why = why ? why : odd;
	}
	json_array_foreach (spreads, i, o) {
		odd = spread_of(o, p, a);
		why = why ? why : odd;
	}
	return why;
}
