/*
 * timeline: assigns machines, sorted by the time at which they become free, to waiting pods in
 * queue order.
 *
 * During the pass, machines are only taken and room only shrinks. So the earliest time for a class
 * (equal pods) never becomes earlier, and a machine with too little room for a pod stays too small.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/gang/gangs.h"
#include "planner/supply/overhead.h"
#include "planner/supply/quota.h"
#include "planner/supply/supply.h"
#include "planner/timeline.h"

/* Machines of one supply_group that have a known free time, earliest first. */
struct timeline_coming {
	struct world_stock **v;
	/* first: all machines before this index are promised to a queue entry. */
	size_t n, first;
	struct timeline_coming *next;
};

/* A machine that was assigned to a queue entry and is to become a node of the entry's tenant. row:
 * amounts, by column, that are still free after all pods that were assigned to the machine. */
struct ahead {
	const struct supply_pool *pool;
	/* Index of the machine's option (machines of one offer with equal labels) in
	 * pool->options. */
	size_t option;
	const struct world_machine *m;
	int64_t *row;
	bool closed;
};
struct aheads {
	/* Machines assigned to queue entries. Order: in timeline.tenants, by time of assignment; in
	 * waiter.fitting, the machine that becomes free last comes first. */
	struct ahead **v;
	size_t n, cap;
};

/* An option (machines with equal labels) from which a class may get a machine. */
struct candidate_option {
	/* pool: index into plan_fit.pools. offer, option: indexes of the offer and of the option in
	 * that pool. */
	uint32_t pool, offer, option;
	/* The option's earliest machine when the option was last placed in the heap. The machine
	 * may have been taken since then. */
	struct world_stock *head;
};
struct waiter {
	/* Heap of the class's options; the option with the earliest head comes first. */
	struct candidate_option *heap;
	size_t n;
	/* Machines assigned to other queue entries of the same tenant that may have room for a pod
	 * of this class too. Sorted by free time, latest first, so that the earliest can be removed
	 * from the end. */
	struct aheads fitting;
	/* Number of the tenant's assigned machines (timeline.tenants) that look_ahead() has already
	 * considered for `fitting`. */
	size_t seen;
};

struct timeline {
	struct planning *p;
	/* Waiting entries that get times; NULL until timeline_start(). */
	struct queue *queue;
	/* Search state of each class, by plan_class.number; NULL: not created yet. */
	struct waiter **waiters;
	/* Machines assigned to each tenant, by plan_tenant.number. */
	struct aheads *tenants;
	struct timeline_coming *coming;
};

/* --- machines --------------------------------------------------------------------------------- */

static int by_time(const void *x, const void *y)
{
	const struct world_machine *a = &(*(struct world_stock *const *)x)->m,
				   *b = &(*(struct world_stock *const *)y)->m;

	if (a->free_p50_ms != b->free_p50_ms)
		return a->free_p50_ms < b->free_p50_ms ? -1 : 1;
	return strcmp(a->name, b->name);
}

static bool has_time(const struct timeline *t, const struct world_machine *m)
{
	return !m->offered && supply_time_of(t->p, m) < SUPPLY_SOMETIME;
}

static void coming_of(struct timeline *t, struct supply_group *g)
{
	struct timeline_coming *c;

	if (g->coming)
		return;
	c = g->coming = arena_new_obj(t->p->a, struct timeline_coming);
	c->v = arena_calloc(t->p->a, g->n + 1, sizeof(struct world_stock *));
	for (size_t i = 0; i < g->n; i++)
		if (has_time(t, &g->v[i]->m))
			c->v[c->n++] = g->v[i];
	qsort(c->v, c->n, sizeof(struct world_stock *), by_time);
	c->next = t->coming;
	t->coming = c;
	t->p->work += 4 * g->n;
}

static bool is_gone(const struct timeline *t, const struct world_stock *m)
{
	return m->promised == t->p->w->plan || (!t->queue && m->hoped == t->p->w->plan);
}

