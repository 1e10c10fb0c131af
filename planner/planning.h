#ifndef PLANNER_PLANNING_H
#define PLANNER_PLANNING_H

#include "planner/plan.h"
#include "planner/rooms.h"
#include "planner/world_impl.h"

/*
 * planning: the data that one plan_make() works with, allocated in the plan's arena.
 *
 * Amounts of resources are stored in rows of int64_t, one column per resource. Only resources that
 * a pending pod requests and something offers have a column. Amounts are whole units (cpu:
 * thousandths); requests are rounded up, free amounts down. Column 0 is the number of pods.
 *
 * Pods that are alike are planned for together:
 * - plan_class: pods with equal constraints and requests (one world_shape); what the plan finds out
 *   about one of them holds for all.
 * - plan_fit: classes that differ only in their requests; the same labels and taints suit them.
 * - plan_side (groups.h): topology profile, that is what a pod is to other pods: its namespace,
 *   labels, spread and (anti-)affinity.
 * - plan_cell: pods of one class and one topology profile; they are interchangeable.
 * - party: the waiting pods of one fit that request the same resources, in sum.
 *
 * Tests: tests/unit/planner/test_supply.c, tests/unit/planner/test_world.c
 */
#define PLANNING_GPU "nvidia.com/gpu"

/* Sum of the resources of a tenant's or pool's machines; compared with bounds (quota, limits). */
struct tally {
	struct resources held;
	size_t cap;
	int64_t nodes;
	/* Number of the last transaction that changed the tally (supply.c). */
	uint64_t tried;
};
void tally_add(struct resources *held, size_t *cap, const struct resources *more, struct arena *a);
void tally_charge(struct tally *t, const struct resources *capacity, struct arena *a);
/* Returns the first name in bounds that would be exceeded if a machine with `more` were added;
 * NULL: none. */
const char *tally_passes(const struct tally *t, const struct resources *bounds,
			 const struct resources *more);

/* The planned placement of a pod on the claim that was made for the pod. */
struct plan_seat {
	size_t bin;
	/* True if the claim's node is serving: the placement is then kept only for pods of a gang,
	 * which may have to wait there until the gang is whole. */
	bool ready;
};

struct bins;
struct plan_tenant {
	/* NULL: the tenant is not in the world. */
	const struct world_tenant *it;
	struct tally tally;
	/* Defined in quota.c; NULL: no cohort. */
	struct plan_cohort *cohort;
	struct bins *bins;
	/* DaemonSet overhead of a new node: per resource, the highest of the tenant's Ready
	 * nodes. Includes, per CSI driver, the attachments that a new node lacks to
	 * PLANNING_ATTACHMENTS. */
	struct overhead {
		struct resources of;
		size_t cap, pods;
	} overhead;
	/* Pod UID -> struct plan_seat; NULL: none. */
	struct map *seats;
	/* True if a pod of the tenant waits that a machine could serve. */
	bool wants;
	/* True if a gang of the tenant has reserved machines. */
	bool holds;
	/* NULL: no pod of the tenant has topology constraints. */
	struct tenant_topology *topology;
	/* Topology domains of the tenant's bins; NULL without topology constraints. */
	struct tenant_domains *domains;
	/* Number of the tenant in this plan, from 0, in no order. */
	size_t number;
	/* Work units done for the tenant; over: they exceed PLAN_WORK, so no more is done for the
	 * tenant. */
	uint64_t work;
	bool over;
};

/* Waiting pods of one fit (and topology profile, if topology restricts them) that request the same
 * columns, in any amounts: how many are left, and the sum of their requests by column. */
struct party {
	const struct plan_fit *fit;
	/* One bit per column; columns from 64 on share these bits. */
	uint64_t columns;
	size_t left;
	int64_t *sum;
	struct party *next;
};

/* Pods that differ only in their requests: a node that suits one suits all, if it is large
 * enough. */
struct plan_fit {
	/* Any of these pods. */
	const struct world_pod *pod;
	struct plan_tenant *tenant;
	/* True if any labels suit: the pods have no node selector, node affinity, volumes, resource
	 * claims or excluded nodes. */
	bool any_label;
	/* Work units of one check of a node's labels and taints. */
	uint64_t cost;
	/* bins: bit set of the bins that suit (bins.c). level: the same by preference score,
	 * highest first, if there are different scores. seen: bins checked so far. */
	uint64_t *bins;
	struct fit_level {
		int64_t score;
		uint64_t *bins;
	} * level;
	size_t nlevels, words, seen;
	/* Pools of the tenant, once supply.c has looked them up (asked). */
	struct fit_pool *pools;
	size_t npools;
	bool asked;
	/* Parties of pods that no topology restricts. */
	struct party *parties;
};

