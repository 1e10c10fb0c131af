/* settle: turns a claim's cost into rows of its ledger, and merges rows whose times lie in the same
 * budget periods. */
#include "controller/burst/settle.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/money.h"
#include "base/str.h"
#include "controller/burst/restarts.h"
#include "controller/core/context.h"
#include "controller/rules/claim.h"
#include "planner/burst/burst.h"

#define HOUR_MS ((int64_t)3600 * 1000)

/* --- the list --------------------------------------------------------------------------------- */

/* The attributes that rows of deleted claims lose so that more of them can be merged. Each value
 * drops one more attribute than the one before. */
enum coarse { EXACT, NO_WORK, NO_MONTH, NO_TENANT, COARSEST };

struct fold {
	const struct settle_times *starts;
	enum coarse coarse;
	bool by_work;
};

/* True if the times a and b lie in the same budget periods, so that no budget, now or later, has to
 * count the rows separately. The calendar months of a and b are compared only while f->coarse is
 * below NO_MONTH. */
static bool same_time(const struct fold *f, int64_t a, int64_t b)
{
	for (size_t i = 0; i < f->starts->n; i++)
		/* mutant: burst-zones-merged */
		if ((a >= f->starts->v[i]) != (b >= f->starts->v[i]))
			return false;
	return f->coarse >= NO_MONTH ||
	       burst_period_start(BURST_MONTH, NULL, a) == burst_period_start(BURST_MONTH, NULL, b);
}

static bool alike(const struct fold *f, const struct burst_ledger_row *a,
		  const struct burst_ledger_row *b)
{
	const bool apart = f->by_work && f->coarse < NO_WORK;

	return !a->claim && !b->claim && str_eq(a->provider, b->provider) &&
	       str_eq(a->currency, b->currency) &&
	       (f->coarse >= NO_TENANT || str_eq(a->tenant, b->tenant)) &&
	       (!apart || (str_eq(a->work, b->work) && str_eq(a->policy, b->policy))) &&
	       same_time(f, a->time, b->time);
}

static void join(const struct fold *f, struct burst_ledger_row *to,
		 const struct burst_ledger_row *row)
{
	money_add_cost(&to->amount, row->amount);
	if (row->egress > 0) {
		to->egress = to->egress > 0 ? to->egress : 0;
		money_add_cost(&to->egress, row->egress);
	}
	if (row->time > to->time)
		to->time = row->time;
	if (!f->by_work || !str_eq(to->work, row->work))
		to->work = NULL;
	if (!str_eq(to->policy, row->policy))
		to->policy = NULL;
	if (!str_eq(to->tenant, row->tenant))
		to->tenant = "";
}

static void fold(const struct fold *f, struct settle_list *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		size_t k = 0;

		while (k < n && !alike(f, &l->v[k], &l->v[i]))
			k++;
		if (k < n)
			join(f, &l->v[k], &l->v[i]);
		else
			l->v[n++] = l->v[i];
	}
	l->n = n;
}

struct settle_times settle_times_of(const struct settle_zone *zones, size_t n, int64_t now,
				    struct arena *a)
{
	struct settle_times out = {arena_calloc(a, (2 * n + 1) * BURST_TOTAL, sizeof(*out.v)), 0};

	for (enum burst_period per = BURST_HOUR; per < BURST_TOTAL; per++) {
		out.v[out.n++] = burst_period_start(per, NULL, now);
		for (size_t i = 0; i < n; i++) {
			out.v[out.n++] = burst_period_start(per, zones[i].zone, now);
			if (zones[i].last)
				out.v[out.n++] = burst_period_before(per, zones[i].zone, now);
		}
	}
	return out;
}

struct settle_list settle_add(const struct burst_ledger *l, const struct settle_list *rows,
			      bool by_work, const struct settle_times *starts,
			      bool (*there)(const char *uid, void *arg), void *arg, struct arena *a)
{
	struct settle_list out = {arena_calloc(a, l->status.rows.n + rows->n + 1, sizeof(*out.v)),
				  0};
	struct fold f = {.starts = starts, .by_work = by_work};

	for (size_t i = 0; i < l->status.rows.n; i++) {
		struct burst_ledger_row *r = &out.v[out.n++];

		*r = l->status.rows.v[i];
		if (r->claim && !there(r->claim, arg))
			r->claim = NULL;
		if (!r->claim && !by_work)
			r->work = NULL;
	}
	for (size_t i = 0; i < rows->n; i++)
		out.v[out.n++] = rows->v[i];
	for (; f.coarse < COARSEST && (f.coarse == EXACT || out.n > BURST_LEDGER_ROWS); f.coarse++)
		fold(&f, &out);
	return out;
}

struct settle_list settle_forget(const struct burst_ledger *l,
				 bool (*there)(const char *uid, void *arg), void *arg,
				 struct strings *amounts, struct arena *a)
{
	const size_t n = l->status.rows.n;
	struct settle_list out = {arena_calloc(a, n + 1, sizeof(*out.v)), 0};
	struct settle_list gone = {arena_calloc(a, n + 1, sizeof(*gone.v)), 0};

