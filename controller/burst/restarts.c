/* restarts: reads the ledgers anew for each decision, because they are few. */
#include "controller/burst/restarts.h"

#include "base/str.h"

static bool is_of(const struct burst_ledger_restart *x, const char *tenant, const char *work)
{
	return str_eq(x->tenant, tenant) && str_eq(x->work, work);
}

static bool counts(const struct burst_ledger_restart *x, int64_t now)
{
	return now - x->time < BURST_RESTARTS_MS;
}

/* Returns list *l with the launch of claim n counted at `now`, without entries that no longer
 * count. v: memory for the entries. */
static struct burst_ledger_restarts with(const struct burst_ledger_restarts *l,
					 const struct node_claim *n, int64_t now,
					 struct burst_ledger_restart v[BURST_LEDGER_RESTARTS])
{
	const struct node_claim_burst *b = n->spec.burst;
	struct burst_ledger_restarts out = {v, 1};

	v[0] = (struct burst_ledger_restart){.tenant = n->spec.virtual_cluster_ref.name,
					     .work = str_or(b->workload, b->work),
					     .count = 1,
					     .time = now,
					     .decided = b->decided_time};
	for (size_t i = 0; i < l->n; i++) {
		const struct burst_ledger_restart *x = &l->v[i];

		if (!counts(x, now))
			continue;
		if (is_of(x, v[0].tenant, v[0].work))
			v[0].count = x->count + (x->decided != v[0].decided);
		else if (out.n < BURST_LEDGER_RESTARTS)
			v[out.n++] = *x;
	}
	return out;
}

static json_t *encode(const struct burst_ledger *out, const char *member)
{
	OWN_JSON o = fields_encode(object_kinds[OBJECT_BURST_LEDGER].fields, out);

	return json_incref(json_at(o, "status", member));
}

json_t *burst_restarts_with(const struct burst_ledger *l, const struct node_claim *n, int64_t now)
{
	struct burst_ledger_restart v[BURST_LEDGER_RESTARTS];
	const struct burst_ledger out = {.meta.name = "",
					 .status.restarts = with(&l->status.restarts, n, now, v)};

	return encode(&out, "restarts");
}

json_t *burst_moves_with(const struct burst_ledger *l, const struct node_claim *n, int64_t now)
{
	struct burst_ledger_restart v[BURST_LEDGER_RESTARTS];
	const struct burst_ledger out = {.meta.name = "",
					 .status.moves = with(&l->status.moves, n, now, v)};

	return encode(&out, "moves");
}

struct ledger_search {
	const struct burst_work *w;
	int64_t now, found;
};

static bool add_ledger(const struct kube_entry *en, void *arg)
{
	const struct burst_ledger *l = en->object;
	struct ledger_search *s = arg;

	for (size_t i = 0; i < l->status.restarts.n; i++) {
		const struct burst_ledger_restart *x = &l->status.restarts.v[i];

		if (counts(x, s->now) && is_of(x, s->w->tenant, str_or(s->w->owner, s->w->name)))
			s->found += x->count;
	}
	return true;
}

void burst_restarts_put(const struct context *c, struct burst_work *w)
{
	struct ledger_search s = {.w = w, .now = loop_wall(c->loop)};

	kube_cache_each(c->cache[OBJECT_BURST_LEDGER], add_ledger, &s);
	if (s.found > w->restarts)
		w->restarts = s.found;
}

struct moved {
	const char *tenant, *work;
	int64_t now;
	struct burst_moved found;
};

static bool add_moves(const struct kube_entry *en, void *arg)
{
	const struct burst_ledger *l = en->object;
	struct moved *s = arg;

	for (size_t i = 0; i < l->status.moves.n; i++) {
		const struct burst_ledger_restart *x = &l->status.moves.v[i];

		if (!counts(x, s->now) || !is_of(x, s->tenant, s->work))
			continue;
		s->found.count += x->count;
		if (x->time > s->found.last)
			s->found.last = x->time;
	}
	return true;
}

struct burst_moved burst_moved_of(const struct context *c, const char *tenant, const char *work)
{
	struct moved s = {tenant, work, loop_wall(c->loop), {0}};

	kube_cache_each(c->cache[OBJECT_BURST_LEDGER], add_moves, &s);
	return s.found;
}
