#include "controller/drain/gangs.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

struct look {
	const struct tenant *t; /* whose pods are looked at */
	struct drain_gang *v;
	struct map *nodes; /* "TENANT/NODE" -> its struct drain_gang */
	struct map *gangs; /* a gang -> the first of v that it is on */
	struct arena *a;
};

static size_t root(const struct look *k, size_t i)
{
	while (k->v[i].first != i)
		i = k->v[i].first;
	return i;
}

/* The gang is on this target. */
static void add(struct look *k, struct drain_gang *g, const char *name)
{
	struct drain_gang *other = map_get(k->gangs, name);
	size_t x, y;

	if (!other) {
		map_put(k->gangs, name, g);
		return;
	}
	x = root(k, (size_t)(g - k->v));
	y = root(k, (size_t)(other - k->v));
	if (g == other)
		return;
	k->v[x > y ? x : y].first = x > y ? y : x;
	g->name = other->name = name;
}

static bool add_pod(const struct kube_entry *en, void *arg)
{
	const struct tenant_pod *p = en->object;
	struct look *k = arg;
	struct drain_gang *g;
	const struct world_pod *w;

	if (!p->gang || !p->world.node)
		return true;
	g = map_get(k->nodes, arena_printf(k->a, "%s/%s", k->t->name, p->world.node));
	w = g ? tenant_world_pod(k->t, en->ns, en->name, k->a) : NULL;
	if (w && w->gang.key)
		add(k, g, arena_printf(k->a, "%s of %s", w->gang.key, k->t->name));
	return true;
}

/* By its claim; true: of a tenant whose pods are to be looked at. */
static const char *add_claim(struct look *k, const struct context *c, struct drain_gang *g,
			     const struct drain_target *t)
{
	const struct node_claim *n =
		t->claim ? CTX_GET(c, OBJECT_NODE_CLAIM, node_claim, t->claim) : NULL;
	const char *tenant = n ? n->spec.virtual_cluster_ref.name : NULL;

	if (!tenant)
		return NULL;
	if (n->spec.gang)
		add(k, g, arena_printf(k->a, "%s", n->spec.gang->uid));
	map_put(k->nodes, arena_printf(k->a, "%s/%s", tenant, t->claim), g);
	return tenant;
}

const struct drain_gang *drain_gangs(const struct context *c, const struct tenants *ts,
				     const struct drain_status *s, struct arena *a)
{
	struct look k = {.v = arena_calloc(a, s->targets.n + 1, sizeof(*k.v)),
			 .nodes = map_new(NULL),
			 .gangs = map_new(NULL),
			 .a = a};
	OWN(map) tenants = map_new(NULL);
	struct map_iter it;

	for (size_t i = 0; i < s->targets.n; i++)
		k.v[i].first = i;
	for (size_t i = 0; i < s->targets.n; i++) {
		const char *tenant = add_claim(&k, c, &k.v[i], &s->targets.v[i]);

		if (tenant)
			map_put(tenants, tenant, k.v);
	}
	map_for_each (it, tenants) {
		k.t = tenant_get(ts, it.key);
		if (k.t && k.t->pods)
			kube_cache_each(k.t->pods, add_pod, &k);
	}
	for (size_t i = 0; i < s->targets.n; i++)
		k.v[i].first = root(&k, i);
	map_free(k.nodes);
	map_free(k.gangs);
	return k.v;
}
