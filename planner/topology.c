#include <string.h>

#include "base/str.h"
#include "planner/topology.h"

#define HOSTNAME "kubernetes.io/hostname"
/* Each key costs each node of all tenants a look: a tenant that names more is beyond its work. */
#define KEYS_MAX 16
#define GROUP_COST 500 /* of a new one, its memory among it */

struct bits {
	uint64_t *v;
	size_t words;
};
struct counts {
	uint32_t *v;
	size_t cap;
};

/* Domains have numbers, the same for all tenants. */
struct key {
	const char *name;
	struct map *ids; /* value -> struct id */
	int n;
};
struct id {
	int id;
};

enum what {
	SELECTED, /* counts pods that the constraint selects */
	CARRIERS, /* those that have it: anti-affinity holds both ways */
	SPREAD,	  /* as SELECTED, without those that are being deleted */
	ALL_TERMS /* that all affinity terms of a pod select together */
};
struct topology_group {
	struct tenant_topology *of;
	const struct world_topology *it;
	const struct world_pod *pod; /* one that has it: its namespace, its other terms */
	enum what what;
	int key;	      /* -1: hostname */
	struct counts count;  /* by domain, or by bin */
	struct bits any;      /* hostname: bins with at least one */
	uint64_t total, cost; /* cost: of one look at a pod */
};
struct topology_rule {
	struct topology_group *group;
	const struct world_topology *it;
	bool self; /* the pod is among those that it selects */
};

struct tenant_topology {
	struct topology_group **groups;
	size_t n, cap;
	struct map *by_text;
	struct bits keys; /* that it names */
	unsigned nkeys;
	struct domains { /* one for each key */
		struct bits *bins;
		size_t cap;
		int *of; /* by bin */
		size_t nof;
	} * domains;
};

/* A condition: bins of these domains, or not of these. */
struct term {
	bool negated;
	int key; /* -1: bits */
	const struct bits *bits;
	const struct domains *domains;
	uint8_t *in; /* by domain */
	size_t nin, cap;
};
struct topology_view {
	struct topology *t;
	struct plan_tenant *of;
	struct term *terms;
	size_t n, cap;
	struct limit {
		const struct topology_group *group;
		uint32_t most;
	} * limits;
	size_t nlimits, limits_cap;
	bool none, no_new;
};

struct class_domains {
	uint8_t *bins, *news; /* by domain */
	size_t cap;
};

struct topology {
	struct planning *p;
	struct arena *a;
	struct key *keys;
	int nkeys, keys_cap;
	struct plan_side **sides;
	size_t nsides, sides_cap;
	struct topology_view view;
	int *scratch;
	struct topology_group **found; /* scratch */
	size_t found_cap;
};

/* --- growing arrays in the arena ----------------------------------------------------------------- */

static void *wider(struct arena *a, void *old, size_t *cap, size_t want, size_t size)
{
	size_t to = *cap ? *cap : 8;
	void *v;

	if (want <= *cap)
		return old;
	while (to < want)
		to *= 2;
	v = arena_calloc(a, to, size);
	if (*cap)
		memcpy(v, old, *cap * size);
	*cap = to;
	return v;
}

static void set_bit(struct arena *a, struct bits *b, size_t at)
{
	b->v = wider(a, b->v, &b->words, at / 64 + 1, sizeof(*b->v));
	b->v[at / 64] |= (uint64_t)1 << at % 64;
}

static uint32_t count_at(const struct topology_group *g, size_t domain)
{
	return domain < g->count.cap ? g->count.v[domain] : 0;
}

/* --- sides and groups ---------------------------------------------------------------------------- */

struct topology *topology_new(struct planning *p)
{
	struct topology *t = arena_new_obj(p->a, struct topology);

	t->p = p;
	t->a = p->a;
	t->view.t = t;
	return t;
}

