#ifndef PLANNER_PLANNING_H
#define PLANNER_PLANNING_H

#include "planner/plan.h"
#include "planner/world_impl.h"

/*
 * planning: what one plan_make() works with.  All of it lives in its arena.
 *
 * Only resources that a pending pod asks for and something offers have a
 * column; amounts are whole units, of cpu thousandths: requests rounded up,
 * room down.  Column 0 is the number of pods.
 * Tests: tests/unit/planner/test_supply.c, tests/unit/planner/test_world.c
 */
#define PLANNING_GPU "nvidia.com/gpu"

/* A sum of resources, and bounds on it (quota, limits). */
struct tally {
	struct resources held;
	size_t cap;
	int64_t nodes;
};
void tally_add(struct resources *held, size_t *cap, const struct resources *more, struct arena *a);
void tally_charge(struct tally *t, const struct resources *capacity, struct arena *a);
/* The first member that would pass its bound, or NULL. */
const char *tally_passes(const struct tally *t, const struct resources *bounds,
			 const struct resources *more);

/* On a claim that was made for the pod. */
struct plan_seat {
	size_t bin;
};

struct bins;
struct plan_tenant {
	const struct world_tenant *it; /* NULL: not in the world */
	struct tally tally;
	struct bins *bins;
	struct overhead { /* what its DaemonSets take of a node: the most that one of its nodes that are Ready has of each */
		struct resources of;
		size_t cap, pods;
	} overhead;
	struct map *seats; /* UID of a pod -> struct plan_seat; NULL: none */
	struct tenant_topology *topology;
	size_t number; /* from 0, in no order */
	uint64_t work; /* done for it; beyond PLAN_WORK there is no more */
	bool over;
};

/* Pods of one shape: what is found out of one holds for all. */
struct plan_class {
	const struct world_pod *pod;
	struct plan_tenant *tenant;
	int64_t *requests; /* by column; NULL: not wanted yet */
	bool impossible;   /* asks for what no one offers */
	bool any_label;	   /* neither selector nor affinity */
	uint64_t cost;	   /* of one look at a node's labels and taints */
	/* Bins that fit, a bit each (bins.c); by score, highest first, where there is more than one. */
	uint64_t *fit;
	struct class_level {
		int64_t score;
		uint64_t *bins;
	} * level;
	size_t nlevels, words, seen, first;
	struct class_domains *domains; /* by key (topology.c) */
	/* Offers (supply.c). */
	struct class_pool *pools;
	size_t npools;
	bool asked, told_blocked;
	size_t admitted;	     /* machines taken when domains were last looked for */
	struct plan_reason *reasons; /* once there is no machine for it, there is none */
	size_t nreasons;
};

struct planning {
	struct world *w;
	struct arena *a;
	struct map *tenants; /* name -> struct plan_tenant */
	struct map *columns; /* name -> struct column */
	const char **column;
	size_t ncolumns, nwanted;
	bool soft; /* there is a taint PreferNoSchedule somewhere */
	struct supply *supply;
	struct topology *topology; /* NULL: no pod asks for any */
	struct planning_map *maps; /* dropped with the plan */
	int64_t *scratch;	   /* a row of columns */
	struct plan *plan;
	size_t claims_cap, *requests_cap;
	uint64_t work; /* done for all */
};

/* So much more work for this tenant. */
static inline void planning_charge(struct planning *p, struct plan_tenant *t, uint64_t units)
{
	p->work += units;
	t->work += units;
	t->over |= t->work > PLAN_WORK;
}

struct planning_map {
	struct map *map;
	struct planning_map *next;
};
struct map *planning_map(struct planning *p); /* empty, of values in the arena */
void planning_end(const struct planning *p);  /* drops them */
struct plan_tenant *planning_tenant(struct planning *p, const char *name);
/* Amounts are tenants' numbers: sums stay at the ends of the range. */
static inline int64_t planning_add(int64_t a, int64_t b)
{
	int64_t sum;

	return !__builtin_add_overflow(a, b, &sum) ? sum : a < 0 ? INT64_MIN : INT64_MAX;
}
static inline int64_t planning_sub(int64_t a, int64_t b)
{
	int64_t rest;

	return !__builtin_sub_overflow(a, b, &rest) ? rest : a < 0 ? INT64_MIN : INT64_MAX;
}
/* A host port, as a pod's requests have it: ":TCP/8080".  No resource has such a name. */
static inline bool planning_is_port(const char *resource)
{
	return resource[0] == ':';
}
/* Whole units that a request takes. */
int64_t planning_request(const char *resource, struct quantity q);
/* Room by column. */
void planning_room(const struct planning *p, const struct resources *r, int64_t *room);

#endif
