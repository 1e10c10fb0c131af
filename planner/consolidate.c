/*
 * consolidate: places pods in one table of free capacity per tenant. Each Node is tried in a short
 * transaction on that table; the transaction is committed or rolled back.
 */
#include "planner/consolidate.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "planner/cells.h"
#include "planner/classes.h"
#include "planner/open_bins.h"
#include "planner/supply/opening.h"
#include "planner/profiles.h"

#define POD_WORK 20
#define HOST_WORK 50

/* TROUBLE: eviction cost of one pod, in thousandths. TROUBLE_MOST: bound, positive and negative, of
 * the cost of a pod after its deletion cost and priority were added. */
#define TROUBLE 1000
#define TROUBLE_MOST 10000

/* A pod that waits for a node, or may have to be moved. */
struct mover {
	const struct world_one *pod;
	struct plan_class *class_;
	struct plan_cell *cell;
	/* Node on which the pod is; NULL: the pod waits. */
	struct host *host;
	/* Index of the bin (candidate node) into which the pod is placed. */
	size_t to;
};
struct host {
	struct world_host *it;
	struct plan_tenant *tenant;
	const struct world_claim *claim;
	/* is_candidate: drover may give the Node back. is_going: the Node accepts no pods, so its
	 * pods are moved in any case. */
	bool is_candidate, is_going;
	bool gone, receives;
	bool has_bin;
	size_t bin, n;
	struct mover **pods;
	int64_t trouble, gpus, cpus;
};
/* Nodes of one tenant, by index of their bins. */
struct tenant_hosts {
	struct host **v;
	size_t cap;
};

enum consolidate_phase { PODS, HOSTS, JOIN, PROFILES, ROOM, CELLS, FIRST, TRY, READY };

struct consolidate_run {
	struct planning p;
	enum consolidate_phase phase;
	uint64_t until;
	int64_t now;
	struct map_iter it;
	bool more;
	struct profiles_run profiles;
	size_t at;
	/* first: waiting pods, and pods on Nodes that accept no pods. These pods get room before
	 * the first Node is tried. */
	struct mover *movers, **first;
	size_t nmovers, nfirst;
	struct host *hosts;
	/* Nodes in the order in which bins (candidate nodes, bins.h) are added for them, see
	 * by_trouble(). */
	struct host **order;
	size_t nhosts, ncandidates;
	struct map *by_load;
	/* Nodes of each tenant, by plan_tenant.number. */
	struct tenant_hosts *tenants;
	struct consolidate *out;
};

static bool slice_is_over(const struct consolidate_run *r)
{
	return r->p.work >= r->until;
}

static void enter(struct consolidate_run *r, enum consolidate_phase phase, const struct map *all)
{
	r->phase = phase;
	r->at = 0;
	r->more = all && map_first(all, &r->it);
}

/* --- pods and Nodes --------------------------------------------------------------------------- */

static bool may_move(const struct world_one *x)
{
	return !x->daemon && !x->terminating && (x->node ? x->load->known : x->unschedulable);
}

static void do_pods(struct consolidate_run *r)
{
	struct planning *p = &r->p;

	for (; r->more && !slice_is_over(r); r->more = map_next(p->w->pods, &r->it)) {
		const struct world_one *x = r->it.value;

		p->work += POD_WORK;
		if (may_move(x))
			r->movers[r->nmovers++] =
				(struct mover){.pod = x, .class_ = classes_of(p, x->shape)};
	}
	if (r->more)
		return;
	classes_columns(p, world_nodes(p->w), world_claims(p->w));
	enter(r, HOSTS, NULL);
}

static int64_t has(const struct world_host *h, const char *resource)
{
	const struct quantity *q = resources_get(&h->node.allocatable, resource);

	return q ? planning_request(resource, *q) : 0;
}

