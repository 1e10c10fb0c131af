#include "planner/serve.h"

#include <string.h>

#include "planner/cells.h"
#include "planner/gang/gangs.h"
#include "planner/open_bins.h"
#include "planner/refusal.h"
#include "planner/supply/opening.h"
#include "planner/supply/reserve.h"
#include "planner/supply/supply.h"

/* Work units that are kept for each pod that waits for its turn. */
#define PLACE_WORK 40

/* Appends a UID to the claim's pods. The array grows to twice its size whenever the number of UIDs
 * is a power of two. */
static void add_uid(struct plan_claim *claim, const char *uid, struct arena *a)
{
	if ((claim->npods & (claim->npods - 1)) == 0) {
		const char **v = arena_calloc(a, claim->npods ? 2 * claim->npods : 1, sizeof(*v));

		if (claim->npods)
			memcpy(v, claim->pods, claim->npods * sizeof(*v));
		claim->pods = v;
	}
	claim->pods[claim->npods++] = uid;
}

static void tell(struct planning *p, size_t at, const struct plan_class *c, struct plan_pod *out)
{
	const struct bin *b = bins_at(c->tenant->bins, at);

	out->outcome = b->kind;
	out->target = b->target;
	out->new_claim = b->claim;
	if (b->kind == PLAN_ON_NEW) {
		struct plan_claim *claim = &p->plan->claims[b->claim];

		tally_add(&claim->requests, &p->requests_cap[b->claim], &c->pod->requests, p->a);
		add_uid(claim, out->uid, p->a);
	}
}

static void place(struct planning *p, size_t at, struct queued *q, struct plan_pod *out)
{
	opening_take(p, at, q->cell);
	q->seat = at + 1;
	tell(p, at, q->class_, out);
}

static void tell_over_budget(const struct planning *p, struct plan_tenant *t, struct plan_pod *out)
{
	out->reasons = refusal_over_budget(p, t);
	out->nreasons = 1;
}

/* True if no machine is left for the class, since none is left for smaller pods, and the tenant's
 * work units are needed for pods that still wait for their turn. Then it is not worth the work to
 * find out why each pool has none. */
static bool is_hopeless(const struct plan_class *c)
{
	struct plan_tenant *t = c->tenant;

	t->saves |= t->work + t->awaited * PLACE_WORK > PLAN_WORK;
	return t->saves && !c->exhausted && supply_none_left(c);
}

bool serve_fits_nothing(const struct plan_pod *p)
{
	static const bool never[PLAN_REASONS] = {
		[PLAN_NO_POOL] = true,	     [PLAN_REQUIREMENTS] = true, [PLAN_TAINT] = true,
		[PLAN_RUNTIME_CLASS] = true, [PLAN_TOO_BIG] = true,	 [PLAN_NO_IMAGE] = true,
		[PLAN_NOT_TAKEN] = true,     [PLAN_UNSUPPORTED] = true,	 [PLAN_OVER_BUDGET] = true,
		[PLAN_VOLUME] = true,	     [PLAN_PROOF] = true,	 [PLAN_GANG_SHORT] = true,
		[PLAN_GANG_UNKNOWN] = true,  [PLAN_DEVICE] = true,	 [PLAN_DENIED] = true,
	};
	size_t nearest = 0;

	/* Skip reasons about the gang as a whole. The reason after them is about the pool in which
	 * least is missing. */
	while (nearest + 1 < p->nreasons && (p->reasons[nearest].code == PLAN_GANG ||
					     p->reasons[nearest].code == PLAN_GANG_OVER))
		nearest++;
	return p->nreasons && never[p->reasons[nearest].code];
}

/* Makes the reserved room of the tenant available, because the pod of the cell gets no machine.
 * False: that does not help the pod, or nothing is reserved. */
static bool use_reserved(const struct plan_cell *c, const struct plan_pod *out)
{
	return !serve_fits_nothing(out) && !(c->topology && topology_waits(c->topology)) &&
	       reserve_release(c->class_->tenant);
}

