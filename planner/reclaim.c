/*
 * reclaim: first finds the machines that may be taken back from their tenants
 * (reclaim_candidates.h), then processes the waiting pods one after the other.
 */
#include "planner/reclaim.h"

#include <string.h>

#include "base/str.h"
#include "planner/attachments.h"
#include "planner/gang/gangs.h"
#include "planner/groups.h"
#include "planner/supply/overhead.h"
#include "planner/supply/quota.h"
#include "planner/reclaim_groups.h"
#include "planner/supply/supply.h"

#define BEFORE 64

/* A machine that will be given to a tenant, with its free amounts by column. */
struct coming {
	const struct world_stock *m;
	int64_t *row;
	/* Next machine for the same tenant; SIZE_MAX: none. */
	size_t after;
};
/* The machines that will be given to one tenant: index of the first and of the last one. Valid if
 * n is not 0. */
struct coming_of {
	size_t n, first, last;
};

/* What a class of waiting pods found out, so that its next pods need not look again. */
struct class_findings {
	/* Bit for each group of units: its machines suit the class. */
	uint64_t *suits;
	/* Number of pods that one machine serves, of the type that serves the fewest; 0: none
	 * suits. */
	size_t each;
	/* Index of the first machine for the tenant that may have room for a pod of the class.
	 * Machines only get fuller. Valid if `looked`. */
	size_t coming;
	bool looked;
};

struct reclaim {
	struct planning *p;
	/* Queue entries, by position in plan.pods. */
	struct queued **q;
	size_t n, at;
	int64_t now;
	/* By position in plan.pods: the next entry of the same class; SIZE_MAX: none. */
	size_t *same;
	struct candidate *v;
	size_t nv;
	struct reclaim_groups groups;
	struct coming *coming;
	size_t ncoming, coming_cap;
	/* By number of the tenant */
	struct coming_of *coming_of;
	/* By number of the class */
	struct class_findings *found;
	/* Classes of earlier queue entries that got no machine, but would use machines that become
	 * free. Later entries must not take machines that suit these classes. */
	const struct plan_class **before;
	size_t nbefore, before_cap;
	size_t takes_cap;
	/* Pods of the present entry that have no machine yet. */
	size_t left;
	struct reclaim_search *search;
	/* Follows the search; NULL: not begun. */
	struct reclaim_grouping *grouping;
	/* searching: the present entry waits for `search`. looked: `v` and `groups` are
	 * complete. */
	bool searching, looked;
};

/* --- which machines would serve --------------------------------------------------------------- */

/* Returns the offer (instance type of one Provider in a pool) that would give machine m to a pod of
 * the class; NULL: none. from: pool that has the machine now; its limits are not checked. */
static const struct supply_type_offer *line_of(const struct reclaim *r, const struct plan_class *c,
					       const struct world_stock *m,
					       const struct world_pool *from)
{
	const uint64_t plan = r->p->w->plan;

	for (size_t i = 0; m->group->plan == plan && i < c->fit->npools; i++) {
		const struct fit_pool *fp = &c->fit->pools[i];

		for (size_t k = 0; fp->n && k < fp->pool->noffers; k++) {
			const struct supply_type_offer *l = &fp->pool->offers[k];

			if (!str_eq(l->type->name, m->m.instance_type) ||
			    !str_eq(l->provider->name, m->m.provider) ||
			    !supply_has(fp->suits.offers, k) || !supply_fits(c, l) ||
			    !supply_wiped_enough(&m->m, fp->pool->it))
				continue;
			if (fp->pool->it != from &&
			    tally_passes(&fp->pool->tally, &fp->pool->it->limits,
					 &l->type->capacity))
				continue;
			for (size_t o = l->first; o < l->first + l->noptions; o++)
				if (supply_has(fp->suits.options, o) &&
				    fp->pool->options[o].group &&
				    fp->pool->options[o].group == m->group->supply)
					return l;
		}
	}
	return NULL;
}

