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

static void stock_free(void *p)
{
	struct world_stock *m = p;

	arena_free(m->arena);
	free(m);
}

static void group_free(void *p)
{
	struct world_group *g = p;

	arena_free(g->arena);
	free(g->v);
	free(g->key);
	free(g);
}

static void kind_free(void *p)
{
	struct world_kind *k = p;

	free(k->v);
	free(k->key);
	free(k);
}

struct world *world_new(void)
{
	struct world *w = mem_new(struct world);

	w->tenants = map_new(object_free);
	w->providers = map_new(object_free);
	w->pools = map_new(object_free);
	w->claims = map_new(object_free);
	w->nodes = map_new(object_free);
	w->machines = map_new(stock_free);
	w->kinds = map_new(kind_free);
	w->groups = map_new(group_free);
	w->pods = map_new(world_drop_pod);
	w->loads = map_new(NULL);
	w->gangs = map_new(NULL);
	w->holds = map_new(free);
	w->rests = map_new(free);
	w->shapes = map_new(NULL);
	w->fits = map_new(NULL);
	w->columns_serial = 1;
	return w;
}

void world_free(struct world *w)
{
	struct map_iter it;

	if (!w)
		return;
	map_free(w->pods);
	map_for_each (it, w->nodes)
		load_forget_node(
			w, ((struct world_host *)((struct world_object *)it.value)->it)->load);
	map_free(w->loads);
	map_free(w->gangs);
	map_free(w->holds);
	map_free(w->rests);
	world_put_stops(w, NULL, 0);
	world_put_levels(w, NULL, 0);
	map_free(w->shapes);
	map_free(w->fits);
	world_columns(w, NULL, 0);
	map_free(w->tenants);
	map_free(w->providers);
	map_free(w->pools);
	map_free(w->machines);
	map_free(w->groups);
	map_free(w->kinds);
	map_free(w->claims);
	map_free(w->nodes);
	free(w->columns);
	free(w->pending);
	free(w->sorted_nodes.v);
	free(w->sorted_claims.v);
	free(w->text);
	free(w);
}

void world_put_aging(struct world *w, const struct world_aging *g)
{
	w->aging = *g;
}

void world_put_clamp(struct world *w, bool clamps)
{
	w->clamps = clamps;
}

void *world_find(const struct map *m, const char *key)
{
	struct world_object *o = key ? map_get(m, key) : NULL;

	return o ? o->it : NULL;
}

static bool same_columns(const struct world *w, const char *const *names, size_t n)
{
	if (n != w->ncolumns)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!str_eq(names[i], w->columns[i]))
			return false;
	return true;
}

void world_columns(struct world *w, const char *const *names, size_t n)
{
	if (same_columns(w, names, n))
		return;
	for (size_t i = 0; i < w->ncolumns; i++)
		free(w->columns[i]);
	w->columns = mem_realloc_array(w->columns, n + 1, sizeof(*w->columns));
	for (size_t i = 0; i < n; i++)
		w->columns[i] = mem_strdup(names[i]);
	w->ncolumns = n;
	w->columns_serial++;
}

struct keyed_object {
	const char *key;
	void *it;
};

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct keyed_object *)a)->key, ((const struct keyed_object *)b)->key);
}

static int by_age(const void *a, const void *b)
{
	const struct world_claim *x = ((const struct keyed_object *)a)->it,
				 *y = ((const struct keyed_object *)b)->it;

	if (x->created_ms != y->created_ms)
		return x->created_ms < y->created_ms ? -1 : 1;
	return by_key(a, b);
}

static const struct world_list *sorted(struct world_list *l, const struct map *m,
				       int (*by)(const void *, const void *))
{
	struct keyed_object *k;
	struct map_iter it;

	if (l->fresh)
		return l;
	k = mem_calloc(map_size(m) + 1, sizeof(*k));
	l->n = 0;
	map_for_each (it, m)
		k[l->n++] = (struct keyed_object){it.key, ((struct world_object *)it.value)->it};
	qsort(k, l->n, sizeof(*k), by);
	l->v = mem_realloc_array(l->v, l->n + 1, sizeof(*l->v));
	for (size_t i = 0; i < l->n; i++)
		l->v[i] = k[i].it;
	free(k);
	l->fresh = true;
	return l;
}

const struct world_list *world_nodes(struct world *w)
{
	return sorted(&w->sorted_nodes, w->nodes, by_key);
}

