#ifndef CONTROLLER_TENANT_POD_REQUESTS_H
#define CONTROLLER_TENANT_POD_REQUESTS_H

#include <jansson.h>
#include "base/arena.h"
#include "base/data/quantity.h"

/*
 * pod_requests: sums the resource requests of a pod as kube-scheduler does
 * (k8s.io/component-helpers resource.PodRequests): containers, sidecars, init containers where they
 * need more, pod-level resources, overhead; and host ports, named as struct world_pod expects.
 * Tests: tests/unit/controller/tenant/test_projection.c
 */
#define POD_LIST_ITEMS 256 /* longest list of a pod that is read */

/* Reads a quantity from a JSON number or string. Returns false if it is neither, or negative. */
bool pod_requests_quantity(const json_t *v, struct quantity *q);
/* Fills out, sorted by name, from a pod's spec. Returns false if the spec cannot be read, or has
 * lists with more than POD_LIST_ITEMS items. */
bool pod_requests(const json_t *spec, struct resources *out, struct arena *a);

#endif