	*amounts = (struct strings){arena_calloc(a, n + 1, sizeof(*amounts->v)), 0};
	for (size_t i = 0; i < n; i++) {
		const struct burst_ledger_row *r = &l->status.rows.v[i];
		size_t k = 0;

		if (r->claim && there(r->claim, arg)) {
			out.v[out.n++] = *r;
			continue;
		}
		while (k < gone.n && !str_eq(gone.v[k].currency, r->currency))
			k++;
		if (k == gone.n) {
			gone.v[gone.n++] = *r;
			continue;
		}
		money_add_cost(&gone.v[k].amount, r->amount);
	}
	for (size_t k = 0; k < gone.n; k++) {
		char money[MONEY_TEXT];

		amounts->v[amounts->n++] = arena_printf(
			a, "%s %s", money_format(gone.v[k].amount, money), gone.v[k].currency);
	}
	return out;
}

json_t *settle_encode(const struct settle_list *l)
{
	struct burst_ledger out = {.meta.name = ""};
	OWN_JSON o = NULL;
	json_t *rows;

	out.status.rows.v = l->v;
	out.status.rows.n = l->n;
	o = fields_encode(object_kinds[OBJECT_BURST_LEDGER].fields, &out);
	rows = json_at(o, "status", "rows");
	return rows ? json_incref(rows) : json_array();
}

/* --- a claim ---------------------------------------------------------------------------------- */

int64_t settle_paid_from(const struct node_claim *n, int64_t now)
{
	return n->spec.burst->decided_time + claim_waited_ms(n, now);
}

int64_t settle_egress(const struct node_claim_burst *b)
{
	return b->egress > 0 ? b->egress : 0;
}

int64_t settle_paid_until(const struct node_claim *n, int64_t now)
{
	const struct node_claim_burst *b = n->spec.burst;
	const int64_t from = settle_paid_from(n, now);
	__int128 ms;

	if (b->price <= 0)
		return INT64_MAX;
	ms = (__int128)(b->committed - /* mutant: burst-egress-as-time */ settle_egress(b)) *
	     HOUR_MS / b->price;
	return ms > INT64_MAX - from ? INT64_MAX : from + (int64_t)ms;
}

