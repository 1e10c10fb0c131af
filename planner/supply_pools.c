#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "planner/fit.h"
#include "planner/supply.h"

/* Tests: tests/unit/planner/test_supply.c */

static void label(struct labels *l, const char *key, const char *value)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i].key, key)) {
			l->v[i].value = value;
			return;
		}
	l->v[l->n++] = (struct label){key, value};
}

/* What the node will carry: defaults, then the type's, then the machine's, then the pool's. */
struct labels supply_node_labels(struct arena *a, const struct labels *type, const char *type_name,
				 const struct labels *machine, const struct labels *pool,
				 const char *pool_name)
{
	const size_t n = (type ? type->n : 0) + (machine ? machine->n : 0) + pool->n;
	struct labels l = {.v = arena_calloc(a, n + 4, sizeof(*l.v))};

	label(&l, "kubernetes.io/os", "linux");
	label(&l, "kubernetes.io/arch", "amd64");
	label(&l, "drover.dev/nodepool", pool_name);
	if (type_name)
		label(&l, "node.kubernetes.io/instance-type", type_name);
	for (size_t i = 0; type && i < type->n; i++)
		label(&l, type->v[i].key, type->v[i].value);
	for (size_t i = 0; machine && i < machine->n; i++)
		label(&l, machine->v[i].key, machine->v[i].value);
	for (size_t i = 0; i < pool->n; i++)
		label(&l, pool->v[i].key, pool->v[i].value);
	labels_sort(&l);
	return l;
}

bool supply_wiped_enough(const struct world_machine *m, const struct world_pool *p)
{
	return (m->level_flash < 0 || m->level_flash >= p->minimum_level_flash) &&
	       (m->level_hdd < 0 || m->level_hdd >= p->minimum_level_hdd) &&
	       m->trust >= p->minimum_trust;
}

/* --- what a pool has ----------------------------------------------------------------------------- */

static int compare_amounts(const struct resources *a, const struct resources *b, const char *name)
{
	const struct quantity zero = {0}, *x = resources_get(a, name), *y = resources_get(b, name);

	return quantity_cmp(x ? *x : zero, y ? *y : zero);
}

static int by_labels(const struct labels *a, const struct labels *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		int c = strcmp(a->v[i].key, b->v[i].key);

		if (!c)
			c = strcmp(a->v[i].value, b->v[i].value);
		if (c)
			return c;
	}
	return a->n < b->n ? -1 : a->n > b->n;
}

/* The smallest first: fewest GPUs, then least memory, so that the first that fits wastes least. */
static int by_waste(const void *x, const void *y)
{
	const struct world_instance_type *a = ((const struct supply_option *)x)->type,
					 *b = ((const struct supply_option *)y)->type;
	int c = compare_amounts(&a->capacity, &b->capacity, PLANNING_GPU);

	if (!c)
		c = compare_amounts(&a->capacity, &b->capacity, "memory");
	if (!c)
		c = strcmp(a->name, b->name);
	return c ? c
		 : by_labels(&((const struct supply_option *)x)->labels,
			     &((const struct supply_option *)y)->labels);
}