/* True if one of the earlier classes, from number `from` on, would use machine m. */
static bool would_take(struct reclaim *r, size_t from, const struct world_stock *m,
		       const struct world_pool *pool)
{
	for (size_t i = from; i < r->nbefore; i++) {
		r->p->work += 4;
		if (line_of(r, r->before[i], m, pool))
			return true;
	}
	return false;
}

/* The same for all machines of an alike group. Asks each earlier class once. */
static bool is_wanted(struct reclaim *r, struct reclaim_group *g)
{
	const struct candidate *c = &r->v[g->v[0]];

	g->wanted = g->wanted || would_take(r, g->asked, c->m, c->pool);
	g->asked = r->nbefore;
	return g->wanted;
}

/* True if the tenant has borrowed at least the GPUs in `less`, so that it keeps its whole quota
 * after giving them back. */
static bool is_borrowed(const struct plan_tenant *t, const struct resources *less)
{
	const struct quantity *of = resources_get(less, PLANNING_GPU);
	const __int128 borrowed = quota_borrowed(t, PLANNING_GPU);

	return of && of->nano > 0 && borrowed >= of->nano;
}

static bool stands_behind(const struct candidate *c, const struct queued *q)
{
	const int64_t gives = c->tenant->it->priority, waits = q->class_->tenant->it->priority;

	return gives < waits || (gives == waits && c->priority <= q->priority);
}

static bool may_take(const struct candidate *c, const struct queued *q)
{
	const struct plan_tenant *t = q->class_->tenant;
	const struct resources *capacity = &c->claim->capacity;

	if (c->taken || c->tenant == t || !stands_behind(c, q))
		return false;
	if (t->cohort && c->tenant->cohort == t->cohort && is_borrowed(c->tenant, capacity) &&
	    quota_has_own(t, capacity))
		return true;
	return c->pool->reclaim == WORLD_RECLAIM_LOWER_PRIORITY &&
	       c->tenant->it->priority < t->it->priority && !quota_passes(t, capacity);
}

/* --- waiting pods ----------------------------------------------------------------------------- */

struct reclaim_wish {
	const struct queued *q;
	/* Number of the entry's pods that have no machine yet; they are placed together or not at
	 * all. */
	size_t pods;
	/* Number of machines that these pods need. */
	size_t machines;
	/* Number of these pods that one machine serves. */
	size_t each;
	/* Sums over all pods that would be placed with entry q. waited: GPUs times waiting time so
	 * far. weight: GPUs. */
	__int128 waited, weight;
	/* Roots of the units (sets of machines) to be taken. */
	size_t *roots, n;
};

static bool waits(const struct plan_pod *d)
{
	const size_t at = d->nreasons > 1 && d->reasons[0].code == PLAN_GANG;
	const enum plan_reason_code code = d->nreasons ? d->reasons[at].code : PLAN_REASONS;

	return code == PLAN_NO_MACHINE || code == PLAN_QUOTA;
}

/* True if the tenant's own quota and borrowing limit refuse every suitable offer. Then taking
 * machines from other tenants would not help. */
static bool is_bound(struct reclaim *r, const struct queued *q)
{
	const struct plan_class *c = q->class_;

	r->p->work += c->fit->npools;
	for (size_t i = 0; i < c->fit->npools; i++)
		for (size_t k = 0; c->fit->pools[i].n && k < c->fit->pools[i].pool->noffers; k++)
			if (supply_has(c->fit->pools[i].suits.offers, k) &&
			    supply_fits(c, &c->fit->pools[i].pool->offers[k]) &&
			    !quota_is_bound(c->tenant,
					    &c->fit->pools[i].pool->offers[k].type->capacity))
				return false;
	return true;
}

/* Returns how many pods of the class fit into the free amounts of a new node, at most 1024. */
static size_t fits_in(const struct plan_class *c, const int64_t *row)
{
	const size_t n = attachments_times(NULL, c, 0, row);

	return n < 1024 ? n : 1024;
}

static void fill(struct coming *x, const struct plan_class *c, size_t pods)
{
	for (size_t i = 0; i < c->asks.n; i++)
		x->row[c->asks.v[i].column] = planning_sub(x->row[c->asks.v[i].column],
							   c->asks.v[i].amount * (int64_t)pods);
	for (size_t i = 0; i < c->nshared; i++)
		x->row[c->shared[i].column] =
			planning_sub(x->row[c->shared[i].column], (int64_t)c->shared[i].n);
}

