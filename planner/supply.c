#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "planner/fit.h"
#include "planner/supply.h"
#include "planner/world_impl.h"

#define GPU "nvidia.com/gpu"
#define KUBELET_SKEW 3 /* minors that a kubelet may be older than its API server */

struct usage {
	const char *of; /* tenant or pool */
	struct resources held;
	int64_t nodes;
};

struct supply {
	struct world *w;
	struct arena *a;
	struct world_pool **pools; /* by weight, then name */
	size_t npools;
	struct world_machine **machines; /* by name */
	bool *used;
	size_t nmachines;
	struct usage *tenants, *pool_use;
	size_t ntenants, npool_use;
};

/* --- sums ---------------------------------------------------------------------------------------- */

bool supply_has_one(const struct resources *room)
{
	const struct quantity *q = resources_get(room, "pods");

	return !q || quantity_cmp(*q, quantity_of(1)) >= 0;
}

void supply_take_one(struct resources *room)
{
	for (size_t i = 0; i < room->n; i++)
		if (str_eq(room->v[i].name, "pods"))
			room->v[i].q = quantity_sub(room->v[i].q, quantity_of(1));
}

struct resources supply_sum(const struct resources *a, const struct resources *b, struct arena *arena)
{
	struct resources s = {.v = arena_calloc(arena, a->n + b->n + 1, sizeof(*s.v))};
	size_t i = 0, k = 0;

	while (i < a->n || k < b->n) {
		int c = i == a->n ? 1 : k == b->n ? -1 : strcmp(a->v[i].name, b->v[k].name);

		if (c < 0) {
			s.v[s.n++] = a->v[i++];
		} else if (c > 0) {
			s.v[s.n++] = b->v[k++];
		} else {
			s.v[s.n] = a->v[i++];
			s.v[s.n].q = quantity_add(s.v[s.n].q, b->v[k++].q);
			s.n++;
		}
	}
	return s;
}

static struct usage *usage_of(struct usage *v, size_t *n, const char *of)
{
	for (size_t i = 0; i < *n; i++)
		if (str_eq(v[i].of, of))
			return &v[i];
	v[*n] = (struct usage){.of = of};
	return &v[(*n)++];
}

static void charge(struct supply *s, const char *tenant, const char *pool, const struct resources *capacity)
{
	struct usage *t = usage_of(s->tenants, &s->ntenants, tenant), *p = usage_of(s->pool_use, &s->npool_use, pool);

	t->held = supply_sum(&t->held, capacity, s->a);
	t->nodes++;
	p->held = supply_sum(&p->held, capacity, s->a);
	p->nodes++;
}

struct quantity supply_held(const struct supply *s, const char *tenant, const char *resource)
{
	const struct quantity *q = NULL;

	for (size_t i = 0; i < s->ntenants; i++)
		if (str_eq(s->tenants[i].of, tenant))
			q = resources_get(&s->tenants[i].held, resource);
	return q ? *q : quantity_of(0);
}

/* The first member that would pass its bound, or NULL. */
static const char *passes(const struct resources *bounds, const struct usage *u, const struct resources *more)
{
	for (size_t i = 0; i < bounds->n; i++) {
		const char *name = bounds->v[i].name;
		const struct quantity *held = resources_get(&u->held, name), *add = resources_get(more, name);
		struct quantity sum = held ? *held : quantity_of(0);

		if (str_eq(name, "nodes"))
			sum = quantity_of(u->nodes + 1);
		else if (add)
			sum = quantity_add(sum, *add);
		if (quantity_cmp(sum, bounds->v[i].q) > 0)
			return name;
	}
	return NULL;
}

/* --- making -------------------------------------------------------------------------------------- */

static int by_weight(const void *x, const void *y)
{
	const struct world_pool *a = *(struct world_pool *const *)x, *b = *(struct world_pool *const *)y;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return strcmp(a->name, b->name);
}

struct supply *supply_new(struct world *w, struct arena *a)
{
	struct supply *s = arena_new_obj(a, struct supply);
	size_t n;
	void **claims = world_sorted(w->claims, a, &n);