const struct world_list *world_claims(struct world *w)
{
	return sorted(&w->sorted_claims, w->claims, by_age);
}

/* --- put -------------------------------------------------------------------------------------- */

static void put(struct map *m, const char *key, void *it, struct arena *a)
{
	struct world_object *o = mem_new(struct world_object);

	o->arena = a;
	o->it = it;
	map_put(m, key, o);
}

static void *copy(const void *from, size_t size, struct arena *a)
{
	void *it = arena_alloc(a, size);

	memcpy(it, from, size);
	return it;
}

#define COPY(from) copy((from), sizeof(*(from)), a)
#define TEXT(member) (c->member = arena_strdup(a, c->member))

/* Frees arena a, the new copy of an object that equals the stored object. Always returns false, so
 * that a put function can return the result. */
static bool nothing_new(struct arena *a)
{
	arena_free(a);
	return false;
}

static bool same_labels(const struct labels *a, const struct labels *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!str_eq(a->v[i].key, b->v[i].key) || !str_eq(a->v[i].value, b->v[i].value))
			return false;
	return true;
}

static bool same_taints(const struct world_taints *a, const struct world_taints *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!str_eq(a->v[i].key, b->v[i].key) || !str_eq(a->v[i].value, b->v[i].value) ||
		    !str_eq(a->v[i].effect, b->v[i].effect))
			return false;
	return true;
}

static bool same_tenant(const struct world_tenant *a, const struct world_tenant *b)
{
	return a->weight == b->weight && a->priority == b->priority && a->paused == b->paused &&
	       str_eq(a->version, b->version) && str_eq(a->paused_reason, b->paused_reason) &&
	       a->on_host == b->on_host && a->proof == b->proof && a->probed == b->probed &&
	       str_eq(a->no_nodes, b->no_nodes) && same_labels(&a->labels, &b->labels) &&
	       resources_equal(&a->quota, &b->quota) && str_eq(a->cohort, b->cohort) &&
	       resources_equal(&a->borrowing, &b->borrowing) &&
	       resources_equal(&a->lending, &b->lending);
}

bool world_put_tenant(struct world *w, const struct world_tenant *t)
{
	struct arena *a = arena_new();
	struct world_tenant *c = COPY(t), *old = world_find(w->tenants, t->name);

	TEXT(name);
	TEXT(version);
	TEXT(paused_reason);
	TEXT(no_nodes);
	c->labels = world_copy_labels(&t->labels, a);
	TEXT(cohort);
	c->quota = world_copy_resources(&t->quota, a);
	c->borrowing = world_copy_resources(&t->borrowing, a);
	c->lending = world_copy_resources(&t->lending, a);
	if (old && same_tenant(old, c)) {
		old->used_milli = c->used_milli;
		return nothing_new(a);
	}
	put(w->tenants, c->name, c, a);
	return true;
}

void world_put_used(struct world *w, const char *tenant, int64_t milli)
{
	struct world_tenant *t = world_find(w->tenants, tenant);

	if (t)
		t->used_milli = milli;
}

void world_put_provider(struct world *w, const struct world_provider *p)
{
	struct arena *a = arena_new();
	struct world_provider *c = COPY(p);

	TEXT(name);
	TEXT(paused_reason);
	c->types.v = arena_calloc(a, p->types.n + 1, sizeof(*c->types.v));
	for (size_t i = 0; i < p->types.n; i++)
		c->types.v[i] = (struct world_instance_type){
			arena_strdup(a, p->types.v[i].name),
			world_copy_resources(&p->types.v[i].capacity, a),
			world_copy_labels(&p->types.v[i].labels, a), p->types.v[i].move_ms};
	put(w->providers, c->name, c, a);
}

void world_put_pool(struct world *w, const struct world_pool *p)
{
	struct arena *a = arena_new();
	struct world_pool *c = COPY(p);

	TEXT(name);
	TEXT(paused_reason);
	c->tenants = world_copy_selector(&p->tenants, a);
	c->providers = world_copy_strings(p->providers, p->nproviders, a);
	c->requirements = world_copy_selector(&p->requirements, a);
	c->labels = world_copy_labels(&p->labels, a);
	c->taints = world_copy_taints(&p->taints, a);
	c->limits = world_copy_resources(&p->limits, a);
	c->versions = world_copy_strings(p->versions, p->nversions, a);
	c->runtime_classes = world_copy_strings(p->runtime_classes, p->nruntime_classes, a);
	put(w->pools, c->name, c, a);
}

