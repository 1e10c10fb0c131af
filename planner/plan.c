/*
 * plan: one pass over the queue.
 *
 * Pods are taken in queue order; each goes into the first bin of its tenant
 * that fits, or a new bin is opened on a free machine, or it gets one reason for
 * each pool.  What is found out of one pod of a class holds for all of them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "planner/bins.h"
#include "planner/fit.h"
#include "planner/plan.h"
#include "planner/queue.h"
#include "planner/supply.h"

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

/* --- columns and classes -------------------------------------------------------------------------- */

/* In p->columns a name that something offers has -1, and its column + 1 once a pod asks for it. */
struct column {
	size_t at; /* 0: nobody asks */
};

static void offered(struct planning *p, const struct resources *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (!map_has(p->columns, r->v[i].name))
			map_put(p->columns, r->v[i].name, arena_new_obj(p->a, struct column));
}

static void offer_all(struct planning *p, void **nodes, size_t nnodes, void **claims, size_t nclaims)
{
	struct map_iter it;

	map_for_each(it, p->w->providers) {
		const struct world_provider *pr = ((struct world_object *)it.value)->it;

		for (size_t i = 0; i < pr->types.n; i++)
			offered(p, &pr->types.v[i].capacity);
	}
	for (size_t i = 0; i < nnodes; i++)
		offered(p, &((struct world_node *)nodes[i])->allocatable);
	for (size_t i = 0; i < nclaims; i++)
		offered(p, &((struct world_claim *)claims[i])->capacity);
}

static bool has_soft(const struct world_taints *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (fit_is_soft(&t->v[i]))
			return true;
	return false;
}

static void look_for_soft(struct planning *p, void **nodes, size_t nnodes, void **claims, size_t nclaims)
{
	struct map_iter it;

	map_for_each(it, p->w->pools)
		p->soft |= has_soft(&((struct world_pool *)((struct world_object *)it.value)->it)->taints);
	for (size_t i = 0; i < nnodes; i++)
		p->soft |= has_soft(&((struct world_node *)nodes[i])->taints);
	for (size_t i = 0; i < nclaims; i++)
		p->soft |= has_soft(&((struct world_claim *)claims[i])->taints);
}

static bool asks(const struct resource *r)
{
	return r->q.nano > 0;
}

static void add_column(struct planning *p, const char *name)
{
	struct column *c = map_get(p->columns, name);

	if (!c || c->at)
		return;
	p->column[p->ncolumns] = name;
	c->at = ++p->ncolumns;
}

/* The class of a shape; a first look at one that a pending pod has opens its columns. */
static struct plan_class *class_of(struct planning *p, struct world_shape *s)
{
	struct plan_class *c;

	if (s->plan == p->w->plan)
		return s->class_;
	c = arena_new_obj(p->a, struct plan_class);
	c->pod = &s->pod;
	c->tenant = planning_tenant(p, s->pod.tenant);
	c->any_label = !s->pod.node_selector.n && !s->pod.affinity.n;
	s->plan = p->w->plan;
	s->class_ = c;
	return c;
}

static void open_columns(struct planning *p, const struct plan_class *c)
{
	for (size_t i = 0; i < c->pod->requests.n; i++)
		if (asks(&c->pod->requests.v[i]))
			add_column(p, c->pod->requests.v[i].name);
}

/* Once all columns are open. */
static void count_requests(struct planning *p, struct plan_class *c)
{
	if (c->requests)
		return;
	c->requests = arena_calloc(p->a, p->ncolumns, sizeof(*c->requests));
	for (size_t i = 0; i < c->pod->requests.n; i++) {
		const struct resource *r = &c->pod->requests.v[i];
		const struct column *column = asks(r) ? map_get(p->columns, r->name) : NULL;

		if (column && column->at)
			c->requests[column->at - 1] = str_eq(r->name, "cpu") ? quantity_milli_ceil(r->q) : quantity_ceil(r->q);
		c->impossible |= asks(r) && !column;
	}
	c->requests[0] += 1;
}

/* --- the queue ----------------------------------------------------------------------------------- */

static void set_share(const struct plan_tenant *t, struct queued *q)
{
	const struct quantity *held = resources_get(&t->tally.held, PLANNING_GPU);
	const __int128 share = held && held->nano > 0 ? held->nano / (t->it->weight > 0 ? t->it->weight : 1) : 0;

	q->share_high = (uint64_t)(share >> 64);
	q->share_low = (uint64_t)share;
	q->tenant_priority = t->it->priority;
}

static struct queued **queue(struct planning *p, size_t *n)
{
	struct queued *all = arena_calloc(p->a, map_size(p->w->pods) + 1, sizeof(*all));
	struct queued **q = arena_calloc(p->a, map_size(p->w->pods) + 1, sizeof(struct queued *));
	struct map_iter it;

