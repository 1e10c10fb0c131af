#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "planner/attachments.h"
#include "planner/fit.h"
#include "planner/supply/overhead.h"
#include "planner/supply/quota.h"
#include "planner/supply/supply.h"

struct supply {
	struct planning *p;
	/* Pools sorted by weight, highest first, then by name. */
	struct supply_pool *pools;
	size_t npools;
	/* Pool name -> struct supply_pool, for the elements of pools. */
	struct map *by_name;
	/* Number of machines that this plan has taken so far. */
	size_t taken;
	/* Scratch memory for requests. */
	struct ask *asks;
	/* Linked list of tallies and machines as they were before the present transaction changed
	 * them; the last change comes first. supply_undo() restores them. */
	struct undo {
		struct tally *tally, was;
		struct world_stock *machine;
		struct undo *next;
	} * undo;
	/* Number of transactions begun so far. */
	uint64_t tries;
	/* trying: a transaction is in progress. takes: the transaction marks the machines that it
	 * uses as taken. */
	bool trying, takes;
};

static int by_weight(const void *x, const void *y)
{
	const struct world_pool *a = ((const struct supply_pool *)x)->it,
				*b = ((const struct supply_pool *)y)->it;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return strcmp(a->name, b->name);
}

struct supply *supply_new(struct planning *p)
{
	struct supply *s = arena_new_obj(p->a, struct supply);
	struct map_iter it;

	s->p = p;
	s->pools = arena_calloc(p->a, map_size(p->w->pools) + 1, sizeof(*s->pools));
	map_for_each (it, p->w->pools)
		s->pools[s->npools++].it = ((struct world_object *)it.value)->it;
	for (size_t i = 0; i < s->npools; i++)
		p->saves_nodes |= s->pools[i].it->expander != WORLD_EXPANDER_LEAST_COST;
	qsort(s->pools, s->npools, sizeof(*s->pools), by_weight);
	s->by_name = planning_map(p);
	for (size_t i = 0; i < s->npools; i++) {
		s->pools[i].number = i;
		map_put(s->by_name, s->pools[i].it->name, &s->pools[i]);
	}
	return s;
}

struct supply_pool *supply_pool_at(const struct supply *s, size_t i)
{
	return i < s->npools ? &s->pools[i] : NULL;
}

struct supply_pool *supply_pool_named(const struct supply *s, const char *name)
{
	return map_get(s->by_name, name);
}

void supply_charge(struct supply *s, struct world_claimed *held)
{
	const struct world_claim *c = &planning_claimed(s->p, held)->claim;
	struct supply_pool *pool = map_get(s->by_name, str_or(c->pool, ""));
	struct world_stock *m = held->machine;

	if (c->failed && !c->machine)
		return;
	tally_charge(&held->tenant->tally, &c->capacity, s->p->a);
	quota_changed(s->p);
	if (pool)
		tally_charge(&pool->tally, &c->capacity, s->p->a);
	if (!m)
		return;
	m->used = s->p->w->plan;
	m->serves = c->leaving || c->failed ? NULL : c->tenant;
}

struct labels supply_labels_of_claim(struct supply *s, const struct world_claim *c)
{
	const struct world_provider *p = world_find(s->p->w->providers, c->provider);
	const struct world_stock *m = c->machine ? map_get(s->p->w->machines, c->machine) : NULL;
	const struct labels *type = NULL;

	for (size_t i = 0; p && i < p->types.n; i++)
		if (str_eq(p->types.v[i].name, c->instance_type))
			type = &p->types.v[i].labels;
	return supply_node_labels(s->p->a, type, c->instance_type, m ? &m->m.labels : NULL,
				  &c->labels, c->pool);
}

/* --- choice of a machine ---------------------------------------------------------------------- */

bool supply_open_to(const struct world_pool *p, const struct world_tenant *t)
{
	return !p->paused && !t->no_nodes && (t->on_host ? p->host : !p->not_private);
}

bool supply_allowed(const struct plan_class *c, const struct supply_pool *pool,
		    const struct supply_type_offer *l)
{
	const struct resources *limits = &pool->it->limits;

	return !quota_passes(c->tenant, &l->type->capacity) &&
	       !(limits->n && tally_passes(&pool->tally, limits, &l->type->capacity));
}

