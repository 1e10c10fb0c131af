#include "planner/gang/gangs.h"

#include "planner/bins.h"
#include "planner/gang/try.h"
#include "planner/gang/holds.h"
#include "planner/open_bins.h"
#include "planner/refusal.h"

#define KEY_SHOWN 200 /* Number of bytes to which a gang's key is truncated in reasons. */

struct plan_gang *gangs_of(struct planning *p, const struct world_one *pod, struct plan_tenant *t)
{
	struct world_gang *it = pod->member ? pod->member->gang : NULL;
	struct plan_gang *g;

	if (!it)
		return NULL;
	if (it->plan == p->w->plan)
		return it->gang;
	g = arena_new_obj(p->a, struct plan_gang);
	*g = (struct plan_gang){.it = it, .tenant = t, .size = 1};
	for (const struct world_member *m = it->first; m; m = m->after) {
		g->begun += m->pod->node && !m->pod->terminating;
		g->ended |= m->pod->done;
		if (!m->pod->done && !m->pod->terminating && m->min > (int64_t)g->size)
			g->size = (size_t)m->min;
		planning_charge(p, t, 1);
	}
	it->plan = p->w->plan;
	it->gang = g;
	return g;
}

void gangs_add(struct planning *p, struct queued *q)
{
	struct plan_gang *g = q->gang;

	g->v = planning_wider(p->a, g->v, &g->cap, g->n + 1, sizeof(struct queued *));
	g->v[g->n++] = q;
	g->seated += q->seat != 0;
}

static void say(struct planning *p, struct plan_gang *g, enum plan_reason_code code,
		const char *text, const struct plan_reason *more, size_t nmore)
{
	g->reasons = arena_calloc(p->a, nmore + 1, sizeof(*g->reasons));
	g->reasons[0] = (struct plan_reason){"", code, text};
	for (size_t i = 0; i < nmore; i++)
		g->reasons[i + 1] = more[i];
	g->nreasons = nmore + 1;
}

static const char *name_of(const struct planning *p, const struct plan_gang *g)
{
	return arena_printf(p->a, "gang %.*s", KEY_SHOWN, gang_key(g->it));
}

static void say_miss(struct planning *p, struct plan_gang *g, size_t size,
		     const struct gang_miss *miss)
{
	const size_t has = g->begun + g->seated,
		     of = has + g->want < size || size < has + g->need ? has + g->need : size;

	say(p, g, PLAN_GANG,
	    arena_printf(p->a, "%s: room for %zu of %zu pods, and a gang starts only as a whole",
			 name_of(p, g), has + miss->placed, of),
	    miss->reasons, miss->nreasons);
}

static void settle(struct planning *p, struct plan_gang *g)
{
	const size_t size = g->size, has = g->begun + g->seated;
	struct gang_miss miss;

	g->want = g->n - g->seated;
	if (has + g->want >= size)
		g->need = has < size ? size - has : 0;
	else if (g->begun || /* mutant: gang-ended-waits */ g->ended)
		g->need = g->want;
	else {
		say(p, g, PLAN_GANG_SHORT,
		    arena_printf(p->a, "%s: only %zu of the %zu pods that it needs exist",
				 name_of(p, g), has + g->want, size),
		    NULL, 0);
		return;
	}
	(void)open_bins_of(p, g->tenant);
	if (!g->need || gang_try(p, g, &miss))
		return;
	if (refusal_is_of_tenant(g->tenant->it)) {
		refusal_of_tenant(p, g->turn->class_);
		g->reasons = g->turn->class_->reasons;
		g->nreasons = g->turn->class_->nreasons;
	} else {
		say_miss(p, g, size, &miss);
	}
}

void gangs_serve(struct planning *p, struct queued *q)
{
	if (q->gang->turn)
		return;
	q->gang->turn = q;
	settle(p, q->gang);
	holds_reserve(p, q->gang);
}