static struct world_stock *earliest(const struct timeline *t, const struct supply_pool *pool,
				    const struct supply_option *o, uint64_t *steps)
{
	struct timeline_coming *c = o->group->coming;

	while (c->first < c->n && is_gone(t, c->v[c->first]))
		c->first++;
	for (size_t i = c->first; i < c->n; i++, ++*steps)
		if (!is_gone(t, c->v[i]) && supply_wiped_enough(&c->v[i]->m, pool->it))
			return c->v[i];
	return NULL;
}

/* --- options of a class ----------------------------------------------------------------------- */

static bool is_before(const struct candidate_option *a, const struct candidate_option *b)
{
	const int c = by_time(&a->head, &b->head);

	return c ? c < 0 : a->pool < b->pool;
}

static void sink(struct waiter *w, size_t at)
{
	const struct candidate_option sinks = w->heap[at];
	size_t child;

	while ((child = 2 * at + 1) < w->n) {
		if (child + 1 < w->n && is_before(&w->heap[child + 1], &w->heap[child]))
			child++;
		if (!is_before(&w->heap[child], &sinks))
			break;
		w->heap[at] = w->heap[child];
		at = child;
	}
	w->heap[at] = sinks;
}

/* Adds to w the options of the pool with index `at` that have a machine with a known free time. If
 * w->heap is NULL, only counts these options in w->n. */
static void add_options(struct timeline *t, const struct plan_class *c, size_t at, struct waiter *w)
{
	const struct fit_pool *fp = &c->fit->pools[at];
	uint64_t steps = fp->pool->noffers;

	for (size_t i = 0; fp->n && i < fp->pool->noffers; i++) {
		const struct supply_type_offer *l = &fp->pool->offers[i];

		if (!supply_has(fp->suits.offers, i) || !supply_fits(c, l))
			continue;
		for (size_t k = l->first; k < l->first + l->noptions; k++, steps++) {
			const struct supply_option *o = &fp->pool->options[k];
			struct world_stock *m;

			if (!supply_has(fp->suits.options, k) || !o->group)
				continue;
			coming_of(t, o->group);
			m = earliest(t, fp->pool, o, &steps);
			if (m && w->heap)
				w->heap[w->n] = (struct candidate_option){(uint32_t)at, (uint32_t)i,
									  (uint32_t)k, m};
			w->n += m != NULL;
		}
	}
	planning_charge(t->p, c->tenant, steps);
}

/* Work units (plan.h) charged for each option that is stored in a class's heap. They stand for the
 * memory that it needs, so that PLAN_WORK limits a tenant's memory too. */
#define OPTION_WORK 8

static struct waiter *waiter_of(struct timeline *t, const struct plan_class *c)
{
	struct waiter *w = t->waiters[c->number];

	if (w)
		return w;
	w = t->waiters[c->number] = arena_new_obj(t->p->a, struct waiter);
	for (size_t i = 0; i < c->fit->npools; i++)
		add_options(t, c, i, w);
	planning_charge(t->p, c->tenant, OPTION_WORK * w->n);
	w->heap = arena_calloc(t->p->a, w->n + 1, sizeof(*w->heap));
	w->n = 0;
	for (size_t i = 0; i < c->fit->npools; i++)
		add_options(t, c, i, w);
	for (size_t i = w->n / 2; i-- > 0;)
		sink(w, i);
	return w;
}

/* Returns the option with the earliest machine; of options with equal times, the one in the first
 * pool. NULL: none. Removes options that limits or quotas exclude for good, because holdings only
 * grow. */
static const struct candidate_option *find_machine(struct timeline *t, const struct plan_class *c,
						   struct waiter *w)
{
	uint64_t steps = 0;