	s->w = w;
	s->a = a;
	s->pools = (struct world_pool **)world_sorted(w->pools, a, &s->npools);
	qsort(s->pools, s->npools, sizeof(*s->pools), by_weight);
	s->machines = (struct world_machine **)world_sorted(w->machines, a, &s->nmachines);
	s->used = arena_calloc(a, s->nmachines + 1, sizeof(*s->used));
	s->tenants = arena_calloc(a, n + s->nmachines + 1, sizeof(*s->tenants));
	s->pool_use = arena_calloc(a, n + s->nmachines + 1, sizeof(*s->pool_use));
	for (size_t i = 0; i < n; i++) {
		const struct world_claim *c = claims[i];

		charge(s, c->tenant, c->pool, &c->capacity);
		for (size_t k = 0; c->machine && k < s->nmachines; k++)
			s->used[k] |= str_eq(s->machines[k]->name, c->machine);
	}
	return s;
}

/* --- labels -------------------------------------------------------------------------------------- */

static void label(struct labels *l, const char *key, const char *value)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i].key, key)) {
			l->v[i].value = value;
			return;
		}
	l->v[l->n++] = (struct label){key, value};
}

/* What the node will carry: defaults, then the type's, then the pool's. */
static struct labels node_labels(struct supply *s, const struct labels *type, const char *type_name, const struct labels *pool,
				 const char *pool_name)
{
	struct labels l = {.v = arena_calloc(s->a, (type ? type->n : 0) + pool->n + 8, sizeof(*l.v))};

	label(&l, "kubernetes.io/os", "linux");
	label(&l, "kubernetes.io/arch", "amd64");
	label(&l, "drover.dev/nodepool", pool_name);
	if (type_name)
		label(&l, "node.kubernetes.io/instance-type", type_name);
	for (size_t i = 0; type && i < type->n; i++)
		label(&l, type->v[i].key, type->v[i].value);
	for (size_t i = 0; i < pool->n; i++)
		label(&l, pool->v[i].key, pool->v[i].value);
	labels_sort(&l);
	return l;
}

static const struct world_instance_type *type_of(const struct world_provider *p, const char *name)
{
	for (size_t i = 0; p && i < p->types.n; i++)
		if (str_eq(p->types.v[i].name, name))
			return &p->types.v[i];
	return NULL;
}

struct labels supply_labels_of_claim(struct supply *s, const struct world_claim *c)
{
	const struct world_instance_type *t = type_of(world_find(s->w->providers, c->provider), c->instance_type);

	return node_labels(s, t ? &t->labels : NULL, c->instance_type, &c->labels, c->pool);
}

/* --- versions ------------------------------------------------------------------------------------ */

static bool minor_of(const char *version, int64_t *minor)
{
	return version && str_starts(version, "1.") && str_to_i64(version + 2, 0, 1000, minor);
}

/* The newest image that is not newer than the API server and at most three minors older. */
static const char *version_for(const struct world_pool *p, const char *server)
{
	int64_t want, have, best = -1;
	const char *found = NULL;

	if (!minor_of(server, &want))
		return NULL;
	for (size_t i = 0; i < p->nversions; i++)
		if (minor_of(p->versions[i], &have) && have <= want && want - have <= KUBELET_SKEW && have > best) {
			best = have;
			found = p->versions[i];
		}
	return found;
}

/* --- offering ------------------------------------------------------------------------------------ */

/* How near a pool came, from far to near; the reasons are sorted by it. */
static const int nearness[PLAN_REASONS] = {
	[PLAN_NO_POOL] = 0,	    [PLAN_TENANT] = 0,	       [PLAN_UNSUPPORTED] = 0, [PLAN_REQUIREMENTS] = 1,
	[PLAN_TAINT] = 2,	    [PLAN_TOO_BIG] = 3,	       [PLAN_NO_IMAGE] = 4,    [PLAN_POOL_PAUSED] = 5,
	[PLAN_ERASE_BELOW_POLICY] = 6, [PLAN_QUOTA] = 7,       [PLAN_POOL_LIMIT] = 8,  [PLAN_NO_MACHINE] = 9,
};

struct miss {
	enum plan_reason_code code;
	const char *text;
};

static void nearer(struct miss *m, enum plan_reason_code code, const char *text)
{
	if (!m->text || nearness[code] > nearness[m->code])
		*m = (struct miss){code, text};
}