static void ask_pools(struct supply *s, struct plan_fit *f)
{
	if (f->asked)
		return;
	f->asked = true;
	f->pools = arena_calloc(s->p->a, s->npools + 1, sizeof(*f->pools));
	for (size_t i = 0; i < s->npools; i++) {
		struct fit_pool *fp = &f->pools[f->npools];

		if (!selector_matches(&s->pools[i].it->tenants, &f->tenant->it->labels))
			continue;
		f->npools++;
		fp->pool = &s->pools[i];
		fp->version = supply_version(fp->pool->it, f->tenant->it->version);
		if (!fp->version || !supply_open_to(fp->pool->it, f->tenant->it))
			continue;
		if (!fp->pool->offers)
			supply_type_offers(s->p, fp->pool);
		planning_charge(s->p, f->tenant, fp->pool->noptions * (4 + f->cost));
		supply_narrow(s->p, f, fp);
	}
	overhead_of_fit(s->p, f);
}

/* Computes c->of_new: the requests of one pod of the class plus the DaemonSet overhead of its
 * fit. */
static void ask_beside(struct planning *p, struct plan_class *c)
{
	struct ask *v;
	size_t n;

	if (c->of_new.v || c->impossible)
		return;
	v = arena_calloc(p->a, c->asks.n + c->nshared + 1, sizeof(*v));
	memset(p->scratch, 0, p->ncolumns * sizeof(*p->scratch));
	overhead_take(p, c->fit->overhead, NULL, p->scratch);
	memcpy(v, c->asks.v, c->asks.n * sizeof(*v));
	n = c->asks.n + attachments_add(c, v, c->asks.n);
	for (size_t i = 0; i < n; i++)
		v[i].amount = planning_sub(v[i].amount, p->scratch[v[i].column]);
	c->of_new = (struct asks){v, n};
}

static size_t next_bit(const uint64_t *bits, size_t from, size_t n)
{
	size_t at = from;

	while (at < n && !supply_has(bits, at))
		at += at % 64 || bits[at / 64] ? 1 : 64;
	return at < n ? at : n;
}

/* True if the offer is large enough for the requests, with the offer's own DaemonSet overhead. The
 * capacity table contains the capacity without it. */
static bool has_room(const struct fit_pool *fp, size_t offer, struct asks asks)
{
	const int64_t *row = fp->overheads ? fp->overheads[offer].row : NULL;

	for (size_t i = 0; row && i < asks.n; i++)
		if (asks.v[i].amount > row[asks.v[i].column])
			return false;
	return true;
}

/* Returns the index of the first offer of the pool, from index `from` on, that is in bit set
 * `offers`, is large enough for the requests `asks` and has a free machine; pool->noffers if there
 * is none. */
static size_t next_line(struct supply *s, const struct plan_class *c, const struct fit_pool *fp,
			const uint64_t *offers, struct asks asks, size_t from)
{
	const struct supply_pool *pool = fp->pool;
	uint64_t steps = 1;
	size_t at = from, bit;
	bool fits;

	do {
		bit = next_bit(offers, at, pool->noffers);
		at = bit < pool->noffers
			     ? capacity_table_next(pool->capacity_table, bit, asks, &steps)
			     : CAPACITY_TABLE_NONE;
		fits = at == bit && has_room(fp, at, asks);
		at += at == bit && !fits;
	} while (!fits && at != CAPACITY_TABLE_NONE);
	planning_charge(s->p, c->tenant, steps);
	return at == CAPACITY_TABLE_NONE ? pool->noffers : at;
}

static void find_free_domains(struct supply *s, struct plan_class *c)
{
	c->admitted = s->taken;
	topology_free_domains_begin(s->p, c);
	for (size_t i = 0; i < c->fit->npools && !c->impossible; i++) {
		struct fit_pool *fp = &c->fit->pools[i];

		for (size_t k = 0; fp->n && k < fp->pool->noffers; k++) {
			struct supply_type_offer *l = &fp->pool->offers[k];

			k = next_line(s, c, fp, fp->suits.offers, c->of_new, k);
			if (k == fp->pool->noffers)
				break;
			l = &fp->pool->offers[k];
			planning_charge(s->p, c->tenant, 2 * l->noptions);
			if (!supply_allowed(c, fp->pool, l))
				continue;
			for (size_t o = l->first; o < l->first + l->noptions; o++)
				if (supply_has(fp->suits.options, o) &&
				    supply_free_machine(s->p, fp->pool, &fp->pool->options[o]))
					topology_admits_new(s->p, c, fp->pool->options[o].domains);
			if (topology_admits_all(s->p, c))
				return;
		}
	}
}

