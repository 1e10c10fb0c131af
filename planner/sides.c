#include "planner/sides.h"

#define POD_WORK 20

static void enter(struct sides_run *s, struct planning *p, int step)
{
	*s = (struct sides_run){.step = step, .begun = true};
	s->more = map_first(p->w->shapes, &s->it);
}

/* Checks whether any pod has topology constraints, until p->work reaches `until`. If so, creates
 * p->groups. */
static void ask(struct sides_run *s, struct planning *p, uint64_t until)
{
	bool asked = false;

	for (; s->more && !asked && p->work < until; s->more = map_next(p->w->shapes, &s->it)) {
		asked = ((struct world_shape *)s->it.value)->pod.topology.n != 0;
		p->work += POD_WORK / 2;
	}
	if (asked)
		p->groups = groups_new(p);
	if (asked || !s->more)
		enter(s, p, asked ? SIDES_PLACED : SIDES_READY);
}

static void others(struct sides_run *s, struct planning *p, uint64_t until)
{
	for (; s->more && p->work < until; s->more = map_next(p->w->shapes, &s->it))
		if (((struct world_shape *)s->it.value)->is_side)
			(void)groups_side(p->groups, s->it.value, false);
	if (!s->more)
		enter(s, p, SIDES_MEET);
}

bool sides_next(struct sides_run *s, struct planning *p, uint64_t until, size_t n,
		struct world_shape *(*side_of)(const void *run, size_t at), const void *run)
{
	if (!s->begun)
		enter(s, p, SIDES_ASK);
	if (s->step == SIDES_ASK)
		ask(s, p, until);
	if (s->step == SIDES_PLACED) {
		for (; s->at < n && p->work < until; s->at++) {
			(void)groups_side(p->groups, side_of(run, s->at), true);
			p->work += POD_WORK / 4;
		}
		if (s->at == n)
			enter(s, p, SIDES_OTHERS);
	}
	if (s->step == SIDES_OTHERS)
		others(s, p, until);
	while (s->step == SIDES_MEET && p->work < until)
		if (groups_meet(p->groups, s->at))
			s->at++;
		else
			enter(s, p, SIDES_READY);
	return s->step != SIDES_READY;
}