static int key_of(struct topology *t, const char *name)
{
	size_t cap = (size_t)t->keys_cap;

	if (str_eq(name, HOSTNAME))
		return -1;
	for (int i = 0; i < t->nkeys; i++)
		if (str_eq(t->keys[i].name, name))
			return i;
	t->keys = wider(t->a, t->keys, &cap, (size_t)t->nkeys + 1, sizeof(*t->keys));
	t->keys_cap = (int)cap;
	t->keys[t->nkeys] = (struct key){.name = name, .ids = planning_map(t->p)};
	return t->nkeys++;
}

static struct tenant_topology *tenant_of(struct topology *t, struct plan_tenant *of)
{
	if (!of->topology) {
		of->topology = arena_new_obj(t->a, struct tenant_topology);
		of->topology->by_text = planning_map(t->p);
	}
	return of->topology;
}

static void name_key(struct topology *t, struct plan_tenant *of, int key)
{
	struct tenant_topology *tt = of->topology;
	const size_t word = (size_t)(key < 0 ? 0 : key) / 64;

	if (key < 0 || (word < tt->keys.words && tt->keys.v[word] >> key % 64 & 1))
		return;
	set_bit(t->a, &tt->keys, (size_t)key);
	if (++tt->nkeys > KEYS_MAX)
		planning_charge(t->p, of, PLAN_WORK + 1);
}

/* Of one look at a pod. */
static uint64_t cost_of(const struct world_topology *it)
{
	uint64_t cost = 2 + it->nnamespaces + 2 * it->pods.n;

	for (size_t i = 0; i < it->pods.n; i++)
		cost += it->pods.v[i].nvalues;
	return cost;
}

static struct topology_group *group_of(struct topology *t, const struct plan_side *s,
				       const struct world_topology *it, enum what what)
{
	struct tenant_topology *of = tenant_of(t, s->tenant);
	struct topology_group *g;

	shape_group_key(t->p->w, it, s->pod, what);
	planning_charge(t->p, s->tenant, 8 + t->p->w->len / 8);
	g = map_get(of->by_text, t->p->w->text);
	if (g)
		return g;
	planning_charge(t->p, s->tenant, GROUP_COST);
	g = arena_new_obj(t->a, struct topology_group);
	map_put(of->by_text, t->p->w->text, g);
	*g = (struct topology_group){
		.of = of, .it = it, .pod = s->pod, .what = what, .key = key_of(t, it->key)};
	name_key(t, s->tenant, g->key);
	if (what != ALL_TERMS)
		g->cost = cost_of(it);
	for (size_t i = 0; what == ALL_TERMS && i < s->pod->topology.n; i++)
		g->cost += cost_of(&s->pod->topology.v[i]);
	of->groups = wider(t->a, of->groups, &of->cap, of->n + 1, sizeof(struct topology_group *));
	of->groups[of->n++] = g;
	return g;
}

static bool term_selects(const struct world_topology *it, const char *ns, const struct world_pod *p)
{
	bool in = !it->nnamespaces && str_eq(ns, p->ns);

	for (size_t i = 0; !in && i < it->nnamespaces; i++)
		in = str_eq(it->namespaces[i], p->ns);
	return in && selector_matches(&it->pods, &p->labels);
}

/* kube-scheduler's InterPodAffinity counts, for each affinity term, the pods that match all of them. */
static bool selects(const struct topology_group *g, const struct world_pod *p)
{
	if (g->what != ALL_TERMS)
		return term_selects(g->it, g->pod->ns, p);
	for (size_t i = 0; i < g->pod->topology.n; i++)
		if (g->pod->topology.v[i].kind == WORLD_TOGETHER &&
		    !term_selects(&g->pod->topology.v[i], g->pod->ns, p))
			return false;
	return true;
}

struct plan_side *topology_side(struct topology *t, struct world_shape *shape)
{
	static const enum what counts_of[] = {
		[WORLD_SPREAD] = SPREAD, [WORLD_TOGETHER] = ALL_TERMS, [WORLD_APART] = SELECTED};
	struct plan_side *s;