void supply_ask(struct supply *s, struct plan_cell *c)
{
	ask_pools(s, c->class_->fit);
	ask_beside(s->p, c->class_);
	if (c->topology && !c->class_->free_domains && topology_needs_free_domains(c->topology))
		find_free_domains(s, c->class_);
}

bool supply_ask_again(struct supply *s, struct plan_cell *c)
{
	if (!c->topology || !c->class_->free_domains || c->class_->admitted == s->taken)
		return false;
	find_free_domains(s, c->class_);
	return true;
}

struct pick {
	/* Pool of the choice; NULL: nothing chosen yet. */
	struct fit_pool *from;
	struct supply_type_offer *offer;
	struct supply_option *option;
	size_t serves;
	/* Machines for all pods that count, if this offer is chosen; set if the pool's expander is
	 * LeastNodes. */
	struct supply_total total;
};

/* Returns the best option of offer l that suits and that topology constraints admit; NULL: none. In
 * an offer with more than FEW_OPTIONS options, returns the first such option instead and stores the
 * search position in c->at. That option is good enough, because options are sorted by the best
 * machine that each had at the start of the plan. */
#define FEW_OPTIONS 64

static struct supply_option *look_at_each(struct supply *s, struct plan_cell *c,
					  struct fit_pool *fp, const uint64_t *suits,
					  const struct supply_type_offer *l)
{
	const uint64_t epoch = c->topology ? topology_epoch(c->topology) : 0;
	const bool many = l->noptions > FEW_OPTIONS;
	struct supply_option *best = NULL;
	bool blocked = false;
	size_t i = 0;

	if (many && c->at.offer == l && c->at.epoch == epoch) {
		i = c->at.option;
		blocked = c->at.blocked;
	}
	for (; i < l->noptions; i++) {
		struct supply_option *o = &fp->pool->options[l->first + i];

		planning_charge(s->p, c->class_->tenant, 1);
		if (!supply_has(suits, l->first + i) || !supply_free_machine(s->p, fp->pool, o))
			continue;
		if (c->topology && !topology_new_ok(c->topology, o->domains)) {
			blocked = true;
			continue;
		}
		if (!best ||
		    supply_by_worth(&o->group->v[o->next]->m, &best->group->v[best->next]->m) < 0)
			best = o;
		if (many)
			break;
	}
	if (many) {
		c->at.offer = l;
		c->at.epoch = epoch;
		c->at.option = i;
		c->at.blocked = blocked;
	}
	fp->blocked |= blocked;
	return best;
}

static struct supply_option *look_at_line(struct supply *s, struct plan_cell *c,
					  struct fit_pool *fp, const struct suits *suits, size_t at)
{
	struct supply_type_offer *l = &fp->pool->offers[at];
	struct supply_option *o;

	if (!supply_allowed(c->class_, fp->pool, l))
		return NULL;
	o = supply_best(s->p, fp->pool, l);
	if (!o) {
		capacity_table_close(fp->pool->capacity_table, at);
		return NULL;
	}
	if (!c->topology && supply_has(suits->options, (size_t)(o - fp->pool->options)))
		return o;
	return look_at_each(s, c, fp, suits->options, l);
}

/* Search of one pool for the offer of a new machine. */
struct offer_search {
	struct supply *s;
	struct plan_cell *c;
	struct fit_pool *fp;
	const struct suits *suits;
	/* Waiting pods that the machine would serve too. */
	const struct supply_rest *rest;
	/* offer: index of the offer at which the search continues. last: index of the offer that
	 * was considered last; SIZE_MAX: none. serves: number of pods that this offer serves. */
	size_t offer, last, serves;
	struct pick *pick;
};

/* Returns the total of the machines that the pods of x->rest need if offer l serves k of them, and
 * the first offer that is large enough serves the last ones. */
static struct supply_total total_of(struct offer_search *x, const struct supply_type_offer *l,
				    size_t k)
{
	const struct supply_pool *pool = x->fp->pool;
	const size_t n = x->rest->n + 1;
	size_t at = pool->noffers;

	if (n % k)
		at = next_line(x->s, x->c->class_, x->fp, x->suits->offers,
			       supply_asks_for(x->rest, n % k, x->s->asks), 0);
	return supply_total_of(l, k, n, at < pool->noffers ? &pool->offers[at] : NULL);
}