static struct coming *add_coming(struct reclaim *r, const struct plan_class *c,
				 const struct world_stock *m, const struct supply_type_offer *l)
{
	struct coming_of *of = &r->coming_of[c->tenant->number];
	struct coming *x;

	r->coming = planning_wider(r->p->a, r->coming, &r->coming_cap, r->ncoming + 1,
				   sizeof(*r->coming));
	if (of->n++)
		r->coming[of->last].after = r->ncoming;
	else
		of->first = r->ncoming;
	of->last = r->ncoming;
	r->p->work += 100;
	x = &r->coming[r->ncoming++];
	*x = (struct coming){m, arena_calloc(r->p->a, r->p->ncolumns, sizeof(int64_t)), SIZE_MAX};
	planning_room(r->p, &l->type->capacity, x->row);
	overhead_take(r->p, overhead_of_offer(c->fit, l), NULL, x->row);
	return x;
}

/* Returns how many pods of the class machine x has room for. */
static size_t room_on(const struct reclaim *r, const struct plan_class *c, const struct coming *x)
{
	return line_of(r, c, x->m, NULL) ? fits_in(c, x->row) : 0;
}

/* Places up to `pods` pods of entry q on machines that will be given to the tenant of q anyway.
 * Returns how many pods are left. */
static size_t seat_on_coming(struct reclaim *r, const struct queued *q, size_t pods)
{
	const struct coming_of *of = &r->coming_of[q->class_->tenant->number];
	struct class_findings *f = &r->found[q->class_->number];

	if (q->cell->topology || !of->n)
		return pods;
	if (!f->looked)
		f->coming = of->first;
	f->looked = true;
	for (;;) {
		struct coming *x = &r->coming[f->coming];
		size_t n = room_on(r, q->class_, x);

		r->p->work += 4;
		n = n < pods ? n : pods;
		fill(x, q->class_, n);
		pods -= n;
		if (!pods || x->after == SIZE_MAX)
			return pods;
		f->coming = x->after;
	}
}

/* True if the machine is free or being given back, and not assigned to a waiting pod yet. */
static bool is_unassigned(const struct reclaim *r, const struct world_stock *m)
{
	const uint64_t plan = r->p->w->plan;

	return (m->m.coming || (m->m.offered && m->used != plan)) && m->reclaimed != plan;
}

/* Returns the index of the group's first machine that may be assigned. g NULL: 0. */
static size_t next_unassigned(struct reclaim *r, struct supply_group *g)
{
	while (g && g->assigned < g->n && !is_unassigned(r, g->v[g->assigned])) {
		g->assigned++;
		r->p->work++;
	}
	return g ? g->assigned : 0;
}

/* Assigns to the tenant of q suitable machines that are free or being given back. Returns how many
 * of the `pods` pods are left without a machine. */
static size_t give_coming(struct reclaim *r, const struct queued *q, size_t pods)
{
	struct plan_class *c = q->class_;

	for (size_t i = 0; i < c->fit->npools; i++) {
		const struct fit_pool *fp = &c->fit->pools[i];

		for (size_t o = 0; fp->n && o < fp->pool->noptions && pods; o++) {
			struct supply_group *g = fp->pool->options[o].group;

			for (size_t k = next_unassigned(r, g);
			     g && supply_has(fp->suits.options, o) && k < g->n && pods; k++) {
				struct world_stock *m = g->v[k];
				const struct supply_type_offer *l;
				size_t n;

				r->p->work++;
				if (!is_unassigned(r, m) || !(l = line_of(r, c, m, NULL)) ||
				    quota_passes(c->tenant, &l->type->capacity))
					continue;
				m->reclaimed = r->p->w->plan;
				quota_moves(r->p, NULL, c->tenant, &l->type->capacity);
				n = q->cell->topology ? 1 : fits_in(c, add_coming(r, c, m, l)->row);
				n = n < pods ? n : pods;
				if (!q->cell->topology)
					fill(&r->coming[r->ncoming - 1], c, n);
				pods -= n ? n : pods;
			}
		}
	}
	return pods;
}