static void add_host(struct consolidate_run *r, struct world_host *it)
{
	struct planning *p = &r->p;
	struct host *h = &r->hosts[r->nhosts++];
	const struct world_node *n = &it->node;
	const struct world_claim *c = n->claim ? world_find(p->w->claims, n->claim) : NULL;
	const struct world_pool *pool = c ? world_find(p->w->pools, c->pool) : NULL;

	*h = (struct host){.it = it,
			   .tenant = planning_tenant(p, n->tenant),
			   .claim = c && str_eq(c->tenant, n->tenant) ? c : NULL,
			   .gpus = has(it, PLANNING_GPU),
			   .cpus = has(it, "cpu")};
	h->is_going = !n->ready || n->unschedulable ||
		      (h->claim && (h->claim->leaving || h->claim->failed));
	h->is_candidate = h->claim && h->claim->ready && !h->is_going && pool && pool->underused &&
			  !pool->paused && h->tenant->it && !h->tenant->it->paused;
	r->ncandidates += h->is_candidate;
	map_put(r->by_load, it->load->key, h);
}

static void do_hosts(struct consolidate_run *r)
{
	const struct world_list *nodes = world_nodes(r->p.w);

	for (; r->at < nodes->n && !slice_is_over(r); r->at++) {
		add_host(r, nodes->v[r->at]);
		r->p.work += HOST_WORK;
	}
	if (r->at == nodes->n)
		enter(r, JOIN, NULL);
}

/* Returns the pod's eviction cost in thousandths. A deletion cost of 2^27, or a priority of 2^25,
 * adds 1000, as much as one more pod. */
static int64_t trouble_of(const struct world_one *x)
{
	const int64_t priority = x->priority > INT32_MAX   ? INT32_MAX
				 : x->priority < INT32_MIN ? INT32_MIN
							   : x->priority,
		      t = TROUBLE + (int64_t)x->deletion_cost * TROUBLE / (1 << 27) +
			  priority * TROUBLE / (1 << 25);

	return t < -TROUBLE_MOST ? -TROUBLE_MOST : t > TROUBLE_MOST ? TROUBLE_MOST : t;
}

static int64_t asked_of(const struct mover *m, const char *resource)
{
	const struct quantity *q = resources_get(&m->pod->shape->pod.requests, resource);

	return q ? planning_request(resource, *q) : 0;
}

/* Compares pods: the largest first, because small pods still find room in what large ones leave. */
static int by_size(const void *x, const void *y)
{
	static const char *const of[] = {PLANNING_GPU, "cpu", "memory"};
	const struct mover *a = *(struct mover *const *)x, *b = *(struct mover *const *)y;
	int c;

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		const int64_t m = asked_of(a, of[i]), n = asked_of(b, of[i]);

		if (m != n)
			return m > n ? -1 : 1;
	}
	c = strcmp(a->pod->tenant, b->pod->tenant);
	c = c ? c : strcmp(a->pod->ns, b->pod->ns);
	return c ? c : strcmp(a->pod->name, b->pod->name);
}

/* Compares Nodes: Nodes that stay anyway first, then candidates, highest trouble (sum of eviction
 * costs) first. Pods are placed on Nodes in this order. Candidates are tried from the end of the
 * array on, lowest trouble first. */
static int by_trouble(const void *x, const void *y)
{
	const struct host *a = *(struct host *const *)x, *b = *(struct host *const *)y;
	int c;

	if (a->is_candidate != b->is_candidate)
		return a->is_candidate ? 1 : -1;
	if (a->is_candidate && a->trouble != b->trouble)
		return a->trouble > b->trouble ? -1 : 1;
	if (a->is_candidate && a->gpus != b->gpus)
		return a->gpus < b->gpus ? -1 : 1;
	if (a->is_candidate && a->cpus != b->cpus)
		return a->cpus < b->cpus ? -1 : 1;
	c = strcmp(a->it->node.tenant, b->it->node.tenant);
	return c ? -c : -strcmp(a->it->node.name, b->it->node.name);
}

