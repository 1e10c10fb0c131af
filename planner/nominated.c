#include "planner/nominated.h"

#include "base/str.h"
#include "planner/bins.h"
#include "planner/cells.h"
#include "planner/groups.h"

/* A node that accepts pods, and data about the pods that are nominated for it. */
struct nominee {
	/* pods: number of pods that are nominated for the node. */
	size_t bin, pods;
	/* True if a pod nominated for the node has topology constraints. */
	bool constrained;
	/* True if a pod nominated for the node cannot be placed on the node. Then no pod at all is
	 * placed on the node. */
	bool closed;
};

/* Nodes that accept pods, for each tenant with nominated pods. */
struct nominees {
	struct planning *p;
	/* By plan_tenant.number: map from node name to struct nominee; NULL: the tenant's nodes are
	 * not listed yet. */
	struct map **by_name;
};

static struct map *list_nodes(struct planning *p, struct plan_tenant *t)
{
	struct map *all = planning_map(p);

	for (size_t i = 0; t->bins && i < bins_count(t->bins); i++) {
		const struct bin *b = bins_at(t->bins, i);
		const char *name = labels_get(b->labels, WORLD_NODE_NAME);
		struct nominee *o;

		if (b->kind == PLAN_NOTHING || !name)
			continue;
		o = arena_new_obj(p->a, struct nominee);
		o->bin = i;
		map_put(all, name, o);
	}
	planning_charge(p, t, t->bins ? bins_count(t->bins) : 0);
	return all;
}

/* Returns the node for which the pod is nominated; NULL: the pod is not nominated, or the node is
 * unknown or accepts no pods. */
static struct nominee *nominee_of(const struct nominees *of, const struct queued *q)
{
	struct plan_tenant *t;
	struct map **all;

	if (!q->pod->nominated)
		return NULL;
	t = q->class_->tenant;
	all = &of->by_name[t->number];
	if (!*all)
		*all = list_nodes(of->p, t);
	return map_get(*all, q->pod->nominated);
}

static void reserve(struct nominee *o, const struct queued *q)
{
	struct plan_tenant *t = q->class_->tenant;

	bins_check(t->bins, q->class_->fit);
	/* mutant: nominated-room */
	bins_take(t->bins, o->bin, q->class_);
	o->pods++;
	o->constrained |= q->pod->profile->pod.topology.n > 0;
}

/* True if the node has room for the pod besides all other pods that are nominated for the node. */
static bool has_room(const struct nominee *o, const struct queued *q)
{
	struct bins *bins = q->class_->tenant->bins;
	bool fits;

	bins_release(bins, o->bin, q->class_);
	fits = (!q->cell->topology || topology_begin(q->cell->topology)) &&
	       bins_fits(bins, q->cell, o->bin);
	bins_take(bins, o->bin, q->class_);
	return fits;
}

/* True if the pod may be placed on the node for which it is nominated. False if several pods are
 * nominated for the node and one of them has topology constraints, because constraints among
 * nominated pods are not evaluated. */
static bool may_sit(const struct nominee *o, const struct queued *q)
{
	const struct plan_class *c = q->class_;

	return !c->refused && !c->impossible && !c->tenant->over && !q->cut &&
	       !(o->constrained && o->pods > 1) && bins_suits(c->fit, o->bin) &&
	       (q->pod->preempts || /* mutant: nominated-alone */ has_room(o, q));
}

static void sit(struct planning *p, const struct nominee *o, struct queued *q)
{
	if (q->cell->profile)
		groups_place(p->groups, q->cell->profile, o->bin, 1, 0);
	cells_leave(q->cell);
	q->seat = o->bin + 1;
}

void nominated_placement(struct planning *p, struct queued *const *q, size_t n)
{
	const struct nominees of = {
		p, arena_calloc(p->a, map_size(p->tenants) + 1, sizeof(struct map *))};
	struct queued **v = arena_calloc(p->a, n, sizeof(struct queued *));
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (nominee_of(&of, q[i]))
			v[k++] = q[i];
	for (size_t i = 0; i < k; i++)
		reserve(nominee_of(&of, v[i]), v[i]);
	for (size_t i = 0; i < k; i++) {
		struct nominee *o = nominee_of(&of, v[i]);

		o->closed |= !may_sit(o, v[i]);
	}
	for (size_t i = 0; i < k; i++) {
		const struct nominee *o = nominee_of(&of, v[i]);

		if (o->closed)
			/* mutant: nominated-open */
			bins_close(v[i]->class_->tenant->bins, o->bin);
		else
			sit(p, o, v[i]);
	}
}
