#include "planner/profiles.h"

#define POD_WORK 20

static void enter(struct profiles_run *s, struct planning *p, int step)
{
	*s = (struct profiles_run){.step = step, .begun = true};
	s->more = map_first(p->w->shapes, &s->it);
}

/* Checks whether any pod has topology constraints, until p->work reaches `until`. If so, creates
 * p->groups. */
static void ask(struct profiles_run *s, struct planning *p, uint64_t until)
{
	bool asked = false;

	for (; s->more && !asked && p->work < until; s->more = map_next(p->w->shapes, &s->it)) {
		asked = ((struct world_shape *)s->it.value)->pod.topology.n != 0;
		p->work += POD_WORK / 2;
	}
	if (asked)
		p->groups = groups_new(p);
	if (asked || !s->more)
		enter(s, p, asked ? PROFILES_PLACED : PROFILES_READY);
}

static void others(struct profiles_run *s, struct planning *p, uint64_t until)
{
	for (; s->more && p->work < until; s->more = map_next(p->w->shapes, &s->it))
		if (((struct world_shape *)s->it.value)->is_profile)
			(void)groups_profile(p->groups, s->it.value, false);
	if (!s->more)
		enter(s, p, PROFILES_MEET);
}

bool profiles_next(struct profiles_run *s, struct planning *p, uint64_t until, size_t n,
		   struct world_shape *(*profile_of)(const void *run, size_t at), const void *run)
{
	if (!s->begun)
		enter(s, p, PROFILES_ASK);
	if (s->step == PROFILES_ASK)
		ask(s, p, until);
	if (s->step == PROFILES_PLACED) {
		for (; s->at < n && p->work < until; s->at++) {
			(void)groups_profile(p->groups, profile_of(run, s->at), true);
			p->work += POD_WORK / 4;
		}
		if (s->at == n)
			enter(s, p, PROFILES_OTHERS);
	}
	if (s->step == PROFILES_OTHERS)
		others(s, p, until);
	while (s->step == PROFILES_MEET && p->work < until)
		if (groups_meet(p->groups, s->at))
			s->at++;
		else
			enter(s, p, PROFILES_READY);
	return s->step != PROFILES_READY;
}
