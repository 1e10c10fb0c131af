#ifndef PLANNER_PLANNING_H
#define PLANNER_PLANNING_H

#include "planner/capacity_table.h"
#include "planner/plan.h"
#include "planner/world_impl.h"

/*
 * planning: the data that one plan_make() works with, allocated in the plan's arena.
 *
 * Amounts of resources are stored in rows (arrays of int64_t) with one column (index) per resource.
 * A resource has a column only if a pending pod requests it and a node, claim or instance type
 * offers it. Amounts are whole units (cpu: thousandths); requests are rounded up, free amounts
 * down. Column 0 is the number of pods.
 *
 * Pods that are alike are planned for together:
 * - plan_class: pods with equal constraints and requests (one world_shape). Results for one of them
 *   are reused for all.
 * - plan_fit: classes that differ only in their requests; the same labels and taints suit them.
 * - plan_profile (groups.h): topology profile, that is the properties of a pod that other pods'
 *   topology constraints refer to (namespace, labels), and the pod's own spread and
 *   (anti-)affinity.
 * - plan_cell: pods of one class and one topology profile; they are interchangeable.
 * - party: all waiting pods of one fit that request the same resources; they could share a new
 *   machine.
 *
 * Tests: tests/unit/planner/supply/test_supply.c, tests/unit/planner/test_world.c
 */
#define PLANNING_GPU "nvidia.com/gpu"

/* Sum of the resources of all machines of one tenant or pool, to be compared with the quota or
 * limits. */
struct tally {
	struct resources held;
	size_t cap;
	int64_t nodes;
	/* Number of the last supply transaction that changed the tally (supply_try()). */
	uint64_t tried;
};
void tally_add(struct resources *held, size_t *cap, const struct resources *more, struct arena *a);
void tally_charge(struct tally *t, const struct resources *capacity, struct arena *a);
/* Returns the first resource name in `bounds` whose limit would be exceeded if a machine with
 * capacity `more` were added to the tally; NULL: no limit would be exceeded. The name "nodes"
 * stands for the number of machines. */
const char *tally_passes(const struct tally *t, const struct resources *bounds,
			 const struct resources *more);

/* Planned placement of a pod: the bin (candidate node, bins.h) of the claim that was made for the
 * pod. */
struct plan_placement {
	size_t bin;
	/* True if the claim's node is serving. Then the planned placement is kept only for pods
	 * of a gang, because these may have to wait on the node until all pods of the gang are
	 * placed. */
	bool ready;
};

/* Amounts of a new node that its pods of DaemonSets and its static pods use. pods: their number.
 * For each CSI driver, `of` also includes the difference between PLANNING_ATTACHMENTS and the
 * number of volumes that a new node can attach. */
struct overhead {
	struct resources of;
	size_t cap, pods;
};