	*n = 0;
	map_for_each(it, p->w->pods) {
		const struct world_one *pod = it.value;
		struct plan_class *c;

		if (!pod->unschedulable || pod->node || pod->daemon)
			continue;
		c = class_of(p, pod->shape);
		if (!c->tenant->it)
			continue;
		all[*n] = (struct queued){.pod = pod, .class_ = c};
		set_share(c->tenant, &all[*n]);
		q[*n] = &all[*n];
		++*n;
	}
	queue_sort(q, *n, p->a);
	return q;
}

/* --- bins ---------------------------------------------------------------------------------------- */

static struct bins *bins_of(struct planning *p, const char *tenant)
{
	struct plan_tenant *t = planning_tenant(p, tenant);

	if (!t->bins)
		t->bins = bins_new(p);
	return t->bins;
}

/* A node with its claim, and what it has room for. */
struct host {
	const struct world_node *node;
	int64_t *room; /* less what is bound to it */
	bool claimed;  /* its claim speaks for it */
};

static struct map *hosts(struct planning *p, void **nodes, size_t n)
{
	struct map *m = map_new(NULL);
	struct map_iter it;

	for (size_t i = 0; i < n; i++) {
		struct host *h = arena_new_obj(p->a, struct host);

		h->node = nodes[i];
		h->room = arena_calloc(p->a, p->ncolumns, sizeof(*h->room));
		map_put(m, arena_printf(p->a, "%s/%s", h->node->tenant, h->node->name), h);
	}
	map_for_each(it, p->w->pods) {
		const struct world_one *pod = it.value;
		struct plan_class *c;
		struct host *h;

		if (!pod->node)
			continue;
		h = map_get(m, arena_printf(p->a, "%s/%s", pod->tenant, pod->node));
		c = class_of(p, pod->shape);
		count_requests(p, c);
		for (size_t k = 0; h && k < p->ncolumns; k++)
			h->room[k] -= c->requests[k];
	}
	return m;
}

static void add_room(struct planning *p, const struct bin *bin, const char *tenant, const struct resources *capacity,
		     const struct host *less)
{
	int64_t *room = arena_calloc(p->a, p->ncolumns, sizeof(*room));

	planning_room(p, capacity, room);
	for (size_t k = 0; less && k < p->ncolumns; k++)
		room[k] += less->room[k];
	(void)bins_add(bins_of(p, tenant), bin, room);
}

/* A claim that serves or is to serve speaks for its node until it is Ready; one that leaves or failed is no
 * room, and neither is its node. */
static void open_bins(struct planning *p, void **nodes, size_t nnodes, void **claims, size_t nclaims)
{
	OWN(map) at = hosts(p, nodes, nnodes);
	OWN(map) by_claim = map_new(NULL);

	for (size_t i = 0; i < nnodes; i++) {
		const struct world_node *n = nodes[i];
		const struct world_claim *c = n->claim ? world_find(p->w->claims, n->claim) : NULL;
		struct host *h = map_get(at, arena_printf(p->a, "%s/%s", n->tenant, n->name));

		if (c && str_eq(c->tenant, n->tenant))
			map_put(by_claim, c->name, h);
		if (c && str_eq(c->tenant, n->tenant) && (!c->ready || c->failed || c->leaving))
			continue;
		if (n->ready && !n->unschedulable)
			add_room(p, &(struct bin){PLAN_ON_NODE, n->name, 0, &n->labels, &n->taints}, n->tenant, &n->allocatable,
				 h);
	}
	for (size_t i = 0; i < nclaims; i++) {
		const struct world_claim *c = claims[i];
		const struct host *h = map_get(by_claim, c->name);
		struct labels *labels;

		if (c->failed || c->leaving || (c->ready && h))
			continue;
		labels = arena_new_obj(p->a, struct labels);
		*labels = supply_labels_of_claim(p->supply, c);
		add_room(p, &(struct bin){PLAN_ON_CLAIM, c->name, 0, labels, &c->taints}, c->tenant, &c->capacity, h);
	}
}

