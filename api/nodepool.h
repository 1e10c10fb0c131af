#ifndef API_NODEPOOL_H
#define API_NODEPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"
#include "wipe/evidence.h"

/*
 * nodepool: the kind NodePool: for which virtual clusters, from which providers, with what
 * template, within which limits machines are given. Field tables and checks: api/nodepool.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

struct node_pool_template_spec {
	struct {
		struct object_name_ref *v;
		size_t n;
	} provider_refs; /* tried in order */
	struct object_requirements requirements;
	struct object_taints taints, startup_taints;
	struct {
		struct object_image *v;
		size_t n;
	} images; /* one for each Kubernetes minor */
	/* that the images carry; none: not said */
	struct strings runtime_classes;
	/* of virtual_cluster_nodes_names: which it allows */
	struct strings nodes;
	struct object_name_ref *user_data_secret_ref;
	struct object_kubelet *kubelet;
	struct object_node_network network;
	/* NULL: nobody is told before a drain but pods that ask */
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
	/* "3" or "10%" */
	const char *nodes;
	/* Underutilized, Empty, Drifted ...; none: all */
	struct strings reasons;
	/* cron, UTC; with duration or not at all */
	const char *schedule;
	int64_t duration;
};
enum consolidation_policy { CONSOLIDATION_WHEN_EMPTY, CONSOLIDATION_WHEN_UNDERUSED };
enum drift_policy { DRIFT_NEVER, DRIFT_WHEN_EMPTY, DRIFT_WITHIN_BUDGETS };
/* In the order of enum world_reclaim (planner/world.h). */
extern const char *const node_pool_reclaim_names[];
struct node_pool_disruption {
	/* enum consolidation_policy */
	int consolidation_policy;
	/* enum drift_policy */
	int drift;
	/* index into node_pool_reclaim_names */
	int reclaim;
	/* 0: max(10 min, 2 x the measured recycle time) */
	int64_t consolidate_after;
	struct {
		struct node_pool_budget *v;
		size_t n;
	} budgets;
};
struct node_pool_spec {
	/* {}: all */
	struct object_label_selector virtual_cluster_selector;
	int64_t weight;
	/* "nodes" and any resource */
	struct resources limits;
	bool paused;
	struct node_pool_template template_;
	struct node_pool_disruption disruption;
	struct object_wipe_floor wipe;
	struct {
		/* percent: of the pool's nodes; the greater of both counts */
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