static void weigh(struct offer_search *x, struct supply_option *o)
{
	struct pick *best = x->pick,
		    now = {.from = x->fp, .offer = &x->fp->pool->offers[x->last], .option = o};

	now.serves = x->serves = supply_serves(x->rest, now.offer);
	if (x->fp->pool->least_nodes) {
		now.total = total_of(x, now.offer, now.serves);
		if (!best->from || supply_is_less(&now.total, &best->total))
			*best = now;
	} else if (!best->from ||
		   supply_is_cheaper(now.offer, now.serves, best->offer, best->serves)) {
		*best = now;
	}
}

/* Considers the first offer, from x->offer on, that is large enough for k pods and has a machine,
 * unless it was considered last. False: there is no such offer. */
static bool consider(struct offer_search *x, size_t k)
{
	const struct supply_pool *pool = x->fp->pool;
	const struct asks asks = supply_asks_for(x->rest, k, x->s->asks);

	for (;; x->offer++) {
		struct supply_option *o;

		x->offer = next_line(x->s, x->c->class_, x->fp, x->suits->offers, asks, x->offer);
		if (x->offer == pool->noffers)
			return false;
		if (x->offer == x->last)
			return true;
		o = look_at_line(x->s, x->c, x->fp, x->suits, x->offer);
		if (!o)
			continue;
		x->last = x->offer;
		weigh(x, o);
		return true;
	}
}

/* Considers the first offer that serves all n pods, after the first offer that serves one. False:
 * there is none, or it has more GPUs, so offers between the two may be better. */
static bool one_serves_all(struct offer_search *x, size_t n)
{
	const struct supply_type_offer *offers = x->fp->pool->offers;
	const size_t first = x->last, serves = x->serves;

	if (consider(x, n) && offers[x->last].gpus == offers[first].gpus)
		return true;
	x->offer = x->last = first;
	x->serves = serves;
	return false;
}

/* Considers offers that serve more and more pods, up to the largest one of use: each such offer of
 * a pool with few offers, otherwise some of them. */
#define FEW_OFFERS 64

static void look_for_few(struct offer_search *x)
{
	const size_t n = x->rest->n + 1, growth = x->fp->pool->noffers > FEW_OFFERS ? 4 : SIZE_MAX;
	bool missed = false;
	size_t k, step;

	if (!consider(x, 1) || one_serves_all(x, n))
		return;
	k = x->serves;
	step = 1 + k / growth;
	while (step && k < n) {
		const size_t next = step < n - k ? k + step : n;

		if (consider(x, next)) {
			k = x->serves > next ? x->serves : next;
			step = missed ? step / 2 : 1 + k / growth;
		} else {
			x->offer = x->last;
			missed = true;
			step /= 2;
		}
	}
}

/* Waiting pods like those of one cell: by supply_rest_of(), and by supply_crowd_of() for pools that
 * save machines. known: which of the two are computed. */
struct rests {
	struct supply_rest v[2];
	bool known[2];
};

static const struct supply_rest *rest_for(struct supply *s, const struct plan_cell *c,
					  const struct supply_pool *pool, struct rests *r)
{
	const bool crowd = pool->least_nodes;

	if (!r->known[crowd])
		r->v[crowd] = crowd ? supply_crowd_of(s->p, c) : supply_rest_of(s->p, c);
	r->known[crowd] = true;
	return &r->v[crowd];
}

/* Chooses an offer of the pool. For each of several increasing numbers k of pods, considers the
 * first offer that is large enough for k pods (offers are sorted by cost). Of the offers
 * considered, chooses the best by the pool's expander. The result is in *pick. False: no offer has
 * a machine. */
static bool look_in(struct supply *s, struct plan_cell *c, struct fit_pool *fp,
		    const struct suits *suits, struct rests *rests, struct pick *pick)
{
	struct offer_search x = {.s = s,
				 .c = c,
				 .fp = fp,
				 .suits = suits,
				 .rest = rest_for(s, c, fp->pool, rests),
				 .last = SIZE_MAX,
				 .pick = pick};

	if (fp->pool->least_nodes)
		look_for_few(&x);
	else
		for (size_t k = 1; k <= x.rest->n + 1 && consider(&x, k);)
			k += 1 + k / 4;
	return pick->from;
}