struct world_kind *world_kind(struct world *w, const char *provider, const char *type)
{
	world_text_clear(w);
	world_text_add(w, provider);
	world_text_add(w, type);
	return map_get(w->kinds, w->text);
}

static struct world_group *group_of(struct world *w, const struct world_machine *m)
{
	struct world_kind *k = world_kind(w, m->provider, m->instance_type);
	struct world_group *g;

	if (!k) {
		k = mem_new(struct world_kind);
		k->key = mem_strdup(w->text);
		map_put(w->kinds, k->key, k);
	}
	for (size_t i = 0; i < m->labels.n; i++) {
		world_text_add(w, m->labels.v[i].key);
		world_text_add(w, m->labels.v[i].value);
	}
	world_text_add(w, m->permit);
	world_text_add(w, m->domain);
	g = map_get(w->groups, w->text);
	if (g)
		return g;
	g = mem_new(struct world_group);
	g->key = mem_strdup(w->text);
	g->arena = arena_new();
	g->labels = world_copy_labels(&m->labels, g->arena);
	g->permit = arena_strdup(g->arena, m->permit);
	g->domain = arena_strdup(g->arena, m->domain);
	map_put(w->groups, g->key, g);
	mem_grow(k->v, k->n, k->cap);
	g->kind = k;
	g->at = k->n;
	k->v[k->n++] = g;
	return g;
}

static void join_group(struct world *w, struct world_stock *m)
{
	struct world_group *g = group_of(w, &m->m);

	mem_grow(g->v, g->n, g->cap);
	m->group = g;
	m->at = g->n;
	g->v[g->n++] = m;
}

static void leave_group(struct world *w, struct world_stock *m)
{
	struct world_group *g = m->group;
	struct world_kind *k = g->kind;

	g->v[m->at] = g->v[--g->n];
	g->v[m->at]->at = m->at;
	if (g->n)
		return;
	k->v[g->at] = k->v[--k->n];
	k->v[g->at]->at = g->at;
	group_free(map_take(w->groups, g->key));
	if (!k->n)
		kind_free(map_take(w->kinds, k->key));
}

static bool same_machine(const struct world_machine *a, const struct world_machine *b)
{
	return str_eq(a->provider, b->provider) && str_eq(a->instance_type, b->instance_type) &&
	       a->offered == b->offered && a->returns == b->returns &&
	       str_eq(a->not_offered, b->not_offered) && a->warm == b->warm &&
	       a->level_flash == b->level_flash && a->level_hdd == b->level_hdd &&
	       str_eq(a->permit, b->permit) && str_eq(a->domain, b->domain) &&
	       a->coming == b->coming && a->trust == b->trust && a->covered == b->covered &&
	       a->failures == b->failures && same_labels(&a->labels, &b->labels);
}

bool world_put_machine(struct world *w, const struct world_machine *m)
{
	struct world_stock *s, *old = map_get(w->machines, m->name);
	struct arena *a = arena_like(&w->machine_sizes);
	struct world_machine it = *m, *c = &it;

	TEXT(name);
	TEXT(provider);
	TEXT(instance_type);
	TEXT(permit);
	TEXT(domain);
	TEXT(not_offered);
	c->labels = world_copy_labels(&m->labels, a);
	if (old && same_machine(&old->m, c)) {
		old->m.free_p50_ms = m->free_p50_ms;
		old->m.free_p90_ms = m->free_p90_ms;
		return nothing_new(a);
	}
	if (old)
		leave_group(w, old);
	s = mem_new(struct world_stock);
	s->m = it;
	s->arena = a;
	arena_note(&w->machine_sizes, a);
	map_put(w->machines, m->name, s);
	join_group(w, s);
	return true;
}

static bool same_strings(const char *const *a, size_t na, const char *const *b, size_t nb)
{
	if (na != nb)
		return false;
	for (size_t i = 0; i < na; i++)
		if (!str_eq(a[i], b[i]))
			return false;
	return true;
}

