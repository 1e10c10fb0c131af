/* drift_rings: answers each query by a count over all claims and machines. The answer "closed" (no
 * replacement may begin) is reused for DRIFT_CLOSED_MS. */
#include "controller/claims/drift_rings.h"

#include <stdlib.h>

#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/breaker.h"
#include "controller/claims/replacements.h"
#include "controller/core/approval.h"
#include "controller/core/lookup.h"
#include "controller/rules/claim.h"

/* State of one pool and template, as of the last count. */
struct drift_ring {
	/* loop_now() before which no Node may begin to leave */
	int64_t begins_at;
	/* loop_now() until which the answer "closed" (no replacement may begin) is reused without a
	 * new count */
	int64_t closed_until;
	/* Tenant for whose claims alone the answer is reused; "": for all claims */
	char closed_for[64];
	size_t leaving;
	/* Number of Nodes that finished leaving less than DRIFT_SETTLE_MS ago; counted until
	 * gone_until */
	size_t gone;
	int64_t gone_until;
	char text[200];
};

struct drift_rings {
	struct context *c;
	struct drift_ring_claim (*judge)(const struct node_claim *n, void *arg);
	void *arg;
	/* Key: "pool/template"; value: struct drift_ring */
	struct map *rings;
};

struct look {
	const struct drift_rings *r;
	const struct node_claim *asks;
	const struct node_pool *pool;
	const char *template_;
	struct breaker *breaker;
	size_t proved, leaving, coming;
	/* Number of replacements of the tenant of `asks` that wait for an approval, or were
	 * denied */
	size_t undecided;
	/* Wall ms. served_at: last time at which a claim of the template reached serving; since:
	 * failures before this time no longer count */
	int64_t served_at, since;
	const struct machine *failed;
	const struct machine_failure *failure;
};

static enum machine_state state_of(const struct machine *m)
{
	return m ? machine_state_find(str_or(m->status.state, "")) : MACHINE_STATE_NONE;
}

static bool leaves_for_drift(const struct machine *m)
{
	return m->status.leave && str_eq(m->status.leave->reason, LEAVE_DRIFTED);
}

static bool stands_in_for(const struct node_claim *n, const struct node_claim *of)
{
	return str_eq(labels_get(&n->meta.annotations, CLAIM_REPLACES), of->meta.name);
}

/* True if claim n, which is Ready, replaces a claim whose Node still serves and has not begun to
 * leave. False from STAND_IN_IDLE_MS after `since` on. */
static bool is_half_done(const struct context *c, const struct node_claim *n, int64_t since)
{
	const char *of = labels_get(&n->meta.annotations, CLAIM_REPLACES);
	const struct node_claim *old = of ? CTX_GET(c, OBJECT_NODE_CLAIM, node_claim, of) : NULL;

	return old && !old->meta.deletion_timestamp &&
	       state_of(machine_of_claim(c, old)) == MACHINE_SERVING &&
	       loop_wall(c->loop) - since < STAND_IN_IDLE_MS;
}

/* True if claim n, which waits for an approval or was denied, replaces another Node of the tenant
 * whose claim asks. Claims of other tenants do not count, because nobody may ever decide. */
static bool is_own_replacement(const struct look *k, const struct node_claim *n)
{
	return labels_get(&n->meta.annotations, CLAIM_REPLACES) && !stands_in_for(n, k->asks) &&
	       str_eq(n->spec.virtual_cluster_ref.name, k->asks->spec.virtual_cluster_ref.name);
}

static bool count_claim(const struct kube_entry *en, void *arg)
{
	const struct node_claim *n = en->object;
	struct look *k = arg;
	const struct context *c = k->r->c;
	const struct condition *up = condition_get(&n->status.conditions, "Initialized");
	const struct machine *m = machine_of_claim(c, n);
	struct drift_ring_claim is;
	const char *reason, *message;
	bool failed;

	if (!str_eq(n->spec.node_pool_ref.name, k->pool->meta.name))
		return true;
	if (m && state_of(m) > MACHINE_SERVING) {
		k->leaving += leaves_for_drift(m);
		return true;
	}
	if (n->meta.deletion_timestamp)
		return true;
	is = k->r->judge(n, k->r->arg);
	if (is.drifted) {
		k->leaving += m && c->decided && c->decided(m, n, c->on_notice_arg);
		return true;
	}
	(void)claim_phase(n, m, &failed, &reason, &message);
	if (!str_eq(is.template_, k->template_) || failed || str_eq(n->status.phase, "Failed"))
		return true;
	if (!up || up->status != CONDITION_TRUE) {
		if (/* mutant: drift-held-by-waiting */ approval_admits(c, n))
			k->coming += !stands_in_for(n, k->asks);
		else
			k->undecided += is_own_replacement(k, n);
		return true;
	}
	k->coming += !stands_in_for(n, k->asks) && is_half_done(c, n, up->last_transition_time);
	k->proved += claim_is_ready(n);
	if (up->last_transition_time > k->served_at)
		k->served_at = up->last_transition_time;
	return true;
}

static bool has_provider(const struct node_pool *p, const char *name)
{
	for (size_t i = 0; i < p->spec.template_.spec.provider_refs.n; i++)
		if (str_eq(p->spec.template_.spec.provider_refs.v[i].name, name))
			return true;
	return false;
}

