#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "planner/fit.h"
#include "planner/open_bins.h"
#include "planner/supply/overhead.h"
#include "planner/supply/supply.h"

struct bins *open_bins_of(struct planning *p, struct plan_tenant *t)
{
	if (!t->bins)
		t->bins = bins_new(p, t);
	return t->bins;
}

static void take_load(const struct planning *p, const struct world_load *l, int64_t *room)
{
	room[0] = planning_sub(room[0], (int64_t)l->pods);
	for (size_t i = 0; i < l->n; i++)
		for (size_t c = 0; c < p->ncolumns; c++)
			if (strcmp(p->column[c], l->v[i].name) == 0)
				room[c] = planning_sub(
					room[c], planning_request(l->v[i].name,
								  (struct quantity){l->v[i].nano}));
}

/* Returns the node's free amounts, one for each column (requested resource). They are stored in the
 * node's load, and computed again only if the columns, the node or its pods change. */
static const int64_t *node_row(const struct planning *p, const struct world_host *h)
{
	struct world_load *l = h->load;

	if (l->row_of != p->w->columns_serial) {
		l->row = mem_realloc_array(l->row, p->ncolumns, sizeof(*l->row));
		planning_room(p, &h->node.allocatable, l->row);
		take_load(p, l, l->row);
		l->row_of = p->w->columns_serial;
	}
	return l->row;
}

static void place_bound(struct planning *p, const struct plan_tenant *t, const struct world_load *l,
			size_t bin)
{
	bins_load(t->bins, bin, l);
	for (size_t i = 0; p->groups && i < l->nspots; i++)
		groups_place(p->groups, groups_profile(p->groups, l->spots[i].profile, false), bin,
			     l->spots[i].pods, l->spots[i].terminating);
}

static void seat(struct planning *p, const struct world_claimed *held, size_t bin, bool ready)
{
	const struct world_claim *c = &held->claim;
	struct plan_tenant *t = held->tenant;
	struct plan_placement *s = c->npods ? arena_new_obj(p->a, struct plan_placement) : NULL;

	if (s && !t->placements)
		t->placements = planning_map(p);
	for (size_t i = 0; i < c->npods; i++) {
		*s = (struct plan_placement){bin, ready};
		/* If several claims were made for one pod, the older claim wins. Claims are
		 * processed in order of age, so keep an existing entry. */
		if (!map_has(t->placements, c->pods[i]))
			map_put(t->placements, c->pods[i], s);
	}
}

static bool is_promised(const struct world_claim *c, const struct world_taint *t)
{
	for (size_t i = 0; i < c->taints.n; i++)
		if (str_eq(c->taints.v[i].key, t->key) &&
		    str_eq(str_or(c->taints.v[i].value, ""), str_or(t->value, "")) &&
		    str_eq(c->taints.v[i].effect, t->effect))
			return true;
	return fit_is_soft(t);
}

/* True if the claim instead of its Node is to be used as the bin, so that pods keep their planned
 * placements. This is the case while the Node has a taint that its claim does not set, because
 * agents of the tenant (CNI, CSI) taint a Node that just joined until they run there. Ends
 * OPEN_BINS_SETTLE_MS after the claim became ready. */
static bool is_unsettled(struct planning *p, const struct world_claim *c,
			 const struct world_node *n)
{
	const int64_t until = planning_add(c->ready_ms, OPEN_BINS_SETTLE_MS);
	bool all = true;

	/* mutant: seat-lost-to-a-taint */
	if (!c->ready || !c->ready_ms || until <= p->now_ms)
		return false;
	for (size_t i = 0; i < n->taints.n; i++)
		all &= is_promised(c, &n->taints.v[i]);
	if (!all && (!p->plan->settles || until < p->plan->settles))
		p->plan->settles = until;
	return !all;
}

/* Adds no bin for the node while its claim is used as the bin: until the claim is ready, or while
 * is_unsettled() is true. If the claim is leaving or failed, or the node is unschedulable or not
 * Ready, the bin accepts no pods. */
void open_bins_add_node(struct planning *p, struct world_host *h)
{
	const struct world_node *n = &h->node;
	struct plan_tenant *t = planning_tenant(p, n->tenant);
	struct world_claimed *held = n->claim ? world_find(p->w->claims, n->claim) : NULL;
	const struct world_claim *c = held ? &planning_claimed(p, held)->claim : NULL;
	size_t at;
	struct bin bin = {
		PLAN_ON_NODE, n->name, 0, &n->labels, &n->taints, held ? held->pool : NULL, NULL};

	overhead_measure(p, t, h);
	if (held && held->tenant == t) {
		held->host = h;
		if ((!c->ready || is_unsettled(p, c, n)) && !c->failed && !c->leaving)
			return;
		if (c->failed || c->leaving)
			bin.kind = PLAN_NOTHING;
	}
	if (!n->ready || n->unschedulable)
		bin.kind = PLAN_NOTHING;
	if (bin.kind == PLAN_NOTHING && !p->groups)
		return;
	at = bins_add(open_bins_of(p, t), &bin, node_row(p, h));
	place_bound(p, t, h->load, at);
	if (held && c->ready && bin.kind == PLAN_ON_NODE && held->tenant == t)
		seat(p, held, at, true);
}

/* Returns the labels of the claim's node. h: the node; NULL: the node does not exist yet, and
 * its predicted labels are returned. WORLD_NODE_NAME is the node's name, which equals the
 * claim's name. */
static struct labels node_labels(const struct planning *p, const struct world_claim *c,
				 const struct world_host *h)
{
	const struct labels of = supply_labels_of_claim(p->supply, c);

	return world_name_labels(&of, h ? h->node.name : c->name, p->a);
}

void open_bins_add_claim(struct planning *p, struct world_claimed *held)
{
	const struct world_claim *c = &planning_claimed(p, held)->claim;
	struct plan_tenant *t = held->tenant;
	struct world_host *h = held->host;
	struct labels *labels;
	size_t bin;

	if (c->failed || c->leaving || (c->ready && h && !is_unsettled(p, c, &h->node)))
		return;
	labels = arena_new_obj(p->a, struct labels);
	*labels = node_labels(p, c, h);
	planning_room(p, &c->capacity, p->scratch);
	if (h)
		take_load(p, h->load, p->scratch);
	overhead_take(p, overhead_of_node(p, t, labels, &c->taints), h ? h->load : NULL,
		      p->scratch);
	bin = bins_add(
		open_bins_of(p, t),
		&(struct bin){PLAN_ON_CLAIM, c->name, 0, labels, &c->taints, held->pool, NULL},
		p->scratch);
	if (h)
		place_bound(p, t, h->load, bin);
	seat(p, held, bin, false);
}
