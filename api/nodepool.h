#ifndef API_NODEPOOL_H
#define API_NODEPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"
#include "wipe/evidence.h"

/*
 * nodepool: the kind NodePool: for which virtual clusters, from which Providers, with what template
 * and within which limits nodes are made. Field tables and checks: api/nodepool.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

struct node_pool_template_spec {
	/* tried in this order */
	struct {
		struct object_name_ref *v;
		size_t n;
	} provider_refs;
	struct object_requirements requirements;
	struct object_taints taints, startup_taints;
	/* one per Kubernetes minor version */
	struct {
		struct object_image *v;
		size_t n;
	} images;
	/* RuntimeClass handlers that the images contain; empty: not restricted */
	struct strings runtime_classes;
	/* allowed values of VirtualCluster.spec.nodes (virtual_cluster_nodes_names) */
	struct strings nodes;
	struct object_name_ref *user_data_secret_ref;
	struct object_kubelet *kubelet;
	struct object_node_network network;
	/* NULL: before a drain drover notifies only pods that ask for it */
	struct object_checkpoint *checkpoint;
	int64_t expire_after, termination_grace_period;
};
struct node_pool_template {
	struct {
		struct labels labels, annotations;
	} metadata;
	struct node_pool_template_spec spec;
};
struct node_pool_budget {
	/* count "3" or percentage "10%" */
	const char *nodes;
	/* Underutilized, Empty, Drifted ...; empty: all reasons */
	struct strings reasons;
	/* cron expression in UTC; set together with duration, or NULL */
	const char *schedule;
	int64_t duration;
};
enum consolidation_policy { CONSOLIDATION_WHEN_EMPTY, CONSOLIDATION_WHEN_UNDERUSED };
enum drift_policy { DRIFT_NEVER, DRIFT_WHEN_EMPTY, DRIFT_WITHIN_BUDGETS };
/* Same order as enum world_reclaim (planner/world.h). */
extern const char *const node_pool_reclaim_names[];
struct node_pool_disruption {
	/* enum consolidation_policy */
	int consolidation_policy;
	/* enum drift_policy */
	int drift;
	/* index into node_pool_reclaim_names */
	int reclaim;
	/* in ms; 0: the greater of 10 min and twice the measured recycle time; -1: never */
	int64_t consolidate_after;
	struct {
		struct node_pool_budget *v;
		size_t n;
	} budgets;
};
struct node_pool_spec {
	/* {}: all VirtualClusters */
	struct object_label_selector virtual_cluster_selector;
	int64_t weight;
	/* limits of "nodes" and of any resource */
	struct resources limits;
	bool paused;
	struct node_pool_template template_;
	struct node_pool_disruption disruption;
	struct object_wipe_floor wipe;
	struct {
		/* percent: of the pool's nodes; the greater of nodes and percent counts */
		int64_t nodes, percent;
	} warm;
	struct object_deadlines deadlines;
};
struct node_pool_status {
	int64_t observed_generation;
	struct resources resources;
	int64_t nodes;
	struct conditions conditions;
};
struct node_pool {
	struct object_meta meta;
	struct node_pool_spec spec;
	struct node_pool_status status;
};

#endif
