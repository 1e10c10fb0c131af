#include "planner/bins.h"
#include "planner/domains.h"
#include "planner/supply/opening.h"
#include "planner/supply/overhead.h"
#include "planner/queue.h"
#include "planner/supply/reserve.h"
#include "planner/supply/resize.h"

/* Largest number of different fits (planning.h) on a claim that is moved. */
#define FITS 8

struct resize {
	struct planning *p;
	/* Index of the claim that is moved next. */
	size_t at;
	/* first: by claim, 1 + index into planning.turns of a pod that is placed on the claim; 0:
	 * none. next: by index into planning.turns, the same for the claim's next pod. NULL until
	 * a claim may move. */
	uint32_t *first, *next;
	/* Requests of all pods of one claim; memory for one element per column. */
	struct ask *asks;
};

struct resize *resize_new(struct planning *p)
{
	struct resize *r = arena_new_obj(p->a, struct resize);
	struct map_iter it;

	*r = (struct resize){.p = p, .at = p->saves_nodes ? 0 : p->plan->nclaims};
	if (!p->saves_nodes)
		return r;
	r->asks = arena_calloc(p->a, p->ncolumns + 1, sizeof(*r->asks));
	map_for_each (it, p->tenants)
		(void)reserve_release(it.value);
	return r;
}

/* Fills the lists of the pods on each claim. */
static void list_pods(struct resize *r)
{
	const struct planning *p = r->p;

	r->first = arena_calloc(p->a, p->plan->nclaims, sizeof(*r->first));
	r->next = arena_calloc(p->a, p->nturns, sizeof(*r->next));
	for (size_t i = p->nturns; i-- > 0;) {
		const struct plan_pod *pod = &p->plan->pods[i];

		if (pod->outcome != PLAN_ON_NEW)
			continue;
		r->next[i] = r->first[pod->new_claim];
		r->first[pod->new_claim] = (uint32_t)i + 1;
	}
	r->p->work += p->nturns;
}

/* Writes to v the fits of the pods on the claim; *n: their number. False: a pod of the claim keeps
 * the claim on its machine, or there are more than FITS fits. */
static bool fits_of(const struct resize *r, size_t claim, const struct plan_fit **v, size_t *n)
{
	for (size_t i = r->first[claim]; i; i = r->next[i - 1]) {
		const struct queued *q = r->p->turns[i - 1];
		const struct plan_fit *f = q->class_->fit;
		size_t k = 0;

		r->p->work++;
		while (k < *n && v[k] != f)
			k++;
		if (q->gang || f->pod->preferences.n || k == FITS)
			return false;
		v[k] = f;
		*n = k == *n ? k + 1 : *n;
	}
	return *n;
}

/* Returns what the pods and DaemonSets take of the claim's machine. */
static struct asks used_of(const struct resize *r, const struct plan_opened *x)
{
	const int64_t *room = bins_room(x->tenant->bins, x->bin);
	size_t n = 0;

	for (size_t i = 0; i < r->p->ncolumns; i++) {
		const int64_t used = planning_sub(x->offer->row[i], room[i]);

		if (used > 0)
			r->asks[n++] = (struct ask){(uint32_t)i, used};
	}
	return (struct asks){r->asks, n};
}

/* True if capacity a has no more of any resource than b. */
static bool is_within(const struct resources *a, const struct resources *b)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct quantity *has = resources_get(b, a->v[i].name);

		if (!has || quantity_cmp(a->v[i].q, *has) > 0)
			return false;
	}
	return true;
}

static const struct fit_pool *pool_of(const struct plan_fit *f, const struct supply_pool *pool)
{
	size_t i = 0;

	while (f->pools[i].pool != pool)
		i++;
	return &f->pools[i];
}

/* True if the option suits all n fits, and its nodes have the topology domains and the DaemonSets
 * of the claim. */
static bool suits(const struct resize *r, const struct plan_opened *x,
		  const struct supply_option *o, const struct plan_fit *const *v, size_t n)
{
	const struct supply_pool *pool = x->from;
	const int keys = x->tenant->topology ? groups_keys(r->p->groups) : 0;

	for (size_t i = 0; i < n; i++)
		if (!supply_has(pool_of(v[i], pool)->suits.options, (size_t)(o - pool->options)))
			return false;
	for (int k = 0; k < keys; k++)
		if (o->domains[k] != domains_of_bin(x->tenant, k, x->bin))
			return false;
	return !o->permit &&
	       overhead_is_of_option(r->p, x->tenant, pool, (size_t)(o - pool->options),
				     &r->p->plan->claims[x - r->p->opened].labels);
}

/* Moves the claim to the best free machine of offer l. False: it has none that suits. */
static bool move(const struct resize *r, size_t claim, const struct supply_type_offer *l,
		 const struct plan_fit *const *v, size_t n)
{
	struct plan_opened *x = &r->p->opened[claim];
	struct plan_claim *c = &r->p->plan->claims[claim];
	const struct supply_option *best = NULL;
	struct world_stock *to = NULL;

	r->p->work += l->noptions;
	for (size_t i = l->first; i < l->first + l->noptions; i++) {
		struct supply_option *o = &x->from->options[i];
		struct world_stock *m = supply_free_machine(r->p, x->from, o);

		if (m && (!to || supply_by_worth(&m->m, &to->m) < 0) && suits(r, x, o, v, n)) {
			to = m;
			best = o;
		}
	}
	if (!to)
		return false;
	to->used = r->p->w->plan;
	x->offer = l;
	c->provider = l->provider->name;
	c->instance_type = l->type->name;
	c->machine = to->m.name;
	c->labels = best->labels;
	return true;
}

static void resize(struct resize *r, size_t claim)
{
	const struct plan_opened *x = &r->p->opened[claim];
	const struct supply_type_offer *present = x->offer, *l;
	const struct plan_fit *v[FITS];
	size_t n = 0, i = 0;
	struct asks used;

	if (!x->from->least_nodes || r->p->plan->claims[claim].gang ||
	    bins_at(x->tenant->bins, x->bin)->permit)
		return;
	used = used_of(r, x);
	for (;; i++) {
		i = capacity_table_next(x->from->capacity_table, i, used, &r->p->work);
		if (i >= (size_t)(present - x->from->offers))
			return;
		l = &x->from->offers[i];
		if (!is_within(&l->type->capacity, &present->type->capacity))
			continue;
		if (!r->first)
			list_pods(r);
		if ((!n && !fits_of(r, claim, v, &n)) || move(r, claim, l, v, n))
			return;
	}
}

bool resize_next(struct resize *r)
{
	if (r->at == r->p->plan->nclaims)
		return false;
	resize(r, r->at++);
	return true;
}
