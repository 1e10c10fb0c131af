#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "planner/world_impl.h"

static void object_free(void *p)
{
	struct world_object *o = p;

	arena_free(o->arena);
	free(o);
}

struct world *world_new(void)
{
	struct world *w = mem_new(struct world);

	w->tenants = map_new(object_free);
	w->providers = map_new(object_free);
	w->pools = map_new(object_free);
	w->machines = map_new(object_free);
	w->claims = map_new(object_free);
	w->nodes = map_new(object_free);
	w->pods = map_new(object_free);
	return w;
}

void world_free(struct world *w)
{
	if (!w)
		return;
	map_free(w->tenants);
	map_free(w->providers);
	map_free(w->pools);
	map_free(w->machines);
	map_free(w->claims);
	map_free(w->nodes);
	map_free(w->pods);
	free(w);
}

void *world_find(const struct map *m, const char *key)
{
	struct world_object *o = key ? map_get(m, key) : NULL;

	return o ? o->it : NULL;
}

struct keyed {
	const char *key;
	void *it;
};

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct keyed *)a)->key, ((const struct keyed *)b)->key);
}

void **world_sorted(const struct map *m, struct arena *a, size_t *n)
{
	struct keyed *k = arena_calloc(a, map_size(m) + 1, sizeof(*k));
	void **out = arena_calloc(a, map_size(m) + 1, sizeof(*out));
	struct map_iter it;

	*n = 0;
	map_for_each(it, m)
		k[(*n)++] = (struct keyed){it.key, ((struct world_object *)it.value)->it};
	qsort(k, *n, sizeof(*k), by_key);
	for (size_t i = 0; i < *n; i++)
		out[i] = k[i].it;
	return out;
}

/* --- copying ------------------------------------------------------------------------------------- */

static struct labels copy_labels(const struct labels *l, struct arena *a)
{
	struct labels c = {.v = arena_calloc(a, l->n + 1, sizeof(*c.v)), .n = l->n};

	for (size_t i = 0; i < l->n; i++)
		c.v[i] = (struct label){arena_strdup(a, l->v[i].key), arena_strdup(a, l->v[i].value)};
	labels_sort(&c);
	return c;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct resource *)a)->name, ((const struct resource *)b)->name);
}

static struct resources copy_resources(const struct resources *r, struct arena *a)
{
	struct resources c = {.v = arena_calloc(a, r->n + 1, sizeof(*c.v)), .n = r->n};

	for (size_t i = 0; i < r->n; i++)
		c.v[i] = (struct resource){arena_strdup(a, r->v[i].name), r->v[i].q};
	qsort(c.v, c.n, sizeof(*c.v), by_name);
	return c;
}

static const char **copy_strings(const char *const *v, size_t n, struct arena *a)
{
	const char **c = arena_calloc(a, n + 1, sizeof(*c));

	for (size_t i = 0; i < n; i++)
		c[i] = arena_strdup(a, v[i]);
	return c;
}

static struct selector copy_selector(const struct selector *s, struct arena *a)
{
	struct selector c = {.v = arena_calloc(a, s->n + 1, sizeof(*c.v)), .n = s->n};

	for (size_t i = 0; i < s->n; i++) {
		c.v[i] = s->v[i];
		c.v[i].key = arena_strdup(a, s->v[i].key);
		c.v[i].values = copy_strings(s->v[i].values, s->v[i].nvalues, a);
	}
	return c;
}

static struct world_taints copy_taints(const struct world_taints *t, struct arena *a)
{
	struct world_taints c = {.v = arena_calloc(a, t->n + 1, sizeof(*c.v)), .n = t->n};

	for (size_t i = 0; i < t->n; i++)
		c.v[i] = (struct world_taint){arena_strdup(a, t->v[i].key), arena_strdup(a, t->v[i].value),
					      arena_strdup(a, t->v[i].effect)};
	return c;
}

static void *put(struct map *m, const char *key, const void *from, size_t size, struct arena *a)
{
	struct world_object *o = mem_new(struct world_object);

	o->arena = a;
	o->it = arena_alloc(a, size);
	memcpy(o->it, from, size);
	map_put(m, key, o);
	return o->it;
}

#define PUT(map, key, from) put((map), (key), (from), sizeof(*(from)), a)
#define TEXT(member) (c->member = arena_strdup(a, c->member))

void world_put_tenant(struct world *w, const struct world_tenant *t)
{
	struct arena *a = arena_new();
	struct world_tenant *c = PUT(w->tenants, t->name, t);

	TEXT(name);
	TEXT(version);
	TEXT(paused_reason);
	c->labels = copy_labels(&t->labels, a);
	c->quota = copy_resources(&t->quota, a);
}

void world_put_provider(struct world *w, const struct world_provider *p)
{
	struct arena *a = arena_new();
	struct world_provider *c = PUT(w->providers, p->name, p);

	TEXT(name);
	TEXT(paused_reason);
	c->types.v = arena_calloc(a, p->types.n + 1, sizeof(*c->types.v));
	for (size_t i = 0; i < p->types.n; i++)
		c->types.v[i] = (struct world_instance_type){arena_strdup(a, p->types.v[i].name),
							     copy_resources(&p->types.v[i].capacity, a),
							     copy_labels(&p->types.v[i].labels, a)};
}