	while (w->n) {
		struct candidate_option *candidate = &w->heap[0];
		const struct supply_pool *pool = c->fit->pools[candidate->pool].pool;
		struct world_stock *m =
			supply_allowed(c, pool, &pool->offers[candidate->offer])
				? earliest(t, pool, &pool->options[candidate->option], &steps)
				: NULL;

		steps += 2;
		if (m && m == candidate->head)
			break;
		if (m)
			candidate->head = m;
		else
			*candidate = w->heap[--w->n];
		if (w->n)
			sink(w, 0);
	}
	planning_charge(t->p, c->tenant, steps);
	return w->n ? &w->heap[0] : NULL;
}

/* --- room on assigned machines ---------------------------------------------------------------- */

static struct ahead **more(struct aheads *v, struct arena *a)
{
	struct ahead **bigger;

	if (v->n == v->cap) {
		v->cap = v->cap ? 2 * v->cap : 8;
		bigger = arena_calloc(a, v->cap, sizeof(struct ahead *));
		if (v->n)
			memcpy(bigger, v->v, v->n * sizeof(struct ahead *));
		v->v = bigger;
	}
	return &v->v[v->n++];
}

static bool has_room(const struct ahead *x, struct asks asks)
{
	for (size_t i = 0; i < asks.n; i++)
		if (asks.v[i].amount > x->row[asks.v[i].column])
			return false;
	return !x->closed;
}

static bool suits(const struct plan_class *c, const struct ahead *x)
{
	for (size_t i = 0; i < c->fit->npools; i++)
		if (c->fit->pools[i].pool == x->pool)
			return c->fit->pools[i].n &&
			       supply_has(c->fit->pools[i].suits.options, x->option);
	return false;
}

/* Adds to w->fitting those machines that were assigned to the tenant since the last call and have
 * room for the class. */
static void look_ahead(struct timeline *t, const struct plan_class *c, struct waiter *w)
{
	const struct aheads *all = &t->tenants[c->tenant->number];

	for (; w->seen < all->n; w->seen++) {
		struct ahead *x = all->v[w->seen];
		size_t at;

		planning_charge(t->p, c->tenant, 2);
		if (!has_room(x, c->asks) || !suits(c, x))
			continue;
		(void)more(&w->fitting, t->p->a);
		/* Insert the machine so that the latest free time comes first and the earliest can
		 * be removed from the end. */
		for (at = w->fitting.n - 1;
		     at && w->fitting.v[at - 1]->m->free_p50_ms <= x->m->free_p50_ms; at--)
			w->fitting.v[at] = w->fitting.v[at - 1];
		w->fitting.v[at] = x;
	}
}

static struct ahead *find_room(struct timeline *t, const struct plan_class *c, struct waiter *w)
{
	look_ahead(t, c, w);
	while (w->fitting.n && !has_room(w->fitting.v[w->fitting.n - 1], c->asks)) {
		w->fitting.n--;
		planning_charge(t->p, c->tenant, 1);
	}
	return w->fitting.n ? w->fitting.v[w->fitting.n - 1] : NULL;
}

/* --- assignment ------------------------------------------------------------------------------- */

static struct ahead *open(struct timeline *t, struct plan_class *c,
			  const struct candidate_option *candidate)
{
	struct ahead *x = arena_new_obj(t->p->a, struct ahead);
	struct supply_pool *pool = c->fit->pools[candidate->pool].pool;
	const struct resources *capacity = &pool->offers[candidate->offer].type->capacity;

	if (!t->queue) {
		candidate->head->hoped = t->p->w->plan;
	} else {
		candidate->head->promised = t->p->w->plan;
		tally_charge(&c->tenant->tally, capacity, t->p->a);
		quota_changed(t->p);
		tally_charge(&pool->tally, capacity, t->p->a);
	}
	*x = (struct ahead){.pool = pool,
			    .option = candidate->option,
			    .m = &candidate->head->m,
			    .row = arena_calloc(t->p->a, t->p->ncolumns, sizeof(int64_t))};
	planning_room(t->p, capacity, x->row);
	overhead_take(t->p,
		      overhead_of_node(t->p, c->tenant, &pool->options[candidate->option].labels,
				       &pool->it->taints),
		      NULL, x->row);
	*more(&t->tenants[c->tenant->number], t->p->a) = x;
	planning_charge(t->p, c->tenant, 20 + t->p->ncolumns);
	return x;
}

