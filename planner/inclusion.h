#ifndef PLANNER_INCLUSION_H
#define PLANNER_INCLUSION_H

#include "planner/domains.h"

/*
 * inclusion: the nodes whose domains and pods a spread counts, as PodTopologySpread's node inclusion policies say: those
 * that have a label of each key by which the pod spreads, that its nodeSelector and required node affinity admit
 * (nodeAffinityPolicy Honor), and whose taints it tolerates (nodeTaintsPolicy Honor).
 *
 * Spreads that count the same nodes share one.  A bin is looked at when somebody first asks for it.  One
 * that the pod may go to is always among them.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_oracle.c
 */
struct inclusion {
	struct inclusions *of;
	const struct world_pod
		*pod; /* one that has the constraint: its selectors, tolerations and other keys */
	const struct world_topology *it;
	int key;
	uint64_t cost; /* of one look at a node */
	uint64_t *bits;
	size_t words, seen;	     /* bins */
	struct domains_seen domains; /* that have a node that counts */
	uint32_t *first;	     /* the bin by which each was seen, in their order */
	size_t nfirst;
	struct inclusion *next; /* of the tenant's */
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
