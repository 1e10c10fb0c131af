#ifndef PLANNER_GROUPS_H
#define PLANNER_GROUPS_H

#include "planner/counts.h"
#include "planner/inclusion.h"

/*
 * groups: counters for topology constraints. A group counts, for each domain of the constraint's
 * topology key, the pods that the constraint selects. Counts are updated as pods are placed. Equal
 * constraints share a group. For kubernetes.io/hostname each bin (candidate node, bins.h) is a
 * domain.
 *
 * An index finds the groups that count a pod by the pod's labels, because nearly all selectors
 * require one value of a label.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_budget.c
 */
enum group_what {
	/* Counts pods that the constraint selects. */
	GROUP_SELECTED,
	/* Counts pods that have the anti-affinity term themselves. The term excludes each pod that
	 * it selects from the domains of these pods, so the planner must know where they are. */
	GROUP_CARRIERS,
	/* Counts pods that the constraint selects, except those that are terminating. */
	GROUP_SPREAD,
	/* Counts pods that match all affinity terms of the pod that has the constraint. */
	GROUP_ALL_TERMS
};
#define GROUP_HOST (-1)
struct topology_group {
	struct tenant_topology *of;
	const struct world_topology *it;
	/* Any pod with the constraint. The constraint also depends on this pod's namespace and on
	 * its other terms. */
	const struct world_pod *pod;
	enum group_what what;
	/* Number of the topology key; GROUP_HOST: kubernetes.io/hostname. */
	int key;
	/* Nodes on which pods are counted; NULL: all nodes. */
	struct inclusion *nodes;
	/* Number of counted pods by domain, or by bin if key is GROUP_HOST. */
	struct counts count;
	/* total: sum of all counts in `count`. cost: work units (computing time, plan.h) of one
	 * check whether the group counts a pod. */
	uint64_t total, cost;
	/* Number of the last transaction (groups_try()) that changed the group. */
	uint64_t tried;
	/* True if the counts admitted a pod on a machine that is no Node yet (early.h). */
	bool relied_on;
};
struct topology_rule {
	struct topology_group *group;
	const struct world_topology *it;
	/* True if the constraint also selects the pod that has it. */
	bool self;
};

/* Topology profile: the properties of a pod that other pods' constraints refer to (tenant,
 * namespace, labels), and the pod's own topology constraints (see world_shape). */
struct plan_profile {
	const struct world_pod *pod;
	struct plan_tenant *tenant;
	/* True if a waiting pod has the profile, and the pod may be placed. */
	bool pending;
	/* Number of the profile in this plan, from 0, in no particular order. */
	uint32_t number;
	/* Number of bound pods that have the profile. */
	size_t bound;
	/* The profile's own constraints; set only for a pending profile. */
	struct topology_rule *rules;
	size_t nrules;
	/* Groups whose count grows when a pod of this profile is placed. */
	struct topology_group **counted;
	size_t ncounted;
	/* Anti-affinity groups of other pods that select pods of this profile. This profile is
	 * excluded from the domains in which these groups count pods. */
	struct topology_group **bans;
	size_t nbans;
	struct party *parties;
};

struct groups;
struct groups *groups_new(struct planning *p);
/* Prepares the index for the constraints of topology profile *profile. Call for each profile with
 * constraints, before groups_profile() and groups_wait(). */
void groups_ask(struct groups *g, const struct world_shape *profile);
/* Returns the plan's profile of shape *profile, created if missing. pending: a waiting pod has the
 * profile.
 *
 * Call order: first for the profiles of all bound pods (pending false), then for those of waiting
 * pods (pending true, or groups_wait()), then groups_meet() for each profile number. For a tenant
 * whose work units are used up (PLAN_WORK), nothing more is recorded and the counts are not
 * valid. */
struct plan_profile *groups_profile(struct groups *g, struct world_shape *profile, bool pending);
/* Records the profile of the next waiting pod, in queue order, until half of the tenant's work
 * units are used up. So pods at the end of the queue never displace those before them. */
void groups_wait(struct groups *g, struct world_shape *profile);
/* Returns the plan's profile of the shape; NULL: it is not recorded. */
struct plan_profile *groups_found(const struct groups *g, const struct world_shape *profile);
/* Finds the groups that count the profile with number `profile`. False: no profile has that number,
 * so all profiles are done. */
bool groups_meet(struct groups *g, size_t profile);

/* Returns the number of topology keys, which are the same for all tenants. */
int groups_keys(const struct groups *g);
/* Returns the number of domains of the key that are known so far. */
size_t groups_domains(const struct groups *g, int key);
/* Returns an array by topology key: the domain of a node with these labels; -1: the node lacks the
 * label. */
const int *groups_domains_of(struct groups *g, const struct labels *labels);
/* Records the topology domains of the tenant's next bin. bin: that bin's index. */
void groups_bin(struct groups *g, struct plan_tenant *of, size_t bin, const struct labels *labels,
		const struct world_taints *taints);

/* Counts n more pods of the profile in the bin. `terminating` of the n pods are being deleted:
 * these count for affinity, but not for spread (PodTopologySpread's countPodsMatchSelector). */
void groups_place(struct groups *g, const struct plan_profile *s, size_t bin, size_t n,
		  size_t terminating);

/* Counts one pod less of the profile in the bin. The pod must not be terminating. */
void groups_leave(struct groups *g, const struct plan_profile *s, size_t bin);

/* Begins a transaction, which groups_undo() or groups_keep() ends. */
void groups_try(struct groups *g);
/* Ends the transaction and restores all counts to their values at groups_try(). */
void groups_undo(struct groups *g);
/* Ends the transaction and keeps all counts as they are now. */
void groups_keep(struct groups *g);
/* Removes the tenant's last bin, whose index is `bin`. */
void groups_unbin(struct plan_tenant *of, size_t bin);

#endif
