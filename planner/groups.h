#ifndef PLANNER_GROUPS_H
#define PLANNER_GROUPS_H

#include "planner/counts.h"
#include "planner/inclusion.h"

/*
 * groups: pods that constraints count, over the domains of one key, as they are placed. Equal
 * constraints share a group. For kubernetes.io/hostname each bin is a domain.
 *
 * Which groups count a pod is found by its labels: most selectors want one value of a label, and
 * stand in an index by it.
 * Tests: tests/unit/planner/test_topology.c
 */
enum group_what {
	/* counts pods that the constraint selects */
	GROUP_SELECTED,
	/* those that have it: anti-affinity holds both ways */
	GROUP_CARRIERS,
	/* as selected, without those that are being deleted */
	GROUP_SPREAD,
	/* that all affinity terms of a pod select together */
	GROUP_ALL_TERMS
};
#define GROUP_HOST (-1)
struct topology_group {
	struct tenant_topology *of;
	const struct world_topology *it;
	/* one that has it: its namespace, its other terms */
	const struct world_pod *pod;
	enum group_what what;
	/* GROUP_HOST: hostname */
	int key;
	/* on which they are counted; NULL: on all */
	struct inclusion *nodes;
	/* by domain, or by bin */
	struct counts count;
	/* cost: of one look at a pod */
	uint64_t total, cost;
	/* number of the last try that placed a pod of it */
	uint64_t tried;
};
struct topology_rule {
	struct topology_group *group;
	const struct world_topology *it;
	/* the pod is among those that it selects */
	bool self;
};

/* What a pod is to others; of world_shape. */
struct plan_side {
	const struct world_pod *pod;
	struct plan_tenant *tenant;
	/* somebody who waits has it */
	bool pending;
	/* from 0, in no order */
	uint32_t number;
	/* its own constraints, of one that is pending */
	struct topology_rule *rules;
	size_t nrules;
	/* grow by one when it is placed */
	struct topology_group **counted;
	size_t ncounted;
	/* pods that are there want it elsewhere */
	struct topology_group **bans;
	size_t nbans;
	struct party *parties;
};

struct groups;
struct groups *groups_new(struct planning *p);
/* Of pods that wait first, then of all; then groups_meet() of each.  Of a tenant that is
 * beyond its work no more is kept: what is there of it does not hold. */
struct plan_side *groups_side(struct groups *g, struct world_shape *side, bool pending);
/* The side of that number; false: there is none, and all is ready. */
bool groups_meet(struct groups *g, size_t side);

/* Then bins: which domain of each key they are of. Domains have numbers, the same for all
 * tenants. */
int groups_keys(const struct groups *g);
/* so far */
size_t groups_domains(const struct groups *g, int key);
const int *groups_domains_of(struct groups *g, const struct labels *labels);
void groups_bin(struct groups *g, struct plan_tenant *of, size_t bin, const struct labels *labels,
		const struct world_taints *taints);

/* So many pods of the side, of them so many that are being deleted: these count for affinity, and
 * not for spread (PodTopologySpread's countPodsMatchSelector). */
void groups_place(struct groups *g, const struct plan_side *s, size_t bin, size_t n,
		  size_t terminating);

/* One pod of the side, that is not being deleted, leaves the bin. */
void groups_leave(struct groups *g, const struct plan_side *s, size_t bin);

/* What is placed from groups_try() on is as if it had never been after groups_undo(), and stays
 * after groups_keep(). */
void groups_try(struct groups *g);
void groups_undo(struct groups *g);
void groups_keep(struct groups *g);
/* The last bin of the tenant goes again. */
void groups_unbin(struct plan_tenant *of, size_t bin);

#endif
