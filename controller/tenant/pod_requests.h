#ifndef CONTROLLER_TENANT_POD_REQUESTS_H
#define CONTROLLER_TENANT_POD_REQUESTS_H

#include <jansson.h>
#include "base/arena.h"
#include "base/data/quantity.h"

/*
 * pod_requests: what a pod asks for, as kube-scheduler sums it (k8s.io/component-helpers
 * resource.PodRequests): containers, sidecars, init containers where they need more, pod-level
 * resources, overhead; and host ports, as struct world_pod names them.
 * Tests: tests/unit/controller/tenant/test_projection.c
 */
#define POD_LIST_ITEMS 256 /* most items of one list of a pod that is read */

/* Reads an amount that is a number or a text.  Returns false if it is neither, or less than 0. */
bool pod_requests_quantity(const json_t *v, struct quantity *q);
/* Fills out, sorted by name, from a pod's spec.  Returns false if the spec cannot be read, or has
 * longer lists. */
bool pod_requests(const json_t *spec, struct resources *out, struct arena *a);

#endif
