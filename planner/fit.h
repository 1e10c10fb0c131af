#ifndef PLANNER_FIT_H
#define PLANNER_FIT_H

#include "planner/planning.h"

/*
 * fit: whether a pod fits on a node with given labels, taints and free resources, by the rules of
 * kube-scheduler (NodeAffinity, TaintToleration, NodeResourcesFit, VolumeBinding).
 *
 * fit_labels() returns true if the node's labels meet the pod's node selector, required node
 * affinity, volumes and resource claims, and the node is not one of those excluded for the pod.
 */
bool fit_labels(const struct world_pod *p, const struct labels *node);
/* True if one of the volume's terms matches a node with these labels. Then the volume is accessible
 * from the node, or may be provisioned for it. */
bool fit_volume(const struct world_volume *v, const struct labels *node);
/* Returns the first constraint of the pod that excludes a node with these labels, as text for a
 * reason: "nodeSelector gpu=b200". *key: the label key of that constraint, NULL if none. Call only
 * if fit_labels() returned false. */
const char *fit_labels_miss(const struct world_pod *p, const struct labels *node, const char **key,
			    struct arena *a);
/* Returns the first requirement of s that the node's labels do not meet, as text: "gpu In (h100,
 * h200)". *key: the label key of that requirement, NULL for a node name. Returns NULL if all are
 * met. */
const char *fit_selector_miss(const struct selector *s, const struct labels *node, const char **key,
			      struct arena *a);
/* True if nodes of the pool have a handler for the pod's RuntimeClass. Also true if the pod has no
 * RuntimeClass, if the pool names no RuntimeClasses, or if pool is NULL (node without a pool:
 * handlers not known). */
bool fit_runtime(const struct world_pod *p, const struct world_pool *pool);
/* True if the Provider's machines can give the proof of port location that the tenant requires:
 * either the switch reports the location reliably enough, or test packets can prove it. */
bool fit_proof(const struct world_tenant *t, const struct world_provider *p);
/* Returns the first NoSchedule or NoExecute taint that the pod does not tolerate; NULL: all are
 * tolerated. */
const struct world_taint *fit_taints(const struct world_pod *p, const struct world_taints *taints);
/* True for a PreferNoSchedule taint: kube-scheduler avoids nodes with it, but does not exclude
 * them. */
bool fit_is_soft(const struct world_taint *taint);
/* Returns the preference score of a node. FIT_LAST: the pod does not tolerate a PreferNoSchedule
 * taint of the node. Otherwise the sum of the weights of the pod's preferences that match; 0 if the
 * pod has none. */
#define FIT_LAST INT64_MIN
int64_t fit_score(const struct world_pod *p, const struct labels *node,
		  const struct world_taints *taints);
/* Returns the name of the first requested resource or host port for which `room` minus `taken` is
 * too little; NULL: all requests fit. */
const char *fit_resources(const struct resources *requests, const struct resources *room,
			  const struct resources *taken);

#endif
