#include "planner/early.h"

#include "planner/bins.h"
#include "planner/cells.h"
#include "planner/groups.h"
#include "planner/supply/opening.h"

/* Marks the groups whose counts decide whether the pod may stay where it is placed. Anti-affinity
 * needs no mark, because it also keeps pods that come later away from the pod. Nor does a spread
 * over hosts, because a pod on one host does not count on another. */
static void rely(const struct plan_profile *s)
{
	for (size_t i = 0; s && i < s->nrules; i++) {
		const struct topology_rule *x = &s->rules[i];

		x->group->relied_on |= x->it->kind == WORLD_TOGETHER ||
				       (x->it->kind == WORLD_SPREAD && x->group->key != GROUP_HOST);
	}
}

static bool is_relied_on(const struct plan_profile *s)
{
	for (size_t i = 0; s && i < s->ncounted; i++)
		if (s->counted[i]->relied_on)
			return true;
	return false;
}

void early_note(struct early *e, struct planning *p, const struct queued *q, size_t entry,
		size_t bin)
{
	const struct plan_profile *s = q->cell->profile;

	if (!p->groups)
		return;
	p->work++;
	if (bins_at(q->class_->tenant->bins, bin)->kind != PLAN_ON_NODE) {
		rely(s);
		return;
	}
	if (q->gang)
		return;
	e->late |= is_relied_on(s);
	e->v = planning_wider(p->a, e->v, &e->cap, e->n + 1, sizeof(*e->v));
	e->v[e->n++] = (struct early_pod){entry, bin};
}

bool early_again(const struct early *e, struct early *next)
{
	*next = (struct early){.v = e->v, .n = e->n, .rounds = e->rounds + 1};
	return e->late && e->rounds < EARLY_ROUNDS;
}

void early_place(const struct early *e, struct planning *p, struct queued *all)
{
	for (size_t i = 0; i < e->n; i++) {
		struct queued *q = &all[e->v[i].entry];
		const struct plan_class *c = q->class_;

		planning_charge(p, c->tenant, 4);
		if (q->seat || c->refused || c->tenant->over || q->cut)
			continue;
		bins_check(c->tenant->bins, c->fit);
		if ((q->cell->topology && !topology_begin(q->cell->topology)) ||
		    !bins_fits(c->tenant->bins, q->cell, e->v[i].bin))
			continue;
		opening_take(p, e->v[i].bin, q->cell);
		cells_leave(q->cell);
		q->seat = e->v[i].bin + 1;
	}
}
