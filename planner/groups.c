#include "planner/groups.h"

#include "base/str.h"

/* Largest number of topology keys of one tenant. For each key, each node of all tenants is checked.
 * So a pod with more keys is treated as if its tenant's work units (PLAN_WORK) were used up; and if
 * bound pods have more, so are all pods of the tenant. */
#define KEYS_MAX 16
/* Work units (computing time, plan.h) charged for creating a group, including its memory. */
#define GROUP_COST 200
#define LOOKUP_COST 10
#define PROFILE_COST 20
/* Namespace in the index for constraints that name several or all namespaces; no valid namespace
 * has this name. */
#define ANY_NAMESPACE "*"

struct group_key {
	const char *name;
	/* Label value -> struct id, the number of the domain. */
	struct map *ids;
	size_t n;
};
struct id {
	int id;
};

/* Groups whose constraint requires one label value in one namespace. */
struct group_bucket {
	struct topology_group **v;
	size_t n, cap;
	/* Sum of the groups' costs. */
	uint64_t cost;
	/* profiles: number of profiles that have the label value, so each of the groups is checked
	 * whether it counts them. bound: number of the bound pods of these profiles. */
	size_t profiles, bound;
};
struct tenant_topology {
	struct map *by_text;
	/* "NAMESPACE, label key, value", as index_key() writes it -> struct group_bucket. */
	struct map *index;
	/* Label keys by which the tenant's constraints are indexed. */
	struct map *indexed;
	/* True if a constraint is indexed below ANY_NAMESPACE. */
	bool any_namespace;
	/* Bit set of the topology keys that the tenant's constraints name. */
	uint64_t *named;
	size_t named_cap;
	unsigned nkeys;
	struct inclusions inclusions;
};

struct groups {
	struct planning *p;
	struct arena *a;
	struct group_key *keys;
	int nkeys;
	size_t keys_cap;
	struct plan_profile **profiles;
	size_t nprofiles, profiles_cap;
	/* Scratch list of groups, used by meet(). */
	struct topology_group **found;
	size_t nfound, found_cap;
	/* Saved state of each group that the current transaction has changed. */
	struct before {
		struct topology_group *group, was;
		struct before *next;
	} * before;
	/* Number of transactions begun so far. */
	uint64_t tries;
	bool trying;
};

struct groups *groups_new(struct planning *p)
{
	struct groups *g = arena_new_obj(p->a, struct groups);

	g->p = p;
	g->a = p->a;
	return g;
}

/* --- topology profiles and groups ------------------------------------------------------------- */

static int key_of(struct groups *g, const char *name)
{
	if (str_eq(name, WORLD_HOSTNAME))
		return GROUP_HOST;
	for (int i = 0; i < g->nkeys; i++)
		if (str_eq(g->keys[i].name, name))
			return i;
	g->keys =
		planning_wider(g->a, g->keys, &g->keys_cap, (size_t)g->nkeys + 1, sizeof(*g->keys));
	g->keys[g->nkeys] = (struct group_key){.name = name, .ids = planning_map(g->p)};
	return g->nkeys++;
}

static struct tenant_topology *tenant_of(struct groups *g, struct plan_tenant *of)
{
	if (!of->topology) {
		of->topology = arena_new_obj(g->a, struct tenant_topology);
		of->topology->by_text = planning_map(g->p);
		of->topology->index = planning_map(g->p);
		of->topology->indexed = planning_map(g->p);
		of->topology->inclusions.by_text = planning_map(g->p);
		of->topology->inclusions.tenant = of;
	}
	return of->topology;
}

/* True if the tenant's constraints name the topology key already. */
static bool is_named(const struct groups *g, const struct tenant_topology *of, const char *name)
{
	for (size_t i = 0; i < (size_t)g->nkeys && i / 64 < of->named_cap; i++)
		if (str_eq(g->keys[i].name, name))
			return of->named[i / 64] >> i % 64 & 1;
	return false;
}

