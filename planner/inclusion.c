#include "planner/inclusion.h"

#include "base/str.h"
#include "planner/fit.h"

static uint64_t cost_of(const struct world_topology *it, const struct world_pod *pod)
{
	uint64_t cost = 2 + 2 * pod->topology.n;

	if (it->nodes.honor_taints)
		cost += 2 + pod->tolerations.n;
	if (it->nodes.ignore_affinity)
		return cost;
	cost += 2 * pod->node_selector.n;
	for (size_t i = 0; i < pod->affinity.n; i++)
		for (size_t k = 0; k < pod->affinity.v[i].n; k++)
			cost += 2 + pod->affinity.v[i].v[k].nvalues;
	return cost;
}

struct inclusion *inclusion_of(struct planning *p, struct inclusions *of,
			       const struct world_topology *it, const struct world_pod *pod,
			       int key)
{
	struct inclusion *x;

	world_text_clear(p->w);
	shape_nodes_key(p->w, it, pod);
	planning_charge(p, of->tenant, p->w->len / 8);
	x = map_get(of->by_text, p->w->text);
	if (x)
		return x;
	x = arena_new_obj(p->a, struct inclusion);
	*x = (struct inclusion){.of = of,
				.pod = pod,
				.it = it,
				.key = key,
				.cost = cost_of(it, pod),
				.next = of->all};
	of->all = x;
	map_put(of->by_text, p->w->text, x);
	return x;
}

void inclusion_add(struct planning *p, struct inclusions *of, const struct labels *labels,
		   const struct world_taints *taints)
{
	of->bins = planning_wider(p->a, of->bins, &of->cap, of->nbins + 1, sizeof(*of->bins));
	of->bins[of->nbins++] = (struct inclusion_bin){labels, taints};
}

static bool counts(const struct inclusion *x, const struct inclusion_bin *b)
{
	for (size_t i = 0; i < x->pod->topology.n; i++) {
		const struct world_topology *t = &x->pod->topology.v[i];

		if (shape_is_wide_spread(t) && !labels_get(b->labels, t->key))
			return false;
	}
	return (x->it->nodes.ignore_affinity || fit_labels(x->pod, b->labels)) &&
	       (!x->it->nodes.honor_taints || !fit_taints(x->pod, b->taints));
}

static void look(struct planning *p, struct inclusion *x)
{
	const size_t bin = x->seen++, had = x->domains.n;
	const int domain = domains_of_bin(x->of->tenant, x->key, bin);

	planning_charge(p, x->of->tenant, x->cost);
	x->bits = planning_wider(p->a, x->bits, &x->words, bin / 64 + 1, sizeof(*x->bits));
	if (domain < 0 || !counts(x, &x->of->bins[bin]))
		return;
	x->bits[bin / 64] |= (uint64_t)1 << bin % 64;
	domains_see(p->a, &x->domains, domain);
	if (x->domains.n == had)
		return;
	x->first = planning_wider(p->a, x->first, &x->nfirst, had + 1, sizeof(*x->first));
	x->first[had] = (uint32_t)bin;
}

bool inclusion_has(struct planning *p, struct inclusion *x, size_t bin)
{
	while (x->seen <= bin)
		look(p, x);
	return x->bits[bin / 64] >> bin % 64 & 1;
}

const struct domains_seen *inclusion_domains(struct planning *p, struct inclusion *x)
{
	while (x->seen < x->of->nbins)
		look(p, x);
	return &x->domains;
}

void inclusion_cut(struct inclusions *of)
{
	const size_t bin = --of->nbins;

	for (struct inclusion *x = of->all; x; x = x->next) {
		if (x->seen <= bin)
			continue;
		x->seen = bin;
		x->bits[bin / 64] &= ~((uint64_t)1 << bin % 64);
		if (x->domains.n && x->first[x->domains.n - 1] == bin)
			domains_unsee(&x->domains, x->domains.n - 1);
	}
}
