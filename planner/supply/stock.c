/*
 * stock: machines of one pool that are free for other purposes than waiting pods: the list
 * of plan_stock(), and a second machine for a claim.
 * Tests: tests/unit/planner/supply/test_supply.c
 */
#include <stdlib.h>

#include "base/str.h"
#include "planner/fit.h"
#include "planner/supply/supply.h"

static int by_worth(const void *x, const void *y)
{
	return supply_by_worth(*(const struct world_machine *const *)x,
			       *(const struct world_machine *const *)y);
}

/* Adds to *out the free machines of offer l that meet the pool's requirements. Counts in out->room
 * how many of them the pool's limits admit. */
static void list_line(struct planning *p, struct supply_pool *pool,
		      const struct supply_type_offer *l, struct plan_stock *out)
{
	const struct resources *limits = &pool->it->limits, *capacity = &l->type->capacity;
	const size_t first = out->n;

	for (size_t k = l->first; k < l->first + l->noptions; k++) {
		struct supply_option *o = &pool->options[k];
		struct world_stock *m;

		if (!selector_matches(&pool->it->requirements, &o->labels))
			continue;
		while ((m = supply_free_machine(p, pool, o))) {
			/* Mark the machine as taken, so that a pool which names a Provider twice
			 * lists it once. */
			m->used = p->w->plan;
			out->v[out->n++] = &m->m;
		}
	}
	qsort(out->v + first, out->n - first, sizeof(*out->v), by_worth);
	for (size_t i = first; i < out->n; i++) {
		if (limits->n && tally_passes(&pool->tally, limits, capacity))
			return;
		tally_charge(&pool->tally, capacity, p->a);
		out->room++;
	}
}

void supply_list(struct planning *p, const char *pool, struct plan_stock *out)
{
	struct supply_pool *sp = supply_pool_named(p->supply, pool);
	size_t most = 0;

	*out = (struct plan_stock){0};
	if (!sp)
		return;
	supply_type_offers(p, sp);
	for (size_t i = 0; i < sp->noptions; i++)
		most += sp->options[i].group ? sp->options[i].group->n : 0;
	out->v = arena_calloc(p->a, most + 1, sizeof(*out->v));
	for (size_t i = 0; i < sp->noffers; i++)
		list_line(p, sp, &sp->offers[i], out);
}

static bool serves_as_second(const struct plan_class *c, const struct supply_pool *pool,
			     const struct supply_type_offer *l, const char *type)
{
	return str_eq(l->type->name, type) && !l->provider->elastic && !l->provider->paused &&
	       fit_proof(c->tenant->it, l->provider) &&
	       /* mutant: stand-in-over-quota */ supply_allowed(c, pool, l);
}

bool supply_second(struct planning *p, const struct world_claim *c, struct supply_choice *out)
{
	struct supply_pool *pool = supply_pool_named(p->supply, c->pool);
	const struct plan_class of = {.tenant = planning_tenant(p, c->tenant)};
	const struct world_tenant *t = of.tenant->it;

	*out = (struct supply_choice){0};
	if (!pool || !t || t->paused || !supply_open_to(pool->it, t) ||
	    !supply_version(pool->it, t->version) ||
	    !selector_matches(&pool->it->tenants, &t->labels))
		return false;
	supply_type_offers(p, pool);
	for (size_t i = 0; i < pool->noffers && !out->machine; i++) {
		const struct supply_type_offer *l = &pool->offers[i];

		if (!serves_as_second(&of, pool, l, c->instance_type))
			continue;
		for (size_t k = l->first; k < l->first + l->noptions; k++) {
			struct supply_option *o = &pool->options[k];
			const struct world_stock *m = supply_free_machine(p, pool, o);

			if (m && !o->permit &&
			    selector_matches(&pool->it->requirements, &o->labels) &&
			    (!out->machine || supply_by_worth(&m->m, out->machine) < 0))
				*out = (struct supply_choice){
					.pool = pool->it,
					.type = l->type,
					.machine = &m->m,
					.version = supply_version(pool->it, t->version),
					.labels = &o->labels};
		}
	}
	return out->machine;
}