/* Places the pod of entry q into an existing bin or onto a new machine, and writes the result to
 * *out. False: the pod is not placed; *out contains the reasons. *waits: true if the pod may be
 * placed once other pods are placed (topology_may_open()). */
static bool find(struct planning *p, struct queued *q, struct plan_pod *out, bool *waits)
{
	struct plan_cell *cell = q->cell;
	struct plan_class *c = cell->class_;
	struct bins *bins = open_bins_of(p, c->tenant);
	const bool may = !refusal_is_of_tenant(c->tenant->it) && !is_hopeless(c);
	struct supply_choice o;
	size_t at;

	bins_check(bins, c->fit);
	if (may)
		supply_ask(p->supply, cell);
	do {
		if ((!cell->topology || topology_begin(cell->topology)) &&
		    (bins_find(bins, cell, &at) || reserve_find(p, cell, &at))) {
			place(p, at, q, out);
			if (out->outcome == PLAN_ON_NEW)
				cells_arrive(cell);
			return true;
		}
		if (may && supply_take(p->supply, cell, &o, &out->reasons, &out->nreasons)) {
			at = opening_new(p, c, &o);
			place(p, at, q, out);
			if (o.from->least_nodes)
				reserve_room(p, cell, at);
			return true;
		}
	} while ((may && supply_ask_again(p->supply, cell)) ||
		 (!refusal_is_of_tenant(c->tenant->it) && use_reserved(cell, out)));
	*waits = cell->topology && topology_may_open(cell->topology);
	if (refusal_is_of_tenant(c->tenant->it)) {
		refusal_of_tenant(p, c);
		out->reasons = c->reasons;
		out->nreasons = c->nreasons;
	} else if (!may) {
		tell_over_budget(p, c->tenant, out);
	}
	return false;
}

void serve_seat(struct planning *p, struct queued *q)
{
	struct plan_class *c = q->class_;
	const struct plan_placement *s = c->tenant->placements && q->pod->uid
						 ? map_get(c->tenant->placements, q->pod->uid)
						 : NULL;

	p->work += POD_WORK / 4;
	if (!s || q->seat || (s->ready && !q->gang) || c->refused || c->tenant->over || q->cut)
		return;
	bins_check(c->tenant->bins, c->fit);
	if ((q->cell->topology && !topology_begin(q->cell->topology)) ||
	    !bins_fits(c->tenant->bins, q->cell, s->bin))
		return;
	opening_take(p, s->bin, q->cell);
	cells_leave(q->cell);
	q->seat = s->bin + 1;
}

bool serve_pod(struct planning *p, struct queued *q, struct plan_pod *out)
{
	struct plan_class *c = q->class_;
	bool waits = false;

	if (!q->seat && !c->refused && (q->cut || (q->gang && q->gang->cut))) {
		p->work += POD_WORK;
		out->outcome = PLAN_NOTHING;
		tell_over_budget(p, c->tenant, out);
		return false;
	}
	planning_charge(p, c->tenant, POD_WORK);
	if (q->seat) {
		tell(p, q->seat - 1, c, out);
		out->gang = q->gang ? q->gang->number : 0;
		return false;
	}
	if (q->gang && !c->refused && !c->tenant->over) {
		(void)reserve_release(c->tenant);
		gangs_serve(p, q);
	}
	if (q->seat) {
		tell(p, q->seat - 1, c, out);
		out->gang = q->gang->number;
		return false;
	}
	if (c->refused) {
		refusal_of_pod(p, c);
		out->reasons = c->reasons;
		out->nreasons = c->nreasons;
	} else if (c->tenant->over) {
		tell_over_budget(p, c->tenant, out);
	} else if (q->gang && q->gang->reasons) {
		out->reasons = q->gang->reasons;
		out->nreasons = q->gang->nreasons;
	} else if (find(p, q, out, &waits)) {
		out->reasons = NULL;
		out->nreasons = 0;
		return false;
	}
	out->outcome = PLAN_NOTHING;
	return waits;
}

bool serve_may_go_on(const struct queued *q)
{
	return !q->cell->topology || topology_begin(q->cell->topology);
}
