#include "planner/gang/holds.h"

#include <stdlib.h>

#include "base/str.h"
#include "planner/gang/try.h"
#include "planner/groups.h"
#include "planner/refusal.h"
#include "planner/supply/supply.h"
#include "planner/timeline.h"

/* Largest number of gangs that may reserve machines in one plan: the first gangs of the queue. The
 * bound limits the cost of their look-aheads. */
#define HOLDS_MOST 64

/* --- the earliest time at which a gang becomes whole ------------------------------------------ */

static int by_value(const void *x, const void *y)
{
	const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return a < b ? -1 : a > b;
}

struct times {
	int64_t *v;
	size_t n, cap;
};

static void add_times(struct planning *p, const struct plan_fit *f, int64_t before, struct times *t)
{
	for (size_t i = 0; i < f->npools; i++)
		for (size_t o = 0; f->pools[i].n && o < f->pools[i].pool->noptions; o++) {
			const struct supply_group *g = f->pools[i].pool->options[o].group;

			for (size_t k = 0; g && k < g->nahead; k++) {
				const int64_t at = supply_free_at(p, g->ahead[k]);

				if (!at || at >= before)
					continue;
				t->v = planning_wider(p->a, t->v, &t->cap, t->n + 1, sizeof(*t->v));
				t->v[t->n++] = at;
			}
		}
}

/* Returns the times before `before` at which machines that suit the gang become free, sorted,
 * without duplicates. */
static struct times times_of(struct planning *p, const struct plan_gang *g, int64_t before)
{
	struct times t = {0};
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		if (!i || g->v[i]->class_->fit != g->v[i - 1]->class_->fit)
			add_times(p, g->v[i]->class_->fit, before, &t);
	if (t.n)
		qsort(t.v, t.n, sizeof(*t.v), by_value);
	for (size_t i = 0; i < t.n; i++)
		if (!n || t.v[i] != t.v[n - 1])
			t.v[n++] = t.v[i];
	planning_charge(p, g->tenant, 4 * t.n);
	t.n = n;
	return t;
}

static int64_t last_of(const struct planning *p, const struct gang_ahead *x)
{
	int64_t last = 0;

	for (size_t i = 0; i < x->n; i++) {
		const int64_t at = supply_free_at(p, x->v[i].machine);

		last = at > last ? at : last;
	}
	return last;
}

static bool is_whole_at(struct planning *p, struct plan_gang *g, int64_t until,
			struct gang_ahead *x)
{
	x->until = until;
	return gang_try_ahead(p, g, x);
}

/* Finds the earliest time *at at which the gang becomes whole (all needed pods get machines). Uses
 * binary search over the times at which machines become free. False: no such time is known. */
static bool find_time(struct planning *p, struct plan_gang *g, struct gang_ahead *x, int64_t *at)
{
	struct times t;
	size_t low = 0, high;

	if (!is_whole_at(p, g, SUPPLY_SOMETIME - 1, x))
		return false;
	*at = last_of(p, x);
	t = times_of(p, g, *at);
	high = t.n;
	/* Invariant: at times before index low the gang is not whole, from index high on it is
	 * whole. */
	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (!is_whole_at(p, g, t.v[mid], x)) {
			low = mid + 1;
			continue;
		}
		*at = t.v[mid];
		high = mid;
	}
	return true;
}

/* --- reserving -------------------------------------------------------------------------------- */

static void count_held(struct planning *p, struct plan_gang *g, const struct gang_machine *x)
{
	const struct quantity *gpus = resources_get(&x->offer->type->capacity, PLANNING_GPU);

	g->held_names = planning_wider(p->a, g->held_names, &g->held_cap, g->held + 1,
				       sizeof(*g->held_names));
	g->held_names[g->held++] = x->machine->m.name;
	if (gpus)
		g->held_gpus = planning_add(g->held_gpus, quantity_milli_floor(*gpus));
}

static void keep(struct planning *p, struct plan_gang *g, const struct gang_ahead *x, bool known)
{
	int64_t last = 0;
	bool sure = known;

	for (size_t i = 0; i < x->n; i++) {
		struct world_stock *s = x->v[i].machine;
		const struct world_machine *m = &s->m;
		const int64_t at = supply_free_at(p, s);
		const bool rests = hold_rests(p->w, m->name, p->now_ms);

		sure = sure && s->unsure != p->w->plan && !rests;
		if (/* mutant: machine-rest-ignored */ rests || supply_is_assigned(p, s))
			continue;
		supply_hold(p->supply, g->tenant, x->v[i].pool, x->v[i].offer, s, g->it);
		if (m->offered)
			count_held(p, g, &x->v[i]);
		if (!m->offered && m->free_p90_ms > g->p90)
			g->p90 = m->free_p90_ms;
		if (at < last)
			continue;
		last = at;
		g->last = m;
	}
	g->p50 = last > p->now_ms ? last : p->now_ms;
	if (!sure)
		g->last = NULL;
}

/* Marks all machines that suit the gang as unsure. Because the gang takes whichever of them becomes
 * free first, expected times of queue entries behind the gang are not known. */