struct bins;
struct plan_tenant {
	/* The tenant as put into the world. */
	const struct world_tenant *it;
	struct tally tally;
	/* Cohort of the tenant: tenants that lend quota to each other (supply/quota.c); NULL: the
	 * tenant is in no cohort. */
	struct plan_cohort *cohort;
	struct bins *bins;
	/* Highest overhead that was measured on the tenant's Ready nodes, for each resource
	 * (supply/overhead.c). */
	struct overhead overhead;
	/* DaemonSets of the tenant, in no particular order. */
	struct plan_daemon_set *daemon_sets;
	size_t ndaemon_sets, daemon_sets_cap;
	/* Overheads of nodes, by supply_pool.number; filled by supply/overhead.c. */
	struct plan_pool_overheads *pool_overheads;
	size_t pool_overheads_cap;
	/* Planned placements: pod UID -> struct plan_placement; NULL: none. */
	struct map *placements;
	/* True if a pod of the tenant waits for a machine. Pods that only check for room do not
	 * count. */
	bool wants;
	/* Room on new machines for pods of which few may share a node (supply/reserve.h); NULL: the
	 * tenant has no such pods. */
	struct reserve *reserves;
	/* nreserves: number of elements of reserves. nopened: number of machines that the plan
	 * opened for the tenant in pools that save machines. */
	size_t nreserves, nopened;
	/* Number of times that reserved room became available to all pods of the tenant. Then
	 * search positions of cells are reset, because bins have more room (bins_find()). */
	uint64_t released;
	/* True if machines are reserved for a gang of the tenant. */
	bool holds;
	/* Name of a shared volume -> its number (attachments.c); NULL: no class of the tenant has
	 * shared volumes. */
	struct map *volumes;
	/* Topology groups of the tenant (groups.c); NULL: no pod of the tenant has topology
	 * constraints. */
	struct tenant_topology *topology;
	/* Topology domains of the tenant's bins; NULL: no pod of the tenant has topology
	 * constraints. */
	struct tenant_domains *domains;
	/* Number of the tenant in this plan, from 0, in no particular order. */
	size_t number;
	/* work: work units done for the tenant, at first for recording its pods and their topology
	 * constraints, then, from 0 again, for placing them. over: true once work exceeds
	 * PLAN_WORK; then no more work is done for the tenant. */
	uint64_t work;
	bool over;
	/* Work units that the topology profiles recorded so far will still cost before the first
	 * pod is placed: finding the groups that count their pods. */
	uint64_t due;
	/* Number of pods that wait for their turn and may be placed. */
	size_t awaited;
	/* True once these pods need the rest of the work units, so that no search is made for pods
	 * for which certainly no machine is left. */
	bool saves;
	/* The reason PLAN_OVER_BUDGET of the tenant's pods; NULL: not written yet. */
	struct plan_reason *over_budget;
};

/* Party: waiting pods of one fit (pods that differ only in their requests) that request the same
 * columns (resources), in any amounts. If topology constraints restrict the pods, they also have
 * one topology profile, unless the party is one of plan_fit.crowds. left: number of pods that still
 * wait. sum: sum of their requests, by column. */
struct party {
	const struct plan_fit *fit;
	/* Bit set of the requested columns; columns from 64 on share the 64 bits. */
	uint64_t columns;
	size_t left;
	int64_t *sum;
	/* Largest request of a pod of the party, by column. */
	int64_t *largest;
	/* In plan_fit.crowds: number of pods that are expected on machines which were opened for
	 * pods that must be apart (supply_crowd_of()). */
	size_t expected;
	/* Room on new machines for the pods (supply/reserve.h); NULL: none is reserved. */
	struct reserve *reserve;
	struct party *next;
};

/* Fit: pods that differ only in their requests. A node that suits one of them suits all, if it is
 * large enough. */
struct plan_fit {
	/* Any pod of the fit. */
	const struct world_pod *pod;
	struct plan_tenant *tenant;
	/* True if nodes with any labels suit the pods: the pods have no node selector, node
	 * affinity, volumes, resource claims or excluded nodes. */
	bool any_label;
	/* Work units of one check of a node's labels and taints. */
	uint64_t cost;
	/* bins: bit set of the bins that suit the pods (bins.c). level: for each preference score,
	 * the bit set of these bins that have the score, highest score first; empty if scores do
	 * not matter. words: length of each bit set. seen: number of bins checked so far. */
	uint64_t *bins;
	struct fit_level {
		int64_t score;
		uint64_t *bins;
	} * level;
	size_t nlevels, words, seen;
	/* Pools that select the tenant; valid once `asked` is true. Set by supply.c. */
	struct fit_pool *pools;
	size_t npools;
	bool asked;
	/* DaemonSet overhead of a new node for the pods, as far as all nodes that suit have it
	 * (overhead.h). overheads_differ: true if an offer has more (fit_pool.overheads). */
	const struct overhead *overhead;
	bool overheads_differ;
	/* parties: parties of the fit's pods that no topology constraint restricts. crowds: parties
	 * of all pods of the fit, whatever their topology profile. */
	struct party *parties, *crowds;
	/* A class of the fit for which no machine is left; NULL: none is known. */
	const struct plan_class *none_left;
};