	if (shape->plan == t->p->w->plan)
		return shape->side;
	s = arena_new_obj(t->a, struct plan_side);
	shape->plan = t->p->w->plan;
	shape->side = s;
	s->pod = &shape->pod;
	s->tenant = planning_tenant(t->p, shape->pod.tenant);
	s->rules = arena_calloc(t->a, shape->pod.topology.n + 1, sizeof(*s->rules));
	planning_charge(t->p, s->tenant, 20);
	for (size_t i = 0; i < shape->pod.topology.n && !s->tenant->over; i++) {
		const struct world_topology *it = &shape->pod.topology.v[i];
		struct topology_group *g = group_of(t, s, it, counts_of[it->kind]);

		s->rules[s->nrules++] = (struct topology_rule){g, it, selects(g, s->pod)};
		if (it->kind == WORLD_APART)
			(void)group_of(t, s, it, CARRIERS);
	}
	t->sides = wider(t->a, t->sides, &t->sides_cap, t->nsides + 1, sizeof(struct plan_side *));
	t->sides[t->nsides++] = s;
	return s;
}

static void meet(struct topology *t, struct plan_side *s)
{
	const struct tenant_topology *of = s->tenant->topology;
	size_t n = 0, bans = 0;

	if (!of || s->tenant->over)
		return;
	t->found = wider(t->a, t->found, &t->found_cap, of->n, sizeof(struct topology_group *));
	for (size_t i = 0; i < of->n && !s->tenant->over; i++) {
		planning_charge(t->p, s->tenant, of->groups[i]->cost);
		if (!selects(of->groups[i], s->pod))
			continue;
		t->found[n++] = of->groups[i];
		bans += of->groups[i]->what == CARRIERS;
	}
	s->counted = arena_calloc(t->a, n - bans + s->nrules + 1, sizeof(struct topology_group *));
	s->bans = arena_calloc(t->a, bans + 1, sizeof(struct topology_group *));
	for (size_t i = 0; i < n; i++) {
		if (t->found[i]->what == CARRIERS)
			s->bans[s->nbans++] = t->found[i];
		else
			s->counted[s->ncounted++] = t->found[i];
	}
	for (size_t i = 0; i < s->nrules; i++)
		if (s->rules[i].it->kind == WORLD_APART)
			s->counted[s->ncounted++] = group_of(t, s, s->rules[i].it, CARRIERS);
}

bool topology_meet(struct topology *t, size_t side)
{
	struct tenant_topology *of;

	if (!t->scratch)
		t->scratch = arena_calloc(t->a, (size_t)t->nkeys + 1, sizeof(*t->scratch));
	if (side >= t->nsides)
		return false;
	of = t->sides[side]->tenant->topology;
	if (of && !of->domains)
		of->domains = arena_calloc(t->a, (size_t)t->nkeys + 1, sizeof(*of->domains));
	planning_charge(t->p, t->sides[side]->tenant, 20);
	meet(t, t->sides[side]);
	return true;
}

/* --- domains and counts -------------------------------------------------------------------------- */

static int domain_of(struct topology *t, int key, const struct labels *labels)
{
	const char *value = labels_get(labels, t->keys[key].name);
	struct id *id;

	if (!value)
		return -1;
	id = map_get(t->keys[key].ids, value);
	if (!id) {
		id = arena_new_obj(t->a, struct id);
		id->id = t->keys[key].n++;
		map_put(t->keys[key].ids, value, id);
	}
	return id->id;
}

const int *topology_domains(struct topology *t, const struct labels *labels)
{
	int *d = arena_calloc(t->a, (size_t)t->nkeys + 1, sizeof(*d));

	for (int k = 0; k < t->nkeys; k++)
		d[k] = domain_of(t, k, labels);
	return d;
}

