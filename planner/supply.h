#ifndef PLANNER_SUPPLY_H
#define PLANNER_SUPPLY_H

#include "planner/plan.h"

/*
 * supply: free machines, and what they may be used for: pools, limits, quotas,
 * images, wipe floors.  Lives for one plan, in its arena.
 */
struct supply;

struct supply_offer {
	const struct world_pool *pool;
	const struct world_instance_type *type;
	const struct world_machine *machine;
	const char *version;
	struct labels labels; /* of the node to be */
};

struct supply *supply_new(struct world *w, struct arena *a);

/* The best free machine for a pod; false: one reason for each pool, nearest miss first. */
bool supply_offer(struct supply *s, const struct world_pod *pod, const struct world_tenant *t, struct supply_offer *out,
		  struct plan_reason **reasons, size_t *nreasons);
/* The offer was taken: its machine is gone, limits and quota are charged. */
void supply_used(struct supply *s, const char *tenant, const struct supply_offer *o);

/* What a tenant's claims hold of a resource, all of them together. */
struct quantity supply_held(const struct supply *s, const char *tenant, const char *resource);
struct labels supply_labels_of_claim(struct supply *s, const struct world_claim *c);

/* One more pod: the resource "pods", where the room names it. */
bool supply_has_one(const struct resources *room);
void supply_take_one(struct resources *room);
struct resources supply_sum(const struct resources *a, const struct resources *b, struct arena *arena);

#endif
