#ifndef PLANNER_FIT_H
#define PLANNER_FIT_H

#include "planner/planning.h"

/*
 * fit: does a pod go onto a node with these labels, taints and this room?  The
 * rules are kube-scheduler's (NodeAffinity, TaintToleration, NodeResourcesFit,
 * VolumeBinding).
 */
bool fit_labels(const struct world_pod *p, const struct labels *node);
/* One of the terms: the volume is there, or may be made there. */
bool fit_volume(const struct world_volume *v, const struct labels *node);
/* The first thing that keeps it off a node with these labels, as a reason names it: "nodeSelector
 * gpu=b200". *key: the label's. Where fit_labels() says false. */
const char *fit_labels_miss(const struct world_pod *p, const struct labels *node, const char **key,
			    struct arena *a);
/* The first requirement that does not hold, "gpu In (h100, h200)"; NULL: all do. */
const char *fit_selector_miss(const struct selector *s, const struct labels *node, const char **key,
			      struct arena *a);
/* The handler of the pod's RuntimeClass is on the pool's nodes; pool NULL: nobody knows of one that
 * it is not. */
bool fit_runtime(const struct world_pod *p, const struct world_pool *pool);
/* The tenant's demand of a proof can be met by the provider's machines: by its network, or by
 * packets. */
bool fit_proof(const struct world_tenant *t, const struct world_provider *p);
/* NULL: every NoSchedule and NoExecute taint is tolerated; else the first that is not. */
const struct world_taint *fit_taints(const struct world_pod *p, const struct world_taints *taints);
/* PreferNoSchedule: keeps nobody out, but is avoided. */
bool fit_is_soft(const struct world_taint *taint);
/* How welcome the node is: the weights of the preferences that hold; FIT_LAST where a
 * PreferNoSchedule taint is not tolerated. 0 for a pod without preferences. */
#define FIT_LAST INT64_MIN
int64_t fit_score(const struct world_pod *p, const struct labels *node,
		  const struct world_taints *taints);
/* NULL: there is room beside what is taken of it; else the first resource, or host port, that is
 * short. */
const char *fit_resources(const struct resources *requests, const struct resources *room,
			  const struct resources *taken);

#endif