void topology_bin(struct topology *t, struct plan_tenant *of, size_t bin,
		  const struct labels *labels)
{
	if (!of->topology)
		return;
	for (int k = 0; k < t->nkeys; k++) {
		struct domains *d = &of->topology->domains[k];
		const int id = domain_of(t, k, labels);

		d->of = wider(t->a, d->of, &d->nof, bin + 1, sizeof(*d->of));
		d->of[bin] = id;
		if (id < 0)
			continue;
		d->bins = wider(t->a, d->bins, &d->cap, (size_t)id + 1, sizeof(*d->bins));
		set_bit(t->a, &d->bins[id], bin);
	}
}

void topology_place(struct topology *t, const struct plan_side *s, size_t bin, bool terminating)
{
	planning_charge(t->p, s->tenant, 4 + s->ncounted);
	for (size_t i = 0; i < s->ncounted && !s->tenant->over; i++) {
		struct topology_group *g = s->counted[i];
		const int domain = g->key < 0 ? (int)bin : g->of->domains[g->key].of[bin];

		if (domain < 0 || (terminating && g->what == SPREAD))
			continue;
		g->count.v = wider(t->a, g->count.v, &g->count.cap, (size_t)domain + 1,
				   sizeof(*g->count.v));
		g->count.v[domain]++;
		g->total++;
		if (g->key < 0)
			set_bit(t->a, &g->any, bin);
	}
}

static struct class_domains *class_domains(struct topology *t, struct plan_class *c, int key,
					   size_t want)
{
	struct class_domains *d;
	size_t cap;

	if (!c->domains)
		c->domains = arena_calloc(t->a, (size_t)t->nkeys + 1, sizeof(*c->domains));
	d = &c->domains[key];
	cap = d->cap;
	d->bins = wider(t->a, d->bins, &cap, want, 1);
	cap = d->cap;
	d->news = wider(t->a, d->news, &cap, want, 1);
	d->cap = cap;
	return d;
}

void topology_admits_bin(struct topology *t, struct plan_class *c, size_t bin)
{
	if (!c->tenant->topology)
		return;
	for (int k = 0; k < t->nkeys; k++) {
		const int id = c->tenant->topology->domains[k].of[bin];

		if (id >= 0)
			class_domains(t, c, k, (size_t)id + 1)->bins[id] = 1;
	}
}

void topology_admits_new(struct topology *t, struct plan_class *c, const int *domains)
{
	for (int k = 0; k < t->nkeys; k++)
		if (domains[k] >= 0)
			class_domains(t, c, k, (size_t)domains[k] + 1)->news[domains[k]] = 1;
}

void topology_forget_new(struct topology *t, struct plan_class *c)
{
	for (int k = 0; c->domains && k < t->nkeys; k++)
		if (c->domains[k].cap)
			memset(c->domains[k].news, 0, c->domains[k].cap);
}

/* --- views --------------------------------------------------------------------------------------- */

static struct term *add_term(struct topology_view *v, const struct topology_group *g, bool negated)
{
	struct topology *t = v->t;
	struct term *e;

	v->terms = wider(t->a, v->terms, &v->cap, v->n + 1, sizeof(*v->terms));
	e = &v->terms[v->n++];
	e->negated = negated;
	e->key = g->key;
	if (g->key < 0) {
		e->bits = &g->any;
		return e;
	}
	e->domains = &g->of->domains[g->key];
	e->nin = (size_t)t->keys[g->key].n;
	planning_charge(t->p, v->of, e->nin);
	e->in = wider(t->a, e->in, &e->cap, e->nin + 1, 1);
	memset(e->in, 0, e->nin);
	return e;
}

/* Domains, or bins, in which the group has a pod. */
static void with_any(struct topology_view *v, const struct topology_group *g, bool negated)
{
	struct term *e = add_term(v, g, negated);

	for (size_t d = 0; g->key >= 0 && d < e->nin; d++)
		e->in[d] = count_at(g, d) > 0;
}