/* Adds to w->waited and w->weight the entry w->q and equal waiting pods after it in the queue.
 * Counts at most `room` pods in all. */
static void measure(struct reclaim *r, struct reclaim_wish *w, size_t room)
{
	const struct queued *q = w->q;
	const __int128 weight = reclaim_weight_of(&q->class_->pod->requests);

	for (size_t i = r->at, n = 0; i != SIZE_MAX && n < room; i = r->same[i]) {
		const struct queued *x = r->q[i];

		r->p->work++;
		if (x->gang != q->gang || x->pod->since <= 0 ||
		    r->p->plan->pods[i].outcome != PLAN_NOTHING || r->now < x->pod->since)
			continue;
		w->waited += weight * (r->now - x->pod->since);
		w->weight += weight;
		n++;
	}
}

/* Returns the saving: the weight of the pods times the waiting time that they avoid. If a machine
 * is known to become free, the avoided time is the time until then, minus the duration of the move.
 * Otherwise it is estimated as the waiting time so far, plus the run time so far of the pods to be
 * displaced (an estimate of their remaining run time). */
static __int128 saved_by(const struct reclaim *r, const struct reclaim_wish *w)
{
	const struct plan_expected *e = &r->p->plan->pods[w->q->at].expected;
	int64_t left = INT64_MAX;

	for (size_t i = 0; i < w->n; i++) {
		const struct candidate *c = &r->v[w->roots[i]];
		const int64_t after = e->machine
					      ? e->p50 - r->now - reclaim_move_ms_of(r->p, &c->m->m)
					      : c->unit.age;

		left = after < left ? after : left;
	}
	return w->weight * left + (e->machine ? 0 : w->waited);
}

/* --- the set of machines ---------------------------------------------------------------------- */

/* Moves the machine's capacity from its tenant's holdings to those of the waiting tenant (take
 * true) or back (take false). */
static void move(struct reclaim *r, const struct reclaim_wish *w, struct candidate *c, bool take)
{
	struct plan_tenant *to = w->q->class_->tenant;

	c->taken = take;
	r->p->work += 40;
	if (!take && c->root == (size_t)(c - r->v) &&
	    r->groups.v[c->unit.group].next > c->unit.place)
		r->groups.v[c->unit.group].next = c->unit.place;
	quota_moves(r->p, take ? c->tenant : to, take ? to : c->tenant, &c->claim->capacity);
}

static void give_back(struct reclaim *r, const struct reclaim_wish *w, size_t root)
{
	for (size_t i = root; i != SIZE_MAX; i = r->v[i].next)
		if (r->v[i].taken)
			move(r, w, &r->v[i], false);
}

/* Takes all machines of the unit, or none. They are taken one by one, so that each check counts
 * what the tenant has already lost. False: no machine is taken. */
static bool take_unit(struct reclaim *r, const struct reclaim_wish *w, size_t root)
{
	struct candidate *u = &r->v[root];

	u->unit.fits = 0;
	for (size_t i = root; i != SIZE_MAX; i = r->v[i].next) {
		struct candidate *c = &r->v[i];

		planning_charge(r->p, w->q->class_->tenant, 4);
		if (!may_take(c, w->q) || would_take(r, 0, c->m, c->pool)) {
			give_back(r, w, root);
			return false;
		}
		u->unit.fits += line_of(r, w->q->class_, c->m, c->pool) != NULL;
		move(r, w, c, true);
	}
	if (!u->unit.fits)
		give_back(r, w, root);
	return u->unit.fits > 0;
}

/* True if unit a costs less per suitable machine than unit b; equal units are compared by name. */
static bool is_cheaper(const struct candidate *a, const struct candidate *b)
{
	const __int128 x = a->unit.cost * (__int128)b->unit.fits,
		       y = b->unit.cost * (__int128)a->unit.fits;

	return x != y ? x < y : strcmp(a->claim->name, b->claim->name) < 0;
}

