#include "controller/drain/gangs.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/rules/claim.h"

struct gang_scan {
	/* tenant whose pods are being read */
	const struct tenant *t;
	struct drain_gang *v;
	/* per element of v: true if a pod runs on the target's Node */
	bool *used;
	/* "TENANT/NODE" -> struct drain_gang of the target */
	struct map *nodes;
	/* claim_gang_uid() -> struct seen */
	struct map *gangs;
	struct arena *a;
};

struct seen {
	/* first target on which the gang was found */
	struct drain_gang *first;
	/* name of the gang in messages: "GANG of TENANT" if pods of the gang were found, else the
	 * gang's UID */
	const char *name;
};

static size_t root(const struct gang_scan *k, size_t i)
{
	while (k->v[i].first != i)
		i = k->v[i].first;
	return i;
}

/* Records that the gang runs on target g, and links g with the other targets of the gang. */
static void add(struct gang_scan *k, struct drain_gang *g, const char *uid, const char *name)
{
	struct seen *s = map_get(k->gangs, uid);
	size_t x, y;

	if (!s) {
		s = arena_new_obj(k->a, struct seen);
		*s = (struct seen){g, name};
		map_put(k->gangs, uid, s);
		return;
	}
	x = root(k, (size_t)(g - k->v));
	y = root(k, (size_t)(s->first - k->v));
	if (g == s->first)
		return;
	k->v[x > y ? x : y].first = x > y ? y : x;
	g->name = s->first->name = s->name;
}

static bool add_pod(const struct kube_entry *en, void *arg)
{
	const struct tenant_pod *p = en->object;
	struct gang_scan *k = arg;
	struct drain_gang *g;
	const struct world_pod *w;

	if (!p->world.node || p->world.daemon)
		return true;
	g = map_get(k->nodes, arena_printf(k->a, "%s/%s", k->t->name, p->world.node));
	if (!g)
		return true;
	k->used[g - k->v] = true;
	w = p->gang ? tenant_world_pod(k->t, en->ns, en->name, k->a) : NULL;
	if (w && w->gang.key)
		add(k, g, claim_gang_uid(k->t->name, w->gang.key, k->a),
		    arena_printf(k->a, "%s of %s", w->gang.key, k->t->name));
	return true;
}

static const struct node_claim *claim_of(const struct context *c, const struct drain_target *t)
{
	return t->claim ? CTX_GET(c, OBJECT_NODE_CLAIM, node_claim, t->claim) : NULL;
}

static void add_pods(struct gang_scan *k, const struct context *c, const struct tenants *ts,
		     const struct drain_status *s)
{
	OWN(map) tenants = map_new(NULL);
	struct map_iter it;

	for (size_t i = 0; i < s->targets.n; i++) {
		const struct node_claim *n = claim_of(c, &s->targets.v[i]);
		const char *tenant = n ? n->spec.virtual_cluster_ref.name : NULL;

		if (!tenant)
			continue;
		map_put(k->nodes, arena_printf(k->a, "%s/%s", tenant, n->meta.name), &k->v[i]);
		map_put(tenants, tenant, k->v);
	}
	map_for_each (it, tenants) {
		k->t = tenant_get(ts, it.key);
		if (k->t && k->t->pods)
			kube_cache_each(k->t->pods, add_pod, k);
	}
}

/* Adds the gang in spec.gang of claims whose Node has no pods. Only for targets that wait for their
 * turn: a drained Node has no pods either, whatever gang it served. */
static void add_claims(struct gang_scan *k, const struct context *c, const struct drain_status *s,
		       const bool *waits)
{
	for (size_t i = 0; i < s->targets.n; i++) {
		const struct node_claim *n = claim_of(c, &s->targets.v[i]);

		if (n && n->spec.gang && waits[i] && !k->used[i])
			add(k, &k->v[i], n->spec.gang->uid, n->spec.gang->uid);
	}
}

const struct drain_gang *drain_gangs(const struct context *c, const struct tenants *ts,
				     const struct drain_status *s, const bool *waits,
				     struct arena *a)
{
	struct gang_scan k = {.v = arena_calloc(a, s->targets.n + 1, sizeof(*k.v)),
			      .used = arena_calloc(a, s->targets.n + 1, sizeof(*k.used)),
			      .nodes = map_new(NULL),
			      .gangs = map_new(NULL),
			      .a = a};

	for (size_t i = 0; i < s->targets.n; i++)
		k.v[i].first = i;
	add_pods(&k, c, ts, s);
	add_claims(&k, c, s, waits);
	for (size_t i = 0; i < s->targets.n; i++)
		k.v[i].first = root(&k, i);
	map_free(k.nodes);
	map_free(k.gangs);
	return k.v;
}
