#include "planner/world_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "planner/planning.h"
#include "planner/world_impl.h"

const char *world_tenant_name(const struct world *w, const char *name)
{
	const struct world_tenant *t = world_find(w->tenants, name);

	return t ? t->name : NULL;
}

static int by_name(const void *x, const void *y)
{
	const struct world_use *a = x, *b = y;
	const int c = strcmp(a->provider, b->provider);

	return c ? c : strcmp(a->type, b->type);
}

static void count(struct world *w, struct world_use *u)
{
	const struct world_kind *k = world_kind(w, u->provider, u->type);

	for (size_t g = 0; k && g < k->n; g++)
		for (size_t m = 0; m < k->v[g]->n; m++) {
			u->machines++;
			u->offered += k->v[g]->v[m]->m.offered;
		}
}

struct world_use *world_uses(struct world *w, size_t *n)
{
	const struct world_list *claims = world_claims(w);
	struct world_use *v = NULL;
	size_t cap = 0;
	struct map_iter it;

	*n = 0;
	map_for_each (it, w->providers) {
		const struct world_provider *p = ((const struct world_object *)it.value)->it;

		for (size_t i = 0; i < p->types.n; i++) {
			const struct quantity *q =
				resources_get(&p->types.v[i].capacity, PLANNING_GPU);

			mem_grow(v, *n, cap);
			v[*n] = (struct world_use){.provider = p->name,
						   .type = p->types.v[i].name,
						   .gpus = q ? (double)q->nano / 1e9 : 0};
			count(w, &v[(*n)++]);
		}
	}
	for (size_t i = 0; i < claims->n; i++) {
		const struct world_claim *c = claims->v[i];
		const struct world_stock *m = c->machine ? map_get(w->machines, c->machine) : NULL;

		for (size_t k = 0; m && k < *n; k++)
			if (str_eq(v[k].provider, m->m.provider) &&
			    str_eq(v[k].type, m->m.instance_type))
				v[k].held++;
	}
	if (*n)
		qsort(v, *n, sizeof(*v), by_name);
	return v;
}