/* Counts a machine that was released because of drift and is being cleaned, because the replacement
 * may need this machine. The machine no longer records its old pool, so it counts for every pool
 * that may use it. Also records the newest failure of the template in *k. */
static bool count_machine(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;
	struct look *k = arg;

	k->leaving += !m->status.claim_ref && leaves_for_drift(m) &&
		      state_of(m) > MACHINE_SERVING && state_of(m) <= MACHINE_VERIFYING &&
		      has_provider(k->pool, m->spec.provider_ref.name);
	for (size_t i = 0; i < m->status.failures.n; i++) {
		const struct machine_failure *f = &m->status.failures.v[i];

		if (!f->claim || !f->reason || breaker_is_tenants(f->reason) ||
		    !str_eq(f->pool, k->pool->meta.name) || !str_eq(f->template_, k->template_) ||
		    f->time <= k->since || (k->failure && f->time <= k->failure->time))
			continue;
		k->failed = m;
		k->failure = f;
	}
	return true;
}

static struct drift_ring *ring_of(struct drift_rings *r, const struct node_pool *p,
				  const char *template_)
{
	OWN(arena) a = arena_new();
	const char *key = arena_printf(a, "%s/%s", p->meta.name, template_);
	struct drift_ring *g = map_get(r->rings, key);

	if (!g) {
		g = mem_new(struct drift_ring);
		/* Wait, because replacements that the previous leader began may not be in the
		 * caches yet. */
		g->begins_at = loop_now(r->c->loop) + DRIFT_SETTLE_MS;
		map_put(r->rings, key, g);
	}
	return g;
}

static bool close_for(const struct drift_rings *r, struct drift_ring *g, const struct look *k)
{
	struct breaker_cause why;
	const size_t most = k->proved ? k->proved : 1;

	/* mutant: drift-failure-ignored */
	if (k->failure)
		str_format(g->text, sizeof(g->text),
			   "stopped: a claim of the same template failed on %.63s (%.60s)",
			   k->failed->meta.name, k->failure->reason);
	else if (breaker_stops_pool(k->breaker, k->pool, &why))
		str_format(g->text, sizeof(g->text),
			   "stopped: new claims of the pool are paused (%.60s)",
			   str_or(why.reason, ""));
	else if (/* mutant: drift-ring-open */ g->leaving + g->gone + k->coming >= most)
		str_copy(g->text, sizeof(g->text),
			 "waits for other replacements: drover makes as many at a time as Nodes "
			 "with the new template are in service, at least one");
	else if (/* mutant: drift-approvals-unbounded */ g->leaving + g->gone + k->coming +
			 k->undecided >=
		 most)
		str_copy(g->text, sizeof(g->text),
			 "waits until the replacements of the tenant's other Nodes are approved "
			 "(drover get claims)");
	else if (loop_now(r->c->loop) < g->begins_at)
		str_copy(g->text, sizeof(g->text),
			 "waits until one minute has passed since the template or the leading "
			 "replica changed");
	else
		return false;
	return true;
}

const char *drift_rings_closed(struct drift_rings *r, const struct node_claim *n,
			       const struct node_pool *p, const char *template_)
{
	struct drift_ring *g = ring_of(r, p, template_);
	const int64_t now = loop_now(r->c->loop);
	const char *tenant = str_or(n->spec.virtual_cluster_ref.name, "");
	OWN(arena) a = arena_new();
	struct look k = {.r = r, .asks = n, .pool = p, .template_ = template_};

	if (now < g->closed_until && (!g->closed_for[0] || str_eq(g->closed_for, tenant)))
		return g->text;
	k.breaker = breaker_read(r->c, a);
	kube_cache_each(r->c->cache[OBJECT_NODE_CLAIM], count_claim, &k);
	k.since = breaker_since(k.breaker, p->meta.name, NULL);
	if (k.served_at > k.since)
		k.since = k.served_at;
	kube_cache_each(r->c->cache[OBJECT_MACHINE], count_machine, &k);
	if (now >= g->gone_until)
		g->gone = 0;
	if (k.leaving < g->leaving) {
		g->gone += g->leaving - k.leaving;
		g->gone_until = now + DRIFT_SETTLE_MS;
	}
	g->leaving = k.leaving;
	if (!close_for(r, g, &k))
		return NULL;
	g->closed_until = now + DRIFT_CLOSED_MS;
	str_copy(g->closed_for, sizeof(g->closed_for), k.undecided ? tenant : "");
	return g->text;
}

void drift_rings_forget(struct drift_rings *r, const char *pool)
{
	OWN(arena) a = arena_new();
	OWN(map) gone = map_new(NULL);
	const char *start = pool ? arena_printf(a, "%s/", pool) : "";
	struct map_iter it;

	map_for_each (it, r->rings)
		if (str_starts(it.key, start))
			map_put(gone, it.key, r);
	map_for_each (it, gone)
		map_del(r->rings, it.key);
}

struct drift_rings *drift_rings_new(struct context *c,
				    struct drift_ring_claim (*judge)(const struct node_claim *n,
								     void *arg),
				    void *arg)
{
	struct drift_rings *r = mem_new(struct drift_rings);

	r->c = c;
	r->judge = judge;
	r->arg = arg;
	r->rings = map_new(free);
	return r;
}

void drift_rings_free(struct drift_rings *r)
{
	if (!r)
		return;
	map_free(r->rings);
	free(r);
}