static bool same_claim(const struct world_claim *a, const struct world_claim *b)
{
	return str_eq(a->tenant, b->tenant) && str_eq(a->pool, b->pool) &&
	       str_eq(a->machine, b->machine) && str_eq(a->instance_type, b->instance_type) &&
	       str_eq(a->provider, b->provider) && a->ready == b->ready &&
	       a->ready_ms == b->ready_ms && a->failed == b->failed && a->leaving == b->leaving &&
	       a->saves == b->saves && a->created_ms == b->created_ms &&
	       same_strings(a->pods, a->npods, b->pods, b->npods) &&
	       same_labels(&a->labels, &b->labels) && same_taints(&a->taints, &b->taints) &&
	       resources_equal(&a->capacity, &b->capacity);
}

bool world_put_claim(struct world *w, const struct world_claim *m)
{
	struct arena *a = arena_like(&w->claim_sizes);
	struct world_claimed *held = arena_new_obj(a, struct world_claimed);
	struct world_claim *c = &held->claim, *old = world_find(w->claims, m->name);

	*c = *m;
	TEXT(name);
	TEXT(tenant);
	TEXT(pool);
	TEXT(machine);
	TEXT(instance_type);
	TEXT(provider);
	c->labels = world_copy_labels(&m->labels, a);
	c->taints = world_copy_taints(&m->taints, a);
	c->pods = world_copy_strings(m->pods, m->npods, a);
	c->capacity = world_copy_resources(&m->capacity, a);
	if (old && same_claim(old, c))
		return nothing_new(a);
	arena_note(&w->claim_sizes, a);
	put(w->claims, c->name, held, a);
	w->sorted_claims.fresh = false;
	return true;
}

static const char *node_key(const char *tenant, const char *name, struct arena *a)
{
	return arena_printf(a, "%s/%s", tenant, name);
}

static bool same_node(const struct world_node *a, const struct world_node *b)
{
	return str_eq(a->claim, b->claim) && a->ready == b->ready &&
	       a->unschedulable == b->unschedulable && same_labels(&a->labels, &b->labels) &&
	       same_taints(&a->taints, &b->taints) &&
	       resources_equal(&a->allocatable, &b->allocatable);
}

bool world_put_node(struct world *w, const struct world_node *n)
{
	struct arena *a = arena_like(&w->node_sizes);
	const char *key = node_key(n->tenant, n->name, a);
	struct world_host *h = arena_new_obj(a, struct world_host),
			  *old = world_find(w->nodes, key);
	struct world_node *c = &h->node;

	*c = *n;
	TEXT(tenant);
	TEXT(name);
	TEXT(claim);
	c->labels = /* mutant: node-unnamed */ world_name_labels(&n->labels, n->name, a);
	c->taints = world_copy_taints(&n->taints, a);
	c->allocatable = world_copy_resources(&n->allocatable, a);
	if (old && same_node(&old->node, c))
		return nothing_new(a);
	h->load = load_of_node(w, n->tenant, n->name);
	arena_note(&w->node_sizes, a);
	put(w->nodes, key, h, a);
	w->sorted_nodes.fresh = false;
	return true;
}

/* --- delete ----------------------------------------------------------------------------------- */

static void del_node(struct world *w, struct world_host *h, const char *key)
{
	load_forget_node(w, h->load);
	w->sorted_nodes.fresh = false;
	map_del(w->nodes, key);
}

void world_del_tenant(struct world *w, const char *name)
{
	struct map_iter it;

	map_del(w->tenants, name);
	map_for_each (it, w->pods)
		if (str_eq(((struct world_one *)it.value)->tenant, name))
			map_del(w->pods, it.key);
	map_for_each (it, w->nodes) {
		struct world_host *h = ((struct world_object *)it.value)->it;

		if (str_eq(h->node.tenant, name))
			del_node(w, h, it.key);
	}
}

void world_del_provider(struct world *w, const char *name)
{
	map_del(w->providers, name);
}

void world_del_pool(struct world *w, const char *name)
{
	map_del(w->pools, name);
}

bool world_del_machine(struct world *w, const char *name)
{
	struct world_stock *m = map_get(w->machines, name);

	if (!m)
		return false;
	leave_group(w, m);
	map_del(w->machines, name);
	return true;
}

bool world_del_claim(struct world *w, const char *name)
{
	if (!map_has(w->claims, name))
		return false;
	map_del(w->claims, name);
	w->sorted_claims.fresh = false;
	return true;
}

bool world_del_node(struct world *w, const char *tenant, const char *name)
{
	OWN(arena) a = arena_new();

	const char *key = node_key(tenant, name, a);
	struct world_host *h = world_find(w->nodes, key);

	if (h)
		del_node(w, h, key);
	return h != NULL;
}
