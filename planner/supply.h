#ifndef PLANNER_SUPPLY_H
#define PLANNER_SUPPLY_H

#include "planner/topology.h"

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
	const struct labels *labels; /* of the node to be */
};

struct supply *supply_new(struct planning *p);
/* What a claim holds is taken, and counts; of each claim of the world, before anything is asked. */
void supply_charge(struct supply *s, const struct world_claim *c);

/* What the class may have at all, and in which domains; before topology_view(). */
void supply_ask(struct supply *s, struct plan_class *c);
/* Domains in which no machine is left are so no more; false: nothing is new. */
bool supply_ask_again(struct supply *s, struct plan_class *c);
/* The best free machine for a pod of the class, which is taken from now on; view NULL: any place will do.
 * False: one reason for each pool, nearest miss first. */
bool supply_take(struct supply *s, struct plan_class *c, const struct topology_view *view,
		 struct supply_offer *out, struct plan_reason **reasons, size_t *nreasons);

/* plan_stock() of that pool; what it lists is taken from now on. */
void supply_list(struct supply *s, const char *pool, struct plan_stock *out);

struct labels supply_labels_of_claim(struct supply *s, const struct world_claim *c);

/* supply_pools.c: a pool's types, and for each the machines with the same labels, in the order in which types are taken;
 * and what a class may have of it. */
struct supply_group {
	struct world_stock **v; /* best first */
	size_t n;
};
struct supply_option { /* one type of one provider of one pool, and one set of machine labels */
	const struct world_provider *provider;
	const struct world_instance_type *type;
	struct labels labels;
	const int *domains;	    /* NULL: no pod asks for topology */
	struct supply_group *group; /* NULL: no machine */
	size_t next;		    /* of the group: all before are taken or below the floor */
};
struct supply_pool {
	const struct world_pool *it;
	struct tally tally;
	struct supply_option *options; /* NULL: not made yet */
	size_t noptions;
	bool soft;
};
struct class_pool {
	struct supply_pool *pool;
	struct supply_option **options; /* that fit, but for limits and free machines */
	size_t n, first;		/* all before first are out for good */
	int64_t *score;			/* NULL: all the same */
	bool blocked;			/* there are machines, but not where other pods let it go */
	enum plan_reason_code code;	/* what keeps the other types out: the nearest miss */
	const char *text;
};
void supply_options(struct planning *p, struct supply_pool *pool);
void supply_narrow(struct planning *p, const struct plan_class *c, struct class_pool *cp);
struct labels supply_node_labels(struct arena *a, const struct labels *type, const char *type_name,
				 const struct labels *machine, const struct labels *pool,
				 const char *pool_name);
int supply_by_worth(const struct world_machine *a, const struct world_machine *b);
bool supply_wiped_enough(const struct world_machine *m, const struct world_pool *p);

/* supply_tell.c: why a class gets nothing. */
const char *supply_version(const struct world_pool *p, const char *server); /* NULL: no image */
void supply_tell(struct planning *p, struct plan_class *c);
/* The same, where topology is in the way in one pool or more. */
struct plan_reason *supply_tell_blocked(struct planning *p, struct plan_class *c, size_t *n);

#endif
