/* drift: caches one verdict for each claim, until a change of its pool, machine or tenant makes it
 * outdated. */
#include "controller/claims/drift.h"

#include <stdlib.h>

#include "api/annotations.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/drift_rings.h"
#include "controller/claims/replacements.h"
#include "controller/claims/world_objects.h"
#include "controller/core/lookup.h"
#include "controller/rules/claim.h"
#include "controller/rules/machine.h"
#include "controller/rules/promise.h"
#include "controller/rules/provider.h"
#include "controller/tenant/join_probe.h"
#include "controller/tenant/tenant.h"
#include "planner/fit.h"
#include "planner/supply/supply.h"

#define BARRED_MOST_MS (24 * DRIFT_BARRED_MS)

struct drift {
	struct context *c;
	const struct tenants *tenants;
	struct drift_rings *rings;
	struct replacements *replacements;
	/* Key: name of a NodeClaim; value: struct verdict */
	struct map *verdicts;
};

struct verdict {
	/* Versions of all objects from which the verdict was derived. If they changed, the verdict
	 * is derived anew. */
	char *key;
	char template_[PROMISE_NAME_SIZE];
	/* Reason of condition Drifted; NULL: the claim has not drifted */
	const char *reason;
	char *differs;
	/* What the claim waits for before it may leave; NULL: nothing known */
	char *waits;
	/* loop_now() before which the claim is not evaluated again */
	int64_t ask_at;
	/* loop_now() until which no new attempt is made to replace the claim's Node */
	int64_t barred_until;
	/* Length of the last pause that set barred_until, ms */
	int64_t barred_ms;
};

static void verdict_free(void *p)
{
	struct verdict *v = p;

	free(v->key);
	free(v->differs);
	free(v->waits);
	free(v);
}

static const struct node_pool *pool_of(const struct drift *d, const struct node_claim *n)
{
	const struct node_pool *p =
		CTX_GET(d->c, OBJECT_NODE_POOL, node_pool, str_or(n->spec.node_pool_ref.name, ""));

	return p && !p->meta.deletion_timestamp ? p : NULL;
}

/* --- evaluation ------------------------------------------------------------------------------- */

/* Returns the Kubernetes version of the tenant's API server that the claim's Node belongs to; NULL:
 * not known now. */
static const char *version_of(const struct drift *d, const struct node_claim *n)
{
	const char *name = str_or(n->spec.virtual_cluster_ref.name, "");
	const struct virtual_cluster *vc =
		CTX_GET(d->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, name);
	const struct tenant *t = tenant_get(d->tenants, name);
	struct join_answer joins;

	if (!vc || !t)
		return NULL;
	if (vc->spec.nodes != VIRTUAL_CLUSTER_HOST)
		return t->version;
	join_probe_answer(t->joins, vc, &joins);
	return joins.version;
}

/* Returns the image that pool p specifies for the claim's tenant now. If that is not known, returns
 * the claim's own image. */
static const struct object_image *image_for(const struct drift *d, const struct node_claim *n,
					    const struct node_pool *p,
					    const struct world_pool *world)
{
	const char *server = version_of(d, n),
		   *minor = server ? supply_version(world, server) : NULL;
	const struct object_image *i = minor ? claim_image(p, minor) : NULL;

	return i ? i : &n->spec.image;
}

static const struct provider_object *provider_of(const struct drift *d, const struct machine *m)
{
	return CTX_GET(d->c, OBJECT_PROVIDER, provider_object,
		       str_or(m->spec.provider_ref.name, ""));
}

/* Returns the first requirement of pool p that machine m does not match, by the planner's rules.
 * NULL: none, or not known because the Provider no longer describes the instance type. Also NULL
 * for a cloud instance, because it was launched by these requirements. */
