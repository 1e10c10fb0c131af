#include "planner/supply/overhead.h"

#include <string.h>

#include "planner/classes.h"
#include "planner/fit.h"

/* A DaemonSet. cost: work units of one check of a node's labels and taints. */
struct plan_daemon_set {
	const struct world_pod *pod;
	uint64_t cost;
};

void overhead_add_daemon_set(struct planning *p, const struct world_one *set)
{
	struct plan_tenant *t = planning_tenant(p, set->tenant);
	const struct world_pod *pod = &set->shape->pod;

	t->daemon_sets = planning_wider(p->a, t->daemon_sets, &t->daemon_sets_cap,
					t->ndaemon_sets + 1, sizeof(*t->daemon_sets));
	t->daemon_sets[t->ndaemon_sets++] = (struct plan_daemon_set){pod, classes_fit_cost(pod)};
}

/* Returns the amount of one resource, in billionths, added with amount 0 if it is missing. The
 * resources are sorted by name. */
static __int128 *amount_of(struct overhead *o, const char *name, struct arena *a)
{
	size_t at = 0;
	int c = 1;

	while (at < o->of.n && (c = strcmp(o->of.v[at].name, name)) < 0)
		at++;
	if (at < o->of.n && c == 0)
		return &o->of.v[at].q.nano;
	o->of.v = planning_wider(a, o->of.v, &o->cap, o->of.n + 1, sizeof(*o->of.v));
	memmove(o->of.v + at + 1, o->of.v + at, (o->of.n - at) * sizeof(*o->of.v));
	o->of.v[at] = (struct resource){name, {0}};
	o->of.n++;
	return &o->of.v[at].q.nano;
}

/* Raises the overhead of one resource to `nano` (billionths) if it is lower. */
static void raise(struct overhead *o, const char *name, __int128 nano, struct arena *a)
{
	__int128 *has = amount_of(o, name, a);

	if (*has < nano)
		*has = nano;
}

static void raise_all(struct overhead *o, const struct overhead *to, struct arena *a)
{
	for (size_t i = 0; i < to->of.n; i++)
		raise(o, to->of.v[i].name, to->of.v[i].q.nano, a);
	if (o->pods < to->pods)
		o->pods = to->pods;
}

void overhead_measure(const struct planning *p, struct plan_tenant *t, const struct world_host *h)
{
	struct overhead *o = &t->overhead;
	const struct resources *has = &h->node.allocatable;
	const struct world_load *l = h->load;

	if (!h->node.claim || !h->node.ready)
		return;
	for (size_t i = 0; i < has->n; i++)
		if (planning_is_attachment(has->v[i].name))
			raise(o, has->v[i].name,
			      quantity_sub(quantity_of(PLANNING_ATTACHMENTS), has->v[i].q).nano,
			      p->a);
	if (o->pods < l->daemons)
		o->pods = l->daemons;
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].daemons > 0)
			raise(o, l->v[i].name, l->v[i].daemons, p->a);
}

/* Adds the requests of one DaemonSet's pod. */
static void add(struct overhead *o, const struct world_pod *pod, struct arena *a)
{
	o->pods++;
	for (size_t i = 0; i < pod->requests.n; i++) {
		const struct resource *r = &pod->requests.v[i];
		__int128 *has = amount_of(o, r->name, a);

		*has = quantity_add((struct quantity){*has}, r->q).nano;
	}
}

const struct overhead *overhead_of_node(struct planning *p, struct plan_tenant *t,
					const struct labels *labels,
					const struct world_taints *taints)
{
	struct overhead *o;

	if (!t->ndaemon_sets)
		return &t->overhead;
	o = arena_new_obj(p->a, struct overhead);
	for (size_t i = 0; i < t->ndaemon_sets && !t->over; i++) {
		const struct plan_daemon_set *s = &t->daemon_sets[i];

		planning_charge(p, t, s->cost);
		if (!fit_taints(s->pod, taints) && fit_labels(s->pod, labels))
			add(o, s->pod, p->a);
	}
	raise_all(o, &t->overhead, p->a);
	return t->over ? &t->overhead : o;
}

/* --- machines of a pool ----------------------------------------------------------------------- */

/* Overheads of the nodes of one pool, for one tenant. v: by option; NULL: not computed yet. */
struct plan_pool_overheads {
	const struct overhead **v;
};

static bool is_same(const struct overhead *a, const struct overhead *b)
{
	return a == b || (a->pods == b->pods && resources_equal(&a->of, &b->of));
}

/* Returns the overhead of a machine of the option. Neighbours that have the same overhead share one
 * copy. */
static const struct overhead *of_option(struct planning *p, struct plan_tenant *t,
					const struct supply_pool *pool, size_t option)
{
	const struct overhead **v;

	t->pool_overheads = planning_wider(p->a, t->pool_overheads, &t->pool_overheads_cap,
					   pool->number + 1, sizeof(*t->pool_overheads));
	v = t->pool_overheads[pool->number].v;
	if (!v)
		v = t->pool_overheads[pool->number].v =
			arena_calloc(p->a, pool->noptions, sizeof(struct overhead *));
	if (v[option])
		return v[option];
	v[option] = overhead_of_node(p, t, &pool->options[option].labels, &pool->it->taints);
	if (option && v[option - 1] && is_same(v[option], v[option - 1]))
		v[option] = v[option - 1];
	return v[option];
}

bool overhead_is_of_option(struct planning *p, struct plan_tenant *t,
			   const struct supply_pool *pool, size_t option,
			   const struct labels *labels)
{
	return !t->ndaemon_sets || is_same(of_option(p, t, pool, option),
					   overhead_of_node(p, t, labels, &pool->it->taints));
}

