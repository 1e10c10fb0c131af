/*
 * offers: decides whether an offer is suitable, in three steps: by the policy alone; for work
 * of one shape (equal requirements); and against the remaining instances, limits and budgets. The
 * results of the first two steps are computed once and reused. burst_why() evaluates the third step
 * again, from data that the decision recorded.
 * Tests: tests/unit/planner/burst/test_burst.c, tests/unit/planner/test_burst_oracle.c
 */
#include <stdlib.h>
#include <string.h>

#include "base/money.h"
#include "base/str.h"
#include "planner/burst/burst_impl.h"

bool burst_named(const struct burst_names *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i], name))
			return true;
	return !l->n;
}

/* --- by the policy ---------------------------------------------------------------------------- */

static bool matches(const struct burst_entry *n, const struct burst_offer *o)
{
	return str_eq(n->provider, o->provider) && burst_named(&n->types, o->kind.type) &&
	       burst_named(&n->regions, o->kind.region) && burst_named(&n->zones, o->kind.zone);
}

static bool find_entry(const struct burst_policy_in *p, const struct burst_offer *o,
		       struct burst_verdict *v)
{
	for (v->tier = 0; v->tier < p->ntiers; v->tier++)
		for (size_t i = 0; i < p->nentries; i++) {
			v->entry = &p->entries[i];
			if (p->tiers[v->tier].market == o->kind.market &&
			    burst_named(&p->tiers[v->tier].entries, v->entry->name) &&
			    matches(v->entry, o))
				return true;
		}
	v->entry = NULL;
	return false;
}

static bool jurisdiction_allowed(const struct burst_policy_in *p, const char *j)
{
	const struct burst_names *denied = &p->compliance.denied;

	if (!j)
		return !p->compliance.allowed.n && !denied->n;
	return burst_named(&p->compliance.allowed, j) && (!denied->n || !burst_named(denied, j));
}

static bool is_certified(const struct burst_policy_in *p, const struct burst_entry *n)
{
	const struct burst_names *all = &p->compliance.certifications;

	for (size_t i = 0; i < all->n; i++)
		if (!n->certifications.n || !burst_named(&n->certifications, all->v[i]))
			return false;
	return true;
}

/* Returns the price of the offer that the operator wrote in the policy; NULL: none. Prefers a price
 * that names the offer's region. */
static const struct burst_price *written_price(const struct burst_policy_in *p,
					       const struct burst_verdict *v,
					       const struct burst_offer *o)
{
	const struct burst_price *best = NULL;

	for (size_t i = 0; i < p->cost.nprices; i++) {
		const struct burst_price *x = &p->cost.prices[i];

		if (str_eq(x->entry, v->entry->name) && str_eq(x->type, o->kind.type) &&
		    x->market == o->kind.market &&
		    (!x->region || str_eq(x->region, o->kind.region)) &&
		    (!best || (x->region && !best->region)))
			best = x;
	}
	return best;
}

static enum burst_code set(struct burst_verdict *v, enum burst_code code, int64_t is, int64_t limit)
{
	v->is = is;
	v->limit = limit;
	return code;
}

/* Returns the lowest rate per GPU and hour of owned machines, in the policy's currency; -1: none.
 * product: GPU product; NULL: any. */
static int64_t owned_rate(const struct burst_input *in, const struct burst_policy_in *p,
			  const char *product)
{
	int64_t best = -1;

	for (size_t i = 0; i < in->nrates; i++) {
		const struct burst_rate *r = &in->rates[i];

		if (str_eq(r->currency, p->cost.currency) &&
		    (!product || str_eq(r->product, product)) && (best < 0 || r->gpu_hour < best))
			best = r->gpu_hour;
	}
	return best;
}

bool burst_rate_is_missing(const struct burst_input *in, const struct burst_policy_in *p)
{
	return p->cost.premium && owned_rate(in, p, NULL) < 0;
}