/* Class: pods with equal constraints and requests. Results of the plan for one of them are reused
 * for all. */
struct plan_class {
	const struct world_pod *pod;
	struct plan_tenant *tenant;
	struct plan_fit *fit;
	/* Number of the class in this plan, from 0, in no particular order. */
	uint32_t number;
	/* True if no node, claim or instance type offers a resource that the pods request. */
	bool impossible;
	/* True if the pods cannot be placed for a reason that does not depend on machines (see
	 * refusal_of_pod()). Then no search is made. */
	bool refused;
	/* Requests of one pod of the class, by column, without its shared volumes; v NULL: not
	 * computed yet. */
	struct asks asks;
	/* Shared volumes of one pod, by column (attachments.h). */
	struct plan_shared *shared;
	size_t nshared;
	/* Requests of one pod, with its shared volumes, plus fit->overhead, by column; v NULL: not
	 * computed yet. Compare with overhead_row(). */
	struct asks of_new;
	/* Bit set of the requested columns; columns from 64 on share the 64 bits (as in struct
	 * party). */
	uint64_t columns;
	/* By topology key: domains with a free machine for this class (computed by supply.c). */
	struct domains_seen *free_domains;
	/* Number of times that free_domains was computed. */
	uint64_t free_domains_known;
	/* Number of machines that this plan had already taken at the time when `free_domains` was
	 * computed. */
	size_t admitted;
	/* The set (cell) of those pods of the class that have no topology profile. They are
	 * interchangeable. */
	struct plan_cell *cell;
	/* True if topology constraints excluded free machines at the time when `reasons` was
	 * written. Once they exclude no machine, `reasons` is written again. */
	bool told_blocked;
	/* True once no pool has a machine left for the class. */
	bool exhausted;
	/* Why the class gets no machine. Once `exhausted` is true, the reasons do not change any
	 * more. */
	struct plan_reason *reasons;
	size_t nreasons;
};

/* Cell: pods of one class and one topology profile. The search for a bin for the next pod continues
 * where the search for the last one ended. */
struct plan_cell {
	struct plan_class *class_;
	const struct plan_profile *profile;
	/* Evaluated topology constraints; NULL: no topology constraint restricts the pods. */
	struct topology_cell *topology;
	/* Parties of the pods: with, and without regard to, their topology profile. crowd: NULL
	 * unless planning.saves_nodes is true. */
	struct party *party, *crowd;
	/* Search positions, one per preference score (bins.c). */
	struct cursor *cursors;
	size_t ncursors;
	/* Value of plan_run.nplaced when a pod of the cell was last tried again and not placed; 0:
	 * no pod of the cell was tried again. */
	size_t tried;
	/* Value of plan_tenant.released for which the search positions are valid. */
	uint64_t released;
	/* Result of the last gang of pods of this cell that was not placed; NULL: no such gang.
	 * missed_need: number of pods that this gang needed. */
	const struct gang_miss *missed;
	size_t missed_need;
	/* Number of pods of the smallest gang, made of pods of this cell, that never becomes whole,
	 * even with the machines that will be free; 0: no such gang is known (gang/try.c). */
	size_t never_need;
	/* Search position in an offer (instance type of one Provider) with many options (groups of
	 * its machines with equal labels); used by supply.c. While topology_epoch() equals `epoch`,
	 * all options before `option` are excluded. */
	struct {
		const struct supply_type_offer *offer;
		size_t option;
		uint64_t epoch;
		/* True if an option before `option` has a free machine that topology constraints
		 * exclude. */
		bool blocked;
	} at;
};

