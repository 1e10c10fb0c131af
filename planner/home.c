/* home: collects the pods of all instances in one pass, then searches a machine for each
 * instance. */
#include "planner/home.h"

#include "base/str.h"
#include "planner/fit.h"
#include "planner/supply/overhead.h"
#include "planner/supply/quota.h"
#include "planner/supply/supply.h"

/* Pods of one instance, and the sum of their requests. */
struct instance_pods {
	struct plan_home *home;
	const struct world_pod **v;
	size_t n, cap, sum_cap;
	struct resources sum;
};

static const char *why_kept(const struct world_one *x, int64_t now)
{
	static const char *const texts[WORLD_KEEPS] = {
		[WORLD_KEEP_NOT] = "",
		[WORLD_KEEP_ASKED] = "an annotation of the pod forbids its disruption",
		[WORLD_KEEP_ALONE] = "it has no controller that would recreate it",
		[WORLD_KEEP_LOCAL] = "it has files on this Node and does not save its work on "
				     "request",
		[WORLD_KEEP_VOLUMES] = "it has persistent volumes and does not save its work on "
				       "request",
		[WORLD_KEEP_OTHERS] = "its placement depends on other pods",
		[WORLD_KEEP_UNKNOWN] = "drover cannot evaluate what it requires of a Node",
	};

	if (x->member)
		return "it belongs to a gang";
	if (!x->keep || (x->keep_until && x->keep_until <= now) ||
	    (x->saves && (x->keep == WORLD_KEEP_LOCAL || x->keep == WORLD_KEEP_VOLUMES)))
		return NULL;
	return texts[x->keep];
}

static void add(struct instance_pods *g, const struct world_one *x, int64_t now, struct arena *a)
{
	struct plan_home *h = g->home;
	const struct world_pod *pod = &x->shape->pod;
	const char *why = why_kept(x, now);

	g->v = planning_wider(a, g->v, &g->cap, g->n + 1, sizeof(struct world_pod *));
	g->v[g->n++] = pod;
	tally_add(&g->sum, &g->sum_cap, &pod->requests, a);
	h->saves = x->saves && (h->saves || !h->pods);
	h->pods++;
	if (x->since && (!h->since || x->since < h->since))
		h->since = x->since;
	if (why && !h->kept)
		h->kept = arena_printf(a, "pod %s/%s stays: %s", x->ns, x->name, why);
}

/* Returns the Node of a claim of the tenant; NULL: the world has none. */
static struct world_host *host_of(const struct planning *p, const char *tenant, const char *claim)
{
	return world_find(p->w->nodes, arena_printf(p->a, "%s/%s", tenant, claim));
}

static void collect(struct planning *p, struct instance_pods *g, size_t n, int64_t now)
{
	struct map *of = planning_map(p);
	const struct world_list *nodes = world_nodes(p->w);
	struct map_iter it;

	for (size_t i = 0; i < n; i++) {
		const struct world_claim *c = world_find(p->w->claims, g[i].home->claim);
		const struct world_host *h = c ? host_of(p, c->tenant, c->name) : NULL;

		if (h)
			map_put(of, h->load->key, &g[i]);
	}
	map_for_each (it, p->w->pods) {
		const struct world_one *x = it.value;
		struct instance_pods *to = x->load ? map_get(of, x->load->key) : NULL;

		if (x->daemon_set)
			overhead_add_daemon_set(p, x);
		else if (to && !x->daemon && !x->terminating && !x->done)
			add(to, x, now, p->a);
	}
	for (size_t i = 0; i < nodes->n; i++) {
		const struct world_host *h = nodes->v[i];

		overhead_measure(p, planning_tenant(p, h->node.tenant), h);
	}
}

/* True if the pods fit together on the Node of the claim, beside the pods that are there. */
static bool fits_there(const struct planning *p, const struct instance_pods *g, const char *tenant)
{
	const struct world_host *h = host_of(p, tenant, g->home->to);
	const struct world_claim *c = world_find(p->w->claims, g->home->to);
	const struct world_pool *pool = c ? world_find(p->w->pools, c->pool) : NULL;
	struct resources used = {0};

	if (!h || !h->node.ready || h->node.unschedulable || !pool ||
	    h->load->pods > h->load->daemons)
		return false;
	used.v = arena_calloc(p->a, h->load->n + 1, sizeof(*used.v));
	for (size_t i = 0; i < h->load->n; i++)
		used.v[used.n++] =
			(struct resource){.name = h->load->v[i].name, .q = {h->load->v[i].nano}};
	resources_sort(&used);
	for (size_t i = 0; i < g->n; i++)
		if (!fit_labels(g->v[i], &h->node.labels) || fit_taints(g->v[i], &h->node.taints) ||
		    !fit_runtime(g->v[i], pool) ||
		    fit_resources(&g->v[i]->requests, &h->node.allocatable, &used))
			return false;
	return !fit_resources(&g->sum, &h->node.allocatable, &used);
}

static void search(struct planning *p, const struct instance_pods *g)
{
	struct plan_home *h = g->home;
	const struct world_claim *c = world_find(p->w->claims, h->claim);
	struct supply_choice o;

	if (!c || !h->pods || h->kept)
		return;
	if (h->to) {
		h->found = fits_there(p, g, c->tenant);
		return;
	}
	h->found = supply_owned(p, c, &(struct supply_together){g->v, g->n, &g->sum}, &o);
	if (h->found)
		h->out = (struct plan_claim){.tenant = c->tenant,
					     .pool = o.pool->name,
					     .provider = o.machine->provider,
					     .machine = o.machine->name,
					     .instance_type = o.type->name,
					     .version = o.version,
					     .requirements = o.pool->requirements,
					     .labels = *o.labels};
}

void plan_homes(struct world *w, struct plan_home *v, size_t n, int64_t now, struct arena *a)
{
	OWN(map) tenants = map_new(NULL);
	struct planning p = {.w = w, .a = a, .tenants = tenants};
	const struct world_list *claims = world_claims(w);
	struct instance_pods *groups = arena_calloc(a, n + 1, sizeof(*groups));

	w->plan++;
	p.supply = supply_new(&p);
	for (size_t i = 0; i < claims->n; i++)
		supply_charge(p.supply, claims->v[i]);
	for (size_t i = 0; i < n; i++) {
		v[i] = (struct plan_home){.claim = v[i].claim, .to = v[i].to};
		groups[i].home = &v[i];
	}
	collect(&p, groups, n, now);
	quota_begin(&p);
	for (size_t i = 0; i < n; i++)
		search(&p, &groups[i]);
	planning_end(&p);
}
