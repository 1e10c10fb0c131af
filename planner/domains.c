#include "planner/domains.h"

void domains_new(struct arena *a, struct plan_tenant *t, int nkeys)
{
	t->domains = arena_new_obj(a, struct tenant_domains);
	t->domains->nkeys = (size_t)nkeys;
	t->domains->keys = arena_calloc(a, (size_t)nkeys + 1, sizeof(*t->domains->keys));
}

void domains_put(struct arena *a, struct plan_tenant *t, int key, size_t bin, int domain)
{
	struct key_domains *d = &t->domains->keys[key];
	struct domain_bins *b;

	d->of = planning_wider(a, d->of, &d->nof, bin + 1, sizeof(*d->of));
	d->of[bin] = domain;
	if (domain < 0)
		return;
	d->bins = planning_wider(a, d->bins, &d->cap, (size_t)domain + 1, sizeof(*d->bins));
	b = &d->bins[domain];
	b->v = planning_wider(a, b->v, &b->cap, b->n + 1, sizeof(*b->v));
	b->v[b->n++] = (uint32_t)bin;
}

void domains_drop(struct plan_tenant *t, size_t bin)
{
	for (size_t k = 0; k < t->domains->nkeys; k++) {
		struct key_domains *d = &t->domains->keys[k];

		if (d->of[bin] >= 0)
			d->bins[d->of[bin]].n--;
	}
}

int domains_of_bin(const struct plan_tenant *t, int key, size_t bin)
{
	return t->domains->keys[key].of[bin];
}

const struct domain_bins *domains_bins(const struct plan_tenant *t, int key, size_t domain)
{
	static const struct domain_bins none;
	const struct key_domains *d = &t->domains->keys[key];

	return domain < d->cap ? &d->bins[domain] : &none;
}

void domains_see(struct arena *a, struct domains_seen *s, int domain)
{
	s->v = planning_wider(a, s->v, &s->cap, (size_t)domain + 1, 1);
	if (s->v[domain])
		return;
	s->v[domain] = 1;
	s->order = planning_wider(a, s->order, &s->order_cap, s->n + 1, sizeof(*s->order));
	s->order[s->n++] = (uint32_t)domain;
}

void domains_unsee(struct domains_seen *s, size_t n)
{
	while (s->n > n)
		s->v[s->order[--s->n]] = 0;
}