static int by_time(const void *x, const void *y)
{
	const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

/* Returns the share rest * ms / whole; 0 if whole is not positive. */
static int64_t part_of(int64_t rest, int64_t ms, int64_t whole)
{
	return whole > 0 ? (int64_t)((__int128)rest * ms / whole) : 0;
}

struct settle_list settle_rows(const struct node_claim *n, int64_t cost, int64_t now,
			       const struct settle_times *starts, struct arena *a)
{
	const struct node_claim_burst *b = n->spec.burst;
	const int64_t most = b->committed, until = settle_paid_until(n, now);
	struct settle_list out = {arena_calloc(a, starts->n + 2, sizeof(*out.v)), 0};
	int64_t *cuts = arena_calloc(a, starts->n + 1, sizeof(*cuts)),
		rest = cost > most && now > until ? cost - most : 0, left;
	struct burst_ledger_row row = {.time = settle_paid_from(n, now),
				       .claim = n->meta.uid,
				       .policy = b->policy_ref.uid,
				       .tenant = n->spec.virtual_cluster_ref.name,
				       .work = str_or(b->workload, b->work),
				       .provider = n->spec.provider_ref ? n->spec.provider_ref->name
									: "",
				       .currency = b->currency,
				       .egress = b->egress};
	size_t ncuts = 0;

	row.amount = cost - rest;
	out.v[out.n++] = row;
	row.egress = -1;
	if (!rest)
		return out;
	cuts[ncuts++] = until;
	for (size_t i = 0; i < starts->n; i++)
		if (starts->v[i] > until)
			cuts[ncuts++] = starts->v[i];
	qsort(cuts, ncuts, sizeof(*cuts), by_time);
	left = rest;
	for (size_t i = 0; i < ncuts; i++) {
		const int64_t to = i + 1 < ncuts ? cuts[i + 1] : now;
		const int64_t is = i + 1 < ncuts ? part_of(rest, to - cuts[i], now - until) : left;

		left -= is;
		if (!is)
			continue;
		row.time = cuts[i];
		row.amount = is;
		out.v[out.n++] = row;
	}
	return out;
}

/* Returns the cost of the claim from the decision until now, with that of moving data. p: its
 * policy; NULL: the policy was deleted. */
static int64_t cost_of(const struct burst_policy *p, const struct node_claim *n, int64_t now)
{
	const int64_t said = p ? p->spec.cost.minimum_billing.increment : HOUR_MS,
		      step = said > 0 ? said : 1;
	int64_t ms = now - settle_paid_from(n, now), cost;

	if (p && ms < p->spec.cost.minimum_billing.minimum)
		ms = p->spec.cost.minimum_billing.minimum;
	if (__builtin_add_overflow(ms, step - 1, &ms) ||
	    !money_for_ms(n->spec.burst->price, ms / step * step, &cost))
		return MONEY_TEXT_MAX;
	/* mutant: burst-egress-unsettled */
	money_add_cost(&cost, settle_egress(n->spec.burst));
	return cost;
}

/* True if no instance was ever billed for the claim. */
static bool is_free(const struct node_claim *n, const struct machine *m)
{
	const struct machine_instance *i = m ? m->status.instance : NULL;

	if (!m)
		return !n->status.machine_ref;
	return !i || !i->attempt || (i->refused_time && str_empty(i->id));
}

struct claim_search {
	const char *uid;
	bool found;
};

static bool find_claim(const struct kube_entry *en, void *arg)
{
	const struct node_claim *n = en->object;
	struct claim_search *f = arg;

	f->found = str_eq(n->meta.uid, f->uid);
	return !f->found;
}

bool settle_is_there(const char *uid, void *arg)
{
	const struct context *c = arg;
	struct claim_search f = {.uid = uid};

	kube_cache_each(c->cache[OBJECT_NODE_CLAIM], find_claim, &f);
	return f.found;
}

/* True if the policy has a budget per Workload. Also true if the policy was deleted, because its
 * budgets are then unknown. */
static bool by_work(const struct burst_policy *p)
{
	for (size_t i = 0; p && i < p->spec.budget.n; i++)
		if (p->spec.budget.v[i].scope == BURST_OF_WORKLOAD)
			return true;
	return !p;
}

struct zone_list {
	struct context *c;
	struct settle_zone *v;
	size_t n;
	struct arena *a;
};

static bool add_zones(const struct kube_entry *en, void *arg)
{
	const struct burst_policy *p = en->object;
	struct zone_list *l = arg;
	struct settle_zone *more = arena_calloc(l->a, l->n + p->spec.budget.n + 1, sizeof(*more));

	memcpy(more, l->v, l->n * sizeof(*more));
	l->v = more;
	for (size_t i = 0; i < p->spec.budget.n; i++) {
		const struct zone *z = NULL;
		size_t k = 0;
		struct err e;

		/* A zone that cannot be read separates no rows: its policy launches nothing. */
		if (zones_get(l->c->zones, p->spec.budget.v[i].timezone, &z, &e) < 0)
			continue;
		while (k < l->n && l->v[k].zone != z)
			k++;
		if (k == l->n)
			l->v[l->n++].zone = z;
		l->v[k].last |= p->spec.budget.v[i].carry_over > 0;
	}
	return true;
}

/* Returns the starts of all budget periods of all policies, because budgets of most scopes count
 * the launches of other policies too. */
static struct settle_times period_starts(struct context *c, int64_t now, struct arena *a)
{
	struct zone_list l = {.c = c, .v = arena_calloc(a, 1, sizeof(*l.v)), .a = a};

	kube_cache_each(c->cache[OBJECT_BURST_POLICY], add_zones, &l);
	return settle_times_of(l.v, l.n, now, a);
}

static json_t *ledger_of(const char *policy)
{
	return json_pack("{s:s, s:s, s:{s:s}, s:{}}", "apiVersion", OBJECT_API_VERSION, "kind",
			 "BurstLedger", "metadata", "name", policy, "spec");
}

bool settle_ensure(struct context *c, struct status_writer *w, const struct node_claim *n,
		   const struct machine *m, kube_done *done)
{
	const struct node_claim_burst *b = n->spec.burst;
	const char *name = b ? b->policy_ref.name : "";
	const struct burst_policy *p =
		b ? CTX_GET(c, OBJECT_BURST_POLICY, burst_policy, name) : NULL;
	const struct burst_ledger *l =
		b ? CTX_GET(c, OBJECT_BURST_LEDGER, burst_ledger, name) : NULL;
	const int64_t now = loop_wall(c->loop);
	OWN(arena) a = arena_new();
	struct settle_times starts;
	struct settle_list rows, list;
	json_t *patch;

	if (!b || is_free(n, m))
		return true;
	if (!l) {
		writer_create(w, OBJECT_BURST_LEDGER, ledger_of(name), done);
		return false;
	}
	for (size_t i = 0; i < l->status.rows.n; i++)
		if (str_eq(l->status.rows.v[i].claim, n->meta.uid))
			return true;
	starts = period_starts(c, now, a);
	rows = settle_rows(n, cost_of(p, n, now), now, &starts, a);
	list = settle_add(l, &rows, by_work(p), &starts, settle_is_there, c, a);
	for (size_t i = 0; i < rows.n; i++) {
		char money[MONEY_TEXT];

		log_info("burst settled", LOG_S("claim", n->meta.name), LOG_S("policy", name),
			 LOG_S("cost", money_format(rows.v[i].amount, money)),
			 LOG_S("currency", rows.v[i].currency));
	}
	patch = json_pack("{s:o}", "rows", settle_encode(&list));
	if (/* mutant: burst-restart-uncounted */ m && m->status.instance &&
	    m->status.instance->interrupted)
		json_object_set_new(patch, "restarts", burst_restarts_with(l, n, now));
	if (/* mutant: burst-move-uncounted */ m && m->status.instance && m->status.instance->moved)
		json_object_set_new(patch, "moves", burst_moves_with(l, n, now));
	writer_status(w, OBJECT_BURST_LEDGER, &l->meta, patch, done);
	return false;
}