static void spread(struct topology_view *v, struct plan_class *c, const struct topology_rule *r)
{
	const struct class_domains *seen = c->domains ? &c->domains[r->group->key] : NULL;
	struct term *e = add_term(v, r->group, false);
	int64_t min = INT64_MAX;

	for (size_t d = 0; seen && d < seen->cap && d < e->nin; d++)
		if ((seen->bins[d] || seen->news[d]) && count_at(r->group, d) < min)
			min = count_at(r->group, d);
	for (size_t d = 0; d < e->nin; d++)
		e->in[d] = min != INT64_MAX &&
			   count_at(r->group, d) + r->self - min <= r->it->max_skew;
}

static void spread_hosts(struct topology_view *v, const struct topology_rule *r)
{
	const int64_t most = r->it->max_skew - r->self;

	if (most <= 0) {
		with_any(v, r->group, true);
		return;
	}
	v->limits = wider(v->t->a, v->limits, &v->limits_cap, v->nlimits + 1, sizeof(*v->limits));
	v->limits[v->nlimits++] =
		(struct limit){r->group, most > UINT32_MAX ? UINT32_MAX : (uint32_t)most};
}

static void together(struct topology_view *v, const struct topology_rule *r)
{
	struct term *e;

	if (r->group->total) {
		with_any(v, r->group, false);
		v->no_new |= r->group->key < 0;
	} else if (!r->self) {
		v->none = true;
	} else if (r->group->key >= 0) { /* the first of its kind: any domain will do */
		e = add_term(v, r->group, false);
		memset(e->in, 1, e->nin);
	}
}

struct topology_view *topology_view(struct topology *t, struct plan_class *c,
				    const struct plan_side *s)
{
	struct topology_view *v = &t->view;

	if (!s->nrules && !s->nbans)
		return NULL;
	v->of = s->tenant;
	v->n = v->nlimits = 0;
	planning_charge(t->p, s->tenant, 8 + 4 * (s->nrules + s->nbans));
	v->none = v->no_new = false;
	for (size_t i = 0; i < s->nrules; i++) {
		const struct topology_rule *r = &s->rules[i];

		switch (r->it->kind) {
		case WORLD_SPREAD:
			if (r->group->key < 0)
				spread_hosts(v, r);
			else
				spread(v, c, r);
			break;
		case WORLD_TOGETHER:
			together(v, r);
			break;
		case WORLD_APART:
			with_any(v, r->group, true);
			break;
		}
	}
	for (size_t i = 0; i < s->nbans; i++)
		with_any(v, s->bans[i], true);
	return v;
}

bool topology_waits(const struct topology_view *v)
{
	return v->none;
}

static uint64_t word_of(const struct bits *b, size_t word)
{
	return word < b->words ? b->v[word] : 0;
}

uint64_t topology_word(const struct topology_view *v, size_t word)
{
	uint64_t all = v->none ? 0 : ~(uint64_t)0;

	planning_charge(v->t->p, v->of, 1 + v->n);
	for (size_t i = 0; all && i < v->n; i++) {
		const struct term *e = &v->terms[i];
		uint64_t bits = 0;

		if (e->key < 0)
			bits = word_of(e->bits, word);
		for (size_t d = 0; e->key >= 0 && d < e->nin && d < e->domains->cap; d++)
			if (e->in[d])
				bits |= word_of(&e->domains->bins[d], word);
		all &= e->negated ? ~bits : bits;
	}
	return all;
}

bool topology_bin_ok(const struct topology_view *v, size_t bin)
{
	for (size_t i = 0; i < v->nlimits; i++)
		if (count_at(v->limits[i].group, bin) > v->limits[i].most)
			return false;
	return true;
}

bool topology_new_ok(const struct topology_view *v, const int *domains)
{
	if (v->none || v->no_new)
		return false;
	for (size_t i = 0; i < v->n; i++) {
		const struct term *e = &v->terms[i];
		int d;

		if (e->key < 0)
			continue; /* nobody is on a node that is not there yet */
		d = domains[e->key];
		if ((d >= 0 && (size_t)d < e->nin && e->in[d]) == e->negated)
			return false;
	}
	return true;
}