int supply_by_worth(const struct world_machine *a, const struct world_machine *b)
{
	if (a->warm != b->warm)
		return a->warm ? -1 : 1;
	if (a->failures != b->failures)
		return a->failures < b->failures ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int by_worth(const void *x, const void *y)
{
	return supply_by_worth(&(*(struct world_stock *const *)x)->m,
			       &(*(struct world_stock *const *)y)->m);
}

static struct supply_group *group_of(struct planning *p, struct world_group *g)
{
	if (g->plan != p->w->plan) {
		g->plan = p->w->plan;
		g->supply = arena_new_obj(p->a, struct supply_group);
		g->supply->n = g->n;
		g->supply->v = arena_calloc(p->a, g->n, sizeof(struct world_stock *));
		memcpy(g->supply->v, g->v, g->n * sizeof(struct world_stock *));
		qsort(g->supply->v, g->n, sizeof(struct world_stock *), by_worth);
	}
	return g->supply;
}

static size_t groups_of(struct planning *p, const struct world_provider *pr)
{
	size_t n = 0;

	for (size_t i = 0; i < pr->types.n; i++) {
		const struct world_kind *k = world_kind(p->w, pr->name, pr->types.v[i].name);

		n += k ? k->n : 1;
	}
	return n;
}

static void add_option(struct planning *p, struct supply_pool *pool,
		       const struct world_provider *pr, const struct world_instance_type *t,
		       struct world_group *g)
{
	pool->options[pool->noptions++] = (struct supply_option){
		.provider = pr,
		.type = t,
		.labels = supply_node_labels(p->a, &t->labels, t->name, g ? &g->labels : NULL,
					     &pool->it->labels, pool->it->name),
		.group = g ? group_of(p, g) : NULL,
	};
}

void supply_options(struct planning *p, struct supply_pool *pool)
{
	const struct world_pool *it = pool->it;
	size_t n = 0;

	for (size_t i = 0; i < it->nproviders; i++) {
		const struct world_provider *pr = world_find(p->w->providers, it->providers[i]);

		n += pr ? groups_of(p, pr) : 0;
	}
	pool->options = arena_calloc(p->a, n + 1, sizeof(*pool->options));
	for (size_t i = 0; i < it->nproviders; i++) {
		const struct world_provider *pr = world_find(p->w->providers, it->providers[i]);
		const size_t from = pool->noptions;

		for (size_t k = 0; pr && !pr->paused && k < pr->types.n; k++) {
			const struct world_instance_type *t = &pr->types.v[k];
			const struct world_kind *kind = world_kind(p->w, pr->name, t->name);

			for (size_t g = 0; kind && g < kind->n; g++)
				add_option(p, pool, pr, t, kind->v[g]);
			if (!kind)
				add_option(p, pool, pr, t, NULL);
		}
		for (size_t k = from; p->topology && k < pool->noptions; k++)
			pool->options[k].domains =
				topology_domains(p->topology, &pool->options[k].labels);
		qsort(pool->options + from, pool->noptions - from, sizeof(*pool->options),
		      by_waste);
	}
	for (size_t i = 0; i < it->taints.n; i++)
		pool->soft |= fit_is_soft(&it->taints.v[i]);
}

/* --- what a class may have of it ----------------------------------------------------------------- */

/* How near each miss is; of equals the later, which is the larger type. */
static void miss(struct class_pool *cp, enum plan_reason_code code, const char *text)
{
	static const int nearness[PLAN_REASONS] = {[PLAN_REQUIREMENTS] = 1,
						   [PLAN_TAINT] = 2,
						   [PLAN_RUNTIME_CLASS] = 3,
						   [PLAN_TOO_BIG] = 4};

	if (!cp->text || nearness[code] >= nearness[cp->code]) {
		cp->code = code;
		cp->text = text;
	}
}

static const char *too_little(struct planning *p, const struct world_instance_type *t,
			      const char *name, const struct resources *taken)
{
	if (planning_is_port(name))
		return arena_printf(p->a, "port %s of each node is taken by a DaemonSet", name + 1);
	return arena_printf(p->a, "type %s has too little %s%s", t->name, name,
			    resources_get(taken, name) ? " beside what DaemonSets take" : "");
}

void supply_narrow(struct planning *p, const struct plan_class *c, struct class_pool *cp)
{
	const struct world_pool *it = cp->pool->it;
	const struct world_taint *taint = fit_taints(c->pod, &it->taints);
	const bool picky = c->pod->preferences.n || cp->pool->soft;
	const struct resources *taken = &c->tenant->overhead.of;
	bool own = false;

	cp->options = arena_calloc(p->a, cp->pool->noptions + 1, sizeof(*cp->options));
	if (picky)
		cp->score = arena_calloc(p->a, cp->pool->noptions + 1, sizeof(*cp->score));
	for (size_t i = 0; i < cp->pool->noptions; i++) {
		struct supply_option *o = &cp->pool->options[i];
		const char *name;

		if (!selector_matches(&it->requirements, &o->labels))
			continue;
		own = true;
		if (!c->any_label && !fit_labels(c->pod, &o->labels)) {
			miss(cp, PLAN_REQUIREMENTS,
			     "no instance type fits nodeSelector and affinity");
		} else if (taint) {
			miss(cp, PLAN_TAINT,
			     arena_printf(p->a, "taint %s is not tolerated", taint->key));
		} else if (!fit_runtime(c->pod, it)) {
			miss(cp, PLAN_RUNTIME_CLASS,
			     arena_printf(p->a, "its images do not carry RuntimeClass %s",
					  c->pod->runtime_class));
		} else if ((name = fit_resources(&c->pod->requests, &o->type->capacity, taken))) {
			miss(cp, PLAN_TOO_BIG, too_little(p, o->type, name, taken));
		} else {
			if (picky)
				cp->score[cp->n] = fit_score(c->pod, &o->labels, &it->taints);
			cp->options[cp->n++] = o;
		}
	}
	if (!own)
		miss(cp, PLAN_REQUIREMENTS, "no instance type fits the pool's own requirements");
}
