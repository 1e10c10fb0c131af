#ifndef CONTROLLER_TENANT_POD_REQUESTS_H
#define CONTROLLER_TENANT_POD_REQUESTS_H

#include <jansson.h>
#include "base/arena.h"
#include "base/data/quantity.h"

/*
 * pod_requests: sums the resource requests of a pod as kube-scheduler does
 * (k8s.io/component-helpers resource.PodRequests): containers and sidecars; init containers if they
 * need more; pod-level resources; overhead. Host ports become resources with the names that struct
 * world_pod expects.
 * Tests: tests/unit/controller/tenant/test_projection.c
 */
#define POD_LIST_ITEMS 256 /* maximum number of items in one list of a pod */

/* Sets *q to the quantity in a JSON number or string. Returns false if v is neither, or is
 * negative. */
bool pod_requests_quantity(const json_t *v, struct quantity *q);
/* Fills *out, sorted by name, from a pod's spec. Returns false if the spec cannot be read, or has a
 * list with more than POD_LIST_ITEMS items. */
bool pod_requests(const json_t *spec, struct resources *out, struct arena *a);

#endif
