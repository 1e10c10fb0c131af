/*
 * burst: the order of the work, the policy that applies to each piece of work, its triggers, and
 * the choice of an offer.
 *
 * Offers are evaluated in three steps (planner/burst/offers.c): once per policy; once for all work
 * of one shape (equal requirements); and for each piece of work against the remaining instances,
 * limits and budgets. So 10,000 equal pods cost little more than one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/money.h"
#include "base/schedule.h"
#include "base/str.h"
#include "planner/burst/burst_impl.h"

#define MINUTE_MS INT64_C(60000)
#define DAY_MS INT64_C(86400000)

/* The policies whose spec.match names a tenant, in the order of struct decide's evals. */
struct candidates {
	struct candidate {
		struct burst_policy_eval *eval;
		/* The budgets that apply to the tenant's work under this policy; v NULL: not
		 * listed yet. */
		struct burst_bindings budgets;
	} * v;
	size_t n;
};

struct decide {
	const struct burst_input *in;
	struct burst *out;
	struct arena *a;
	struct burst_policy_eval *evals;
	struct burst_stock *stock;
	/* Pieces of work, sorted in the order in which they are decided on. */
	const struct burst_work **work;
	struct burst_balances *balances;
	/* Three maps: for the names of tenants, for those of work, and for those of Providers. Each
	 * maps a name to 1 + the name's index in `names`. */
	struct map *index[3];
	const char **names[3];
	size_t nnames[3];
	/* Names of work that has instances, or for which instances are being launched. */
	struct map *running;
	struct map *shapes;
	/* Name of a tenant -> struct candidates */
	struct map *candidates;
};

/* --- order ------------------------------------------------------------------------------------ */

static int text_cmp(const char *a, const char *b)
{
	return strcmp(str_or(a, ""), str_or(b, ""));
}