/* True if the tenant would have too many topology keys with those of the pod. */
static bool has_too_many_keys(const struct groups *g, const struct tenant_topology *of,
			      const struct world_pod *pod)
{
	size_t n = of->nkeys;

	for (size_t i = 0; i < pod->topology.n; i++) {
		const char *key = pod->topology.v[i].key;
		size_t first = 0;

		while (!str_eq(pod->topology.v[first].key, key))
			first++;
		n += first == i && !str_eq(key, WORLD_HOSTNAME) && !is_named(g, of, key);
	}
	return n > KEYS_MAX;
}

static void name_key(struct groups *g, struct plan_tenant *of, int key)
{
	struct tenant_topology *tt = of->topology;
	const size_t word = (size_t)(key < 0 ? 0 : key) / 64;

	if (key < 0 || (word < tt->named_cap && tt->named[word] >> key % 64 & 1))
		return;
	tt->named = planning_wider(g->a, tt->named, &tt->named_cap, word + 1, sizeof(*tt->named));
	tt->named[word] |= (uint64_t)1 << key % 64;
	if (++tt->nkeys > KEYS_MAX)
		planning_charge(g->p, of, PLAN_WORK + 1);
}

/* Returns the work units (computing time, plan.h) of one check whether the constraint selects a
 * pod. */
static uint64_t cost_of(const struct world_topology *it)
{
	uint64_t cost = 2 + it->nnamespaces + 2 * it->pods.n;

	for (size_t i = 0; i < it->pods.n; i++)
		cost += it->pods.v[i].nvalues;
	return cost;
}

static const struct requirement *one_value(const struct world_topology *it)
{
	for (size_t i = 0; i < it->pods.n; i++)
		if (it->pods.v[i].op == SELECTOR_IN && it->pods.v[i].nvalues == 1)
			return &it->pods.v[i];
	return NULL;
}

/* Writes to w->text the index key of groups whose constraint requires this label value in this
 * namespace. key NULL: constraints that require no single label value. */
static void index_key(struct world *w, const char *ns, const char *key, const char *value)
{
	world_text_clear(w);
	world_text_add(w, ns);
	world_text_add(w, key);
	world_text_add(w, value);
}

static struct group_bucket *bucket_of(struct groups *g, struct tenant_topology *of, const char *ns,
				      const char *key, const char *value)
{
	struct group_bucket *b;

	index_key(g->p->w, ns, key, value);
	b = map_get(of->index, g->p->w->text);
	if (!b) {
		b = arena_new_obj(g->a, struct group_bucket);
		map_put(of->index, g->p->w->text, b);
	}
	return b;
}

/* Returns the namespace below which the constraint of *pod is indexed. */
static const char *index_namespace(const struct world_topology *it, const struct world_pod *pod)
{
	if (it->everywhere || it->nnamespaces > 1)
		return ANY_NAMESPACE;
	return it->nnamespaces ? it->namespaces[0] : pod->ns;
}

void groups_ask(struct groups *g, const struct world_shape *shape)
{
	const struct world_pod *pod = &shape->pod;
	struct tenant_topology *of = tenant_of(g, planning_tenant(g->p, pod->tenant));

	for (size_t i = 0; i < pod->topology.n; i++) {
		const struct world_topology *it = &pod->topology.v[i];
		const struct requirement *r = one_value(it);

		of->any_namespace |= str_eq(index_namespace(it, pod), ANY_NAMESPACE);
		if (r && !map_has(of->indexed, r->key))
			map_put(of->indexed, r->key, of);
	}
}

static void put_into_index(struct groups *g, struct plan_tenant *t, struct topology_group *x)
{
	const struct requirement *r = one_value(x->it);
	struct group_bucket *b = bucket_of(g, t->topology, index_namespace(x->it, x->pod),
					   r ? r->key : NULL, r ? r->values[0] : NULL);

	b->v = planning_wider(g->a, b->v, &b->cap, b->n + 1, sizeof(struct topology_group *));
	b->v[b->n++] = x;
	b->cost += x->cost;
	t->due += b->profiles * x->cost + b->bound;
}