static void put_in_order(struct consolidate_run *r)
{
	struct planning *p = &r->p;

	for (size_t i = 0; i < r->nhosts; i++) {
		struct host *h = &r->hosts[i];

		h->pods = arena_calloc(p->a, h->n + 1, sizeof(struct mover *));
		h->n = 0;
		r->order[i] = h;
	}
	r->first = arena_calloc(p->a, r->nmovers + 1, sizeof(struct mover *));
	for (size_t i = 0; i < r->nmovers; i++) {
		struct host *h = r->movers[i].host;

		if (h)
			h->pods[h->n++] = &r->movers[i];
		if (!h || h->is_going)
			r->first[r->nfirst++] = &r->movers[i];
	}
	qsort(r->first, r->nfirst, sizeof(struct mover *), by_size);
	for (size_t i = 0; i < r->nhosts; i++)
		qsort(r->hosts[i].pods, r->hosts[i].n, sizeof(struct mover *), by_size);
	qsort(r->order, r->nhosts, sizeof(struct host *), by_trouble);
	p->work += POD_WORK * r->nmovers;
}

/* Excludes from the candidates the Node for which waiting pod x is nominated, because
 * kube-scheduler makes room for the pod there. */
static void keep_nominated(struct consolidate_run *r, const struct world_one *x)
{
	const char *key =
		x->nominated ? arena_printf(r->p.a, "%s/%s", x->tenant, x->nominated) : NULL;
	const struct world_host *it = key ? world_find(r->p.w->nodes, key) : NULL;
	struct host *h = it ? map_get(r->by_load, it->load->key) : NULL;

	if (!h || !h->is_candidate)
		return;
	h->is_candidate = false;
	r->ncandidates--;
}

static void do_join(struct consolidate_run *r)
{
	struct planning *p = &r->p;

	for (; r->at < r->nmovers && !slice_is_over(r); r->at++) {
		struct mover *m = &r->movers[r->at];

		p->work += POD_WORK;
		classes_requests(p, m->class_);
		if (!m->pod->node) {
			keep_nominated(r, m->pod);
			continue;
		}
		m->host = map_get(r->by_load, m->pod->load->key);
		m->host->trouble += trouble_of(m->pod);
		m->host->n++;
	}
	if (r->at < r->nmovers)
		return;
	put_in_order(r);
	enter(r, PROFILES, NULL);
}

static struct world_shape *profile_of(const void *run, size_t at)
{
	return ((const struct consolidate_run *)run)->movers[at].pod->profile;
}

static void do_profiles(struct consolidate_run *r)
{
	r->profiles.all = true;
	if (!profiles_next(&r->profiles, &r->p, r->until, r->nmovers, profile_of, r))
		enter(r, ROOM, NULL);
}

static void open_host(struct consolidate_run *r, struct host *h)
{
	struct planning *p = &r->p;
	struct bins *b = open_bins_of(p, h->tenant);
	struct tenant_hosts *of = &r->tenants[h->tenant->number];

	h->bin = bins_count(b);
	open_bins_add_node(p, h->it);
	h->has_bin = bins_count(b) > h->bin;
	if (!h->has_bin)
		return;
	of->v = planning_wider(p->a, of->v, &of->cap, h->bin + 1, sizeof(struct host *));
	of->v[h->bin] = h;
}

static void do_room(struct consolidate_run *r)
{
	struct planning *p = &r->p;

	if (!r->tenants)
		r->tenants = arena_calloc(p->a, map_size(p->tenants) + 1, sizeof(*r->tenants));
	for (; r->at < r->nhosts && !slice_is_over(r); r->at++) {
		open_host(r, r->order[r->at]);
		p->work += HOST_WORK;
	}
	if (r->at == r->nhosts)
		enter(r, CELLS, NULL);
}

static void do_cells(struct consolidate_run *r)
{
	struct planning *p = &r->p;

	for (; r->at < r->nmovers && !slice_is_over(r); r->at++) {
		struct mover *m = &r->movers[r->at];

		m->cell = cells_of(p, m->class_,
				   p->groups ? groups_profile(p->groups, m->pod->profile, true)
					     : NULL);
		p->work += POD_WORK / 2;
	}
	if (r->at == r->nmovers)
		enter(r, FIRST, NULL);
}

/* --- one pod ---------------------------------------------------------------------------------- */

