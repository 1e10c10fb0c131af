/* settle: a claim's cost becomes a row of its policy; rows that no period tells apart become one. */
#include "controller/claims/settle.h"

#include <string.h>

#include "base/log.h"
#include "base/money.h"
#include "base/str.h"
#include "controller/core/context.h"
#include "planner/burst.h"

static int64_t amount_of(const char *text)
{
	int64_t micro;
	struct err e;

	return money_parse(str_or(text, ""), &micro, &e) < 0 ? INT64_MAX : micro;
}

/* --- the list ------------------------------------------------------------------------------------ */

/* How coarse: each lets go of one thing more. */
enum coarse { EXACT, NO_WORK, NO_MONTH, NO_TENANT, COARSEST };

struct fold {
	int64_t starts[BURST_TOTAL];
	enum coarse coarse;
	bool by_work;
};

/* No period tells the two times apart, now or later. */
static bool same_time(const struct fold *f, int64_t a, int64_t b)
{
	for (enum burst_period p = BURST_HOUR; p < BURST_TOTAL; p++)
		if ((a >= f->starts[p]) != (b >= f->starts[p]))
			return false;
	return f->coarse >= NO_MONTH ||
	       burst_period_start(BURST_MONTH, a) == burst_period_start(BURST_MONTH, b);
}

static bool alike(const struct fold *f, const struct burst_policy_settled *a,
		  const struct burst_policy_settled *b)
{
	return !a->claim && !b->claim && str_eq(a->provider, b->provider) &&
	       str_eq(a->currency, b->currency) &&
	       (f->coarse >= NO_TENANT || str_eq(a->tenant, b->tenant)) &&
	       (!f->by_work || f->coarse >= NO_WORK || str_eq(a->work, b->work)) &&
	       same_time(f, a->time, b->time);
}

static void join(const struct fold *f, struct burst_policy_settled *to,
		 const struct burst_policy_settled *row, struct arena *a)
{
	int64_t sum = amount_of(to->amount);
	char money[MONEY_TEXT];

	if (!money_add(&sum, amount_of(row->amount)))
		sum = INT64_MAX;
	to->amount = arena_strdup(a, money_format(sum, money));
	if (row->time > to->time)
		to->time = row->time;
	if (!f->by_work || !str_eq(to->work, row->work))
		to->work = NULL;
	if (!str_eq(to->tenant, row->tenant))
		to->tenant = "";
}

static void fold(const struct fold *f, struct settle_list *l, struct arena *a)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		size_t k = 0;

		while (k < n && !alike(f, &l->v[k], &l->v[i]))
			k++;
		if (k < n)
			join(f, &l->v[k], &l->v[i], a);
		else
			l->v[n++] = l->v[i];
	}
	l->n = n;
}

static bool by_work(const struct burst_policy *p)
{
	for (size_t i = 0; i < p->spec.budget.n; i++)
		if (p->spec.budget.v[i].scope == BURST_OF_WORKLOAD)
			return true;
	return false;
}

struct settle_list settle_add(const struct burst_policy *p, const struct burst_policy_settled *row,
			      int64_t now, bool (*there)(const char *uid, void *arg), void *arg,
			      struct arena *a)
{
	struct settle_list l = {arena_calloc(a, p->status.settled.n + 1, sizeof(*l.v)), 0};
	struct fold f = {.by_work = by_work(p)};

	for (enum burst_period per = BURST_HOUR; per < BURST_TOTAL; per++)
		f.starts[per] = burst_period_start(per, now);
	for (size_t i = 0; i < p->status.settled.n; i++) {
		l.v[l.n] = p->status.settled.v[i];
		if (l.v[l.n].claim && !there(l.v[l.n].claim, arg))
			l.v[l.n].claim = NULL;
		if (!l.v[l.n].claim && !f.by_work)
			l.v[l.n].work = NULL;
		l.n++;
	}
	l.v[l.n++] = *row;
	for (; f.coarse < COARSEST && (f.coarse == EXACT || l.n > BURST_POLICY_SETTLED); f.coarse++)
		fold(&f, &l, a);
	return l;
}

/* --- a claim ------------------------------------------------------------------------------------- */

static int64_t cost_of(const struct burst_policy *p, const struct node_claim *n, int64_t now)
{
	const int64_t step = p->spec.cost.minimum_billing.increment > 0
				     ? p->spec.cost.minimum_billing.increment
				     : 1;
	int64_t ms = now - n->spec.burst->decided_time, cost;

	if (ms < p->spec.cost.minimum_billing.minimum)
		ms = p->spec.cost.minimum_billing.minimum;
	if (__builtin_add_overflow(ms, step - 1, &ms) ||
	    !money_for_ms(amount_of(n->spec.burst->price), ms / step * step, &cost))
		return INT64_MAX;
	return cost;
}

/* Nothing of it was ever billed. */
static bool is_free(const struct node_claim *n, const struct machine *m)
{
	const struct machine_instance *i = m ? m->status.instance : NULL;

	if (!m)
		return !n->status.machine_ref;
	return !i || !i->attempt || (i->refused_time && str_empty(i->id));
}

struct find {
	const char *uid;
	bool found;
};

static bool find_claim(const struct kube_entry *en, void *arg)
{
	const struct node_claim *n = en->object;
	struct find *f = arg;

	f->found = str_eq(n->meta.uid, f->uid);
	return !f->found;
}

static bool is_there(const char *uid, void *arg)
{
	const struct context *c = arg;
	struct find f = {.uid = uid};

	kube_cache_each(c->cache[OBJECT_NODE_CLAIM], find_claim, &f);
	return f.found;
}

static json_t *encode(const struct burst_policy *p, const struct settle_list *l)
{
	struct burst_policy out = *p;
	OWN_JSON o = NULL;

	out.status.settled.v = l->v;
	out.status.settled.n = l->n;
	o = fields_encode(object_kinds[OBJECT_BURST_POLICY].fields, &out);
	return json_incref(json_at(o, "status", "settled"));
}

bool settle_ensure(struct context *c, struct status_writer *w, const struct node_claim *n,
		   const struct machine *m, kube_done *done)
{
	const struct node_claim_burst *b = n->spec.burst;
	const struct burst_policy *p =
		b ? CTX_GET(c, OBJECT_BURST_POLICY, burst_policy, b->policy_ref.name) : NULL;
	const int64_t now = loop_wall(c->loop);
	OWN(arena) a = arena_new();
	struct burst_policy_settled row;
	struct settle_list l;
	char money[MONEY_TEXT];

	if (!p || !str_eq(p->meta.uid, b->policy_ref.uid) || is_free(n, m))
		return true;
	for (size_t i = 0; i < p->status.settled.n; i++)
		if (str_eq(p->status.settled.v[i].claim, n->meta.uid))
			return true;
	row = (struct burst_policy_settled){
		.time = b->decided_time,
		.claim = n->meta.uid,
		.tenant = n->spec.virtual_cluster_ref.name,
		.work = b->work,
		.provider = n->spec.provider_ref ? n->spec.provider_ref->name : "",
		.currency = b->currency,
		.amount = money_format(cost_of(p, n, now), money)};
	l = settle_add(p, &row, now, is_there, c, a);
	log_info("burst settled", LOG_S("claim", n->meta.name), LOG_S("policy", p->meta.name),
		 LOG_S("cost", row.amount), LOG_S("currency", row.currency));
	writer_status(w, OBJECT_BURST_POLICY, &p->meta,
		      json_pack("{s:o}", "settled", encode(p, &l)), done);
	return false;
}
