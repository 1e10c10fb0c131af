#ifndef PLANNER_GROUPS_H
#define PLANNER_GROUPS_H

#include "planner/counts.h"
#include "planner/inclusion.h"

/*
 * groups: counters for topology constraints: how many pods that a constraint selects are in each
 * domain of its key, updated as pods are placed. Equal constraints share a group. For
 * kubernetes.io/hostname each bin is a domain.
 *
 * Which groups count a pod is looked up by the pod's labels: most selectors require one value of a
 * label, and an index finds groups by that label.
 * Tests: tests/unit/planner/test_topology.c
 */
enum group_what {
	/* Counts pods that the constraint selects. */
	GROUP_SELECTED,
	/* Counts pods that have the constraint: anti-affinity applies in both directions. */
	GROUP_CARRIERS,
	/* Counts selected pods without those that are terminating. */
	GROUP_SPREAD,
	/* Counts pods that all affinity terms of a pod select together. */
	GROUP_ALL_TERMS
};
#define GROUP_HOST (-1)
struct topology_group {
	struct tenant_topology *of;
	const struct world_topology *it;
	/* A pod with the constraint: its namespace and other terms apply. */
	const struct world_pod *pod;
	enum group_what what;
	/* Index of the topology key; GROUP_HOST: hostname. */
	int key;
	/* Nodes on which pods are counted; NULL: all. */
	struct inclusion *nodes;
	/* By domain; by bin for GROUP_HOST. */
	struct counts count;
	/* total: sum of count. cost: work units of one check of a pod. */
	uint64_t total, cost;
	/* Number of the last transaction that changed the group. */
	uint64_t tried;
};
struct topology_rule {
	struct topology_group *group;
	const struct world_topology *it;
	/* True if the constraint selects the pod itself. */
	bool self;
};

/* Topology profile: what a pod is to other pods (see world_shape). */
struct plan_side {
	const struct world_pod *pod;
	struct plan_tenant *tenant;
	/* True if a waiting pod has the profile. */
	bool pending;
	/* Number in this plan, from 0, in no order. */
	uint32_t number;
	/* Its own constraints; only for a pending profile. */
	struct topology_rule *rules;
	size_t nrules;
	/* Groups whose count grows when a pod of this profile is placed. */
	struct topology_group **counted;
	size_t ncounted;
	/* Anti-affinity groups of other pods that exclude this profile. */
	struct topology_group **bans;
	size_t nbans;
	struct party *parties;
};

struct groups;
struct groups *groups_new(struct planning *p);
/* Returns the plan's profile of a shape. Call first for the profiles of waiting pods (pending
 * true), then for all others, then groups_meet() for each number. Nothing more is recorded for a
 * tenant that has exceeded its work; its counts are then not valid. */
struct plan_side *groups_side(struct groups *g, struct world_shape *side, bool pending);
/* Finds the groups that count the profile with that number. False: no such profile, all are
 * done. */
bool groups_meet(struct groups *g, size_t side);

/* Returns the number of topology keys. Domains of a key are numbered equally for all tenants. */
int groups_keys(const struct groups *g);
/* Returns the number of domains of the key known so far. */
size_t groups_domains(const struct groups *g, int key);
/* Returns the domain by key of a node with these labels; -1: none. */
const int *groups_domains_of(struct groups *g, const struct labels *labels);
/* Records the domains of the tenant's next bin. */
void groups_bin(struct groups *g, struct plan_tenant *of, size_t bin, const struct labels *labels,
		const struct world_taints *taints);

/* Adds n pods of the profile to the bin, `terminating` of them being deleted: these count for
 * affinity, but not for spread (PodTopologySpread's countPodsMatchSelector). */
void groups_place(struct groups *g, const struct plan_side *s, size_t bin, size_t n,
		  size_t terminating);

/* Removes one pod of the profile, which is not terminating, from the bin. */
void groups_leave(struct groups *g, const struct plan_side *s, size_t bin);

/* Begins a transaction, which groups_undo() or groups_keep() ends. */
void groups_try(struct groups *g);
/* Reverts all counts to their values at groups_try(). */
void groups_undo(struct groups *g);
/* Keeps the counts as they are now. */
void groups_keep(struct groups *g);
/* Removes the last bin of the tenant. */
void groups_unbin(struct plan_tenant *of, size_t bin);

#endif
