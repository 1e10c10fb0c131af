#ifndef PLANNER_PLANNING_H
#define PLANNER_PLANNING_H

#include "planner/plan.h"
#include "planner/rooms.h"
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
	/* the last try that charged it (supply.c) */
	uint64_t tried;
};
void tally_add(struct resources *held, size_t *cap, const struct resources *more, struct arena *a);
void tally_charge(struct tally *t, const struct resources *capacity, struct arena *a);
/* The first member that would pass its bound, or NULL. */
const char *tally_passes(const struct tally *t, const struct resources *bounds,
			 const struct resources *more);

/* On a claim that was made for the pod. */
struct plan_seat {
	size_t bin;
	/* its node serves: kept for a gang alone, which may not begin before all of it is there */
	bool ready;
};

struct bins;
struct plan_tenant {
	/* NULL: not in the world */
	const struct world_tenant *it;
	struct tally tally;
	/* quota.c; NULL: of none */
	struct plan_cohort *cohort;
	struct bins *bins;
	/* What its DaemonSets take of a node: the most that one of its nodes that are Ready has of
	 * each. And what a new node has less than PLANNING_ATTACHMENTS of each CSI driver's
	 * volumes. */
	struct overhead {
		struct resources of;
		size_t cap, pods;
	} overhead;
	/* UID of a pod -> struct plan_seat; NULL: none */
	struct map *seats;
	/* a pod of the tenant waits that a machine could serve */
	bool wants;
	/* a gang of the tenant holds or reserves machines */
	bool holds;
	/* NULL: nobody of it asks for any */
	struct tenant_topology *topology;
	/* of its bins, where there is topology */
	struct tenant_domains *domains;
	/* from 0, in no order */
	size_t number;
	/* done for it; beyond PLAN_WORK there is no more */
	uint64_t work;
	bool over;
};

/* Pods of one fit and side that ask for the same columns, whatever amounts: how many are left, and
 * what they ask for together, by column. */
struct party {
	const struct plan_fit *fit;
	/* a bit each; those beyond 64 share them */
	uint64_t columns;
	size_t left;
	int64_t *sum;
	struct party *next;
};

/* Pods that differ in what they ask for alone: what suits one suits all, but for its size. */
struct plan_fit {
	/* one of them */
	const struct world_pod *pod;
	struct plan_tenant *tenant;
	/* neither selector nor affinity nor volumes */
	bool any_label;
	/* of one look at a node's labels and taints */
	uint64_t cost;
	/* Bins that suit, a bit each (bins.c); by score, highest first, where there is more than
	 * one. */
	uint64_t *bins;
	struct fit_level {
		int64_t score;
		uint64_t *bins;
	} * level;
	size_t nlevels, words, seen;
	/* once asked (supply.c) */
	struct fit_pool *pools;
	size_t npools;
	bool asked;
	/* those that no topology restricts */
	struct party *parties;
};

/* Pods of one shape: what is found out of one holds for all. */
struct plan_class {
	const struct world_pod *pod;
	struct plan_tenant *tenant;
	struct plan_fit *fit;
	/* from 0, in no order */
	uint32_t number;
	/* asks for what no one offers */
	bool impossible;
	/* by what the pod is itself: nothing is looked for */
	bool refused;
	/* v NULL: not wanted yet */
	struct asks asks;
	/* the same beside what DaemonSets take; v NULL: not counted yet */
	struct asks of_new;
	/* as in struct party */
	uint64_t columns;
	/* by key: those in which it may have a machine (supply.c) */
	struct domains_seen *news;
	/* another number whenever they were looked for anew */
	uint64_t news_known;
	/* machines taken when they were looked for */
	size_t admitted;
	/* of those that no topology restricts */
	struct plan_cell *cell;
	bool told_blocked;
	/* there is no machine for it any more, wherever */
	bool exhausted;
	/* once there is no machine for it, there is none */
	struct plan_reason *reasons;
	size_t nreasons;
};

/* Pods of one class that are the same to other pods: where the next of them is looked for. */
struct plan_cell {
	struct plan_class *class_;
	const struct plan_side *side;
	/* NULL: they may be anywhere */
	struct topology_cell *topology;
	struct party *party;
	/* bins.c, by score */
	struct cursor *cursors;
	size_t ncursors;
	/* what a gang of such pods, which lacked so many, was told */
	const struct gang_miss *missed;
	size_t missed_need;
	/* no machine that there will be makes so many of them whole; 0: not known (gang_try.c) */
	size_t never_need;
	/* supply.c: of this line, all options before are out in this epoch */
	struct {
		const struct supply_line *line;
		size_t option;
		uint64_t epoch;
		/* one of them has a machine */
		bool blocked;
	} at;
};

struct queued;
struct timeline;
struct planning {
	struct world *w;
	struct arena *a;
	/* name -> struct plan_tenant */
	struct map *tenants;
	/* name -> struct column */
	struct map *columns;
	const char **column;
	size_t ncolumns, nwanted;
	uint32_t nclasses;
	struct cells *cells;
	/* there is a taint PreferNoSchedule somewhere */
	bool soft;
	struct supply *supply;
	/* NULL: no pod asks for any topology */
	struct groups *groups;
	/* dropped with the plan */
	struct planning_map *maps;
	/* a row of columns */
	int64_t *scratch;
	struct plan *plan;
	size_t claims_cap, *requests_cap, holds_cap;
	/* another number whenever a tenant has more or less (quota.c) */
	uint64_t charged;
	/* done for all */
	uint64_t work;
	int64_t now_ms;
	/* tenants with plan_tenant.wants */
	size_t wanting;
	/* Who had their turn, in that order; so many of them the timeline knows, once there is
	 * one. */
	struct queued **turns;
	size_t nturns, waiting;
	struct timeline *timeline;
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
/* empty, of values in the arena */
struct map *planning_map(struct planning *p);
/* drops them */
void planning_end(const struct planning *p);
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
/* A host port, or what else a node has one of, as a pod's requests have it: ":TCP/8080". No
 * resource has such a name. */
static inline bool planning_is_port(const char *resource)
{
	return resource[0] == ':';
}
/* Volumes that a CSI driver has to attach, as a pod's requests and a node's allocatable have them:
 * "@ebs.csi.aws.com". */
#define PLANNING_ATTACHMENTS ((int64_t)1 << 32) /* of one that has no limit */
static inline bool planning_is_attachment(const char *resource)
{
	return resource[0] == '@';
}
/* Nobody's quota, limit or capacity has it. */
static inline bool planning_is_made_up(const char *resource)
{
	return planning_is_port(resource) || planning_is_attachment(resource);
}
/* More than a new node has.  less: what it has less than PLANNING_ATTACHMENTS; NULL: nothing. */
bool planning_attachments_pass(struct quantity want, const struct quantity *less);
/* Whole units that a request takes. */
int64_t planning_request(const char *resource, struct quantity q);
/* What its tenant's DaemonSets will take of a new machine, or of one whose node has so much of
 * them. */
void planning_take_overhead(const struct planning *p, const struct plan_tenant *t,
			    const struct world_load *has, int64_t *room);
/* v with room for so many, in the arena. */
void *planning_wider(struct arena *a, void *v, size_t *cap, size_t want, size_t size);
/* Room by column. */
void planning_room(const struct planning *p, const struct resources *r, int64_t *room);

#endif
