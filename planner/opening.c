#include "planner/opening.h"

#include <string.h>

size_t opening_new(struct planning *p, const struct plan_class *c, const struct supply_choice *o)
{
	struct plan_claim *more;

	if (p->plan->nclaims == p->claims_cap) {
		p->claims_cap = p->claims_cap ? p->claims_cap * 2 : 16;
		more = arena_calloc(p->a, p->claims_cap, sizeof(*more));
		if (p->plan->nclaims)
			memcpy(more, p->plan->claims, p->plan->nclaims * sizeof(*more));
		p->plan->claims = more;
	}
	p->plan->claims[p->plan->nclaims] = (struct plan_claim){
		.tenant = c->tenant->it->name,
		.pool = o->pool->name,
		.provider = o->machine->provider,
		.machine = o->machine->name,
		.instance_type = o->type->name,
		.version = o->version,
		.requirements = o->pool->requirements,
		.labels = *o->labels,
	};
	planning_room(p, &o->type->capacity, p->scratch);
	planning_take_overhead(p, c->tenant, NULL, p->scratch);
	return bins_add(c->tenant->bins,
			&(struct bin){PLAN_ON_NEW, NULL, p->plan->nclaims++, o->labels,
				      &o->pool->taints, o->pool, o->machine->permit},
			p->scratch);
}

void opening_take(struct planning *p, size_t bin, const struct plan_cell *c)
{
	bins_take(c->class_->tenant->bins, bin, c->class_);
	if (c->profile)
		groups_place(p->groups, c->profile, bin, 1, 0);
}
