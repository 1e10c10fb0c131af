/*
 * plan: one pass over the queue.
 *
 * A bin is room that a pod may go into: a serving node, a claim on its way, or
 * a claim that this plan proposes.  Pods are taken in queue order; each goes
 * into the first bin of its tenant that fits, or a new bin is opened on a free
 * machine, or it gets one reason for each pool.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "planner/fit.h"
#include "planner/plan.h"
#include "planner/supply.h"
#include "planner/world_impl.h"

const char *const plan_reason_names[] = {
	[PLAN_NO_POOL] = "NoPool",
	[PLAN_POOL_PAUSED] = "PoolPaused",
	[PLAN_POOL_LIMIT] = "LimitExceeded",
	[PLAN_NO_IMAGE] = "NoImageForVersion",
	[PLAN_REQUIREMENTS] = "RequirementsNotMet",
	[PLAN_TAINT] = "TaintNotTolerated",
	[PLAN_TOO_BIG] = "TooBig",
	[PLAN_NO_MACHINE] = "NoCapacity",
	[PLAN_ERASE_BELOW_POLICY] = "EraseBelowPolicy",
	[PLAN_QUOTA] = "QuotaExceeded",
	[PLAN_TENANT] = "TenantNotReady",
	[PLAN_UNSUPPORTED] = "ConstraintNotSupported",
	[PLAN_REASONS] = NULL,
};

struct bin {
	enum plan_outcome kind;
	const char *tenant, *target;
	size_t claim; /* PLAN_ON_NEW */
	struct labels labels;
	const struct world_taints *taints;
	struct resources room;
};

struct planning {
	struct world *w;
	struct arena *a;
	struct bin *bins;
	size_t nbins, bins_cap;
	struct supply *supply;
	struct plan *plan;
	size_t claims_cap;
};

/* --- the queue ----------------------------------------------------------------------------------- */

struct queued {
	const struct world_pod *pod;
	const struct world_tenant *tenant;
	__int128 share; /* GPUs of its tenant per weight, in billionths */
};

static int by_queue(const void *x, const void *y)
{
	const struct queued *a = x, *b = y;
	int c;

	if (a->tenant->priority != b->tenant->priority)
		return a->tenant->priority > b->tenant->priority ? -1 : 1;
	if (a->pod->priority != b->pod->priority)
		return a->pod->priority > b->pod->priority ? -1 : 1;
	if (a->share != b->share)
		return a->share < b->share ? -1 : 1;
	if (a->pod->since != b->pod->since)
		return a->pod->since < b->pod->since ? -1 : 1;
	c = strcmp(a->pod->tenant, b->pod->tenant);
	if (!c)
		c = strcmp(a->pod->ns, b->pod->ns);
	return c ? c : strcmp(a->pod->name, b->pod->name);
}

static __int128 gpu_share(const struct planning *p, const struct world_tenant *t)
{
	struct quantity held = supply_held(p->supply, t->name, "nvidia.com/gpu");

	return held.nano / (t->weight > 0 ? t->weight : 1);
}

static struct queued *queue(struct planning *p, void **pods, size_t npods, size_t *n)
{
	struct queued *q = arena_calloc(p->a, npods + 1, sizeof(*q));

	*n = 0;
	for (size_t i = 0; i < npods; i++) {
		const struct world_pod *pod = pods[i];
		const struct world_tenant *t = world_find(p->w->tenants, pod->tenant);

		if (pod->unschedulable && !pod->node && t)
			q[(*n)++] = (struct queued){pod, t, gpu_share(p, t)};
	}
	qsort(q, *n, sizeof(*q), by_queue);
	return q;
}

/* --- bins ---------------------------------------------------------------------------------------- */

static struct resources copy(const struct resources *r, struct arena *a)
{
	struct resources c = {.v = arena_calloc(a, r->n + 1, sizeof(*c.v)), .n = r->n};

	if (r->n)
		memcpy(c.v, r->v, r->n * sizeof(*c.v));
	return c;
}

static struct bin *add_bin(struct planning *p)
{
	struct bin *more;

	if (p->nbins == p->bins_cap) {
		p->bins_cap = p->bins_cap ? p->bins_cap * 2 : 64;
		more = arena_calloc(p->a, p->bins_cap, sizeof(*more));
		if (p->nbins)
			memcpy(more, p->bins, p->nbins * sizeof(*more));
		p->bins = more;
	}
	return &p->bins[p->nbins++];
}

static int by_node(const void *x, const void *y)
{
	const struct world_pod *const *a = x, *const *b = y;
	int c = strcmp((*a)->tenant, (*b)->tenant);

	return c ? c : strcmp((*a)->node, (*b)->node);
}

/* Serving nodes, less what is bound to them; pods come sorted by tenant and node. */
static void open_nodes(struct planning *p, void **pods, size_t npods)
{
	const struct world_pod **bound = arena_calloc(p->a, npods + 1, sizeof(*bound));
	size_t nbound = 0, n, from = 0;
	void **nodes = world_sorted(p->w->nodes, p->a, &n);

	for (size_t i = 0; i < npods; i++)
		if (((const struct world_pod *)pods[i])->node)
			bound[nbound++] = pods[i];
	qsort(bound, nbound, sizeof(*bound), by_node);
	for (size_t i = 0; i < n; i++) {
		const struct world_node *node = nodes[i];
		struct resources room = copy(&node->allocatable, p->a);
		struct bin *b;

		while (from < nbound && (strcmp(bound[from]->tenant, node->tenant) < 0 ||
					 (str_eq(bound[from]->tenant, node->tenant) &&
					  strcmp(bound[from]->node, node->name) < 0)))
			from++;
		for (; from < nbound && str_eq(bound[from]->tenant, node->tenant) && str_eq(bound[from]->node, node->name); from++) {
			fit_take(&room, &bound[from]->requests);
			supply_take_one(&room);
		}
		if (!node->ready || node->unschedulable)
			continue;
		b = add_bin(p);
		*b = (struct bin){PLAN_ON_NODE, node->tenant, node->name, 0, node->labels, &node->taints, room};
	}
}

