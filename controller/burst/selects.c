/* selects: scans the cache of BurstPolicies for each question, because policies are few. */
#include "controller/burst/selects.h"

#include "base/str.h"
#include "controller/burst/policy_objects.h"

struct governs {
	/* Tenant whose policies are searched for; NULL: any policy is found */
	const char *tenant;
	bool found;
};

static bool is_for(const struct burst_policy *p, const char *tenant)
{
	const struct strings *of = &p->spec.match.tenants;

	for (size_t i = 0; i < of->n; i++)
		if (str_eq(of->v[i], tenant))
			return true;
	return !of->n;
}

static bool find_policy(const struct kube_entry *en, void *arg)
{
	struct governs *g = arg;

	g->found = !g->tenant || is_for(en->object, g->tenant);
	return !g->found;
}

bool burst_governs(const struct context *c, const char *tenant)
{
	struct governs g = {.tenant = tenant};

	if (c->cache[OBJECT_BURST_POLICY])
		kube_cache_each(c->cache[OBJECT_BURST_POLICY], find_policy, &g);
	return g.found;
}

struct selects {
	const char *tenant;
	struct burst_traits traits;
	bool found;
	struct arena *arena;
};

static bool find_selecting(const struct kube_entry *en, void *arg)
{
	const struct burst_policy *p = en->object;
	struct selects *s = arg;
	struct burst_match m;

	/* Not converting the policies of other tenants matters if each tenant has its own. */
	if (!is_for(p, s->tenant))
		return true;
	m = burst_object_match(&p->spec.match, s->arena);
	s->found = burst_selects(&m, s->tenant, &s->traits);
	return !s->found;
}

struct burst_traits burst_traits_of(const struct world_pod *p)
{
	return (struct burst_traits){
		.ns = p->ns, .queue = labels_get(&p->labels, BURST_QUEUE), .labels = p->labels};
}

static bool find_selector(const struct kube_entry *en, void *arg)
{
	const struct object_label_selector *s =
		&((const struct burst_policy *)en->object)->spec.match.workload_selector;

	*(bool *)arg = s->match_labels.n || s->match_expressions.n;
	return !*(bool *)arg;
}

bool burst_any_selector(const struct context *c)
{
	bool found = false;

	kube_cache_each(c->cache[OBJECT_BURST_POLICY], find_selector, &found);
	return found;
}

bool burst_governs_pod(const struct context *c, const struct world_pod *p)
{
	OWN(arena) a = NULL;
	struct selects s = {.tenant = p->tenant, .traits = burst_traits_of(p)};

	if (!burst_governs(c, p->tenant))
		return false;
	s.arena = a = arena_new();
	kube_cache_each(c->cache[OBJECT_BURST_POLICY], find_selecting, &s);
	return s.found;
}

bool burst_any(const struct context *c)
{
	return burst_governs(c, NULL);
}