/* True if entry w->q can have the unit now. Sets unit.fits, the number of machines that suit. */
static bool may_have(struct reclaim *r, const struct reclaim_wish *w, struct reclaim_group *g,
		     size_t root)
{
	const struct class_findings *f = &r->found[w->q->class_->number];
	const size_t at = (size_t)(g - r->groups.v);

	planning_charge(r->p, w->q->class_->tenant, 4);
	if (g->alike && (!(f->suits[at / 64] >> at % 64 & 1) || is_wanted(r, g)))
		return false;
	if (g->alike && g->machines == 1) {
		r->v[root].unit.fits = 1;
		return may_take(&r->v[root], w->q);
	}
	if (!take_unit(r, w, root))
		return false;
	give_back(r, w, root);
	return true;
}

/* Returns the root of the unit that costs least per suitable machine; SIZE_MAX: none is to be
 * had. */
static size_t cheapest(struct reclaim *r, const struct reclaim_wish *w)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < r->groups.n; i++) {
		struct reclaim_group *g = &r->groups.v[i];

		while (g->next < g->n && r->v[g->v[g->next]].taken)
			g->next++;
		if (g->next == g->n || !may_have(r, w, g, g->v[g->next]))
			continue;
		if (best == SIZE_MAX || is_cheaper(&r->v[g->v[g->next]], &r->v[best]))
			best = g->v[g->next];
	}
	return best;
}

static __int128 cost_of(const struct reclaim *r, const struct reclaim_wish *w)
{
	__int128 sum = 0;

	for (size_t i = 0; i < w->n; i++)
		sum += r->v[w->roots[i]].unit.cost;
	return sum;
}

/* Gives back units that are not needed. The units taken last are the most expensive and are given
 * back first. has: number of suitable machines taken. */
static void prune(struct reclaim *r, struct reclaim_wish *w, size_t has)
{
	for (size_t i = w->n; i-- > 0;) {
		const size_t fits = r->v[w->roots[i]].unit.fits;

		if (has - fits < w->machines)
			continue;
		has -= fits;
		give_back(r, w, w->roots[i]);
		memmove(&w->roots[i], &w->roots[i + 1], (--w->n - i) * sizeof(*w->roots));
	}
}

static bool seek(struct reclaim *r, struct reclaim_wish *w)
{
	size_t has = 0, root;

	w->roots = arena_calloc(r->p->a, w->machines + 1, sizeof(*w->roots));
	while (has < w->machines && (root = cheapest(r, w)) != SIZE_MAX) {
		w->roots[w->n++] = root;
		(void)take_unit(r, w, root);
		has += r->v[root].unit.fits;
	}
	if (has >= w->machines) {
		prune(r, w, has);
		if (cost_of(r, w) <= saved_by(r, w))
			return true;
	}
	while (w->n)
		give_back(r, w, w->roots[--w->n]);
	return false;
}

static void say(struct reclaim *r, const struct reclaim_wish *w)
{
	struct plan *plan = r->p->plan;
	size_t pods = w->pods;

	for (size_t k = 0; k < w->n; k++)
		for (size_t i = w->roots[k]; i != SIZE_MAX; i = r->v[i].next) {
			const struct candidate *c = &r->v[i];
			const struct supply_type_offer *l = line_of(r, w->q->class_, c->m, c->pool);

			plan->reclaims =
				planning_wider(r->p->a, plan->reclaims, &r->takes_cap,
					       plan->nreclaims + 1, sizeof(*plan->reclaims));
			plan->reclaims[plan->nreclaims++] = (struct plan_reclaim){
				.claim = c->claim->name,
				.machine = c->m->m.name,
				.tenant = c->tenant->it->name,
				.pool = c->pool->name,
				.to = w->q->pod->tenant,
				.ns = w->q->pod->ns,
				.name = w->q->pod->name,
				.borrowed = c->tenant->cohort == w->q->class_->tenant->cohort &&
					    c->tenant->cohort};
			if (l && !w->q->cell->topology) {
				struct coming *x = add_coming(r, w->q->class_, c->m, l);
				size_t n = fits_in(w->q->class_, x->row);

				n = n < pods ? n : pods;
				fill(x, w->q->class_, n);
				pods -= n;
			}
		}
}