static enum burst_code judge_premium(const struct burst_input *in, const struct burst_policy_in *p,
				     const struct burst_offer *o, int64_t of_gpu,
				     struct burst_verdict *v)
{
	const int64_t rate = owned_rate(in, p, str_or(o->product, ""));
	__int128 most;

	if (!p->cost.premium)
		return BURST_CHOSEN;
	if (rate < 0)
		return BURST_NO_RATE_OF_GPU;
	most = (__int128)rate * (MONEY_UNIT + p->cost.max_premium) / MONEY_UNIT;
	/* mutant: burst-premium-unbounded */
	if (of_gpu > most)
		return set(v, BURST_PREMIUM, of_gpu, (int64_t)most);
	return BURST_CHOSEN;
}

static enum burst_code judge_price(const struct burst_input *in, const struct burst_policy_in *p,
				   const struct burst_offer *o, struct burst_verdict *v)
{
	const struct burst_price *x = written_price(p, v, o);
	const char *currency = x ? p->cost.currency : o->kind.currency;
	const int64_t as_of = x ? x->as_of : o->priced_at, now = in->now;
	int64_t of_gpu;

	v->per_hour = x ? x->micro : o->kind.micros_per_hour;
	/* mutant: burst-price-unknown */
	if (v->per_hour < 0)
		return BURST_PRICE_UNKNOWN;
	if (!str_eq(currency, p->cost.currency))
		return BURST_CURRENCY;
	if (as_of <= 0 || now - as_of > p->cost.max_age_ms)
		return set(v, BURST_PRICE_STALE, now - as_of, p->cost.max_age_ms);
	if (p->cost.max_node_hour >= 0 && v->per_hour > p->cost.max_node_hour)
		return set(v, BURST_NODE_HOUR, v->per_hour, p->cost.max_node_hour);
	of_gpu = o->gpus > 0 ? (v->per_hour + o->gpus - 1) / o->gpus : v->per_hour;
	if (p->cost.max_gpu_hour >= 0 && of_gpu > p->cost.max_gpu_hour)
		return set(v, BURST_GPU_HOUR, of_gpu, p->cost.max_gpu_hour);
	return judge_premium(in, p, o, of_gpu, v);
}

/* Returns the Unix ms until which failure *f excludes the offer; 0: the failure concerns other
 * offers. */
static int64_t cools_until(const struct burst_policy_in *p, const struct burst_failure *f,
			   const struct burst_offer *o)
{
	if (!str_eq(f->provider, o->provider) || (f->type && !str_eq(f->type, o->kind.type)) ||
	    (f->region && !str_eq(f->region, o->kind.region)) ||
	    (f->zone && !str_eq(f->zone, o->kind.zone)))
		return 0;
	return f->at + (f->quota  ? p->cooldown.quota_ms
			: f->zone ? p->cooldown.zone_ms
				  : p->cooldown.region_ms);
}

static enum burst_code judge_failures(const struct burst_policy_in *p, const struct burst_input *in,
				      const struct burst_offer *o, struct burst_verdict *v)
{
	enum burst_code code = BURST_CHOSEN;
	int64_t until = in->now;

	for (size_t i = 0; i < in->nfailures; i++) {
		const int64_t t = cools_until(p, &in->failures[i], o);

		if (t < until || (t == until && (t == in->now || code == BURST_QUOTA)))
			continue;
		until = t;
		code = in->failures[i].quota ? BURST_QUOTA : BURST_COOLING;
	}
	return code == BURST_CHOSEN ? code : set(v, code, until - in->now, 0);
}

static int64_t factor_of(const struct burst_entry *n, const char *product)
{
	for (size_t i = 0; i < n->nfactors; i++)
		if (str_eq(n->factors[i].product, product))
			return n->factors[i].micro;
	return MONEY_UNIT;
}