static void unsettle(struct planning *p, const struct plan_gang *g)
{
	for (size_t k = 0; k < g->n; k++) {
		const struct plan_fit *f = g->v[k]->class_->fit;

		if (k && f == g->v[k - 1]->class_->fit)
			continue;
		for (size_t i = 0; i < f->npools; i++)
			for (size_t o = 0; f->pools[i].n && o < f->pools[i].pool->noptions; o++) {
				const struct supply_group *of = f->pools[i].pool->options[o].group;

				for (size_t m = 0; of && m < of->nahead; m++)
					of->ahead[m]->unsure = p->w->plan;
			}
	}
}

/* Passes the gang's pods beyond its size to the timeline. Once the gang is whole, these pods are
 * served one by one at the gang's position in the queue. */
static void look_at_its_others(struct planning *p, const struct plan_gang *g)
{
	size_t beyond = g->want - g->need;

	for (size_t i = g->n; i-- > 0 && beyond;) {
		if (g->v[i]->seat)
			continue;
		timeline_hope(p->timeline, g->v[i]);
		beyond--;
	}
}

static void say(struct planning *p, struct plan_gang *g, const char *text)
{
	if (g->reasons[0].code == PLAN_GANG)
		g->reasons[0].text = arena_printf(p->a, "%s; %s", g->reasons[0].text, text);
}

static void say_rest(struct planning *p, struct plan_gang *g, int64_t rests)
{
	struct plan_reason *v = arena_calloc(p->a, g->nreasons + 1, sizeof(*v));
	char t[STR_TIME_SIZE];

	v[0] = (struct plan_reason){
		"", PLAN_GANG_OVER,
		arena_printf(
			p->a,
			"machines were reserved for the tenant's gangs for as long as --gang-hold "
			"allows: none is reserved for them until %s",
			str_time(t, rests))};
	for (size_t i = 0; i < g->nreasons; i++)
		v[i + 1] = g->reasons[i];
	g->reasons = v;
	g->nreasons++;
}

static void tell(struct planning *p, const struct plan_gang *g, bool rests)
{
	struct plan *out = p->plan;

	out->holds = planning_wider(p->a, out->holds, &p->holds_cap, out->nholds + 1,
				    sizeof(*out->holds));
	out->holds[out->nholds++] = (struct plan_hold){.tenant = g->tenant->it->name,
						       .gang = gang_key(g->it),
						       .machines = g->held_names,
						       .free = g->held,
						       .gpus_milli = g->held_gpus,
						       .rests = rests};
}

/* Passes the queue entries before the gang to the timeline, because they get machines before the
 * gang does. Creates the timeline if it is missing. */
static void look_at_those_before(struct planning *p)
{
	if (!p->timeline)
		p->timeline = timeline_new(p);
	for (; p->waiting < p->nturns; p->waiting++)
		timeline_wait(p->timeline, p->turns[p->waiting]);
}

static bool may_reserve(const struct planning *p, const struct plan_gang *g)
{
	return p->w->hold_ms && p->plan->nholds < HOLDS_MOST && g->reasons && g->need &&
	       !g->turn->pod->check && !g->tenant->over && !refusal_is_of_tenant(g->tenant->it);
}

/* Lets the gang wait without reserved machines. Because the gang may then get whichever suitable
 * machine becomes free first, expected times of queue entries behind the gang are not known. */
static void wait_without(struct planning *p, struct plan_gang *g)
{
	struct gang_ahead x = {.anywhere = true};

	if (is_whole_at(p, g, SUPPLY_SOMETIME, &x))
		unsettle(p, g);
}

void holds_reserve(struct planning *p, struct plan_gang *g)
{
	const struct world_hold h = hold_of_tenant(p->w, g->tenant->it->name);
	const int64_t ends = h.ends ? h.ends : planning_add(p->now_ms, p->w->hold_ms);
	struct gang_ahead x = {0};
	int64_t at = 0;
	bool known;

	if (!may_reserve(p, g))
		return;
	look_at_those_before(p);
	if (h.rests > p->now_ms || ends <= p->now_ms) {
		if (h.rests > p->now_ms)
			say_rest(p, g, h.rests);
		wait_without(p, g);
		tell(p, g, true);
		return;
	}
	if (g->tenant->holds && /* mutant: hold-for-each-gang */ p->wanting > 1) {
		wait_without(p, g);
		say(p, g, "machines are reserved for another gang of the tenant");
		return;
	}
	known = find_time(p, g, &x, &at);
	x.keeps = true;
	x.anywhere = !known;
	if (!is_whole_at(p, g, known ? at : SUPPLY_SOMETIME, &x)) {
		x.anywhere = false;
		if (known || !is_whole_at(p, g, SUPPLY_SOMETIME, &x))
			return;
	}
	keep(p, g, &x, known);
	if (g->p90 > ends)
		g->last = NULL;
	if (!g->last)
		unsettle(p, g);
	look_at_its_others(p, g);
	if (g->held)
		say(p, g,
		    arena_printf(p->a, "%zu machine%s reserved for it", g->held,
				 g->held == 1 ? " is" : "s are"));
	g->tenant->holds = true;
	tell(p, g, false);
}
