#ifndef PLANNER_INCLUSION_H
#define PLANNER_INCLUSION_H

#include "planner/domains.h"

/*
 * inclusion: which nodes a topology spread counts, by PodTopologySpread's node inclusion policies.
 * A node counts if all of these conditions are true:
 * - The node has a label of each key by which the pod spreads.
 * - The pod's nodeSelector and required node affinity admit the node (nodeAffinityPolicy Honor).
 * - The pod tolerates the node's taints (nodeTaintsPolicy Honor).
 *
 * Spreads that count the same nodes share one inclusion. Bins (candidate nodes, bins.h) are checked
 * on first use. A bin that the pod may use always counts.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_oracle.c
 */
struct inclusion {
	struct inclusions *of;
	/* Any pod with the constraint. Which nodes count also depends on this pod's selectors,
	 * tolerations and other topology keys. */
	const struct world_pod *pod;
	const struct world_topology *it;
	int key;
	/* Work units of one check whether a node counts. */
	uint64_t cost;
	uint64_t *bits;
	/* words: length of bits, the bit set of the bins that count. seen: number of bins checked
	 * so far. */
	size_t words, seen;
	/* Domains of the key in which at least one bin counts. */
	struct domains_seen domains;
	/* Bin by which each member of `domains` was found, in the order in which the members were
	 * added. */
	uint32_t *first;
	size_t nfirst;
	/* Next inclusion of the same tenant; the first one is inclusions.all. */
	struct inclusion *next;
};

/* All inclusions of a tenant, and for each of the tenant's bins the labels and taints that the
 * inclusions check. */
struct inclusions {
	struct plan_tenant *tenant;
	struct map *by_text;
	struct inclusion *all;
	struct inclusion_bin {
		const struct labels *labels;
		const struct world_taints *taints;
	} * bins;
	size_t nbins, cap;
};

/* Returns the inclusion (the bins that count) of topology spread *it of *pod, created if missing.
 * key: number of the spread's topology key, which must not be kubernetes.io/hostname. */
struct inclusion *inclusion_of(struct planning *p, struct inclusions *of,
			       const struct world_topology *it, const struct world_pod *pod,
			       int key);
/* Adds the tenant's next bin. Call after domains_put() for that bin. */
void inclusion_add(struct planning *p, struct inclusions *of, const struct labels *labels,
		   const struct world_taints *taints);
/* Removes the tenant's last bin from all its inclusions. */
void inclusion_cut(struct inclusions *of);
/* True if the spread counts the bin. Checks all bins up to this one that were not checked
 * before. */
bool inclusion_has(struct planning *p, struct inclusion *x, size_t bin);
/* Returns the domains in which the spread counts at least one bin. Checks all bins that were not
 * checked before. */
const struct domains_seen *inclusion_domains(struct planning *p, struct inclusion *x);

#endif