static int num_cmp(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

#define THEN(x)                                                                                    \
	do {                                                                                       \
		const int c_ = (x);                                                                \
		if (c_)                                                                            \
			return c_;                                                                 \
	} while (0)

static int by_turn(const void *x, const void *y)
{
	const struct burst_work *a = *(const struct burst_work *const *)x,
				*b = *(const struct burst_work *const *)y;

	THEN(num_cmp(b->rank, a->rank));
	THEN(num_cmp(a->since, b->since));
	THEN(text_cmp(a->tenant, b->tenant));
	return text_cmp(a->name, b->name);
}

static int by_place(const void *x, const void *y)
{
	const struct burst_offer *a = ((const struct burst_stock *)x)->offer,
				 *b = ((const struct burst_stock *)y)->offer;

	THEN(text_cmp(a->provider, b->provider));
	THEN(text_cmp(a->kind.region, b->kind.region));
	THEN(text_cmp(a->kind.zone, b->kind.zone));
	THEN(text_cmp(a->kind.type, b->kind.type));
	THEN(num_cmp(a->kind.market, b->kind.market));
	THEN(text_cmp(a->kind.reservation, b->kind.reservation));
	THEN(num_cmp(a->kind.micros_per_hour, b->kind.micros_per_hour));
	THEN(num_cmp(a->kind.available, b->kind.available));
	THEN(num_cmp(a->priced_at, b->priced_at));
	THEN(num_cmp(a->gpus, b->gpus));
	return text_cmp(a->product, b->product);
}

/* --- input ------------------------------------------------------------------------------------ */

static size_t intern(struct decide *d, int which, const char *name)
{
	const size_t at = map_number(d->index[which], name);

	if (at)
		return at - 1;
	map_put_number(d->index[which], name, d->nnames[which] + 1);
	d->names[which][d->nnames[which]] = arena_strdup(d->a, name);
	return d->nnames[which]++;
}

static const char *work_name(struct decide *d, const char *tenant, const char *name)
{
	return arena_printf(d->a, "%s/%s", tenant, name);
}

static struct burst_key work_key(struct decide *d, const char *tenant, const char *name)
{
	return (struct burst_key){.tenant = intern(d, 0, tenant),
				  .work = intern(d, 1, work_name(d, tenant, name))};
}

static const char *owner_of(const struct burst_work *w)
{
	return w->owner ? w->owner : w->name;
}

static void take_names(struct decide *d, struct burst_key *keys)
{
	const struct burst_input *in = d->in;
	const size_t most[3] = {in->nwork + in->nlaunches, in->nwork + in->nlaunches,
				in->noffers + in->nlaunches};

	for (int i = 0; i < 3; i++) {
		d->index[i] = map_new(NULL);
		d->names[i] = arena_calloc(d->a, most[i] + 1, sizeof(*d->names[i]));
	}
	for (size_t i = 0; i < in->noffers; i++)
		d->stock[i].provider = intern(d, 2, d->stock[i].offer->provider);
	for (size_t i = 0; i < in->nwork; i++)
		(void)work_key(d, d->work[i]->tenant, owner_of(d->work[i]));
	for (size_t i = 0; i < in->nlaunches; i++) {
		const struct burst_launch *l = &in->launches[i];

		keys[i] = work_key(d, l->tenant, l->owner ? l->owner : l->workload);
		keys[i].provider = intern(d, 2, l->provider);
	}
}

/* Sets the policy of each key: index of the launch's policy in d->evals; BURST_NO_KEY: none. */
static void take_policies(struct decide *d, struct burst_key *keys)
{
	OWN(map) of = map_new(NULL);

	for (size_t i = 0; i < d->in->npolicies; i++)
		map_put_number(of, d->evals[i].p->name, i + 1);
	for (size_t i = 0; i < d->in->nlaunches; i++)
		keys[i].policy = map_number(of, str_or(d->in->launches[i].policy, "")) - 1;
}

static void count_running(struct decide *d, const struct burst_key *keys)
{
	const struct burst_input *in = d->in;

	for (size_t i = 0; i < in->nlaunches; i++) {
		const struct burst_launch *l = &in->launches[i];
		struct burst_policy_eval *s =
			keys[i].policy == BURST_NO_KEY ? NULL : &d->evals[keys[i].policy];

		if (l->nodes > 0 || l->starting)
			map_put(d->running, work_name(d, l->tenant, l->workload), d);
		if (!s)
			continue;
		s->nodes += l->nodes;
		s->gpus += l->gpus;
		s->starting += l->starting && !l->part;
		s->minute += l->at > in->now - MINUTE_MS && !l->part;
		s->tenant_nodes[keys[i].tenant] += l->nodes;
	}
}

/* --- policies --------------------------------------------------------------------------------- */

bool burst_selects(const struct burst_match *m, const char *tenant, const struct burst_traits *t)
{
	return burst_named(&m->tenants, tenant) && burst_named(&m->namespaces, t->ns) &&
	       burst_named(&m->queues, t->queue) && selector_matches(&m->pods, &t->labels);
}

static bool matches(const struct burst_policy_in *p, const struct burst_work *w)
{
	if (!burst_selects(&p->match, w->tenant, &w->traits))
		return false;
	for (size_t i = 0; i < w->others.n; i++)
		/* mutant: burst-gang-half-matched */
		if (!burst_selects(&p->match, w->tenant, &w->others.v[i]))
			return false;
	if (p->match.products.n && (!w->product || !burst_named(&p->match.products, w->product)))
		return false;
	if ((p->match.gang_min && w->pods < p->match.gang_min) ||
	    (p->match.gang_max && w->pods > p->match.gang_max))
		return false;
	return !p->match.priorities ||
	       (w->priority >= p->match.priority_min && w->priority <= p->match.priority_max);
}

/* Returns the policies that may match work of the tenant. */
static const struct candidates *candidates_of(struct decide *d, const char *tenant)
{
	struct candidates *c = map_get(d->candidates, tenant);

	if (c)
		return c;
	c = arena_new_obj(d->a, struct candidates);
	for (size_t i = 0; i < d->in->npolicies; i++)
		if (burst_named(&d->evals[i].p->match.tenants, tenant)) {
			c->v = arena_grow(d->a, c->v, c->n, sizeof(*c->v));
			c->v[c->n++] = (struct candidate){.eval = &d->evals[i]};
		}
	map_put(d->candidates, tenant, c);
	return c;
}

static bool frozen(const struct burst_policy_in *p, int64_t now)
{
	char today[STR_TIME_SIZE];

	(void)str_time(today, now + zone_offset(p->windows.freeze_zone, now));
	today[10] = '\0'; /* Keep only the date of the text. */
	return p->windows.freeze.n && burst_named(&p->windows.freeze, today);
}

/* Returns BURST_CHOSEN if the policy allows launches at time now; otherwise the code that tells
 * which window or freeze date forbids launches. An `allow` window that cannot be parsed allows
 * nothing; a `deny` window that cannot be parsed forbids launches. */
static enum burst_code shut_of(const struct burst_input *in, const struct burst_policy_in *p)
{
	const int64_t now = in->now;
	bool open = !p->windows.nallow;

	/* mutant: burst-zone-guessed */
	if (p->unknown_zone)
		return BURST_NO_ZONE;
	if (burst_rate_is_missing(in, p))
		return BURST_NO_RATE;
	if (frozen(p, now))
		return BURST_FROZEN;
	for (size_t i = 0; i < p->windows.ndeny; i++)
		if (schedule_window(p->windows.deny[i].cron, p->windows.deny[i].zone,
				    p->windows.deny[i].duration_ms, now))
			return BURST_DENIED;
	for (size_t i = 0; i < p->windows.nallow; i++)
		open |= schedule_window(p->windows.allow[i].cron, p->windows.allow[i].zone,
					p->windows.allow[i].duration_ms, now) == 1;
	return open ? BURST_CHOSEN : BURST_WINDOW;
}

static int64_t wait_of(const struct burst_policy_in *p, int64_t priority)
{
	int64_t wait = p->trigger.wait_ms, best = INT64_MIN;

	for (size_t i = 0; i < p->trigger.nwaits; i++) {
		const struct burst_wait *x = &p->trigger.waits[i];

		if (x->at_least <= priority && x->at_least >= best) {
			best = x->at_least;
			wait = x->wait_ms;
		}
	}
	return p->trigger.by_wait ? wait : BURST_NEVER;
}

static bool triggered(const struct burst_policy_eval *s, const struct burst_work *w, int64_t now)
{
	const struct burst_policy_in *p = s->p;
	const int64_t wait = wait_of(p, w->priority), begins = w->p90 > now ? w->p90 : now;

	return (wait != BURST_NEVER && now - w->since >= wait) ||
	       (p->trigger.predicted_ms && w->p90 && w->p90 - now > p->trigger.predicted_ms) ||
	       (p->trigger.slack_ms && w->start_by && w->start_by - begins < p->trigger.slack_ms) ||
	       (p->trigger.queued_gpus && s->queued_gpus > p->trigger.queued_gpus) ||
	       (p->trigger.impossible && w->impossible);
}

static enum burst_code set(struct burst_decision *x, enum burst_code code, int64_t is,
			   int64_t limit)
{
	x->is = is;
	x->limit = limit;
	return code;
}

/* Returns the quotient `is` / `of` in millionths, rounded down; 0 if `of` is 0. */
static int64_t part(int64_t is, int64_t of)
{
	return of > 0 ? (int64_t)((__int128)is * MONEY_UNIT / of) : 0;
}

static bool is_approved(const struct burst_policy_in *p, const struct burst_work *w)
{
	for (size_t i = 0; i < w->approved_by.n; i++)
		if (/* mutant: burst-approved-elsewhere */ str_eq(w->approved_by.v[i], p->name))
			return true;
	return w->approved;
}

bool burst_needs_approval(const struct burst_policy_in *p)
{
	return /* mutant: burst-recommend-unasked */ p->mode == BURST_RECOMMEND ||
	       p->trigger.approval;
}

static enum burst_code judge_trigger(const struct decide *d, const struct burst_policy_eval *s,
				     const struct burst_work *w, struct burst_decision *x)
{
	const struct burst_policy_in *p = s->p;
	const struct burst_input *in = d->in;
	const int64_t wait = wait_of(p, w->priority);

	if (!triggered(s, w, in->now))
		return set(x, wait == BURST_NEVER ? BURST_NEVER_WAITS : BURST_WAITS,
			   in->now - w->since, wait);
	/* Refuse unless more than the required part of the owned GPUs is in use. Without owned GPUs
	 * this condition counts as met. */
	if (p->trigger.utilisation >= 0 && in->gpus_owned > 0 &&
	    (__int128)in->gpus_used * MONEY_UNIT <=
		    (__int128)in->gpus_owned * p->trigger.utilisation)
		return set(x, BURST_BUSY_NOT, part(in->gpus_used, in->gpus_owned),
			   p->trigger.utilisation);
	if (p->trigger.frees_ms && w->p50 && w->p50 - in->now <= p->trigger.frees_ms)
		return set(x, BURST_FREES, w->p50 > in->now ? w->p50 - in->now : 0,
			   p->trigger.frees_ms);
	x->unapproved = burst_needs_approval(p) && !is_approved(p, w);
	x->about = p->unknown_zone;
	return s->shut;
}

static enum burst_code judge_runtime(const struct burst_policy_in *p, const struct burst_work *w,
				     struct burst_decision *x)
{
	if (!w->runs_ms && (p->runtime.min_ms || p->runtime.overhead >= 0))
		return set(x, BURST_RUNTIME_UNSAID, 0, p->runtime.min_ms);
	if (!w->runs_ms)
		return p->runtime.max_ms ? BURST_CHOSEN : BURST_RUNTIME_UNKNOWN;
	if (w->runs_ms < p->runtime.min_ms)
		return set(x, BURST_TOO_SHORT, w->runs_ms, p->runtime.min_ms);
	if (p->runtime.max_ms && w->runs_ms > p->runtime.max_ms)
		return set(x, BURST_TOO_LONG, w->runs_ms, p->runtime.max_ms);
	if (p->runtime.overhead >= 0 &&
	    (__int128)p->cost.boot_ms * MONEY_UNIT > (__int128)w->runs_ms * p->runtime.overhead)
		return set(x, BURST_OVERHEAD, part(p->cost.boot_ms, w->runs_ms),
			   p->runtime.overhead);
	return BURST_CHOSEN;
}

static enum burst_code judge_work(struct decide *d, const struct burst_policy_eval *s,
				  const struct burst_work *w, struct burst_decision *x)
{
	const struct burst_policy_in *p = s->p;
	enum burst_code code;

	if (map_has(d->running, work_name(d, w->tenant, w->name)))
		return BURST_ALREADY;
	if (w->gpus <= 0)
		return BURST_NO_GPUS;
	if (w->wrong) {
		x->about = w->wrong;
		return BURST_ASKS_WRONG;
	}
	code = judge_trigger(d, s, w, x);
	if (code != BURST_CHOSEN)
		return code;
	if (p->compliance.classes.n &&
	    (!w->data_class || !burst_named(&p->compliance.classes, w->data_class))) {
		x->about = str_or(w->data_class, "no class is set");
		return BURST_DATA_CLASS;
	}
	x->about = burst_data_unknown(p, w);
	if (x->about)
		return BURST_DATA_UNKNOWN;
	code = judge_runtime(p, w, x);
	if (code != BURST_CHOSEN)
		return code;
	if (p->limits.per_minute && s->minute >= p->limits.per_minute)
		return set(x, BURST_RATE, s->minute, p->limits.per_minute);
	if (p->limits.at_once && s->starting >= p->limits.at_once)
		return set(x, BURST_AT_ONCE, s->starting, p->limits.at_once);
	return BURST_CHOSEN;
}

/* --- offers ----------------------------------------------------------------------------------- */

/* Returns the verdicts on all offers for work with the requirements of w; computed once for equal
 * requirements. The map key contains all members of w that burst_shape_new() reads. */
static struct burst_shape *shape_of(struct decide *d, struct burst_policy_eval *s,
				    const struct burst_work *w)
{
	char key[256];
	struct burst_shape *h;

	if (!s->offers)
		burst_policy_eval_offers(s, d->in, d->stock, d->a);

	(void)str_format(key, sizeof(key), "%zu %lld %lld %lld %d %d %lld %lld %llx %.128s",
			 (size_t)(s - d->evals), (long long)w->pods, (long long)w->gpus,
			 (long long)w->runs_ms, w->said, w->saves, (long long)w->interval_ms,
			 (long long)w->restarts,
			 /* mutant: burst-data-mixed */ (unsigned long long)burst_data_of(s->p, w),
			 str_or(w->product, ""));
	h = map_get(d->shapes, key);
	if (!h) {
		h = burst_shape_new(s, d->in, d->stock, w, d->a);
		map_put(d->shapes, key, h);
	}
	return h;
}

static int64_t left_of(int64_t limit, int64_t has)
{
	return !limit ? INT64_MAX : has < limit ? limit - has : 0;
}

static void take(struct decide *d, struct burst_policy_eval *s, struct burst_decision *x, size_t i,
		 struct burst_key *k)
{
	struct burst_stock *stock = &d->stock[i];
	const struct burst_verdict *v = &x->shape->v[i];
	struct burst_take *t = arena_new_obj(d->a, struct burst_take);

	x->tier = v->tier;
	x->nodes = v->nodes;
	x->cost = v->cost;
	x->egress = v->egress;
	x->stage_ms = v->stage_ms;
	x->per_hour = v->per_hour;
	if (x->unapproved) {
		x->proposed = stock->offer;
		return;
	}
	x->offer = stock->offer;
	*t = (struct burst_take){x->seq, v->nodes, stock->takes};
	stock->takes = t;
	if (stock->left >= 0)
		stock->left -= v->nodes;
	k->provider = stock->provider;
	burst_balances_charge(s->p, k, v->cost);
	s->nodes += v->nodes;
	s->gpus += v->nodes * stock->offer->gpus;
	s->tenant_nodes[k->tenant] += v->nodes;
	s->starting++;
	s->minute++;
	/* mutant: burst-twice */
	map_put(d->running, work_name(d, x->work->tenant, x->work->name), d);
	d->out->chosen++;
}

/* True if a limit or budget excludes even the cheapest and smallest offer. The caller then need not
 * evaluate the offers one by one. */
static bool hopeless(const struct burst_decision *x)
{
	return x->bound.mixed || x->shape->least_cost > x->bound.left ||
	       x->shape->least_nodes > x->nodes_left || x->shape->least_nodes > x->share_left;
}

/* Takes the best offer that the limits and bounds of x allow. *at: its index. */
static enum burst_code search(struct decide *d, struct burst_policy_eval *s,
			      struct burst_decision *x, struct burst_shape *h, struct burst_key *k,
			      size_t *at)
{
	size_t i, kept = 0;
	bool found = false;

	if (h->n && hopeless(x)) {
		const struct burst_why y = burst_judge(x, h->order[0], -1);

		if (y.code != BURST_CHOSEN)
			return set(x, y.code, y.is, y.limit);
	}
	/* If an offer has too few instances for this work, it has too few for all later work of the
	 * same shape. So remove the offer from the shape's order; later work does not evaluate it
	 * again. */
	for (i = 0; i < h->n && !found; i++) {
		const size_t o = h->order[i];
		const struct burst_why y = burst_judge(x, o, d->stock[o].left);

		if (y.code != BURST_CAPACITY)
			h->order[kept++] = o;
		found = y.code == BURST_CHOSEN;
		if (found) {
			*at = o;
			take(d, s, x, o, k);
		}
	}
	if (kept < i) {
		memmove(h->order + kept, h->order + i, (h->n - i) * sizeof(*h->order));
		h->n -= i - kept;
	}
	return found ? BURST_CHOSEN : set(x, BURST_NO_OFFER, (int64_t)d->in->noffers, 0);
}

static bool bind_budgets(struct decide *d, const struct burst_policy_eval *s,
			 struct burst_decision *x, const struct burst_key *k, bool beyond)
{
	x->of_provider = arena_calloc(d->a, d->nnames[2] + 1, sizeof(*x->of_provider));
	return burst_balances_bind(d->balances, s->p, k, beyond, x);
}

static enum burst_code walk(struct decide *d, struct burst_policy_eval *s, struct burst_decision *x,
			    struct burst_key *k)
{
	const struct burst_policy_in *p = s->p;
	struct burst_shape *h = shape_of(d, s, x->work);
	struct burst_decision within;
	enum burst_code code;
	bool asks;
	size_t at;

	x->shape = h;
	x->nodes_left = left_of(p->limits.nodes, s->nodes);
	x->gpus_left = left_of(p->limits.gpus, s->gpus);
	x->share_left = INT64_MAX;
	if (p->limits.share >= 0 && p->limits.nodes) {
		const int64_t most =
			(int64_t)((__int128)p->limits.nodes * p->limits.share / MONEY_UNIT);
		const int64_t has = s->tenant_nodes[k->tenant];

		x->share_left = has < most ? most - has : 0;
	}
	asks = bind_budgets(d, s, x, k, false);
	code = search(d, s, x, h, k, &at);
	if (code == BURST_CHOSEN || !asks)
		return code;
	within = *x;
	(void)bind_budgets(d, s, x, k, true);
	x->beyond = true;
	/* mutant: burst-beyond-unasked */
	x->unapproved |= !is_approved(p, x->work);
	if (search(d, s, x, h, k, &at) == BURST_CHOSEN) {
		const struct burst_why y = burst_judge(&within, at, -1);

		return set(x, BURST_CHOSEN, y.is, y.limit);
	}
	*x = within;
	return code;
}

/* --- one piece of work ------------------------------------------------------------------------ */

static void overlap(struct decide *d, struct burst_decision *x)
{
	const struct candidates *c = candidates_of(d, x->work->tenant);

	x->about = "";
	for (size_t k = 0; k < c->n; k++)
		if (matches(c->v[k].eval->p, x->work))
			x->about = arena_printf(d->a, "%s%s%s", x->about, *x->about ? ", " : "",
						c->v[k].eval->p->name);
	for (size_t k = 0; k < c->n; k++) {
		const size_t i = (size_t)(c->v[k].eval - d->evals);

		if (matches(c->v[k].eval->p, x->work) && !d->out->errors[i]) {
			d->out->error_codes[i] = BURST_TWO_POLICIES;
			d->out->errors[i] = arena_printf(
				d->a,
				"work %s of tenant %s matches several policies (%s): none of them "
				"is applied to it",
				x->work->name, x->work->tenant, x->about);
		}
	}
}

static void decide(struct decide *d, struct burst_decision *x)
{
	const struct candidates *c = candidates_of(d, x->work->tenant);
	struct candidate *s = NULL;
	struct burst_key k;

	for (size_t i = 0; i < c->n; i++) {
		if (!matches(c->v[i].eval->p, x->work))
			continue;
		if (s) {
			overlap(d, x);
			x->code = BURST_TWO_POLICIES;
			return;
		}
		s = &c->v[i];
	}
	x->code = BURST_NO_POLICY;
	if (!s)
		return;
	x->policy = s->eval->p;
	x->code = judge_work(d, s->eval, x->work, x);
	if (x->code == BURST_CHOSEN) {
		k = work_key(d, x->work->tenant, owner_of(x->work));
		if (!s->budgets.v)
			s->budgets =
				burst_balances_of(d->balances, s->eval->p, x->work->tenant, d->a);
		k.budgets = &s->budgets;
		x->code = walk(d, s->eval, x, &k);
	}
	if (x->unapproved) {
		x->then = x->code;
		x->code = x->beyond ? BURST_BEYOND : BURST_APPROVAL;
	}
}

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct burst_policy_eval *)x)->p->name,
		      ((const struct burst_policy_eval *)y)->p->name);
}