static enum burst_code judge_policy(const struct burst_policy_in *p, const struct burst_input *in,
				    const struct burst_offer *o, struct burst_verdict *v)
{
	enum burst_code code;

	if (!find_entry(p, o, v))
		return BURST_NOT_NAMED;
	v->factor = factor_of(v->entry, o->product);
	if (!jurisdiction_allowed(p, v->entry->jurisdiction))
		return BURST_JURISDICTION;
	if (!is_certified(p, v->entry))
		return BURST_CERTIFICATION;
	if (v->entry->link != BURST_NO_LINK && v->entry->link != o->link)
		return BURST_LINK;
	code = judge_price(in, p, o, v);
	return code == BURST_CHOSEN ? judge_failures(p, in, o, v) : code;
}

void burst_policy_eval_offers(struct burst_policy_eval *s, const struct burst_input *in,
			      const struct burst_stock *stock, struct arena *a)
{
	s->offers = arena_calloc(a, in->noffers + 1, sizeof(*s->offers));
	for (size_t i = 0; i < in->noffers; i++)
		s->offers[i].code = judge_policy(s->p, in, stock[i].offer, &s->offers[i]);
}

/* --- by the shape of the work ----------------------------------------------------------------- */

/* Returns the run time with boot and staging; -1: too large to compute. stage_ms: time that moving
 * the data takes. */
static int64_t with_start(const struct burst_policy_in *p, int64_t runs_ms, int64_t stage_ms)
{
	int64_t ms;

	return __builtin_add_overflow(runs_ms, p->cost.boot_ms, &ms) ||
			       __builtin_add_overflow(ms, stage_ms, &ms)
		       ? -1
		       : ms;
}

/* Returns the time for which the work needs an instance, including boot and staging; -1: too large
 * to compute. */
static int64_t needed_ms(const struct burst_policy_in *p, const struct burst_work *w,
			 int64_t stage_ms)
{
	return with_start(p, w->runs_ms ? w->runs_ms : p->runtime.max_ms, stage_ms);
}

int64_t burst_limit_ms(const struct burst_policy_in *p, const struct burst_work *w)
{
	if (p->runtime.max_ms)
		return p->runtime.max_ms;
	return /* mutant: burst-word-too-short */ w->said && w->runs_ms < BURST_SAID_MIN_MS
		       ? BURST_SAID_MIN_MS
		       : w->runs_ms;
}

/* Returns the longest time for which an instance is billed, including boot and staging; -1: too
 * large to compute. */
static int64_t billed_ms(const struct burst_policy_in *p, const struct burst_work *w,
			 int64_t stage_ms)
{
	const bool trusted = w->runs_ms && /* mutant: burst-word-trusted */ !w->said;
	const int64_t runs = trusted ? w->runs_ms : burst_limit_ms(p, w);
	const int64_t step = p->cost.increment_ms > 0 ? p->cost.increment_ms : 1;
	int64_t ms = with_start(p, runs, /* mutant: burst-stage-unpaid */ stage_ms);

	if (ms < 0)
		return -1;
	if (ms < p->cost.minimum_ms)
		ms = p->cost.minimum_ms;
	if (__builtin_add_overflow(ms, step - 1, &ms))
		return -1;
	return ms / step * step;
}

/* Sets cost, egress and stage_ms of the verdict, whose nodes and per_hour are set. m: what moving
 * the data to one instance costs and takes. False: too large to compute, and the cost is then
 * -1. */
static bool find_cost(const struct burst_policy_in *p, const struct burst_work *w,
		      const struct burst_moving *m, struct burst_verdict *v)
{
	const int64_t billed = billed_ms(p, w, m->ms);
	int64_t one;

	v->stage_ms = m->ms;
	v->cost = -1;
	return billed >= 0 && m->egress < INT64_MAX && money_for_ms(v->per_hour, billed, &one) &&
	       /* mutant: burst-egress-uncharged */ money_add(&one, m->egress) &&
	       money_times(m->egress, v->nodes, &v->egress) && money_times(one, v->nodes, &v->cost);
}