static const char *misses(const struct drift *d, const struct node_claim *n,
			  const struct machine *m, const struct world_pool *p, struct arena *a)
{
	const struct provider_object *from = provider_of(d, m);
	const char *type = claim_instance_type(n, m), *key;
	const struct provider_object_instance_type *t =
		from ? provider_instance_type(from, type) : NULL;
	const struct labels where = machine_topology(m, a);
	struct labels l;

	if (!t || m->spec.elastic)
		return NULL;
	l = supply_node_labels(a, &t->labels, t->name, &where, &p->labels, p->name);
	return fit_selector_miss(&p->requirements, &l, &key, a);
}

static bool names_provider(const struct world_pool *w, const char *provider)
{
	for (size_t i = 0; i < w->nproviders; i++)
		if (str_eq(w->providers[i], provider))
			return true;
	return false;
}

static void judge(struct drift *d, const struct node_claim *n, const struct node_pool *p,
		  const struct machine *m, struct verdict *v)
{
	OWN(arena) a = arena_new();
	const struct world_pool world = world_object_pool(p, a);
	const struct node_claim_spec said = promise_of(p, image_for(d, n, p, &world));
	const char *differs = promise_differs(&n->spec, &said, a);

	promise_name(&said, v->template_);
	if (differs) {
		v->reason = "NodePoolDrifted";
	} else if (m && !names_provider(&world, m->spec.provider_ref.name)) {
		v->reason = "ProviderDrifted";
		differs = arena_printf(a, "provider %s", m->spec.provider_ref.name);
	} else if (m) {
		differs = misses(d, n, m, &world, a);
		v->reason = differs ? "RequirementsDrifted" : NULL;
	}
	v->differs = mem_strdup(differs);
}

/* Returns the claim's verdict, derived anew if needed; NULL: the claim is not evaluated. */
static struct verdict *verdict_of(struct drift *d, const struct node_claim *n,
				  const struct node_pool *p)
{
	const struct machine *m = machine_of_claim(d->c, n);
	struct verdict *v = map_get(d->verdicts, n->meta.name);
	const struct provider_object *from;
	OWN(arena) a = arena_new();
	const char *key;

	if (!p || p->spec.disruption.drift == DRIFT_NEVER || n->spec.burst)
		return NULL;
	from = m ? provider_of(d, m) : NULL;
	key = arena_printf(a, "%s %s %lld %s %s %lld", str_or(n->meta.uid, ""),
			   str_or(p->meta.uid, ""), (long long)p->meta.generation,
			   str_or(version_of(d, n), ""),
			   m ? str_or(m->meta.resource_version, "") : "",
			   from ? (long long)from->meta.generation : 0);
	if (v && str_eq(v->key, key))
		return v;
	if (!v) {
		v = mem_new(struct verdict);
		map_put(d->verdicts, n->meta.name, v);
	}
	free(v->key);
	free(v->differs);
	v->key = mem_strdup(key);
	v->reason = NULL;
	judge(d, n, p, m, v);
	return v;
}

static struct drift_ring_claim for_ring(const struct node_claim *n, void *arg)
{
	struct drift *d = arg;
	const struct verdict *v = verdict_of(d, n, pool_of(d, n));

	return v ? (struct drift_ring_claim){v->reason, v->template_}
		 : (struct drift_ring_claim){false, ""};
}

/* --- pods ------------------------------------------------------------------------------------- */

struct keeper {
	const char *node;
	int64_t now;
	const struct tenant_pod *pod;
	const char *why;
};

static const char *keeps(const struct tenant_pod *p, int64_t now)
{
	/* mutant: drift-pod-moved */
	if (p->asks_until > now)
		return "an annotation of the pod forbids its disruption";
	if (p->alone)
		return "it has no controller that would recreate it";
	if (p->gang)
		return "it belongs to a gang, which would become incomplete";
	return p->large ? "it is too large to be evaluated" : NULL;
}

static bool keep_one(const struct kube_entry *en, void *arg)
{
	const struct tenant_pod *p = en->object;
	struct keeper *k = arg;

	if (p->world.daemon || p->going_until || !str_eq(p->world.node, k->node))
		return true;
	k->why = keeps(p, k->now);
	k->pod = p;
	return !k->why;
}

