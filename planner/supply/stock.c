/*
 * stock: machines of one pool that are free for other purposes than waiting pods: the list
 * of plan_stock(), a second machine for a claim, and a machine for given pods.
 * Tests: tests/unit/planner/supply/test_supply.c
 */
#include <stdlib.h>

#include "base/str.h"
#include "planner/fit.h"
#include "planner/supply/overhead.h"
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

/* What the machine has to be, beside free, owned, and admitted by quota and limits. */
struct wanted {
	struct plan_class of;
	/* NULL: any type */
	const char *type;
	/* NULL: no pods have to fit */
	const struct supply_together *pods;
};

static bool may_serve(const struct wanted *x, const struct supply_pool *pool,
		      const struct supply_type_offer *l)
{
	return (!x->type || str_eq(l->type->name, x->type)) && !l->provider->elastic &&
	       !l->provider->paused && fit_proof(x->of.tenant->it, l->provider) &&
	       /* mutant: stand-in-over-quota */ supply_allowed(&x->of, pool, l);
}

/* True if the pods fit together on a machine of the option, beside the pods of DaemonSets. */
static bool holds(struct planning *p, const struct wanted *x, const struct supply_pool *pool,
		  const struct supply_type_offer *l, const struct supply_option *o)
{
	const struct resources *has = &l->type->capacity, *taken;

	if (!x->pods)
		return true;
	taken = &overhead_of_node(p, x->of.tenant, &o->labels, &pool->it->taints)->of;
	for (size_t i = 0; i < x->pods->n; i++) {
		const struct world_pod *pod = x->pods->v[i];

		if (!fit_labels(pod, &o->labels) || fit_taints(pod, &pool->it->taints) ||
		    !fit_runtime(pod, pool->it) || fit_resources(&pod->requests, has, taken))
			return false;
	}
	return !fit_resources(x->pods->sum, has, taken);
}

/* Finds the best machine of the first offer of the pool that has one. */
static bool find_owned(struct planning *p, struct supply_pool *pool, const struct wanted *x,
		       struct supply_choice *out)
{
	const struct world_tenant *t = x->of.tenant->it;

	if (!pool || !t || t->paused || !supply_open_to(pool->it, t) ||
	    !supply_version(pool->it, t->version) ||
	    !selector_matches(&pool->it->tenants, &t->labels))
		return false;
	supply_type_offers(p, pool);
	for (size_t i = 0; i < pool->noffers && !out->machine; i++) {
		const struct supply_type_offer *l = &pool->offers[i];

		if (!may_serve(x, pool, l))
			continue;
		for (size_t k = l->first; k < l->first + l->noptions; k++) {
			struct supply_option *o = &pool->options[k];
			const struct world_stock *m = supply_free_machine(p, pool, o);

			if (m && !o->permit &&
			    selector_matches(&pool->it->requirements, &o->labels) &&
			    (!out->machine || supply_by_worth(&m->m, out->machine) < 0) &&
			    holds(p, x, pool, l, o))
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

bool supply_second(struct planning *p, const struct world_claim *c, struct supply_choice *out)
{
	const struct wanted x = {.of = {.tenant = planning_tenant(p, c->tenant)},
				 .type = c->instance_type};

	*out = (struct supply_choice){0};
	return find_owned(p, supply_pool_named(p->supply, c->pool), &x, out);
}

bool supply_owned(struct planning *p, const struct world_claim *c, const struct supply_together *of,
		  struct supply_choice *out)
{
	const struct wanted x = {.of = {.tenant = planning_tenant(p, c->tenant)}, .pods = of};
	struct supply_pool *pool;

	*out = (struct supply_choice){0};
	for (size_t i = 0; !out->machine && (pool = supply_pool_at(p->supply, i)); i++)
		(void)find_owned(p, pool, &x, out);
	return out->machine;
}