/* True if the candidate's machine suits the class. Then also updates f->each: the type that serves
 * the fewest pods counts, so that enough machines are taken. */
static bool suits(struct reclaim *r, const struct plan_class *c, const struct candidate *of,
		  struct class_findings *f)
{
	const struct supply_type_offer *l = line_of(r, c, of->m, of->pool);
	size_t n;

	r->p->work += 4;
	if (!l)
		return false;
	planning_room(r->p, &l->type->capacity, r->p->scratch);
	overhead_take(r->p, overhead_of_offer(c->fit, l), NULL, r->p->scratch);
	n = fits_in(c, r->p->scratch);
	f->each = !f->each || (n && n < f->each) ? n : f->each;
	return true;
}

/* Writes to *f which groups suit the class, and how many of its pods one machine serves. */
static void look(struct reclaim *r, const struct plan_class *c, struct class_findings *f)
{
	f->suits = arena_calloc(r->p->a, r->groups.n / 64 + 1, sizeof(*f->suits));
	for (size_t i = 0; i < r->groups.n; i++) {
		const struct reclaim_group *g = &r->groups.v[i];

		for (size_t k = g->v[0]; k != SIZE_MAX; k = g->alike ? SIZE_MAX : r->v[k].next)
			if (suits(r, c, &r->v[k], f))
				f->suits[i / 64] |= (uint64_t)1 << i % 64;
	}
}

/* Returns how many machines the w->pods pods need, assuming the instance type that serves the
 * fewest pods; 0: no machine suits. Sets w->each. */
static size_t machines_for(struct reclaim *r, struct reclaim_wish *w)
{
	struct class_findings *f = &r->found[w->q->class_->number];

	if (!f->suits)
		look(r, w->q->class_, f);
	w->each = w->q->cell->topology ? 1 : f->each;
	return w->each ? (w->pods + w->each - 1) / w->each : 0;
}

/* True if all pods of the gang are of one class. Other gangs are not handled by reclaim: they wait
 * for machines that become free. */
static bool is_alike(const struct plan_gang *g)
{
	for (size_t i = 1; i < g->n; i++)
		if (g->v[i]->class_ != g->v[0]->class_)
			return false;
	return true;
}

/* Gives entry q machines that come to its tenant anyway, and sets r->left. True: they suffice. */
static bool serve_by_coming(struct reclaim *r, const struct queued *q)
{
	r->left = seat_on_coming(r, q, q->gang ? q->gang->need : 1);
	r->left = give_coming(r, q, r->left);
	return !r->left;
}

/* Takes machines back for the r->left pods of entry q. False: none is taken. */
static bool serve_by_taking(struct reclaim *r, const struct queued *q)
{
	struct reclaim_wish w = {.q = q, .pods = r->left};

	if (!r->groups.n || (q->gang && !is_alike(q->gang)))
		return false;
	w.machines = machines_for(r, &w);
	if (!w.machines)
		return false;
	measure(r, &w, q->gang ? q->gang->need : w.each);
	if (!seek(r, &w))
		return false;
	say(r, &w);
	return true;
}

static bool is_before(const struct reclaim *r, const struct plan_class *c)
{
	for (size_t i = 0; i < r->nbefore; i++)
		if (r->before[i] == c)
			return true;
	return false;
}

/* Records that the class got nothing and comes before all later entries. If too many classes are
 * recorded already, ends the pass instead: later entries get nothing. */
static void stays_before(struct reclaim *r, const struct plan_class *c)
{
	if (r->nbefore == BEFORE) {
		r->n = r->at;
		return;
	}
	r->before = planning_wider(r->p->a, r->before, &r->before_cap, r->nbefore + 1,
				   sizeof(struct plan_class *));
	r->before[r->nbefore++] = c;
}

/* Ends the entry q. If it gets no machine but would use machines that become free, records its
 * class, so that later entries do not take such machines. waits: machines may be taken back for
 * it. */