/* Returns the first pod on the claim's Node that must not be moved, and why, as a text in the
 * arena; NULL: none. */
static const char *kept_by(const struct drift *d, const struct node_claim *n, struct arena *a)
{
	struct tenant *t = tenant_get(d->tenants, str_or(n->spec.virtual_cluster_ref.name, ""));
	struct keeper k = {.node = n->meta.name, .now = loop_wall(d->c->loop)};

	if (!t || !tenant_usable(t) || !t->pods || !kube_cache_synced(t->pods) ||
	    kube_cache_over(t->pods))
		return "drover has not read all pods of the tenant";
	kube_cache_each(t->pods, keep_one, &k);
	return k.why ? arena_printf(a, "pod %s/%s stays: %s", k.pod->world.ns, k.pod->world.name,
				    k.why)
		     : NULL;
}

/* --- leaving ---------------------------------------------------------------------------------- */

static void set_waits(struct drift *d, const struct node_claim *n, struct verdict *v,
		      const char *text)
{
	if (str_eq(v->waits, text))
		return;
	free(v->waits);
	v->waits = mem_strdup(text);
	notify(d->c, NOTICE_CLAIM, n->meta.name);
}

/* Returns why the drifted claim does not leave now, in the arena; NULL: it may leave. */
static const char *held(struct drift *d, const struct node_claim *n, const struct node_pool *p,
			const struct verdict *v, int64_t since, struct arena *a)
{
	struct tenant *t = tenant_get(d->tenants, str_or(n->spec.virtual_cluster_ref.name, ""));
	const bool when_empty = p->spec.disruption.drift == DRIFT_WHEN_EMPTY;
	int64_t empty;
	size_t pods;

	if (!t || !tenant_usable(t))
		return "the tenant's API server does not answer";
	if (loop_now(d->c->loop) < v->barred_until)
		return "not all of its pods could be evicted at the last attempt; drover tries "
		       "again later";
	pods = tenant_pods_on(t, n->meta.name, &empty);
	if (when_empty && pods)
		return "waits until no pod runs on the Node";
	since = empty > since ? empty : since;
	if (when_empty && loop_wall(d->c->loop) - since < DRIFT_QUIET_MS)
		return "waits until the Node has been empty for 1 minute";
	if (pods && kept_by(d, n, a))
		return kept_by(d, n, a);
	return drift_rings_closed(d->rings, n, p, v->template_);
}

static enum drift_action action_of(const struct node_pool *p)
{
	return p->spec.disruption.drift == DRIFT_WHEN_EMPTY ? DRIFT_QUIETLY : DRIFT_EVICTS;
}

enum drift_action drift_begins(struct drift *d, const struct node_claim *n, int64_t since,
			       int64_t *again)
{
	const struct node_pool *p = pool_of(d, n);
	struct verdict *v = verdict_of(d, n, p);
	const int64_t now = loop_now(d->c->loop);
	OWN(arena) a = arena_new();
	const char *why;

	*again = 0;
	if (!v || !v->reason)
		return DRIFT_STAYS;
	if (now < v->ask_at) {
		*again = v->ask_at - now;
		return DRIFT_STAYS;
	}
	why = held(d, n, p, v, since, a);
	set_waits(d, n, v, why);
	if (!why)
		return action_of(p);
	v->ask_at = now + DRIFT_AGAIN_MS;
	*again = DRIFT_AGAIN_MS;
	return DRIFT_STAYS;
}

void drift_waits(struct drift *d, const struct node_claim *n, const char *text)
{
	struct verdict *v = map_get(d->verdicts, n->meta.name);

	if (v)
		set_waits(d, n, v, text);
}