static struct ahead *find(struct timeline *t, const struct plan_cell *cell)
{
	struct plan_class *c = cell->class_;
	struct waiter *w = waiter_of(t, c);
	struct ahead *x = cell->topology ? NULL : find_room(t, c, w);
	const struct candidate_option *candidate;

	candidate = find_machine(t, c, w);
	if (candidate && (!x || candidate->head->m.free_p50_ms < x->m->free_p50_ms))
		x = open(t, c, candidate);
	if (x)
		x->closed = cell->topology;
	for (size_t i = 0; x && i < c->asks.n; i++)
		x->row[c->asks.v[i].column] =
			planning_sub(x->row[c->asks.v[i].column], c->asks.v[i].amount);
	return x;
}

bool timeline_next(struct timeline *t)
{
	const struct queued *q = queue_next(t->queue);
	const struct ahead *x;

	if (!q)
		return false;
	planning_charge(t->p, q->class_->tenant, 2);
	if (q->class_->tenant->over)
		return true;
	x = find(t, q->cell);
	if (x)
		t->p->plan->pods[q->at].expected = (struct plan_expected){
			x->m->name, x->m->provider, x->m->instance_type,
			x->m->free_p50_ms > t->p->now_ms ? x->m->free_p50_ms : t->p->now_ms,
			x->m->free_p90_ms};
	return true;
}

/* True if the pod waits for a machine: types fit, but all machines are taken or reserved. False for
 * pods of a gang that could not be placed; pods beyond the size of a placed gang may wait. */
static bool waits(const struct planning *p, const struct queued *q)
{
	const struct plan_pod *x = &p->plan->pods[q->at];

	return !(q->gang && q->gang->reasons) && x->outcome == PLAN_NOTHING && x->nreasons &&
	       (x->reasons[0].code == PLAN_NO_MACHINE || x->reasons[0].code == PLAN_HELD);
}

static void begin(struct timeline *t)
{
	t->waiters = arena_calloc(t->p->a, t->p->nclasses + 1, sizeof(struct waiter *));
	t->tenants = arena_calloc(t->p->a, map_size(t->p->tenants) + 1, sizeof(*t->tenants));
}

struct timeline *timeline_new(struct planning *p)
{
	struct timeline *t = arena_new_obj(p->a, struct timeline);

	t->p = p;
	begin(t);
	return t;
}

void timeline_wait(struct timeline *t, const struct queued *q)
{
	planning_charge(t->p, q->class_->tenant, 2);
	if (waits(t->p, q))
		timeline_hope(t, q);
}

void timeline_hope(struct timeline *t, const struct queued *q)
{
	if (!q->class_->tenant->over)
		(void)find(t, q->cell);
}

/* Drops the assignments that timeline_wait() and timeline_hope() made, so that the machines are
 * available again. */
static void forget(struct timeline *t)
{
	for (struct timeline_coming *c = t->coming; c; c = c->next)
		c->first = 0;
}

static void tell_gang(const struct timeline *t, const struct queued *q)
{
	const struct plan_gang *g = q->gang;
	struct plan_pod *out = &t->p->plan->pods[q->at];

	if (g && g->last && out->outcome == PLAN_NOTHING)
		out->expected = (struct plan_expected){g->last->name, g->last->provider,
						       g->last->instance_type, g->p50, g->p90};
}

void timeline_start(struct timeline *t, struct queued **q, size_t n)
{
	struct queued **v = arena_calloc(t->p->a, n + 1, sizeof(struct queued *));
	size_t left = 0;

	forget(t);
	begin(t);
	for (size_t i = 0; i < n; i++) {
		tell_gang(t, q[i]);
		if (waits(t->p, q[i]))
			v[left++] = q[i];
	}
	t->queue = queue_sorted(v, left, t->p->a);
	t->p->work += n;
}