/* Pods of one shape: what is found out about one holds for all. */
struct plan_class {
	const struct world_pod *pod;
	struct plan_tenant *tenant;
	struct plan_fit *fit;
	/* Number in this plan, from 0, in no order. */
	uint32_t number;
	/* True if the pods request a resource that nothing offers. */
	bool impossible;
	/* True if the pods cannot be placed because of what they are (see refusal_of_pod()); no
	 * search is made. */
	bool refused;
	/* Requests by column; v NULL: not computed yet. */
	struct asks asks;
	/* Requests plus the DaemonSet overhead of a new node, by column; v NULL: not computed
	 * yet. */
	struct asks of_new;
	/* As in struct party. */
	uint64_t columns;
	/* By topology key: domains with a free machine for this class (filled by supply.c). */
	struct domains_seen *news;
	/* Incremented whenever news is computed anew. */
	uint64_t news_known;
	/* Number of machines taken in this plan when news was computed. */
	size_t admitted;
	/* The cell of those pods that no topology restricts. */
	struct plan_cell *cell;
	/* True if topology constraints excluded free machines when reasons was written; reasons is
	 * written again once they exclude none. */
	bool told_blocked;
	/* True once no machine is left for the class in any pool. */
	bool exhausted;
	/* Reasons of the class; stay valid once no machine is left. */
	struct plan_reason *reasons;
	size_t nreasons;
};

/* Pods of one class and topology profile. The search for a bin for the next of them continues where
 * the last one ended. */
struct plan_cell {
	struct plan_class *class_;
	const struct plan_side *side;
	/* NULL: no topology restricts the pods. */
	struct topology_cell *topology;
	struct party *party;
	/* Search positions by preference score (bins.c). */
	struct cursor *cursors;
	size_t ncursors;
	/* Result for the last gang of such pods that was not placed, and how many pods that gang
	 * needed. */
	const struct gang_miss *missed;
	size_t missed_need;
	/* A gang of such pods that needs at least this many never becomes whole with the machines
	 * that will be free; 0: not known (gang_try.c). */
	size_t never_need;
	/* Search position in an offer with many options (supply.c): in this topology epoch all
	 * options before `option` are out of the question. */
	struct {
		const struct supply_line *line;
		size_t option;
		uint64_t epoch;
		/* True if one of these options has a free machine. */
		bool blocked;
	} at;
};

struct queued;
struct timeline;
struct planning {
	struct world *w;
	struct arena *a;
	/* Name -> struct plan_tenant. */
	struct map *tenants;
	/* Resource name -> struct column. */
	struct map *columns;
	const char **column;
	size_t ncolumns, nwanted;
	uint32_t nclasses;
	struct cells *cells;
	/* True if a pool, node or claim has a PreferNoSchedule taint. */
	bool soft;
	struct supply *supply;
	/* NULL: no pod has topology constraints. */
	struct groups *groups;
	/* Freed by planning_end(). */
	struct planning_map *maps;
	/* Scratch: one row. */
	int64_t *scratch;
	struct plan *plan;
	size_t claims_cap, *requests_cap, holds_cap;
	/* Incremented whenever a tenant's holdings change (quota.c). */
	uint64_t charged;
	/* Work units done for all tenants. */
	uint64_t work;
	int64_t now_ms;
	/* Number of tenants with plan_tenant.wants. */
	size_t wanting;
	/* Queue entries served so far, in that order; the first `waiting` of them have been passed
	 * to the timeline, once it exists. */
	struct queued **turns;
	size_t nturns, waiting;
	struct timeline *timeline;
};

/* Charges work units to the tenant. */
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
/* Returns a new empty map that planning_end() frees. Its values belong in the arena. */
struct map *planning_map(struct planning *p);
/* Frees the maps of planning_map(). */
void planning_end(const struct planning *p);
struct plan_tenant *planning_tenant(struct planning *p, const char *name);
/* Adds without overflow: amounts come from tenants, so sums saturate at INT64_MIN and INT64_MAX. */
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
/* True for a resource of which each node has exactly one, such as a host port: ":TCP/8080" in a
 * pod's requests. No Kubernetes resource has such a name. */
static inline bool planning_is_port(const char *resource)
{
	return resource[0] == ':';
}
/* Volumes that a CSI driver has to attach are a resource in a pod's requests and a node's
 * allocatable: "@ebs.csi.aws.com". PLANNING_ATTACHMENTS is the amount of a node without a limit. */
#define PLANNING_ATTACHMENTS ((int64_t)1 << 32)
static inline bool planning_is_attachment(const char *resource)
{
	return resource[0] == '@';
}
/* True for resource names that only the planner uses: no quota, limit or capacity contains them. */
static inline bool planning_is_made_up(const char *resource)
{
	return planning_is_port(resource) || planning_is_attachment(resource);
}
/* True if a new node has too few attachments for `want`. less: what a new node lacks to
 * PLANNING_ATTACHMENTS; NULL: nothing. */
bool planning_attachments_pass(struct quantity want, const struct quantity *less);
/* Returns the whole units (cpu: thousandths) of a request, rounded up. */
int64_t planning_request(const char *resource, struct quantity q);
/* Subtracts from room what the tenant's DaemonSets will still take of a node. has: pods already on
 * the node; NULL: a new machine. */
void planning_take_overhead(const struct planning *p, const struct plan_tenant *t,
			    const struct world_load *has, int64_t *room);
/* Returns array v with capacity for at least `want` elements, moved within the arena if needed. */
void *planning_wider(struct arena *a, void *v, size_t *cap, size_t want, size_t size);
/* Writes the amounts of r into room, by column. */
void planning_room(const struct planning *p, const struct resources *r, int64_t *room);

#endif