static bool is_judged(const struct fit_pool *fp, size_t option)
{
	return supply_has(fp->suits.options, option) ||
	       (fp->stop && supply_has(fp->stopped.options, option));
}

/* Returns the highest overhead of the offer's machines, by resource; NULL: no machine suits. */
static const struct overhead *highest(struct planning *p, struct plan_tenant *t,
				      const struct fit_pool *fp, const struct supply_type_offer *l)
{
	const struct overhead *most = NULL, *o;
	struct overhead *both;

	for (size_t i = l->first; i < l->first + l->noptions; i++) {
		planning_charge(p, t, 1);
		if (!is_judged(fp, i))
			continue;
		o = of_option(p, t, fp->pool, i);
		if (!most || is_same(o, most)) {
			most = o;
			continue;
		}
		both = arena_new_obj(p->a, struct overhead);
		raise_all(both, most, p->a);
		raise_all(both, o, p->a);
		most = both;
	}
	return most;
}

/* Lowers each amount of *low to that of o. */
static void lower(struct overhead *low, const struct overhead *o)
{
	for (size_t i = 0; i < low->of.n; i++) {
		struct quantity *q = &low->of.v[i].q;
		const struct quantity *other = resources_get(&o->of, low->of.v[i].name);

		if (!other || quantity_cmp(*other, *q) < 0)
			*q = other ? *other : quantity_of(0);
	}
	if (o->pods < low->pods)
		low->pods = o->pods;
}

/* Returns the row that overhead_row() describes. */
static const int64_t *row_of(const struct planning *p, const struct supply_type_offer *l,
			     const struct overhead *of, const struct overhead *low)
{
	int64_t *row = arena_calloc(p->a, p->ncolumns, sizeof(*row));

	overhead_take(p, of, NULL, row);
	memset(p->scratch, 0, p->ncolumns * sizeof(*p->scratch));
	overhead_take(p, low, NULL, p->scratch);
	for (size_t c = 0; c < p->ncolumns; c++)
		row[c] = planning_sub(l->row[c], planning_sub(p->scratch[c], row[c]));
	return row;
}

/* Fills the overheads of the pool's offers. Lowers *low, allocated at the first offer, to the
 * lowest. Returns false if an offer's overhead differs from that of an earlier offer. */
static bool ask_offers(struct planning *p, const struct plan_fit *f, struct fit_pool *fp,
		       struct overhead **low)
{
	bool same = true;

	fp->overheads = arena_calloc(p->a, fp->pool->noffers + 1, sizeof(*fp->overheads));
	for (size_t i = 0; i < fp->pool->noffers; i++) {
		const struct overhead *of = highest(p, f->tenant, fp, &fp->pool->offers[i]);

		fp->overheads[i].of = of;
		if (!of)
			continue;
		if (!*low) {
			*low = arena_new_obj(p->a, struct overhead);
			raise_all(*low, of, p->a);
		}
		same &= is_same(*low, of);
		lower(*low, of);
	}
	return same;
}

void overhead_of_fit(struct planning *p, struct plan_fit *f)
{
	struct overhead *low = NULL;
	bool same = true;

	if (!f->tenant->ndaemon_sets)
		return;
	for (size_t i = 0; i < f->npools; i++)
		if (f->pools[i].suits.options)
			same &= ask_offers(p, f, &f->pools[i], &low);
	if (low)
		f->overhead = low;
	f->overheads_differ = !same;
	for (size_t i = 0; i < f->npools; i++) {
		struct fit_pool *fp = &f->pools[i];

		if (same)
			fp->overheads = NULL;
		for (size_t k = 0; fp->overheads && k < fp->pool->noffers; k++) {
			struct fit_overhead *x = &fp->overheads[k];

			planning_charge(p, f->tenant, p->ncolumns);
			x->of = x->of ? x->of : f->overhead;
			x->row = row_of(p, &fp->pool->offers[k], x->of, f->overhead);
		}
	}
}

static const struct fit_overhead *find(const struct plan_fit *f, const struct supply_type_offer *l)
{
	for (size_t i = 0; f->overheads_differ && i < f->npools; i++) {
		const struct fit_pool *fp = &f->pools[i];

		if (fp->overheads && l >= fp->pool->offers &&
		    l < fp->pool->offers + fp->pool->noffers)
			return &fp->overheads[l - fp->pool->offers];
	}
	return NULL;
}

const struct overhead *overhead_of_offer(const struct plan_fit *f,
					 const struct supply_type_offer *l)
{
	const struct fit_overhead *x = find(f, l);

	return x ? x->of : f->overhead;
}

const int64_t *overhead_row(const struct plan_fit *f, const struct supply_type_offer *l)
{
	const struct fit_overhead *x = find(f, l);

	return x ? x->row : l->row;
}

/* --- rows ------------------------------------------------------------------------------------- */

static __int128 daemons_on(const struct world_load *l, const char *resource)
{
	for (size_t i = 0; l && i < l->n; i++)
		if (strcmp(l->v[i].name, resource) == 0)
			return l->v[i].daemons;
	return 0;
}

void overhead_take(const struct planning *p, const struct overhead *o, const struct world_load *has,
		   int64_t *room)
{
	const size_t daemons = has ? has->daemons : 0;

	if (o->pods > daemons)
		room[0] = planning_sub(room[0], (int64_t)(o->pods - daemons));
	for (size_t i = 0; i < o->of.n; i++) {
		const char *name = o->of.v[i].name;
		const __int128 more = o->of.v[i].q.nano - daemons_on(has, name);

		for (size_t c = 0; more > 0 && c < p->ncolumns; c++)
			if (strcmp(p->column[c], name) == 0)
				room[c] = planning_sub(
					room[c], planning_request(name, (struct quantity){more}));
	}
}