static bool wiped_enough(const struct world_machine *m, const struct world_pool *p)
{
	return (m->level_flash < 0 || m->level_flash >= p->minimum_level_flash) &&
	       (m->level_hdd < 0 || m->level_hdd >= p->minimum_level_hdd) && m->trust >= p->minimum_trust;
}

static bool better(const struct world_machine *a, const struct world_machine *b)
{
	if (!b)
		return true;
	if (a->warm != b->warm)
		return a->warm;
	if (a->failures != b->failures)
		return a->failures < b->failures;
	return false; /* by name: the first stays */
}

/* What is said when all machines of a type are taken: "3 machines, all taken (2 serving, 1 wiping)". */
static const char *taken_text(struct supply *s, const struct world_provider *pr, const struct world_instance_type *t)
{
	struct {
		const char *what;
		int n;
	} why[32];
	size_t nwhy = 0, i, k;
	int total = 0;
	const char *text = "";

	for (i = 0; i < s->nmachines; i++) {
		const struct world_machine *m = s->machines[i];
		const char *what = m->offered ? "claimed" : str_or(m->not_offered, "not offered");

		if (!str_eq(m->provider, pr->name) || !str_eq(m->instance_type, t->name))
			continue;
		total++;
		for (k = 0; k < nwhy && !str_eq(why[k].what, what); k++)
			;
		if (k == nwhy && nwhy < 32) {
			why[nwhy].what = what;
			why[nwhy++].n = 0;
		}
		if (k < nwhy)
			why[k].n++;
	}
	for (k = 0; k < nwhy; k++)
		text = arena_printf(s->a, "%s%s%d %s", text, k ? ", " : "", why[k].n, why[k].what);
	if (!total)
		return arena_printf(s->a, "provider %s has no machine of type %s", pr->name, t->name);
	return arena_printf(s->a, "%d machine%s of type %s, all taken (%s)", total, total == 1 ? "" : "s", t->name, text);
}

/* GPUs left over, then all else that is left over: the type that wastes least. */
static bool wastes_less(const struct world_instance_type *a, const struct world_instance_type *b)
{
	const struct quantity zero = {0}, *x, *y;
	int c;

	if (!b)
		return true;
	x = resources_get(&a->capacity, GPU);
	y = resources_get(&b->capacity, GPU);
	c = quantity_cmp(x ? *x : zero, y ? *y : zero);
	if (c)
		return c < 0;
	x = resources_get(&a->capacity, "memory");
	y = resources_get(&b->capacity, "memory");
	c = quantity_cmp(x ? *x : zero, y ? *y : zero);
	return c ? c < 0 : strcmp(a->name, b->name) < 0;
}

/* One type of one provider of one pool: does it fit the pod, and is a machine free? */
static const struct world_machine *try_type(struct supply *s, const struct world_pod *pod, const struct world_tenant *t,
					    const struct world_pool *p, const struct world_provider *pr,
					    const struct world_instance_type *type, struct labels *labels, struct miss *miss)
{
	const struct world_machine *best = NULL;
	const struct world_taint *taint;
	const char *name;
	bool below = false;

	*labels = node_labels(s, &type->labels, type->name, &p->labels, p->name);
	if (!selector_matches(&p->requirements, labels)) {
		nearer(miss, PLAN_REQUIREMENTS, "no instance type fits the pool's own requirements");
		return NULL;
	}
	if (!fit_labels(pod, labels)) {
		nearer(miss, PLAN_REQUIREMENTS, arena_printf(s->a, "type %s does not fit nodeSelector and affinity", type->name));
		return NULL;
	}
	taint = fit_taints(pod, &p->taints);
	if (taint) {
		nearer(miss, PLAN_TAINT, arena_printf(s->a, "taint %s is not tolerated", taint->key));
		return NULL;
	}
	name = fit_resources(&pod->requests, &type->capacity);
	if (name) {
		nearer(miss, PLAN_TOO_BIG, arena_printf(s->a, "type %s has too little %s", type->name, name));
		return NULL;
	}
	name = passes(&t->quota, usage_of(s->tenants, &s->ntenants, t->name), &type->capacity);
	if (name) {
		nearer(miss, PLAN_QUOTA, arena_printf(s->a, "the tenant's quota of %s is used up", name));
		return NULL;
	}
	name = passes(&p->limits, usage_of(s->pool_use, &s->npool_use, p->name), &type->capacity);
	if (name) {
		nearer(miss, PLAN_POOL_LIMIT, arena_printf(s->a, "the pool's limit of %s is reached", name));
		return NULL;
	}
	for (size_t i = 0; i < s->nmachines; i++) {
		const struct world_machine *m = s->machines[i];

		if (s->used[i] || !m->offered || !str_eq(m->provider, pr->name) || !str_eq(m->instance_type, type->name))
			continue;
		if (!wiped_enough(m, p))
			below = true;
		else if (better(m, best))
			best = m;
	}
	if (!best && below)
		nearer(miss, PLAN_ERASE_BELOW_POLICY,
		       arena_printf(s->a, "free machines of type %s were wiped below what the pool wants", type->name));
	else if (!best)
		nearer(miss, PLAN_NO_MACHINE, taken_text(s, pr, type));
	return best;
}