static void prepare(struct decide *d)
{
	const struct burst_input *in = d->in;
	struct burst_key *keys = arena_calloc(d->a, in->nlaunches + 1, sizeof(*keys));
	const char *const *names[3];

	d->work = arena_calloc(d->a, in->nwork + 1, sizeof(*d->work));
	for (size_t i = 0; i < in->nwork; i++)
		d->work[i] = &in->work[i];
	qsort(d->work, in->nwork, sizeof(*d->work), by_turn);
	d->stock = arena_calloc(d->a, in->noffers + 1, sizeof(*d->stock));
	for (size_t i = 0; i < in->noffers; i++)
		d->stock[i] = (struct burst_stock){.offer = &in->offers[i],
						   .left = in->offers[i].kind.available};
	qsort(d->stock, in->noffers, sizeof(*d->stock), by_place);
	take_names(d, keys);
	d->evals = arena_calloc(d->a, in->npolicies + 1, sizeof(*d->evals));
	for (size_t i = 0; i < in->npolicies; i++)
		d->evals[i].p = &in->policies[i];
	qsort(d->evals, in->npolicies, sizeof(*d->evals), by_name);
	for (size_t i = 0; i < in->npolicies; i++) {
		struct burst_policy_eval *s = &d->evals[i];

		s->shut = shut_of(in, s->p);
		if (s->shut == BURST_NO_RATE) {
			d->out->error_codes[i] = BURST_NO_RATE;
			d->out->errors[i] =
				"spec.cost.maxPremiumOverOnPrem: no owned machine has a price in "
				"spec.cost.currency (pricePerHour of its instance type), so "
				"nothing is launched";
		}
		if (s->shut == BURST_NO_ZONE) {
			d->out->error_codes[i] = BURST_NO_ZONE;
			d->out->errors[i] = arena_printf(
				d->a,
				"the controller's time zone database (package tzdata) has no zone "
				"%s, so nothing is launched",
				s->p->unknown_zone);
		}
		s->tenant_nodes = arena_calloc(d->a, d->nnames[0] + 1, sizeof(*s->tenant_nodes));
	}
	for (size_t k = 0; k < in->nwork; k++) {
		const struct candidates *c = candidates_of(d, d->work[k]->tenant);

		for (size_t i = 0; i < c->n; i++)
			if (matches(c->v[i].eval->p, d->work[k]))
				c->v[i].eval->queued_gpus += d->work[k]->pods * d->work[k]->gpus;
	}
	take_policies(d, keys);
	count_running(d, keys);
	for (int i = 0; i < 3; i++)
		names[i] = d->names[i];
	d->balances = burst_balances_new(in, d->evals, keys, names, d->nnames, d->a);
}

