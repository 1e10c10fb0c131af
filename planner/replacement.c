#include "planner/replacement.h"

#include "planner/supply/quota.h"
#include "planner/supply/supply.h"

bool plan_replacement(struct world *w, const char *claim, struct arena *a, struct plan_claim *out)
{
	const struct world_claim *c = world_find(w->claims, claim);
	OWN(map) tenants = map_new(NULL);
	struct planning p = {.w = w, .a = a, .tenants = tenants};
	const struct world_list *claims = world_claims(w);
	struct supply_choice o;
	bool found;

	if (!c)
		return false;
	w->plan++;
	p.supply = supply_new(&p);
	for (size_t i = 0; i < claims->n; i++)
		supply_charge(p.supply, claims->v[i]);
	(void)planning_tenant(&p, c->tenant);
	quota_begin(&p);
	found = supply_second(&p, c, &o);
	if (found)
		*out = (struct plan_claim){.tenant = c->tenant,
					   .pool = o.pool->name,
					   .provider = o.machine->provider,
					   .machine = o.machine->name,
					   .instance_type = o.type->name,
					   .version = o.version,
					   .requirements = o.pool->requirements,
					   .labels = *o.labels};
	planning_end(&p);
	return found;
}