static void end_one(struct reclaim *r, const struct queued *q, bool waiting)
{
	if (waiting && serve_by_taking(r, q))
		return;
	r->p->plan->waits_for_more |= waiting && r->nv;
	stays_before(r, q->class_);
}

/* Processes the entry q. False: the machines that may be taken back must be searched first. */
static bool try_one(struct reclaim *r, const struct queued *q)
{
	const bool may = waits(&r->p->plan->pods[r->at]);

	if (is_before(r, q->class_) || (may && is_bound(r, q)) || (may && serve_by_coming(r, q)))
		return true;
	if (may && !r->looked)
		return false;
	end_one(r, q, may);
	return true;
}

/* Continues the search for machines that may be taken back. True: it is complete. */
static bool search(struct reclaim *r)
{
	if (!r->search)
		r->search = reclaim_search_new(r->p, r->now);
	if (!r->grouping) {
		if (reclaim_search_next(r->search))
			return false;
		r->v = reclaim_search_found(r->search, &r->nv);
		r->grouping = reclaim_grouping_new(r->p, r->v, r->nv);
		return false;
	}
	if (reclaim_grouping_next(r->grouping))
		return false;
	r->groups = reclaim_grouping_found(r->grouping);
	r->looked = true;
	return true;
}

bool reclaim_next(struct reclaim *r)
{
	const struct queued *q;

	if (r->at >= r->n)
		return false;
	q = r->q[r->at];
	if (r->searching) {
		if (!search(r))
			return true;
		r->searching = false;
		end_one(r, q, true);
		r->at++;
		return true;
	}
	planning_charge(r->p, q->class_->tenant, 2);
	if (r->p->plan->pods[r->at].outcome == PLAN_NOTHING && q->class_->of_new.v &&
	    !q->pod->check && !q->class_->refused && !q->class_->tenant->over && !q->cut &&
	    (!q->gang || q->gang->turn == q))
		r->searching = !try_one(r, q);
	r->at += !r->searching;
	return true;
}

/* Links the entries of each class in the order of the queue. */
static void link_equal(struct reclaim *r)
{
	size_t *after = arena_calloc(r->p->a, (size_t)r->p->nclasses + 1, sizeof(*after));

	r->same = arena_calloc(r->p->a, r->n + 1, sizeof(*r->same));
	for (size_t i = r->n; i-- > 0;) {
		size_t *next = &after[r->q[i]->class_->number];

		r->same[i] = *next ? *next - 1 : SIZE_MAX;
		*next = i + 1;
	}
}

static bool is_allowed(const struct planning *p)
{
	struct map_iter it;

	map_for_each (it, p->w->pools) {
		const struct world_pool *pool = ((struct world_object *)it.value)->it;

		if (pool->reclaim != WORLD_RECLAIM_NEVER && !pool->paused)
			return true;
	}
	return false;
}

struct reclaim *reclaim_new(struct planning *p, struct queued **q, size_t n, int64_t now_ms)
{
	struct reclaim *r = arena_new_obj(p->a, struct reclaim);
	const struct world_list *claims = world_claims(p->w);

	*r = (struct reclaim){.p = p, .now = now_ms};
	if (!is_allowed(p))
		return r;
	/* Subtract the machines of leaving claims from their tenants' holdings, because these
	 * machines are being given back already. */
	for (size_t i = 0; i < claims->n; i++) {
		const struct world_claim *c = claims->v[i];

		if (c->leaving && c->machine)
			quota_moves(p, planning_tenant(p, c->tenant), NULL, &c->capacity);
	}
	p->work += claims->n;
	r->n = n;
	r->q = arena_calloc(p->a, n + 1, sizeof(struct queued *));
	for (size_t i = 0; i < n; i++)
		r->q[q[i]->at] = q[i];
	r->coming_of = arena_calloc(p->a, map_size(p->tenants) + 1, sizeof(*r->coming_of));
	r->found = arena_calloc(p->a, (size_t)p->nclasses + 1, sizeof(*r->found));
	link_equal(r);
	return r;
}