const struct burst *burst_decide(const struct burst_input *in, struct arena *a)
{
	struct burst *b = arena_new_obj(a, struct burst);
	OWN(map) running = map_new(NULL);
	OWN(map) shapes = map_new(NULL);
	OWN(map) candidates = map_new(NULL);
	struct decide d = {.in = in,
			   .out = b,
			   .a = a,
			   .running = running,
			   .shapes = shapes,
			   .candidates = candidates};

	b->in = in;
	b->errors = arena_calloc(a, in->npolicies + 1, sizeof(*b->errors));
	b->error_codes = arena_calloc(a, in->npolicies + 1, sizeof(*b->error_codes));
	prepare(&d);
	b->n = in->nwork;
	b->v = arena_calloc(a, b->n + 1, sizeof(*b->v));
	for (size_t i = 0; i < b->n; i++) {
		b->v[i].work = d.work[i];
		b->v[i].seq = i;
		decide(&d, &b->v[i]);
	}
	b->offers = arena_calloc(a, in->noffers + 1, sizeof(*b->offers));
	for (size_t i = 0; i < in->noffers; i++)
		b->offers[i] = d.stock[i].offer;
	b->policies = arena_calloc(a, in->npolicies + 1, sizeof(*b->policies));
	for (size_t i = 0; i < in->npolicies; i++)
		b->policies[i] = d.evals[i].p;
	burst_balances_tell(d.balances, b, a);
	for (int i = 0; i < 3; i++)
		map_free(d.index[i]);
	return b;
}