void world_put_pool(struct world *w, const struct world_pool *p)
{
	struct arena *a = arena_new();
	struct world_pool *c = PUT(w->pools, p->name, p);

	TEXT(name);
	TEXT(paused_reason);
	c->tenants = copy_selector(&p->tenants, a);
	c->providers = copy_strings(p->providers, p->nproviders, a);
	c->requirements = copy_selector(&p->requirements, a);
	c->labels = copy_labels(&p->labels, a);
	c->taints = copy_taints(&p->taints, a);
	c->limits = copy_resources(&p->limits, a);
	c->versions = copy_strings(p->versions, p->nversions, a);
}

void world_put_machine(struct world *w, const struct world_machine *m)
{
	struct arena *a = arena_new();
	struct world_machine *c = PUT(w->machines, m->name, m);

	TEXT(name);
	TEXT(provider);
	TEXT(instance_type);
	TEXT(not_offered);
	c->labels = copy_labels(&m->labels, a);
}

void world_put_claim(struct world *w, const struct world_claim *m)
{
	struct arena *a = arena_new();
	struct world_claim *c = PUT(w->claims, m->name, m);

	TEXT(name);
	TEXT(tenant);
	TEXT(pool);
	TEXT(machine);
	TEXT(instance_type);
	TEXT(provider);
	c->labels = copy_labels(&m->labels, a);
	c->taints = copy_taints(&m->taints, a);
	c->capacity = copy_resources(&m->capacity, a);
}

static const char *node_key(const char *tenant, const char *name, struct arena *a)
{
	return arena_printf(a, "%s/%s", tenant, name);
}

static const char *pod_key(const char *tenant, const char *ns, const char *name, struct arena *a)
{
	return arena_printf(a, "%s/%s/%s", tenant, ns, name);
}

void world_put_node(struct world *w, const struct world_node *n)
{
	struct arena *a = arena_new();
	struct world_node *c = PUT(w->nodes, node_key(n->tenant, n->name, a), n);

	TEXT(tenant);
	TEXT(name);
	TEXT(claim);
	c->labels = copy_labels(&n->labels, a);
	c->taints = copy_taints(&n->taints, a);
	c->allocatable = copy_resources(&n->allocatable, a);
}

void world_put_pod(struct world *w, const struct world_pod *p)
{
	struct arena *a = arena_new();
	struct world_pod *c = PUT(w->pods, pod_key(p->tenant, p->ns, p->name, a), p);

	TEXT(tenant);
	TEXT(ns);
	TEXT(name);
	TEXT(uid);
	TEXT(node);
	TEXT(unsupported);
	c->requests = copy_resources(&p->requests, a);
	c->node_selector = copy_labels(&p->node_selector, a);
	c->labels = copy_labels(&p->labels, a);
	c->affinity.v = arena_calloc(a, p->affinity.n + 1, sizeof(*c->affinity.v));
	for (size_t i = 0; i < p->affinity.n; i++)
		c->affinity.v[i] = copy_selector(&p->affinity.v[i], a);
	c->preferences.v = arena_calloc(a, p->preferences.n + 1, sizeof(*c->preferences.v));
	for (size_t i = 0; i < p->preferences.n; i++)
		c->preferences.v[i] = (struct world_preference){p->preferences.v[i].weight,
								copy_selector(&p->preferences.v[i].term, a)};
	c->tolerations.v = arena_calloc(a, p->tolerations.n + 1, sizeof(*c->tolerations.v));
	for (size_t i = 0; i < p->tolerations.n; i++) {
		const struct world_toleration *t = &p->tolerations.v[i];

		c->tolerations.v[i] = (struct world_toleration){arena_strdup(a, t->key), arena_strdup(a, t->value),
								arena_strdup(a, t->effect), t->exists};
	}
}

/* --- deleting ------------------------------------------------------------------------------------ */

void world_del_tenant(struct world *w, const char *name)
{
	struct map_iter it;

	map_del(w->tenants, name);
	map_for_each(it, w->pods)
		if (str_eq(((struct world_pod *)((struct world_object *)it.value)->it)->tenant, name))
			map_del(w->pods, it.key);
	map_for_each(it, w->nodes)
		if (str_eq(((struct world_node *)((struct world_object *)it.value)->it)->tenant, name))
			map_del(w->nodes, it.key);
}

void world_del_provider(struct world *w, const char *name)
{
	map_del(w->providers, name);
}

void world_del_pool(struct world *w, const char *name)
{
	map_del(w->pools, name);
}

void world_del_machine(struct world *w, const char *name)
{
	map_del(w->machines, name);
}

void world_del_claim(struct world *w, const char *name)
{
	map_del(w->claims, name);
}

void world_del_node(struct world *w, const char *tenant, const char *name)
{
	OWN(arena) a = arena_new();

	map_del(w->nodes, node_key(tenant, name, a));
}

void world_del_pod(struct world *w, const char *tenant, const char *ns, const char *name)
{
	OWN(arena) a = arena_new();

	map_del(w->pods, pod_key(tenant, ns, name, a));
}