static struct topology_group *group_of(struct groups *g, const struct plan_profile *s,
				       const struct world_topology *it, enum group_what what)
{
	struct tenant_topology *of = s->tenant->topology;
	struct topology_group *x;
	uint64_t cost;

	shape_group_key(g->p->w, it, s->pod, what);
	cost = 8 + g->p->w->len / 8;
	planning_charge(g->p, s->tenant, cost);
	/* meet() looks for the group of carriers again. */
	s->tenant->due += what == GROUP_CARRIERS ? cost : 0;
	x = map_get(of->by_text, g->p->w->text);
	if (x)
		return x;
	planning_charge(g->p, s->tenant, GROUP_COST);
	x = arena_new_obj(g->a, struct topology_group);
	map_put(of->by_text, g->p->w->text, x);
	*x = (struct topology_group){
		.of = of, .it = it, .pod = s->pod, .what = what, .key = key_of(g, it->key)};
	name_key(g, s->tenant, x->key);
	if (what == GROUP_SPREAD && x->key >= 0)
		x->nodes = inclusion_of(g->p, &of->inclusions, it, s->pod, x->key);
	if (what != GROUP_ALL_TERMS)
		x->cost = cost_of(it);
	for (size_t i = 0; what == GROUP_ALL_TERMS && i < s->pod->topology.n; i++)
		x->cost += cost_of(&s->pod->topology.v[i]);
	put_into_index(g, s->tenant, x);
	return x;
}

static bool term_selects(const struct world_topology *it, const char *ns, const struct world_pod *p)
{
	bool in = it->everywhere || (!it->nnamespaces && str_eq(ns, p->ns));

	for (size_t i = 0; !in && i < it->nnamespaces; i++)
		in = str_eq(it->namespaces[i], p->ns);
	return in && selector_matches(&it->pods, &p->labels);
}

/* True if the group's constraint selects the pod. A GROUP_ALL_TERMS group selects only pods that
 * match all affinity terms, as in kube-scheduler's InterPodAffinity. */
static bool selects(const struct topology_group *x, const struct world_pod *p)
{
	if (x->what != GROUP_ALL_TERMS)
		return term_selects(x->it, x->pod->ns, p);
	for (size_t i = 0; i < x->pod->topology.n; i++)
		if (x->pod->topology.v[i].kind == WORLD_TOGETHER &&
		    !term_selects(&x->pod->topology.v[i], x->pod->ns, p))
			return false;
	return true;
}

/* Creates the groups of the constraints of topology profile *s and, if a waiting pod has the
 * profile, its rules. For bound pods only anti-affinity is considered, because their other
 * constraints have no effect any more. */
static void make_rules(struct groups *g, struct plan_profile *s)
{
	static const enum group_what counts_of[] = {[WORLD_SPREAD] = GROUP_SPREAD,
						    [WORLD_TOGETHER] = GROUP_ALL_TERMS,
						    [WORLD_APART] = GROUP_SELECTED};

	if (s->pending)
		s->rules = arena_calloc(g->a, s->pod->topology.n + 1, sizeof(*s->rules));
	for (size_t i = 0; i < s->pod->topology.n && !s->tenant->over; i++) {
		const struct world_topology *it = &s->pod->topology.v[i];

		if (s->pending) {
			struct topology_group *x = group_of(g, s, it, counts_of[it->kind]);

			s->rules[s->nrules++] = (struct topology_rule){x, it, selects(x, s->pod)};
		}
		if (it->kind == WORLD_APART)
			(void)group_of(g, s, it, GROUP_CARRIERS);
	}
}

/* Records that the groups of one label value will be checked whether they count the profile's
 * pods. */
static void join_bucket(struct groups *g, struct plan_profile *s, const char *ns, const char *key,
			const char *value)
{
	struct group_bucket *b = bucket_of(g, s->tenant->topology, ns, key, value);

	s->tenant->due += LOOKUP_COST + b->cost + b->n * s->bound;
	b->profiles++;
	b->bound += s->bound;
}

/* Calls fn for each bucket in which a group may select pods of the profile. */
static void each_bucket(struct groups *g, struct plan_profile *s,
			void (*fn)(struct groups *g, struct plan_profile *s, const char *ns,
				   const char *key, const char *value))
{
	const struct tenant_topology *of = s->tenant->topology;

	fn(g, s, s->pod->ns, NULL, NULL);
	if (of->any_namespace)
		fn(g, s, ANY_NAMESPACE, NULL, NULL);
	for (size_t i = 0; i < s->pod->labels.n; i++) {
		const struct label *l = &s->pod->labels.v[i];

		if (!map_has(of->indexed, l->key))
			continue;
		fn(g, s, s->pod->ns, l->key, l->value);
		if (of->any_namespace)
			fn(g, s, ANY_NAMESPACE, l->key, l->value);
	}
}