struct queued;
struct timeline;
struct planning {
	struct world *w;
	struct arena *a;
	/* Tenant name -> struct plan_tenant. */
	struct map *tenants;
	/* Result of the last planning_tenant() with a name; NULL: none. Objects of one tenant often
	 * follow each other. */
	struct plan_tenant *last_tenant;
	/* columns: map from requested resource to struct column (classes.c). column: names of the
	 * resources that have a column, by column number. */
	struct map *columns;
	const char **column;
	size_t ncolumns, nwanted;
	uint32_t nclasses;
	struct cells *cells;
	/* True if a pool, node or claim has a PreferNoSchedule taint. */
	bool soft;
	/* True if a pool may save machines (supply_pool.least_nodes). */
	bool saves_nodes;
	/* Names of the tenants for whose pods no room is reserved (supply/reserve.h), because pods
	 * of theirs got no machine in this plan while room was reserved. */
	struct map *unreserved;
	struct supply *supply;
	/* Topology groups (groups.h); NULL: no pod has topology constraints. */
	struct groups *groups;
	/* All maps of the plan, to be freed by planning_end(). */
	struct planning_map *maps;
	/* Scratch memory for one row of amounts (one element per column). */
	int64_t *scratch;
	struct plan *plan;
	/* How each claim of the plan was opened, by index of plan->claims (opening.h); NULL unless
	 * saves_nodes is true. */
	struct plan_opened *opened;
	size_t opened_cap;
	size_t claims_cap, *requests_cap, holds_cap;
	/* Incremented whenever the holdings of a tenant change (supply/quota.c). */
	uint64_t charged;
	/* Work units done for all tenants. */
	uint64_t work;
	int64_t now_ms;
	/* Number of tenants for which plan_tenant.wants is true. */
	size_t wanting;
	/* turns: queue entries served so far, in the order of service; nturns: their number.
	 * waiting: number of entries, from the start of turns, that have been passed to the
	 * timeline. */
	struct queued **turns;
	size_t nturns, waiting;
	struct timeline *timeline;
};

/* Charges work units (computing time, plan.h) to the tenant; sets t->over once they exceed
 * PLAN_WORK. */
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
/* Returns a new empty map that planning_end() frees. Values of the map must be allocated in the
 * plan's arena. */
struct map *planning_map(struct planning *p);
/* Frees all maps that planning_map() returned. */
void planning_end(const struct planning *p);
struct plan_tenant *planning_tenant(struct planning *p, const char *name);
/* Fills the members of *c that name objects, unless this plan has already filled them. Returns
 * c. */
struct world_claimed *planning_claimed(struct planning *p, struct world_claimed *c);
/* planning_add() returns a + b, planning_sub() returns a - b. On overflow they return INT64_MAX or
 * INT64_MIN, because amounts are chosen by tenants. */
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
/* Number of volume attachments of a node without a limit. Volumes that a CSI driver has to attach
 * are treated as a resource in a pod's requests and a node's allocatable, with a name like
 * "@ebs.csi.aws.com". */
#define PLANNING_ATTACHMENTS ((int64_t)1 << 32)
static inline bool planning_is_attachment(const char *resource)
{
	return resource[0] == '@';
}
/* True for resource names that only the planner uses (host ports, attachments). No quota, limit or
 * capacity contains such a name. */
static inline bool planning_is_made_up(const char *resource)
{
	return planning_is_port(resource) || planning_is_attachment(resource);
}
/* True if a new node cannot attach `want` volumes. less: PLANNING_ATTACHMENTS minus the number of
 * attachments of a new node; NULL: the difference is 0. */
bool planning_attachments_pass(struct quantity want, const struct quantity *less);
/* Returns the whole units (cpu: thousandths) of a request, rounded up. */
int64_t planning_request(const char *resource, struct quantity q);
/* Returns array v, or moves it in the arena (arena_widen()), with capacity for at least `want`
 * elements of `size` bytes. *cap: capacity, updated. New elements are zero. */
void *planning_wider(struct arena *a, void *v, size_t *cap, size_t want, size_t size);
/* Writes the amounts of r into row `room`, by column. If r lacks a resource, writes a default: no
 * bound for the number of pods, PLANNING_ATTACHMENTS for attachments, 1 for a host port, otherwise
 * 0. */
void planning_room(const struct planning *p, const struct resources *r, int64_t *room);

#endif
