#include "base/str.h"
#include "planner/fit.h"

/* True if at least one of the n terms matches a node with these labels; an empty term matches
 * nothing. */
static bool one_matches(const struct selector *v, size_t n, const struct labels *node)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].n && selector_matches(&v[i], node))
			return true;
	return false;
}

bool fit_volume(const struct world_volume *v, const struct labels *node)
{
	return one_matches(v->v, v->n, node);
}

bool fit_labels(const struct world_pod *p, const struct labels *node)
{
	for (size_t i = 0; i < p->node_selector.n; i++)
		if (!str_eq(labels_get(node, p->node_selector.v[i].key),
			    p->node_selector.v[i].value))
			return false;
	for (size_t i = 0; i < p->volumes.n; i++)
		if (!fit_volume(&p->volumes.v[i], node))
			return false;
	if (!selector_matches(&p->devices, node) || !selector_matches(&p->also, node))
		return false;
	return !p->affinity.n || one_matches(p->affinity.v, p->affinity.n, node);
}

/* KEY_SHOWN, VALUE_SHOWN: number of bytes to which label keys and values are truncated in reasons,
 * because tenants choose them. VALUES_SHOWN: number of values shown. */
#define KEY_SHOWN 100
#define VALUE_SHOWN 63
#define VALUES_SHOWN 3

static bool is_of_name(const struct requirement *q)
{
	return str_eq(q->key, WORLD_NODE_NAME);
}

static const char *requirement_text(const struct requirement *q, struct arena *a)
{
	const char *text = arena_printf(a, "%.*s %s", KEY_SHOWN,
					is_of_name(q) ? "field metadata.name" : q->key,
					selector_op_name(q->op));

	for (size_t i = 0; i < q->nvalues && i < VALUES_SHOWN; i++)
		text = arena_printf(a, "%s%s%.*s", text, i ? ", " : " (", VALUE_SHOWN,
				    q->values[i]);
	return !q->nvalues		   ? text
	       : q->nvalues > VALUES_SHOWN ? arena_printf(a, "%s, ...)", text)
					   : arena_printf(a, "%s)", text);
}

const char *fit_selector_miss(const struct selector *s, const struct labels *node, const char **key,
			      struct arena *a)
{
	for (size_t i = 0; i < s->n; i++)
		if (!selector_matches(&(struct selector){.v = &s->v[i], .n = 1}, node)) {
			*key = is_of_name(&s->v[i]) ? NULL : s->v[i].key;
			return requirement_text(&s->v[i], a);
		}
	return NULL;
}

/* Returns text for a reason: a requirement that the node does not meet, from the first of the n
 * terms in v that has requirements. If no term has requirements, the text is "WHAT, which matches
 * nothing". *key: label key of the requirement. */
static const char *terms_miss(const char *what, const struct selector *v, size_t n,
			      const struct labels *node, const char **key, struct arena *a)
{
	const char *text = NULL;

	for (size_t i = 0; i < n && !text; i++)
		text = fit_selector_miss(&v[i], node, key, a);
	return text ? arena_printf(a, "%s %s", what, text)
		    : arena_printf(a, "%s, which matches nothing", what);
}

const char *fit_labels_miss(const struct world_pod *p, const struct labels *node, const char **key,
			    struct arena *a)
{
	*key = NULL;
	for (size_t i = 0; i < p->node_selector.n; i++) {
		const struct label *l = &p->node_selector.v[i];

		if (str_eq(labels_get(node, l->key), l->value))
			continue;
		*key = l->key;
		return arena_printf(a, "nodeSelector %.*s=%.*s", KEY_SHOWN, l->key, VALUE_SHOWN,
				    l->value);
	}
	for (size_t i = 0; i < p->volumes.n; i++)
		if (!fit_volume(&p->volumes.v[i], node))
			return terms_miss("the topology of a volume", p->volumes.v[i].v,
					  p->volumes.v[i].n, node, key, a);
	if (!selector_matches(&p->devices, node))
		return terms_miss("resource claims:", &p->devices, 1, node, key, a);
	if (!selector_matches(&p->also, node))
		return terms_miss(
			"the exclusion of nodes where kube-scheduler did not bind the pod:",
			&p->also, 1, node, key, a);
	return terms_miss("node affinity", p->affinity.v, p->affinity.n, node, key, a);
}