static void leave(struct consolidate_run *r, const struct mover *m)
{
	if (r->p.groups && m->host->has_bin)
		groups_leave(r->p.groups, m->cell->profile, m->host->bin);
}

/* Finds the first Node that has room for the pod and is not to be given back; writes the Node's bin
 * to m->to. False: no such Node. */
static bool find(struct consolidate_run *r, struct mover *m)
{
	struct plan_tenant *t = m->class_->tenant;
	struct bins *b = open_bins_of(&r->p, t);
	/* Use a copy of the cell without its search position and topology state. Those are valid
	 * only while room shrinks and counts grow, but in a consolidation pods also leave Nodes. */
	struct plan_cell cell = *m->cell;
	const struct tenant_hosts *of = &r->tenants[t->number];

	planning_charge(&r->p, t, POD_WORK);
	if (m->class_->refused)
		return false;
	bins_check(b, m->class_->fit);
	if (cell.topology) {
		cell.topology = topology_cell(&r->p, m->class_, cell.profile);
		if (!topology_begin(cell.topology))
			return false;
	}
	for (size_t at = bins_next(b, &cell, 0); at < bins_count(b);
	     at = bins_next(b, &cell, at + 1)) {
		if (of->v[at]->gone || of->v[at] == m->host ||
		    (cell.topology && topology_bin(cell.topology, at) != TOPOLOGY_YES))
			continue;
		m->to = at;
		return true;
	}
	return false;
}

static struct host *host_at(const struct consolidate_run *r, const struct mover *m)
{
	return r->tenants[m->class_->tenant->number].v[m->to];
}

/* --- pods that get room first ----------------------------------------------------------------- */

/* Places waiting pods and pods of Nodes that accept no pods. Afterwards sets `gone` of each claim's
 * Node that neither has nor receives pods, so that no pod is placed on that Node. */
static void do_first(struct consolidate_run *r)
{
	for (; r->at < r->nfirst && !slice_is_over(r); r->at++) {
		struct mover *m = r->first[r->at];

		if (m->host)
			leave(r, m);
		if (!find(r, m))
			continue;
		opening_take(&r->p, m->to, m->cell);
		host_at(r, m)->receives = true;
	}
	if (r->at < r->nfirst)
		return;
	for (size_t i = 0; i < r->nhosts; i++)
		r->hosts[i].gone = r->hosts[i].claim && !r->hosts[i].n && !r->hosts[i].receives;
	r->out->v = arena_calloc(r->p.a, r->ncandidates + 1, sizeof(*r->out->v));
	enter(r, TRY, NULL);
}

/* --- one Node --------------------------------------------------------------------------------- */

static void undo(struct consolidate_run *r, struct host *h, size_t placed)
{
	while (placed-- > 0)
		bins_release(h->tenant->bins, h->pods[placed]->to, h->pods[placed]->class_);
	if (r->p.groups)
		groups_undo(r->p.groups);
}

static void keep(struct consolidate_run *r, struct host *h, struct consolidate_node *out)
{
	if (r->p.groups)
		groups_keep(r->p.groups);
	h->gone = true;
	r->out->given++;
	out->verdict = CONSOLIDATE_GIVE;
	out->nmoves = h->n;
	out->moves = arena_calloc(r->p.a, h->n + 1, sizeof(*out->moves));
	for (size_t i = 0; i < h->n; i++) {
		struct host *to = host_at(r, h->pods[i]);

		to->receives = true;
		out->moves[i] = (struct consolidate_move){h->pods[i]->pod->ns,
							  h->pods[i]->pod->name, to->it->node.name};
	}
}

/* True if the pod prevents its Node from being given back, even if other Nodes have room for the
 * pod. In this case writes the verdict and the pod to *out. */
static bool is_kept(const struct consolidate_run *r, const struct mover *m,
		    struct consolidate_node *out)
{
	const struct world_one *x = m->pod;