bool drift_awaits(struct drift *d, const struct node_claim *n)
{
	const struct tenant *t =
		tenant_get(d->tenants, str_or(n->spec.virtual_cluster_ref.name, ""));
	int64_t since;
	const char *why = d->replacements && t && tenant_pods_on(t, n->meta.name, &since)
				  ? replacements_awaited(d->replacements, n)
				  : NULL;

	if (why)
		drift_waits(d, n, why);
	return why;
}

enum drift_action drift_goes_on(struct drift *d, const struct node_claim *n)
{
	const struct node_pool *p = pool_of(d, n);
	const struct verdict *v = verdict_of(d, n, p);
	struct tenant *t = tenant_get(d->tenants, str_or(n->spec.virtual_cluster_ref.name, ""));
	OWN(arena) a = arena_new();
	int64_t since;

	if (!v || !v->reason)
		return DRIFT_STAYS;
	/* The pods are not known now, so do not change what is in progress. */
	if (!t || !tenant_usable(t))
		return action_of(p);
	if (action_of(p) == DRIFT_QUIETLY)
		return tenant_pods_on(t, n->meta.name, &since) ? DRIFT_STAYS : DRIFT_QUIETLY;
	return kept_by(d, n, a) ? DRIFT_STAYS : DRIFT_EVICTS;
}

void drift_withdrawn(struct drift *d, const struct node_claim *n)
{
	const struct node_pool *p = pool_of(d, n);
	struct verdict *v = verdict_of(d, n, p);

	if (!v || !v->reason || action_of(p) == DRIFT_QUIETLY)
		return;
	v->barred_ms = !v->barred_ms			   ? DRIFT_BARRED_MS
		       : 2 * v->barred_ms < BARRED_MOST_MS ? 2 * v->barred_ms
							   : BARRED_MOST_MS;
	v->barred_until = loop_now(d->c->loop) + v->barred_ms;
}

bool drift_condition(struct drift *d, const struct node_claim *n, struct arena *a,
		     struct drift_words *out)
{
	const struct verdict *v = verdict_of(d, n, pool_of(d, n));

	if (!v)
		return false;
	*out = (struct drift_words){v->reason, v->reason ? v->reason : "NotDrifted", ""};
	if (v->reason)
		out->text = arena_printf(a, "differs from its pool's template: %s%s%s", v->differs,
					 v->waits ? "; " : "", str_or(v->waits, ""));
	return true;
}

/* --- changes ---------------------------------------------------------------------------------- */

struct drift_again {
	struct drift *d;
	const char *pool;
};

static bool look_again(const struct kube_entry *en, void *arg)
{
	const struct node_claim *n = en->object;
	struct drift_again *g = arg;
	const struct machine *m = machine_of_claim(g->d->c, n);
	struct verdict *v = map_get(g->d->verdicts, n->meta.name);

	if (!str_eq(n->spec.node_pool_ref.name, g->pool))
		return true;
	if (v)
		v->ask_at = 0;
	notify(g->d->c, NOTICE_CLAIM, n->meta.name);
	if (m)
		notify(g->d->c, NOTICE_MACHINE, m->meta.name);
	return true;
}

void drift_pool(struct drift *d, const char *pool)
{
	struct drift_again g = {d, pool};

	drift_rings_forget(d->rings, pool);
	kube_cache_each(d->c->cache[OBJECT_NODE_CLAIM], look_again, &g);
}

void drift_claim_gone(struct drift *d, const char *claim)
{
	map_del(d->verdicts, claim);
}

void drift_clear(struct drift *d)
{
	map_clear(d->verdicts);
	drift_rings_forget(d->rings, NULL);
}

struct drift *drift_new(struct context *c, const struct tenants *tenants,
			struct replacements *replacements)
{
	struct drift *d = mem_new(struct drift);

	d->replacements = replacements;
	d->c = c;
	d->tenants = tenants;
	d->verdicts = map_new(verdict_free);
	d->rings = drift_rings_new(c, for_ring, d);
	return d;
}

void drift_free(struct drift *d)
{
	if (!d)
		return;
	map_free(d->verdicts);
	drift_rings_free(d->rings);
	free(d);
}