/* Returns the sets of suitable options (groups of equal machines) and offers of the pool; NULL:
 * none. picky: only those with preference score `score`. */
static const struct suits *suits_of(const struct fit_pool *fp, bool picky, int64_t score)
{
	if (!picky)
		return fp->n ? &fp->suits : NULL;
	for (size_t k = 0; k < fp->nchoices; k++)
		if (fp->choices[k].score == score)
			return &fp->choices[k].suits;
	return NULL;
}

/* Chooses a machine of the first pool (by weight) that has a suitable one. Of pools with equal
 * weight, a pool with an owned machine comes before one that would launch a cloud instance. The
 * result is in *pick. False: no machine was found. */
static bool look_in_pools(struct supply *s, struct plan_cell *c, struct rests *rests, bool picky,
			  int64_t score, struct pick *pick)
{
	struct plan_fit *f = c->class_->fit;
	struct pick rented = {0};

	for (size_t i = 0; i < f->npools; i++) {
		struct fit_pool *fp = &f->pools[i];
		const struct suits *suits = suits_of(fp, picky, score);

		if (rented.from && fp->pool->it->weight != rented.from->pool->it->weight)
			break;
		if (!suits || !look_in(s, c, fp, suits, rests, pick))
			continue;
		/* mutant: rented-before-owned */
		if (!pick->offer->provider->elastic)
			return true;
		if (!rented.from)
			rented = *pick;
		*pick = (struct pick){0};
	}
	*pick = rented;
	return rented.from;
}

/* Writes to *score the highest preference score that is lower than the previous value of *score and
 * that some option has. False: no option has a lower score. */
static bool next_score(const struct plan_fit *f, int64_t *score)
{
	int64_t best = 0;
	bool more = false;

	for (size_t i = 0; i < f->npools; i++)
		for (size_t k = 0; k < f->pools[i].nchoices; k++) {
			const int64_t x = f->pools[i].choices[k].score;

			if ((*score == INT64_MAX || x < *score) && (!more || x > best)) {
				best = x;
				more = true;
			}
		}
	*score = best;
	return more;
}

/* Chooses a machine for a pod of the cell. Tries options with the highest preference score first.
 * The result is in *pick. False: no machine was found. */
static bool choose(struct supply *s, struct plan_cell *c, struct pick *pick)
{
	const struct plan_fit *f = c->class_->fit;
	struct rests rests = {0};
	int64_t score = INT64_MAX;

	if (!f->pod->preferences.n && !s->p->soft)
		return look_in_pools(s, c, &rests, false, 0, pick);
	while (next_score(f, &score))
		if (look_in_pools(s, c, &rests, true, score, pick))
			return true;
	return false;
}

static bool is_blocked(const struct plan_fit *f)
{
	for (size_t i = 0; i < f->npools; i++)
		if (f->pools[i].blocked)
			return true;
	return false;
}

static void tell_nothing(struct supply *s, const struct plan_cell *cell,
			 struct plan_reason **reasons, size_t *nreasons)
{
	struct plan_class *c = cell->class_;
	const bool blocked = is_blocked(c->fit);

	if (!c->nreasons || (c->told_blocked && !blocked))
		supply_explain(s->p, c);
	c->told_blocked = blocked;
	*nreasons = c->nreasons;
	*reasons = blocked ? supply_explain_blocked(s->p, cell, nreasons) : c->reasons;
}

/* True if pods with the requests `more` request at least as much of everything as pods with the
 * requests `less`. */
static bool is_at_least(struct asks more, struct asks less)
{
	size_t k = 0;

	for (size_t i = 0; i < less.n; i++) {
		while (k < more.n && more.v[k].column < less.v[i].column)
			k++;
		if (k == more.n || more.v[k].column != less.v[i].column ||
		    more.v[k].amount < less.v[i].amount)
			return false;
	}
	return true;
}

bool supply_none_left(const struct plan_class *c)
{
	return c->fit->none_left && is_at_least(c->asks, c->fit->none_left->asks);
}

/* Records that no machine is left for the class, unless none is left for smaller pods either. */
static void exhaust(struct plan_class *c)
{
	c->exhausted = true;
	if (!c->impossible && !supply_none_left(c))
		c->fit->none_left = c;
}

/* If the pods got no machine and topology constraints excluded none, the class is exhausted: later
 * pods of the class get none either, because during a plan machines are only taken and holdings
 * only grow. */