static size_t open_new(struct planning *p, const struct plan_class *c, const struct supply_offer *o)
{
	struct plan_claim *more;
	int64_t *room = arena_calloc(p->a, p->ncolumns, sizeof(*room));

	if (p->plan->nclaims == p->claims_cap) {
		p->claims_cap = p->claims_cap ? p->claims_cap * 2 : 16;
		more = arena_calloc(p->a, p->claims_cap, sizeof(*more));
		if (p->plan->nclaims)
			memcpy(more, p->plan->claims, p->plan->nclaims * sizeof(*more));
		p->plan->claims = more;
	}
	p->plan->claims[p->plan->nclaims] = (struct plan_claim){
		.tenant = c->tenant->it->name,
		.pool = o->pool->name,
		.provider = o->machine->provider,
		.machine = o->machine->name,
		.instance_type = o->type->name,
		.version = o->version,
		.requirements = o->pool->requirements,
		.labels = *o->labels,
	};
	planning_room(p, &o->type->capacity, room);
	return bins_add(bins_of(p, c->tenant->it->name),
			&(struct bin){PLAN_ON_NEW, NULL, p->plan->nclaims++, o->labels, &o->pool->taints}, room);
}

/* --- one pod ------------------------------------------------------------------------------------- */

static void place(struct planning *p, size_t at, const struct plan_class *c, struct plan_pod *out)
{
	const struct bin *b = bins_at(c->tenant->bins, at);

	bins_take(c->tenant->bins, at, c);
	out->outcome = b->kind;
	out->target = b->target;
	out->new_claim = b->claim;
	if (b->kind == PLAN_ON_NEW) {
		struct plan_claim *claim = &p->plan->claims[b->claim];

		tally_add(&claim->requests, &p->requests_cap[b->claim], &c->pod->requests, p->a);
		claim->npods++;
	}
}

static void refuse(struct planning *p, struct plan_class *c, enum plan_reason_code code, const char *text)
{
	c->reasons = arena_new_obj(p->a, struct plan_reason);
	c->reasons[0] = (struct plan_reason){"", code, text};
	c->nreasons = 1;
}

static void serve(struct planning *p, struct plan_class *c, struct plan_pod *out)
{
	const struct world_tenant *t = c->tenant->it;
	struct supply_offer o;
	size_t at;

	if (!c->nreasons && c->pod->unsupported) {
		refuse(p, c, PLAN_UNSUPPORTED, arena_printf(p->a, "%s is not judged", c->pod->unsupported));
	} else if (!c->nreasons) {
		if (bins_find(bins_of(p, t->name), c, &at)) {
			place(p, at, c, out);
			return;
		}
		if (t->paused || !t->version) {
			refuse(p, c, PLAN_TENANT, arena_printf(p->a, "tenant %s: %s", t->name,
							       str_or(t->paused_reason, t->paused ? "paused"
												  : "its version is not known")));
		} else if (supply_take(p->supply, c, &o)) {
			place(p, open_new(p, c, &o), c, out);
			return;
		}
	}
	out->outcome = PLAN_NOTHING;
	out->reasons = c->reasons;
	out->nreasons = c->nreasons;
}

static void make(struct planning *p)
{
	size_t n, nnodes, nclaims;
	void **nodes = world_sorted(p->w->nodes, p->a, &nnodes), **claims = world_sorted(p->w->claims, p->a, &nclaims);
	struct queued **q;

	p->supply = supply_new(p, claims, nclaims);
	q = queue(p, &n);
	offer_all(p, nodes, nnodes, claims, nclaims);
	look_for_soft(p, nodes, nnodes, claims, nclaims);
	p->column = arena_calloc(p->a, map_size(p->columns) + 2, sizeof(*p->column));
	map_put(p->columns, "pods", arena_new_obj(p->a, struct column));
	add_column(p, "pods");
	for (size_t i = 0; i < n; i++)
		if (!i || q[i]->class_ != q[i - 1]->class_)
			open_columns(p, q[i]->class_);
	for (size_t i = 0; i < n; i++)
		count_requests(p, q[i]->class_);
	open_bins(p, nodes, nnodes, claims, nclaims);
	p->plan->pods = arena_calloc(p->a, n + 1, sizeof(*p->plan->pods));
	p->requests_cap = arena_calloc(p->a, n + 1, sizeof(*p->requests_cap));
	for (size_t i = 0; i < n; i++) {
		const struct world_one *pod = q[i]->pod;

		p->plan->pods[i] = (struct plan_pod){
			.tenant = pod->tenant, .ns = pod->ns, .name = pod->name, .uid = pod->uid, .place = i + 1};
		serve(p, q[i]->class_, &p->plan->pods[i]);
	}
	p->plan->npods = n;
}

struct plan *plan_make(struct world *w, int64_t now_ms, struct arena *a)
{
	OWN(map) tenants = map_new(NULL);
	OWN(map) columns = map_new(NULL);
	struct planning p = {.w = w, .a = a, .tenants = tenants, .columns = columns, .plan = arena_new_obj(a, struct plan)};

	(void)now_ms;
	w->plan++;
	make(&p);
	return p.plan;
}