/* Returns BURST_CHOSEN if moving the data is neither too slow nor too expensive. */
static enum burst_code judge_data(const struct burst_policy_in *p, const struct burst_work *w,
				  struct burst_verdict *v)
{
	const __int128 start = (__int128)p->cost.boot_ms + v->stage_ms;

	if (p->data.max_ms && v->stage_ms > p->data.max_ms)
		return set(v, BURST_STAGE, v->stage_ms, p->data.max_ms);
	if (p->data.max_egress >= 0 && v->egress > p->data.max_egress)
		return set(v, BURST_EGRESS, v->egress, p->data.max_egress);
	/* The run time is known here, because burst.c has compared it with the time to boot. */
	if (p->runtime.overhead >= 0 &&
	    start * MONEY_UNIT > (__int128)w->runs_ms * p->runtime.overhead)
		return set(v, BURST_STAGE_OVERHEAD, (int64_t)(start * MONEY_UNIT / w->runs_ms),
			   p->runtime.overhead);
	return BURST_CHOSEN;
}

/* Returns BURST_CHOSEN if the work may run on a spot instance. */
static enum burst_code judge_spot(const struct burst_policy_in *p, const struct burst_work *w,
				  struct burst_verdict *v)
{
	if (p->runtime.spot_saves && !w->saves)
		return BURST_NOT_SAVED;
	/* mutant: burst-lost-work-unknown */
	if (p->runtime.lost_ms && !w->interval_ms)
		return BURST_LOST_UNKNOWN;
	if (p->runtime.lost_ms && w->interval_ms > p->runtime.lost_ms)
		return set(v, BURST_LOST, w->interval_ms, p->runtime.lost_ms);
	if (p->runtime.restarts >= 0 && w->restarts > p->runtime.restarts)
		return set(v, BURST_RESTARTS, w->restarts, p->runtime.restarts);
	return BURST_CHOSEN;
}

static enum burst_code judge_work(const struct burst_policy_in *p, const struct burst_input *in,
				  const struct burst_offer *o, const struct burst_work *w,
				  uint64_t data, struct burst_verdict *v)
{
	const struct burst_moving m = burst_data_moving(p, data, o);
	enum burst_code code;
	int64_t needed;

	if (w->product && !str_eq(w->product, o->product))
		return BURST_PRODUCT;
	if (o->gpus < w->gpus)
		return set(v, BURST_TOO_SMALL, o->gpus, w->gpus);
	v->nodes = (w->pods + o->gpus / w->gpus - 1) / (o->gpus / w->gpus);
	if (!find_cost(p, w, &m, v))
		return BURST_OVERFLOW;
	code = judge_data(p, w, v);
	if (code == BURST_CHOSEN && o->kind.market == MARKET_SPOT)
		code = judge_spot(p, w, v);
	if (code != BURST_CHOSEN)
		return code;
	needed = needed_ms(p, w, v->stage_ms);
	if (o->kind.ends_at && o->kind.ends_at - in->now < needed)
		return set(v, BURST_ENDS, o->kind.ends_at - in->now, needed);
	if (o->kind.available >= 0 && o->kind.available < v->nodes)
		return set(v, BURST_CAPACITY, o->kind.available, v->nodes);
	return BURST_CHOSEN;
}

static int by_worth(const void *x, const void *y, void *arg)
{
	const size_t i = *(const size_t *)x, k = *(const size_t *)y;
	const struct burst_verdict *a = (const struct burst_verdict *)arg + i,
				   *b = (const struct burst_verdict *)arg + k;
	const __int128 ca = (__int128)a->cost * b->factor, cb = (__int128)b->cost * a->factor;

	if (a->tier != b->tier)
		return a->tier < b->tier ? -1 : 1;
	if (ca != cb)
		return ca < cb ? -1 : 1;
	return i < k ? -1 : i > k;
}

