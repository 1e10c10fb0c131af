#include "planner/refusal.h"

#include "base/str.h"

static void refuse(struct planning *p, struct plan_class *c, enum plan_reason_code code,
		   const char *text)
{
	c->reasons = arena_new_obj(p->a, struct plan_reason);
	c->reasons[0] = (struct plan_reason){"", code, text};
	c->nreasons = 1;
}

bool refusal_is_of_tenant(const struct world_tenant *t)
{
	return t->paused || !t->version;
}

void refusal_of_tenant(struct planning *p, struct plan_class *c)
{
	const struct world_tenant *t = c->tenant->it;

	if (!c->nreasons)
		refuse(p, c, PLAN_TENANT,
		       arena_printf(p->a, "tenant %s: %s", t->name,
				    str_or(t->paused_reason,
					   t->paused ? "paused"
						     : "its Kubernetes version is not known yet")));
}

void refusal_of_pod(struct planning *p, struct plan_class *c)
{
	const struct world_pod *pod = c->pod;

	if (c->nreasons)
		return;
	if (pod->unsupported)
		refuse(p, c, PLAN_UNSUPPORTED,
		       arena_printf(p->a, "drover does not support %s", pod->unsupported));
	else if (pod->gang_wait)
		refuse(p, c, PLAN_GANG_UNKNOWN, pod->gang_wait);
	else if (pod->device_wait)
		refuse(p, c, PLAN_DEVICE, pod->device_wait);
	else
		refuse(p, c, PLAN_VOLUME, pod->volume_wait);
}

struct plan_reason *refusal_over_budget(const struct planning *p, struct plan_tenant *t)
{
	if (t->over_budget)
		return t->over_budget;
	t->over_budget = arena_new_obj(p->a, struct plan_reason);
	*t->over_budget = (struct plan_reason){
		"", PLAN_OVER_BUDGET,
		arena_printf(p->a,
			     "tenant %s: placing its pods exceeds the computing time of one "
			     "tenant; use fewer different scheduling constraints",
			     t->it->name)};
	return t->over_budget;
}
