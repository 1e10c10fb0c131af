#ifndef CONTROLLER_TENANT_POD_KEEP_H
#define CONTROLLER_TENANT_POD_KEEP_H

#include "base/data/json.h"
#include "controller/tenant/tenant.h"

/*
 * pod_keep: determines whether drover may evict a bound pod to free its Node, and what that costs
 * the pod's owner.
 *
 * Annotations of other projects have the same effect as drover's (api/annotations.h). A duration
 * counts from the pod's creation; a value that is not a duration prevents eviction permanently.
 * Pods that are never evicted for this: without a controller, which would create them again; with
 * an emptyDir on disk or a hostPath, unless the annotation of cluster-autoscaler allows eviction;
 * with volume claims; with a required topology spread or pod affinity, whose placement depends on
 * other pods.
 * Tests: tests/unit/controller/tenant/test_projection.c
 */
/* Fills p->alone, asks_until, world.keep, keep_until and deletion_cost; p->claims must be set. */
void pod_keep_read(const json_t *pod, struct tenant_pod *p);

#endif