static bool try_pool(struct supply *s, const struct world_pod *pod, const struct world_tenant *t, const struct world_pool *p,
		     struct supply_offer *out, struct miss *miss)
{
	const char *version = version_for(p, t->version);

	if (p->paused) {
		nearer(miss, PLAN_POOL_PAUSED, str_or(p->paused_reason, "paused"));
		return false;
	}
	if (!version) {
		nearer(miss, PLAN_NO_IMAGE, arena_printf(s->a, "no image for Kubernetes %s", t->version));
		return false;
	}
	for (size_t i = 0; i < p->nproviders; i++) {
		const struct world_provider *pr = world_find(s->w->providers, p->providers[i]);
		const struct world_instance_type *best = NULL;

		if (!pr || pr->paused) {
			nearer(miss, PLAN_NO_MACHINE, arena_printf(s->a, "provider %s is %s", p->providers[i],
								   pr ? str_or(pr->paused_reason, "paused") : "not there"));
			continue;
		}
		for (size_t k = 0; k < pr->types.n; k++) {
			struct labels labels;
			const struct world_machine *m =
				wastes_less(&pr->types.v[k], best)
					? try_type(s, pod, t, p, pr, &pr->types.v[k], &labels, miss)
					: NULL;

			if (!m)
				continue;
			best = &pr->types.v[k];
			*out = (struct supply_offer){p, best, m, version, labels};
		}
		if (best)
			return true;
	}
	return false;
}

static int by_nearness(const void *x, const void *y)
{
	const struct plan_reason *a = x, *b = y;

	if (nearness[a->code] != nearness[b->code])
		return nearness[b->code] - nearness[a->code];
	return strcmp(a->pool, b->pool);
}

bool supply_offer(struct supply *s, const struct world_pod *pod, const struct world_tenant *t, struct supply_offer *out,
		  struct plan_reason **reasons, size_t *nreasons)
{
	*reasons = arena_calloc(s->a, s->npools + 1, sizeof(**reasons));
	*nreasons = 0;
	for (size_t i = 0; i < s->npools; i++) {
		const struct world_pool *p = s->pools[i];
		struct miss miss = {0};

		if (!selector_matches(&p->tenants, &t->labels))
			continue;
		if (try_pool(s, pod, t, p, out, &miss))
			return true;
		if (!miss.text)
			miss = (struct miss){PLAN_NO_MACHINE, "it has no provider"};
		(*reasons)[(*nreasons)++] =
			(struct plan_reason){p->name, miss.code, arena_printf(s->a, "pool %s: %s", p->name, miss.text)};
	}
	qsort(*reasons, *nreasons, sizeof(**reasons), by_nearness);
	if (!*nreasons)
		(*reasons)[(*nreasons)++] =
			(struct plan_reason){"", PLAN_NO_POOL, arena_printf(s->a, "no pool selects tenant %s", t->name)};
	return false;
}

void supply_used(struct supply *s, const char *tenant, const struct supply_offer *o)
{
	for (size_t i = 0; i < s->nmachines; i++)
		if (s->machines[i] == o->machine)
			s->used[i] = true;
	charge(s, tenant, o->pool->name, &o->type->capacity);
}