bool fit_runtime(const struct world_pod *p, const struct world_pool *pool)
{
	if (!p->runtime_class || !pool || !pool->nruntime_classes)
		return true;
	for (size_t i = 0; i < pool->nruntime_classes; i++)
		if (str_eq(pool->runtime_classes[i], p->runtime_class))
			return true;
	return false;
}

bool fit_proof(const struct world_tenant *t, const struct world_provider *p)
{
	return p->proof >= t->proof || (p->probed && /* mutant: proof-never-shown */ t->probed);
}

/* Compares the values of taint and toleration as integers: *out is negative, 0 or positive if the
 * taint's value is less than, equal to or greater than the toleration's value. False: one of the
 * values is not an integer. */
static bool compare_values(const struct world_toleration *t, const struct world_taint *taint,
			   int *out)
{
	int64_t has, bound;

	if (!str_to_canonical_i64(taint->value, &has) || !str_to_canonical_i64(t->value, &bound))
		return false;
	*out = (has > bound) - (has < bound);
	return true;
}

static bool tolerates_value(const struct world_toleration *t, const struct world_taint *taint)
{
	int c;

	switch (t->op) {
	case WORLD_TOLERATES_EQUAL:
		return str_eq(str_or(t->value, ""), str_or(taint->value, ""));
	case WORLD_TOLERATES_EXISTS:
		return true;
	case WORLD_TOLERATES_GT:
		return compare_values(t, taint, &c) && /* mutant: toleration-numbers */ c > 0;
	case WORLD_TOLERATES_LT:
		return compare_values(t, taint, &c) && c < 0;
	case WORLD_TOLERATES_NONE:
		break;
	}
	return false;
}

static bool tolerates(const struct world_toleration *t, const struct world_taint *taint)
{
	return (str_empty(t->effect) || str_eq(t->effect, taint->effect)) &&
	       (str_empty(t->key) ? t->op == WORLD_TOLERATES_EXISTS
				  : str_eq(t->key, taint->key) && tolerates_value(t, taint));
}

static bool tolerated(const struct world_pod *p, const struct world_taint *taint)
{
	for (size_t i = 0; i < p->tolerations.n; i++)
		if (tolerates(&p->tolerations.v[i], taint))
			return true;
	return false;
}

bool fit_is_soft(const struct world_taint *taint)
{
	return str_eq(taint->effect, "PreferNoSchedule");
}

const struct world_taint *fit_taints(const struct world_pod *p, const struct world_taints *taints)
{
	for (size_t i = 0; i < taints->n; i++)
		if (!fit_is_soft(&taints->v[i]) && !tolerated(p, &taints->v[i]))
			return &taints->v[i];
	return NULL;
}

int64_t fit_score(const struct world_pod *p, const struct labels *node,
		  const struct world_taints *taints)
{
	int64_t score = 0;

	for (size_t i = 0; i < taints->n; i++)
		if (fit_is_soft(&taints->v[i]) && !tolerated(p, &taints->v[i]))
			return FIT_LAST;
	for (size_t i = 0; i < p->preferences.n; i++)
		if (selector_matches(&p->preferences.v[i].term, node) &&
		    __builtin_add_overflow(score, p->preferences.v[i].weight, &score))
			return INT64_MAX;
	return score;
}

const char *fit_resources(const struct resources *requests, const struct resources *room,
			  const struct resources *taken)
{
	for (size_t i = 0; i < requests->n; i++) {
		const char *name = requests->v[i].name;
		const struct quantity *has = resources_get(room, name),
				      *less = resources_get(taken, name);
		struct quantity want = requests->v[i].q;

		if (want.nano <= 0)
			continue;
		if (planning_is_port(name) ? less != NULL
		    : planning_is_attachment(name)
			    ? planning_attachments_pass(want, less)
			    : !has || quantity_cmp(*has, less ? quantity_add(want, *less) : want) <
					      0)
			return name;
	}
	return NULL;
}
