#include "planner/profiles.h"

#define POD_WORK 20

static void enter(struct profiles_run *s, struct planning *p, int step)
{
	*s = (struct profiles_run){.step = step, .begun = true, .all = s->all};
	s->more = map_first(p->w->shapes, &s->it);
}

/* Finds the pods that have topology constraints, until p->work reaches `until`. Creates p->groups
 * for the first one. */
static void ask(struct profiles_run *s, struct planning *p, uint64_t until)
{
	for (; s->more && p->work < until; s->more = map_next(p->w->shapes, &s->it)) {
		const struct world_shape *shape = s->it.value;

		p->work += POD_WORK / 2 + shape->pod.topology.n;
		if (!shape->pod.topology.n)
			continue;
		if (!p->groups)
			p->groups = groups_new(p);
		groups_ask(p->groups, shape);
	}
	if (!s->more)
		enter(s, p, p->groups ? PROFILES_BOUND : PROFILES_READY);
}

static void bound(struct profiles_run *s, struct planning *p, uint64_t until)
{
	for (; s->more && p->work < until; s->more = map_next(p->w->shapes, &s->it)) {
		p->work++;
		if (((struct world_shape *)s->it.value)->bound)
			(void)groups_profile(p->groups, s->it.value, false);
	}
	if (!s->more)
		enter(s, p, PROFILES_PLACED);
}

static void placed(const struct profiles_run *s, struct planning *p, struct world_shape *of)
{
	p->work += POD_WORK / 4;
	if (s->all)
		(void)groups_profile(p->groups, of, true);
	else
		groups_wait(p->groups, of);
}

bool profiles_next(struct profiles_run *s, struct planning *p, uint64_t until, size_t n,
		   struct world_shape *(*profile_of)(const void *run, size_t at), const void *run)
{
	if (!s->begun)
		enter(s, p, PROFILES_ASK);
	if (s->step == PROFILES_ASK)
		ask(s, p, until);
	if (s->step == PROFILES_BOUND)
		bound(s, p, until);
	if (s->step == PROFILES_PLACED) {
		for (; s->at < n && p->work < until; s->at++)
			placed(s, p, profile_of(run, s->at));
		if (s->at == n)
			enter(s, p, PROFILES_MEET);
	}
	while (s->step == PROFILES_MEET && p->work < until)
		if (groups_meet(p->groups, s->at))
			s->at++;
		else
			enter(s, p, PROFILES_READY);
	return s->step != PROFILES_READY;
}
