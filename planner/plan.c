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
	[PLAN_TOPOLOGY] = "TopologyNotMet",
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
	c->requests[0] = planning_add(c->requests[0], 1);
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
		t->bins = bins_new(p, t);
	return t->bins;
}

/* A node, and what is bound to it. */
struct host {
	const struct world_node *node;
	int64_t *used; /* by column */
	size_t bin;    /* its own or its claim's; SIZE_MAX: none */
};

static struct host *host_of(struct planning *p, const struct map *hosts, const char *tenant, const char *node)
{
	world_text_clear(p->w);
	world_text_add(p->w, tenant);
	world_text_add(p->w, node);
	return map_get(hosts, p->w->text);
}

static struct map *hosts(struct planning *p, void **nodes, size_t n)
{
	struct map *m = planning_map(p);
	struct map_iter it;

	for (size_t i = 0; i < n; i++) {
		struct host *h = arena_new_obj(p->a, struct host);

		h->node = nodes[i];
		h->used = arena_calloc(p->a, p->ncolumns, sizeof(*h->used));
		h->bin = SIZE_MAX;
		(void)host_of(p, m, h->node->tenant, h->node->name);
		map_put(m, p->w->text, h);
	}
	map_for_each(it, p->w->pods) {
		const struct world_one *pod = it.value;
		struct host *h = pod->node ? host_of(p, m, pod->tenant, pod->node) : NULL;
		struct plan_class *c;

		if (!h)
			continue;
		c = class_of(p, pod->shape);
		count_requests(p, c);
		for (size_t k = 0; k < p->ncolumns; k++)
			h->used[k] = planning_add(h->used[k], c->requests[k]);
	}
	return m;
}

static size_t add_room(struct planning *p, const struct bin *bin, const char *tenant, const struct resources *capacity,
		       const struct host *less)
{
	int64_t *room = arena_calloc(p->a, p->ncolumns, sizeof(*room));

	planning_room(p, capacity, room);
	for (size_t k = 0; less && k < p->ncolumns; k++)
		room[k] = planning_sub(room[k], less->used[k]);
	return bins_add(bins_of(p, tenant), bin, room);
}

/* A claim that serves or is to serve speaks for its node until it is Ready; one that leaves or failed is no
 * room, and neither is its node. */
static void open_bins(struct planning *p, struct map *at, void **nodes, size_t nnodes, void **claims, size_t nclaims)
{
	struct map *by_claim = planning_map(p);

	for (size_t i = 0; i < nnodes; i++) {
		const struct world_node *n = nodes[i];
		const struct world_claim *c = n->claim ? world_find(p->w->claims, n->claim) : NULL;
		struct host *h = host_of(p, at, n->tenant, n->name);
		struct bin bin = {PLAN_ON_NODE, n->name, 0, &n->labels, &n->taints};

		if (c && str_eq(c->tenant, n->tenant)) {
			map_put(by_claim, c->name, h);
			if (!c->ready && !c->failed && !c->leaving)
				continue;
			if (c->failed || c->leaving)
				bin.kind = PLAN_NOTHING;
		}
		if (!n->ready || n->unschedulable)
			bin.kind = PLAN_NOTHING;
		if (bin.kind == PLAN_ON_NODE || p->topology)
			h->bin = add_room(p, &bin, n->tenant, &n->allocatable, h);
	}
	for (size_t i = 0; i < nclaims; i++) {
		const struct world_claim *c = claims[i];
		struct host *h = map_get(by_claim, c->name);
		struct labels *labels;
		size_t bin;

		if (c->failed || c->leaving || (c->ready && h))
			continue;
		labels = arena_new_obj(p->a, struct labels);
		*labels = supply_labels_of_claim(p->supply, c);
		bin = add_room(p, &(struct bin){PLAN_ON_CLAIM, c->name, 0, labels, &c->taints}, c->tenant, &c->capacity, h);
		if (h)
			h->bin = bin;
	}
}

