#ifndef PLANNER_INCLUSION_H
#define PLANNER_INCLUSION_H

#include "planner/domains.h"

/*
 * inclusion: which nodes a topology spread counts, by PodTopologySpread's node inclusion policies:
 * nodes that have a label of each key by which the pod spreads, that its nodeSelector and required
 * node affinity admit (nodeAffinityPolicy Honor), and whose taints it tolerates (nodeTaintsPolicy
 * Honor).
 *
 * Spreads that count the same nodes share one inclusion. Bins are checked on first use. A bin that
 * the pod may use always counts.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_oracle.c
 */
struct inclusion {
	struct inclusions *of;
	/* A pod with the constraint: its selectors, tolerations and other keys apply. */
	const struct world_pod *pod;
	const struct world_topology *it;
	int key;
	/* Work units of one check of a node. */
	uint64_t cost;
	uint64_t *bits;
	/* words: length of bits. seen: bins checked so far. */
	size_t words, seen;
	/* Domains with a node that counts. */
	struct domains_seen domains;
	/* For each of these domains, in their order, the bin by which it was found. */
	uint32_t *first;
	size_t nfirst;
	/* Next inclusion of the tenant. */
	struct inclusion *next;
};

/* All inclusions of a tenant, and its bins with the data that they check. */
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

/* Returns the inclusion of a spread whose key is not the hostname. */
struct inclusion *inclusion_of(struct planning *p, struct inclusions *of,
			       const struct world_topology *it, const struct world_pod *pod,
			       int key);
/* Adds the tenant's next bin; its domains must be recorded already (domains_put()). */
void inclusion_add(struct planning *p, struct inclusions *of, const struct labels *labels,
		   const struct world_taints *taints);
/* Removes the tenant's last bin. */
void inclusion_cut(struct inclusions *of);
/* True if the spread counts the bin. */
bool inclusion_has(struct planning *p, struct inclusion *x, size_t bin);
/* Returns the domains of all bins that count. */
const struct domains_seen *inclusion_domains(struct planning *p, struct inclusion *x);

#endif