static struct plan_profile *profile_new(struct groups *g, struct world_shape *shape)
{
	struct plan_profile *s = arena_new_obj(g->a, struct plan_profile);

	shape->plan = g->p->w->plan;
	shape->profile = s;
	*s = (struct plan_profile){.pod = &shape->pod,
				   .tenant = planning_tenant(g->p, shape->pod.tenant),
				   .number = (uint32_t)g->nprofiles,
				   .bound = shape->bound};
	planning_charge(g->p, s->tenant, PROFILE_COST);
	s->tenant->due += PROFILE_COST;
	if (s->tenant->topology)
		each_bucket(g, s, join_bucket);
	g->profiles = planning_wider(g->a, g->profiles, &g->profiles_cap, g->nprofiles + 1,
				     sizeof(struct plan_profile *));
	g->profiles[g->nprofiles++] = s;
	return s;
}

struct plan_profile *groups_found(const struct groups *g, const struct world_shape *shape)
{
	return shape->plan == g->p->w->plan ? shape->profile : NULL;
}

struct plan_profile *groups_profile(struct groups *g, struct world_shape *shape, bool pending)
{
	struct plan_profile *s = groups_found(g, shape);

	if (s && (s->pending || !pending))
		return s;
	if (!s)
		s = profile_new(g, shape);
	s->pending = pending;
	if (shape->pod.topology.n)
		make_rules(g, s);
	return s;
}

void groups_wait(struct groups *g, struct world_shape *shape)
{
	struct plan_tenant *t = planning_tenant(g->p, shape->pod.tenant);
	const struct plan_profile *s = groups_found(g, shape);

	if (s && s->pending)
		return;
	if (t->topology &&
	    (t->work + t->due > PLAN_WORK / 2 || has_too_many_keys(g, t->topology, &shape->pod)))
		return;
	(void)groups_profile(g, shape, true);
}

static void look_in_bucket(struct groups *g, struct plan_profile *s, const char *ns,
			   const char *key, const char *value)
{
	const struct group_bucket *b;

	index_key(g->p->w, ns, key, value);
	planning_charge(g->p, s->tenant, LOOKUP_COST);
	b = map_get(s->tenant->topology->index, g->p->w->text);
	for (size_t i = 0; b && i < b->n && !s->tenant->over; i++) {
		planning_charge(g->p, s->tenant, b->v[i]->cost);
		if (!selects(b->v[i], s->pod) || (!s->pending && b->v[i]->what == GROUP_CARRIERS))
			continue;
		g->found = planning_wider(g->a, g->found, &g->found_cap, g->nfound + 1,
					  sizeof(struct topology_group *));
		g->found[g->nfound++] = b->v[i];
	}
}

static void meet(struct groups *g, struct plan_profile *s)
{
	size_t bans = 0;

	g->nfound = 0;
	each_bucket(g, s, look_in_bucket);
	for (size_t i = 0; i < g->nfound; i++)
		bans += g->found[i]->what == GROUP_CARRIERS;
	s->counted = arena_calloc(g->a, g->nfound - bans + s->pod->topology.n + 1,
				  sizeof(struct topology_group *));
	s->bans = arena_calloc(g->a, bans + 1, sizeof(struct topology_group *));
	for (size_t i = 0; i < g->nfound; i++) {
		if (g->found[i]->what == GROUP_CARRIERS)
			s->bans[s->nbans++] = g->found[i];
		else
			s->counted[s->ncounted++] = g->found[i];
	}
	for (size_t i = 0; i < s->pod->topology.n; i++)
		if (s->pod->topology.v[i].kind == WORLD_APART)
			s->counted[s->ncounted++] =
				group_of(g, s, &s->pod->topology.v[i], GROUP_CARRIERS);
}

bool groups_meet(struct groups *g, size_t profile)
{
	struct plan_tenant *of;

	if (profile >= g->nprofiles)
		return false;
	of = g->profiles[profile]->tenant;
	planning_charge(g->p, of, PROFILE_COST);
	if (of->topology && !of->over)
		meet(g, g->profiles[profile]);
	return true;
}