struct burst_shape *burst_shape_new(const struct burst_policy_eval *s, const struct burst_input *in,
				    const struct burst_stock *stock, const struct burst_work *w,
				    struct arena *a)
{
	struct burst_shape *h = arena_new_obj(a, struct burst_shape);
	const uint64_t data = burst_data_of(s->p, w);

	h->eval = s;
	h->stock = stock;
	h->v = arena_calloc(a, in->noffers + 1, sizeof(*h->v));
	h->order = arena_calloc(a, in->noffers + 1, sizeof(*h->order));
	h->least_cost = h->least_nodes = INT64_MAX;
	for (size_t i = 0; i < in->noffers; i++) {
		struct burst_verdict *v = &h->v[i];

		*v = s->offers[i];
		v->cost = -1;
		if (v->code == BURST_CHOSEN)
			v->code = judge_work(s->p, in, stock[i].offer, w, data, v);
		if (v->code != BURST_CHOSEN)
			continue;
		h->order[h->n++] = i;
		if (v->cost < h->least_cost)
			h->least_cost = v->cost;
		if (v->nodes < h->least_nodes)
			h->least_nodes = v->nodes;
	}
	qsort_r(h->order, h->n, sizeof(*h->order), by_worth, h->v);
	return h;
}

/* --- by remaining instances, limits and budgets ----------------------------------------------- */

static struct burst_why why(enum burst_code code, int64_t is, int64_t limit, int64_t cost)
{
	return (struct burst_why){code, is, limit, cost};
}

struct burst_why burst_judge(const struct burst_decision *d, size_t i, int64_t left)
{
	const struct burst_verdict *v = &d->shape->v[i];
	const struct burst_stock *s = &d->shape->stock[i];
	const struct burst_bound *b = &d->of_provider[s->provider];
	const int64_t gpus = v->nodes * s->offer->gpus;

	if (left >= 0 && left < v->nodes)
		return why(BURST_CAPACITY, left, v->nodes, v->cost);
	if (v->nodes > d->nodes_left)
		return why(BURST_LIMIT_NODES, v->nodes, d->nodes_left, v->cost);
	if (gpus > d->gpus_left)
		return why(BURST_LIMIT_GPUS, gpus, d->gpus_left, v->cost);
	if (v->nodes > d->share_left)
		return why(BURST_LIMIT_SHARE, v->nodes, d->share_left, v->cost);
	if (d->bound.mixed || b->mixed)
		return why(BURST_MIXED, 0, 0, v->cost);
	/* mutant: burst-over-budget */
	if (v->cost > d->bound.left)
		return why(BURST_BUDGET, v->cost, d->bound.left, v->cost);
	/* mutant: burst-provider-budget */
	if (v->cost > b->left)
		return why(BURST_BUDGET, v->cost, b->left, v->cost);
	return why(BURST_CHOSEN, 0, 0, v->cost);
}

const struct burst_offer *burst_best(const struct burst_decision *d)
{
	return d->offer ? d->offer : d->proposed;
}

struct burst_why burst_why(const struct burst_decision *d, size_t i)
{
	const struct burst_verdict *v;
	const struct burst_stock *s;
	struct burst_why y;
	int64_t left;

	if (!d->shape)
		return why(BURST_NOT_LOOKED, 0, 0, -1);
	v = &d->shape->v[i];
	s = &d->shape->stock[i];
	if (v->code != BURST_CHOSEN)
		return why(v->code, v->is, v->limit, v->cost);
	left = s->offer->kind.available;
	for (const struct burst_take *t = s->takes; t; t = t->next)
		left -= t->seq < d->seq ? t->nodes : 0;
	y = burst_judge(d, i, s->offer->kind.available < 0 ? -1 : left);
	if (y.code == BURST_CHOSEN && burst_best(d) != s->offer)
		y.code = BURST_DEARER;
	return y;
}
