#ifndef PLANNER_INCLUSION_H
#define PLANNER_INCLUSION_H

#include "planner/domains.h"

/*
 * inclusion: the nodes whose domains and pods a spread counts, as PodTopologySpread's node
 * inclusion policies say: those that have a label of each key by which the pod spreads, that its
 * nodeSelector and required node affinity admit (nodeAffinityPolicy Honor), and whose taints it
 * tolerates (nodeTaintsPolicy Honor).
 *
 * Spreads that count the same nodes share one. A bin is looked at when somebody first asks for it.
 * One that the pod may go to is always among them.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_oracle.c
 */
struct inclusion {
	struct inclusions *of;
	/* one that has the constraint: its selectors, tolerations and other keys */
	const struct world_pod *pod;
	const struct world_topology *it;
	int key;
	/* of one look at a node */
	uint64_t cost;
	uint64_t *bits;
	/* bins */
	size_t words, seen;
	/* that have a node that counts */
	struct domains_seen domains;
	/* the bin by which each was seen, in their order */
	uint32_t *first;
	size_t nfirst;
	/* of the tenant's */
	struct inclusion *next;
};

/* A tenant's, and its bins as they look at them. */
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

/* Of a spread over other domains than nodes. */
struct inclusion *inclusion_of(struct planning *p, struct inclusions *of,
			       const struct world_topology *it, const struct world_pod *pod,
			       int key);
/* The tenant has one bin more, whose domains are known; the last of them goes. */
void inclusion_add(struct planning *p, struct inclusions *of, const struct labels *labels,
		   const struct world_taints *taints);
void inclusion_cut(struct inclusions *of);
bool inclusion_has(struct planning *p, struct inclusion *x, size_t bin);
/* Of all bins that there are. */
const struct domains_seen *inclusion_domains(struct planning *p, struct inclusion *x);

#endif
