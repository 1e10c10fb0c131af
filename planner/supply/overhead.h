#ifndef PLANNER_SUPPLY_OVERHEAD_H
#define PLANNER_SUPPLY_OVERHEAD_H

#include "planner/supply/supply.h"

/*
 * overhead: resources of a new node that its pods of DaemonSets and its static pods use, so that
 * the other pods cannot have them.
 *
 * There are two sources; for each resource the larger amount counts.
 *
 *   declared  the requests of those DaemonSets of the tenant that admit the node as planned: its
 *             labels meet nodeSelector and required node affinity, and its pool's taints are
 *             tolerated. Known before the tenant has a node.
 *   measured  the highest amount that such pods use on one of the tenant's Ready nodes. Includes
 *             what no DaemonSet declares: static pods, defaults of a LimitRange, the overhead of a
 *             RuntimeClass, containers that a webhook adds.
 *
 * Karpenter adds up DaemonSets in the same way. Startup taints of a pool do not count, because a
 * node loses them. Preferences do not count, because the DaemonSet controller ignores them. Labels
 * that only appear once the node runs (such as those of node feature discovery) are not known in
 * advance: a DaemonSet that selects them counts only once it is measured.
 * Tests: tests/unit/planner/supply/test_overhead.c
 */
/* Adds a DaemonSet (world_pod.daemon_set) to its tenant's. Call for all of them before the
 * functions below. */
void overhead_add_daemon_set(struct planning *p, const struct world_one *set);
/* Measures node h, if it is a Ready node of one of the tenant's claims. CSI driver limits of a new
 * node are assumed to be those of existing nodes. Call for all nodes before the functions below. */
void overhead_measure(const struct planning *p, struct plan_tenant *t, const struct world_host *h);
/* Returns the overhead of a node with these labels and taints, allocated in the plan's arena. Once
 * the tenant's work units are used up, only the measured amounts: no further pod is placed. */
const struct overhead *overhead_of_node(struct planning *p, struct plan_tenant *t,
					const struct labels *labels,
					const struct world_taints *taints);
/* True if a node of the option has the same overhead as a node of the pool with these labels. */
bool overhead_is_of_option(struct planning *p, struct plan_tenant *t,
			   const struct supply_pool *pool, size_t option,
			   const struct labels *labels);
/* Sets f->overhead and the overheads of each pool of the fit. f->overhead is the lowest of all
 * machines that suit the fit, by resource; if an offer has more, fit_pool.overheads contains it.
 * Call once f->pools is complete. */
void overhead_of_fit(struct planning *p, struct plan_fit *f);
/* Returns the overhead of a machine of offer l for pods of the fit. If the offer's options have
 * different overheads, the highest counts, by resource. */
const struct overhead *overhead_of_offer(const struct plan_fit *f,
					 const struct supply_type_offer *l);
/* Returns the offer's capacity by column, to be compared with requests that include f->overhead:
 * l->row less the part of the offer's overhead that exceeds f->overhead. */
const int64_t *overhead_row(const struct plan_fit *f, const struct supply_type_offer *l);
/* Subtracts from room (free amounts by column) the part of the overhead that is not on the node
 * yet. has: load of the pods that are on the node already; NULL: a new machine. */
void overhead_take(const struct planning *p, const struct overhead *o, const struct world_load *has,
		   int64_t *room);

#endif
