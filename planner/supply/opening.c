#include "planner/supply/opening.h"

/* Records how the plan's next claim is opened. */
static void note(struct planning *p, struct plan_tenant *t, const struct supply_choice *o)
{
	const size_t at = p->plan->nclaims;

	p->opened = planning_wider(p->a, p->opened, &p->opened_cap, at + 1, sizeof(*p->opened));
	p->opened[at] = (struct plan_opened){o->from, o->offer, t, bins_count(t->bins)};
}

#include "planner/supply/overhead.h"

size_t opening_new(struct planning *p, const struct plan_class *c, const struct supply_choice *o)
{
	p->plan->claims = planning_wider(p->a, p->plan->claims, &p->claims_cap,
					 p->plan->nclaims + 1, sizeof(*p->plan->claims));
	if (p->saves_nodes)
		note(p, c->tenant, o);
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
	overhead_take(p, overhead_of_node(p, c->tenant, o->labels, &o->pool->taints), NULL,
		      p->scratch);
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