/* Pods that are bound are counted where they are. */
static void place_bound(struct planning *p, const struct map *at)
{
	struct map_iter it;

	map_for_each(it, p->w->pods) {
		const struct world_one *pod = it.value;
		const struct host *h = pod->node ? host_of(p, at, pod->tenant, pod->node) : NULL;

		if (h && h->bin != SIZE_MAX)
			topology_place(p->topology, topology_side(p->topology, pod->side), h->bin);
	}
}

static void open_topology(struct planning *p)
{
	struct map_iter it;
	bool asked = false;

	map_for_each(it, p->w->pods)
		asked |= ((struct world_one *)it.value)->side->pod.topology.n != 0;
	if (!asked)
		return;
	p->topology = topology_new(p);
	map_for_each(it, p->w->pods)
		(void)topology_side(p->topology, ((struct world_one *)it.value)->side);
	topology_ready(p->topology);
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

static void place(struct planning *p, size_t at, const struct plan_class *c, const struct plan_side *side,
		  struct plan_pod *out)
{
	const struct bin *b = bins_at(c->tenant->bins, at);

	bins_take(c->tenant->bins, at, c);
	if (side)
		topology_place(p->topology, side, at);
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

/* A place among the room that is there or a new machine; false: reasons. */
static bool find(struct planning *p, struct plan_class *c, const struct plan_side *side, struct plan_pod *out)
{
	const struct world_tenant *t = c->tenant->it;
	struct bins *bins = bins_of(p, t->name);
	const struct topology_view *view = NULL;
	const bool may = !t->paused && t->version;
	struct supply_offer o;
	size_t at;

	bins_look(bins, c);
	if (may)
		supply_ask(p->supply, c);
	do {
		if (side)
			view = topology_view(p->topology, c, side);
		if (bins_find(bins, c, view, &at)) {
			place(p, at, c, side, out);
			return true;
		}
		if (may && supply_take(p->supply, c, view, &o, &out->reasons, &out->nreasons)) {
			place(p, open_new(p, c, &o), c, side, out);
			return true;
		}
	} while (may && view && supply_ask_again(p->supply, c));
	if (!may) {
		if (!c->nreasons)
			refuse(p, c, PLAN_TENANT, arena_printf(p->a, "tenant %s: %s", t->name,
							       str_or(t->paused_reason, t->paused ? "paused"
												  : "its version is not known")));
		out->reasons = c->reasons;
		out->nreasons = c->nreasons;
	}
	return false;
}

static void serve(struct planning *p, const struct queued *q, struct plan_pod *out)
{
	struct plan_class *c = q->class_;
	const struct plan_side *side = p->topology ? topology_side(p->topology, q->pod->side) : NULL;

	if (c->pod->unsupported) {
		if (!c->nreasons)
			refuse(p, c, PLAN_UNSUPPORTED, arena_printf(p->a, "%s is not judged", c->pod->unsupported));
		out->reasons = c->reasons;
		out->nreasons = c->nreasons;
	} else if (find(p, c, side, out)) {
		out->reasons = NULL;
		out->nreasons = 0;
		return;
	}
	out->outcome = PLAN_NOTHING;
}

static void make(struct planning *p)
{
	size_t n, nnodes, nclaims;
	void **nodes = world_sorted(p->w->nodes, p->a, &nnodes), **claims = world_sorted(p->w->claims, p->a, &nclaims);
	struct queued **q;
	struct map *at;

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
	open_topology(p);
	at = hosts(p, nodes, nnodes);
	open_bins(p, at, nodes, nnodes, claims, nclaims);
	if (p->topology)
		place_bound(p, at);
	p->plan->pods = arena_calloc(p->a, n + 1, sizeof(*p->plan->pods));
	p->requests_cap = arena_calloc(p->a, n + 1, sizeof(*p->requests_cap));
	for (size_t i = 0; i < n; i++) {
		const struct world_one *pod = q[i]->pod;

		p->plan->pods[i] = (struct plan_pod){
			.tenant = pod->tenant, .ns = pod->ns, .name = pod->name, .uid = pod->uid, .place = i + 1};
		serve(p, q[i], &p->plan->pods[i]);
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
	for (const struct planning_map *m = p.maps; m; m = m->next)
		map_free(m->map);
	return p.plan;
}