static bool node_seen(const struct planning *p, const struct world_claim *c)
{
	const char *key = arena_printf(p->a, "%s/%s", c->tenant, c->name);

	return world_find(p->w->nodes, key) != NULL;
}

static void open_claims(struct planning *p)
{
	size_t n;
	void **claims = world_sorted(p->w->claims, p->a, &n);

	for (size_t i = 0; i < n; i++) {
		const struct world_claim *c = claims[i];
		struct bin *b;

		if (c->failed || c->leaving || (c->ready && node_seen(p, c)))
			continue;
		b = add_bin(p);
		*b = (struct bin){PLAN_ON_CLAIM, c->tenant, c->name, 0, supply_labels_of_claim(p->supply, c), &c->taints,
				  copy(&c->capacity, p->a)};
	}
}

static struct bin *fitting(struct planning *p, const struct world_pod *pod)
{
	for (size_t i = 0; i < p->nbins; i++) {
		struct bin *b = &p->bins[i];

		if (str_eq(b->tenant, pod->tenant) && !fit_resources(&pod->requests, &b->room) && supply_has_one(&b->room) &&
		    fit_labels(pod, &b->labels) && !fit_taints(pod, b->taints))
			return b;
	}
	return NULL;
}

static void place(struct planning *p, struct bin *b, const struct world_pod *pod, struct plan_pod *out)
{
	fit_take(&b->room, &pod->requests);
	supply_take_one(&b->room);
	out->outcome = b->kind;
	out->target = b->target;
	out->new_claim = b->claim;
	if (b->kind == PLAN_ON_NEW) {
		struct plan_claim *c = &p->plan->claims[b->claim];

		c->requests = supply_sum(&c->requests, &pod->requests, p->a);
		c->npods++;
	}
}

static struct bin *open_new(struct planning *p, const struct world_pod *pod, const struct supply_offer *o)
{
	struct plan_claim *more;
	struct bin *b;

	if (p->plan->nclaims == p->claims_cap) {
		p->claims_cap = p->claims_cap ? p->claims_cap * 2 : 16;
		more = arena_calloc(p->a, p->claims_cap, sizeof(*more));
		if (p->plan->nclaims)
			memcpy(more, p->plan->claims, p->plan->nclaims * sizeof(*more));
		p->plan->claims = more;
	}
	p->plan->claims[p->plan->nclaims] = (struct plan_claim){
		.tenant = pod->tenant,
		.pool = o->pool->name,
		.provider = o->machine->provider,
		.machine = o->machine->name,
		.instance_type = o->type->name,
		.version = o->version,
		.requirements = o->pool->requirements,
		.labels = o->labels,
	};
	b = add_bin(p);
	*b = (struct bin){PLAN_ON_NEW, pod->tenant, NULL, p->plan->nclaims++, o->labels, &o->pool->taints,
			  copy(&o->type->capacity, p->a)};
	supply_used(p->supply, pod->tenant, o);
	return b;
}

/* --- one pod ------------------------------------------------------------------------------------- */

static void nothing(struct planning *p, struct plan_pod *out, enum plan_reason_code code, const char *text)
{
	out->outcome = PLAN_NOTHING;
	out->reasons = arena_calloc(p->a, 1, sizeof(*out->reasons));
	out->reasons[0] = (struct plan_reason){"", code, text};
	out->nreasons = 1;
}

static void serve(struct planning *p, const struct queued *q, struct plan_pod *out)
{
	const struct world_pod *pod = q->pod;
	struct bin *b;
	struct supply_offer o;

	if (pod->unsupported) {
		nothing(p, out, PLAN_UNSUPPORTED, arena_printf(p->a, "%s is not judged", pod->unsupported));
		return;
	}
	b = fitting(p, pod);
	if (!b && (q->tenant->paused || !q->tenant->version)) {
		nothing(p, out, PLAN_TENANT, arena_printf(p->a, "tenant %s: %s", q->tenant->name,
							   str_or(q->tenant->paused_reason, "its version is not known")));
		return;
	}
	if (!b && supply_offer(p->supply, pod, q->tenant, &o, &out->reasons, &out->nreasons))
		b = open_new(p, pod, &o);
	if (b) {
		out->reasons = NULL;
		out->nreasons = 0;
		place(p, b, pod, out);
	} else {
		out->outcome = PLAN_NOTHING;
	}
}

struct plan *plan_make(struct world *w, int64_t now_ms, struct arena *a)
{
	struct planning p = {.w = w, .a = a, .plan = arena_new_obj(a, struct plan)};
	struct queued *q;
	size_t npods, n;
	void **pods = world_sorted(w->pods, a, &npods);

	(void)now_ms;
	p.supply = supply_new(w, a);
	open_nodes(&p, pods, npods);
	open_claims(&p);
	q = queue(&p, pods, npods, &n);
	p.plan->pods = arena_calloc(a, n + 1, sizeof(*p.plan->pods));
	for (size_t i = 0; i < n; i++) {
		struct plan_pod *out = &p.plan->pods[p.plan->npods++];

		*out = (struct plan_pod){.tenant = q[i].pod->tenant, .ns = q[i].pod->ns, .name = q[i].pod->name,
					 .uid = q[i].pod->uid, .place = i + 1};
		serve(&p, &q[i], out);
	}
	return p.plan;
}