/* --- domains and counts ----------------------------------------------------------------------- */

int groups_keys(const struct groups *g)
{
	return g->nkeys;
}

size_t groups_domains(const struct groups *g, int key)
{
	return g->keys[key].n;
}

static int domain_of(struct groups *g, int key, const struct labels *labels)
{
	const char *value = labels_get(labels, g->keys[key].name);
	struct id *id;

	if (!value)
		return -1;
	id = map_get(g->keys[key].ids, value);
	if (!id) {
		id = arena_new_obj(g->a, struct id);
		id->id = (int)g->keys[key].n++;
		map_put(g->keys[key].ids, value, id);
	}
	return id->id;
}

const int *groups_domains_of(struct groups *g, const struct labels *labels)
{
	int *d = arena_calloc(g->a, (size_t)g->nkeys + 1, sizeof(*d));

	for (int k = 0; k < g->nkeys; k++)
		d[k] = domain_of(g, k, labels);
	return d;
}

void groups_bin(struct groups *g, struct plan_tenant *of, size_t bin, const struct labels *labels,
		const struct world_taints *taints)
{
	if (!of->topology)
		return;
	if (!of->domains)
		domains_new(g->a, of, g->nkeys);
	for (int k = 0; k < g->nkeys; k++)
		domains_put(g->a, of, k, bin, domain_of(g, k, labels));
	inclusion_add(g->p, &of->topology->inclusions, labels, taints);
}

void groups_unbin(struct plan_tenant *of, size_t bin)
{
	if (!of->topology)
		return;
	inclusion_cut(&of->topology->inclusions);
	domains_drop(of, bin);
}

void groups_try(struct groups *g)
{
	g->trying = true;
	g->before = NULL;
	g->tries++;
}

void groups_keep(struct groups *g)
{
	g->trying = false;
}

void groups_undo(struct groups *g)
{
	for (const struct before *b = g->before; b; b = b->next)
		*b->group = b->was;
	g->trying = false;
}

/* Saves group x before its first change in the current transaction. The group then gets its own
 * copy of its table of counts, so that the saved table stays unchanged. */
static void remember(struct groups *g, const struct plan_profile *s, struct topology_group *x)
{
	struct before *b;

	if (!g->trying || x->tried == g->tries)
		return;
	b = arena_new_obj(g->a, struct before);
	*b = (struct before){x, *x, g->before};
	g->before = b;
	x->tried = g->tries;
	planning_charge(g->p, s->tenant, 4 + x->count.cap / 4);
	if (!x->count.cap)
		return;
	x->count.v = arena_calloc(g->a, x->count.cap, sizeof(*x->count.v));
	memcpy(x->count.v, b->was.count.v, x->count.cap * sizeof(*x->count.v));
}

void groups_place(struct groups *g, const struct plan_profile *s, size_t bin, size_t n,
		  size_t terminating)
{
	planning_charge(g->p, s->tenant, 4 + s->ncounted);
	for (size_t i = 0; i < s->ncounted && !s->tenant->over; i++) {
		struct topology_group *x = s->counted[i];
		const int domain = x->key < 0 ? (int)bin : domains_of_bin(s->tenant, x->key, bin);
		const size_t count = n - (x->what == GROUP_SPREAD ? terminating : 0);

		if (domain < 0 || (x->nodes && !inclusion_has(g->p, x->nodes, bin)))
			continue;
		remember(g, s, x);
		counts_add(&x->count, (uint32_t)domain, (uint32_t)count, g->a);
		x->total += count;
	}
}

void groups_leave(struct groups *g, const struct plan_profile *s, size_t bin)
{
	planning_charge(g->p, s->tenant, 4 + s->ncounted);
	for (size_t i = 0; i < s->ncounted && !s->tenant->over; i++) {
		struct topology_group *x = s->counted[i];
		const int domain = x->key < 0 ? (int)bin : domains_of_bin(s->tenant, x->key, bin);

		if (domain < 0 || (x->nodes && !inclusion_has(g->p, x->nodes, bin)))
			continue;
		remember(g, s, x);
		counts_take(&x->count, (uint32_t)domain, 1);
		x->total--;
	}
}