bool supply_take(struct supply *s, struct plan_cell *c, struct supply_choice *out,
		 struct plan_reason **reasons, size_t *nreasons)
{
	struct pick pick = {0};

	if (!s->asks)
		s->asks = arena_calloc(s->p->a, s->p->ncolumns, sizeof(*s->asks));
	for (size_t i = 0; i < c->class_->fit->npools; i++)
		c->class_->fit->pools[i].blocked = false;
	if (c->class_->impossible || c->class_->exhausted || !choose(s, c, &pick)) {
		if (!is_blocked(c->class_->fit))
			exhaust(c->class_);
		tell_nothing(s, c, reasons, nreasons);
		return false;
	}
	if (pick.from->pool->least_nodes && c->topology && topology_on_one(c->topology) < SIZE_MAX)
		c->crowd->expected += pick.serves - 1;
	supply_take_this(s, c->class_, pick.from->pool, pick.offer, pick.option,
			 pick.option->group->v[pick.option->next], out);
	return true;
}

/* --- transactions ----------------------------------------------------------------------------- */

static void remember(struct supply *s, struct tally *t)
{
	struct undo *u = arena_new_obj(s->p->a, struct undo);

	*u = (struct undo){.tally = t, .was = *t, .next = s->undo};
	if (t->held.n) {
		u->was.held.v = arena_calloc(s->p->a, t->held.n, sizeof(*u->was.held.v));
		memcpy(u->was.held.v, t->held.v, t->held.n * sizeof(*u->was.held.v));
	}
	u->was.cap = t->held.n;
	t->tried = s->tries;
	s->undo = u;
}

static void charge(struct supply *s, struct tally *t, const struct resources *capacity)
{
	if (s->trying && t->tried != s->tries)
		remember(s, t);
	tally_charge(t, capacity, s->p->a);
}

void supply_take_this(struct supply *s, struct plan_class *c, struct supply_pool *pool,
		      const struct supply_type_offer *l, const struct supply_option *o,
		      struct world_stock *m, struct supply_choice *out)
{
	struct undo *u;

	if (!s->trying || s->takes) {
		m->used = s->p->w->plan;
		s->taken++;
	}
	charge(s, &c->tenant->tally, &l->type->capacity);
	quota_changed(s->p);
	charge(s, &pool->tally, &l->type->capacity);
	*out = (struct supply_choice){.pool = pool->it,
				      .type = l->type,
				      .machine = &m->m,
				      .version = supply_version(pool->it, c->tenant->it->version),
				      .labels = &o->labels,
				      .from = pool,
				      .offer = l};
	if (!s->trying || !s->takes)
		return;
	u = arena_new_obj(s->p->a, struct undo);
	*u = (struct undo){.machine = m, .next = s->undo};
	s->undo = u;
}

void supply_try(struct supply *s, bool takes)
{
	s->takes = takes;
	s->undo = NULL;
	s->trying = true;
	s->tries++;
}

void supply_commit(struct supply *s)
{
	s->undo = NULL;
	s->trying = false;
}

void supply_undo(struct supply *s)
{
	for (const struct undo *u = s->undo; u; u = u->next) {
		if (u->tally) {
			*u->tally = u->was;
			continue;
		}
		u->machine->used = 0;
		s->taken--;
	}
	quota_changed(s->p);
	supply_commit(s);
}

void supply_hold(struct supply *s, struct plan_tenant *t, struct supply_pool *pool,
		 const struct supply_type_offer *l, struct world_stock *m,
		 const struct world_gang *of)
{
	m->promised = s->p->w->plan;
	tally_charge(&t->tally, &l->type->capacity, s->p->a);
	quota_changed(s->p);
	tally_charge(&pool->tally, &l->type->capacity, s->p->a);
	if (!m->m.offered)
		return;
	m->used = m->held = s->p->w->plan;
	m->held_for = of;
	s->taken++;
}

void supply_explain_try(struct supply *s, const struct plan_cell *cell,
			struct plan_reason **reasons, size_t *nreasons)
{
	struct plan_class *c = cell->class_;
	const struct plan_class was = *c;

	c->nreasons = 0;
	tell_nothing(s, cell, reasons, nreasons);
	c->reasons = was.reasons;
	c->nreasons = was.nreasons;
	c->told_blocked = was.told_blocked;
}