	if (x->keep && (!x->keep_until || x->keep_until > r->now)) {
		out->verdict = CONSOLIDATE_KEPT;
		out->keep = (enum world_keep)x->keep;
		out->keep_until = x->keep_until;
	} else if (m->class_->refused) {
		out->verdict = CONSOLIDATE_KEPT;
		out->keep = WORLD_KEEP_UNKNOWN;
	} else if (x->member) {
		out->verdict = CONSOLIDATE_GANG;
	} else {
		return false;
	}
	out->ns = x->ns;
	out->pod = x->name;
	return true;
}

static void try_host(struct consolidate_run *r, struct host *h, struct consolidate_node *out)
{
	size_t placed = 0;

	*out = (struct consolidate_node){.tenant = h->it->node.tenant,
					 .node = h->it->node.name,
					 .claim = h->claim->name,
					 .verdict = CONSOLIDATE_RECEIVES,
					 .trouble = h->trouble};
	if (h->receives)
		return;
	out->verdict = CONSOLIDATE_EMPTY;
	for (size_t i = 0; i < h->n; i++)
		if (is_kept(r, h->pods[i], out))
			return;
	if (!h->n)
		return;
	out->verdict = CONSOLIDATE_OVER;
	if (h->tenant->over)
		return;
	if (r->p.groups)
		groups_try(r->p.groups);
	for (size_t i = 0; i < h->n; i++)
		leave(r, h->pods[i]);
	while (placed < h->n && find(r, h->pods[placed])) {
		opening_take(&r->p, h->pods[placed]->to, h->pods[placed]->cell);
		placed++;
	}
	if (placed == h->n && !h->tenant->over) {
		keep(r, h, out);
		return;
	}
	undo(r, h, placed);
	if (h->tenant->over)
		return;
	out->verdict = CONSOLIDATE_NO_ROOM;
	out->ns = h->pods[placed]->pod->ns;
	out->pod = h->pods[placed]->pod->name;
}

static void do_try(struct consolidate_run *r)
{
	for (; r->out->n < r->ncandidates && !slice_is_over(r); r->out->n++) {
		try_host(r, r->order[r->nhosts - 1 - r->out->n], &r->out->v[r->out->n]);
		r->p.work += HOST_WORK;
	}
	if (r->out->n == r->ncandidates)
		r->phase = READY;
}

/* --- in slices -------------------------------------------------------------------------------- */

struct consolidate_run *consolidate_begin(struct world *w, int64_t now_ms, struct arena *a)
{
	struct consolidate_run *r = arena_new_obj(a, struct consolidate_run);
	const size_t nodes = world_nodes(w)->n, pods = map_size(w->pods);

	r->now = now_ms;
	r->p = (struct planning){.w = w,
				 .a = a,
				 .now_ms = now_ms,
				 .tenants = map_new(NULL),
				 .columns = map_new(NULL),
				 .plan = arena_new_obj(a, struct plan)};
	w->plan++;
	r->p.cells = cells_new(&r->p);
	r->by_load = planning_map(&r->p);
	r->out = arena_new_obj(a, struct consolidate);
	r->movers = arena_calloc(a, pods + 1, sizeof(*r->movers));
	r->hosts = arena_calloc(a, nodes + 1, sizeof(*r->hosts));
	r->order = arena_calloc(a, nodes + 1, sizeof(struct host *));
	classes_want(&r->p, "pods");
	enter(r, PODS, w->pods);
	return r;
}

struct consolidate *consolidate_step(struct consolidate_run *r, uint64_t units)
{
	static void (*const does[])(struct consolidate_run * r) = {
		[PODS] = do_pods, [HOSTS] = do_hosts, [JOIN] = do_join,	  [PROFILES] = do_profiles,
		[ROOM] = do_room, [CELLS] = do_cells, [FIRST] = do_first, [TRY] = do_try,
	};

	r->until = units > UINT64_MAX - r->p.work ? UINT64_MAX : r->p.work + units;
	while (r->phase != READY && !slice_is_over(r))
		does[r->phase](r);
	return r->phase == READY ? r->out : NULL;
}

void consolidate_end(struct consolidate_run *r)
{
	planning_end(&r->p);
	map_free(r->p.tenants);
	map_free(r->p.columns);
}
