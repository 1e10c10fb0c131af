#ifndef API_NODEPOOL_H
#define API_NODEPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"
#include "wipe/evidence.h"

/*
 * nodepool: the kind NodePool: a set of nodes. It states for which virtual clusters nodes are made,
 * from which Providers, with what template and within which limits. Field tables and checks:
 * api/nodepool.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

struct node_pool_template_spec {
	/* names of Providers, in the order in which they are tried */
	struct {
		struct object_name_ref *v;
		size_t n;
	} provider_refs;
	struct object_requirements requirements;
	struct object_taints taints, startup_taints;
	/* images, one per Kubernetes minor version */
	struct {
		struct object_image *v;
		size_t n;
	} images;
	/* RuntimeClass handlers that the images contain; empty: not restricted */
	struct strings runtime_classes;
	/* values of VirtualCluster.spec.nodes (virtual_cluster_nodes_names) that the pool serves */
	struct strings nodes;
	struct object_name_ref *user_data_secret_ref;
	struct object_kubelet *kubelet;
	struct object_node_network network;
	/* service to call before pods are evicted; NULL: drover notifies only pods that request a
	 * checkpoint */
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
	/* maximum number of nodes that may leave at one time: a count such as "3", or a percentage
	 * such as "10%" */
	const char *nodes;
	/* leave reasons to which the budget applies, such as Underutilized, Empty or Drifted;
	 * empty: all */
	struct strings reasons;
	/* cron expression (UTC) of the times at which the budget begins to apply, each time for
	 * `duration`; NULL: the budget always applies */
	const char *schedule;
	int64_t duration;
};
enum consolidation_policy { CONSOLIDATION_WHEN_EMPTY, CONSOLIDATION_WHEN_UNDERUSED };
enum drift_policy { DRIFT_NEVER, DRIFT_WHEN_EMPTY, DRIFT_WITHIN_BUDGETS };
/* Names of the values of enum world_reclaim (planner/world.h), in the order of the enum. */
extern const char *const node_pool_reclaim_names[];
struct node_pool_disruption {
	/* enum consolidation_policy */
	int consolidation_policy;
	/* enum drift_policy */
	int drift;
	/* index into node_pool_reclaim_names */
	int reclaim;
	/* time in ms for which a node must be empty or underutilized before it is given back; 0:
	 * the greater of 10 min and twice the measured recycle time; -1: never */
	int64_t consolidate_after;
	struct {
		struct node_pool_budget *v;
		size_t n;
	} budgets;
};
/* Names of the values of enum world_expander (planner/world.h), in the order of the enum. */
extern const char *const node_pool_expander_names[];
struct node_pool_spec {
	/* VirtualClusters that the pool serves; an empty selector ({}): all */
	struct object_label_selector virtual_cluster_selector;
	int64_t weight;
	/* index into node_pool_expander_names */
	int expander;
	/* maximum total of each resource in the pool; the resource "nodes" is the number of
	 * nodes */
	struct resources limits;
	bool paused;
	struct node_pool_template template_;
	struct node_pool_disruption disruption;
	struct object_wipe_floor wipe;
	struct {
		/* machines kept warm (on, with the agent running): the greater of the number
		 * `nodes` and `percent` of the pool's nodes */
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
