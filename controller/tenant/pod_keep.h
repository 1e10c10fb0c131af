#ifndef CONTROLLER_TENANT_POD_KEEP_H
#define CONTROLLER_TENANT_POD_KEEP_H

#include "base/data/json.h"
#include "controller/tenant/tenant.h"

/*
 * pod_keep: determines whether drover may evict a bound pod to free its Node, and what the eviction
 * costs the pod's owner.
 *
 * Annotations of other projects have the same effect as drover's (api/annotations.h). A duration in
 * an annotation counts from the pod's creation; a value that is not a duration prevents eviction
 * permanently.
 *
 * Some pods are never evicted to free a Node: pods without a controller, because nothing would
 * create them again; pods with an emptyDir on disk or a hostPath, unless the annotation of
 * cluster-autoscaler allows eviction; pods with volume claims or resource claims; pods with a
 * required topology spread or pod affinity, whose placement depends on other pods.
 * Tests: tests/unit/controller/tenant/test_projection.c
 */
/* Fills alone, asks_until, world.keep, world.keep_until and world.deletion_cost of *p from the pod.
 * p->claims and p->world.unsupported must be set before. */
void pod_keep_read(const json_t *pod, struct tenant_pod *p);

#endif
