/* to_come: calculates how many machines the pools' limits allow at most; the plan itself enforces
 * the limits. */
#include "controller/burst/to_come.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/burst/permits.h"
#include "controller/rules/provider.h"

#define MOST 1000 /* Maximum number of machines to come (to_come.h) per instance type */
/* Number of failures in a row given to a machine to come. It is higher than that of any real
 * machine, because the planner prefers machines with few failures. */
#define WORTH_LESS 1000

struct to_come {
	const struct context *c;
	const struct permits *permits;
	/* Names of the machines to come in the planner's world, "PROVIDER/TYPE/N" */
	struct map *there;
};

static const struct provider_object *elastic_of(const struct context *c, const char *name)
{
	const struct provider_object *p =
		name ? CTX_GET(c, OBJECT_PROVIDER, provider_object, name) : NULL;

	return provider_is_elastic(p) ? p : NULL;
}

bool to_come_is(const struct context *c, const char *provider, const char *machine)
{
	return machine && strchr(machine, '/') && elastic_of(c, provider);
}

static bool is_launching(const struct kube_entry *en, void *arg)
{
	const struct burst_policy *p = en->object;

	*(bool *)arg |=
		p->spec.mode != BURST_SHADOW && !p->spec.paused && !p->meta.deletion_timestamp;
	return !*(bool *)arg;
}

static bool any_launching(const struct context *c)
{
	bool any = false;

	if (c->cache[OBJECT_BURST_POLICY])
		kube_cache_each(c->cache[OBJECT_BURST_POLICY], is_launching, &any);
	return any;
}

void to_come_bound(const struct context *c, struct world_pool *p, struct arena *a)
{
	const bool bounded = resources_get(&p->limits, "nodes"),
		   bought = bounded || any_launching(c);
	const char **v = arena_calloc(a, p->nproviders + 1, sizeof(*v));
	size_t n = 0;

	for (int elastic = 0; elastic <= (bought ? 1 : 0); elastic++)
		for (size_t i = 0; i < p->nproviders; i++)
			if (!elastic_of(c, p->providers[i]) == !elastic)
				v[n++] = p->providers[i];
	p->providers = v;
	p->nproviders = n;
	p->permits_only = !bounded;
}

struct pool_count {
	const char *provider;
	int64_t n;
};

static bool count_pool(const struct kube_entry *en, void *arg)
{
	const struct node_pool *p = en->object;
	const struct quantity *nodes = resources_get(&p->spec.limits, "nodes");
	struct pool_count *k = arg;

	for (size_t i = 0; nodes && i < p->spec.template_.spec.provider_refs.n; i++)
		if (str_eq(p->spec.template_.spec.provider_refs.v[i].name, k->provider))
			k->n += quantity_floor(*nodes);
	return true;
}

struct put {
	struct to_come *t;
	struct world *w;
	struct map *wanted;
};

static void put_machine(struct put *x, const char *name, const char *provider, const char *type,
			const char *permit)
{
	const struct world_machine m = {.name = name,
					.provider = provider,
					.instance_type = type,
					.permit = permit,
					.offered = true,
					.level_flash = -1,
					.level_hdd = -1,
					.trust = INT32_MAX,
					.covered = UINT32_MAX,
					.failures = WORTH_LESS};

	map_put(x->wanted, name, x);
	if (map_has(x->t->there, name))
		return;
	map_put(x->t->there, name, x->t);
	(void)world_put_machine(x->w, &m);
}

static bool put_provider(const struct kube_entry *en, void *arg)
{
	const struct provider_object *p = en->object;
	struct put *x = arg;
	struct pool_count k = {.provider = en->name};
	char name[400];

	if (!provider_is_elastic(p))
		return true;
	kube_cache_each(x->t->c->cache[OBJECT_NODE_POOL], count_pool, &k);
	for (size_t i = 0; i < p->spec.instance_types.n; i++)
		for (int64_t n = 0; n < k.n && n < MOST; n++) {
			const char *type = p->spec.instance_types.v[i].name;

			str_format(name, sizeof(name), "%s/%s/%lld", en->name, type, (long long)n);
			put_machine(x, name, en->name, type, NULL);
		}
	return true;
}

static void put_permit(const struct permit *p, void *arg)
{
	OWN(arena) a = arena_new();

	for (int64_t i = 0; i < p->nodes; i++)
		put_machine(arg, permits_machine(p, i, a), p->provider, p->type, p->id);
}

void to_come_put(struct to_come *t, struct world *w)
{
	struct put x = {t, w, map_new(NULL)};
	struct map_iter it;

	kube_cache_each(t->c->cache[OBJECT_PROVIDER], put_provider, &x);
	permits_each(t->permits, put_permit, &x);
	map_for_each (it, t->there)
		if (!map_has(x.wanted, it.key)) {
			(void)world_del_machine(w, it.key);
			map_del(t->there, it.key);
		}
	map_free(x.wanted);
}

struct to_come *to_come_new(const struct context *c, const struct permits *permits)
{
	struct to_come *t = mem_new(struct to_come);

	t->c = c;
	t->permits = permits;
	t->there = map_new(NULL);
	return t;
}

void to_come_free(struct to_come *t)
{
	map_free(t->there);
	free(t);
}
