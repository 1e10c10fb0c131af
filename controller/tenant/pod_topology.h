#ifndef CONTROLLER_TENANT_POD_TOPOLOGY_H
#define CONTROLLER_TENANT_POD_TOPOLOGY_H

#include "base/arena.h"
#include "base/data/json.h"
#include "planner/world.h"

/*
 * pod_topology: reads the constraints of a pod that depend on other pods, as kube-scheduler does
 * (core/v1 PodSpec): topologySpreadConstraints with DoNotSchedule, required podAffinity and
 * podAntiAffinity. Preferred terms and ScheduleAnyway do not affect the choice of a machine and are
 * not read.
 *
 * matchLabelKeys and mismatchLabelKeys become requirements on the pod's own label values. An absent
 * labelSelector selects no pod, an empty one all pods.
 * Tests: tests/unit/controller/tenant/test_projection.c
 */

/* Fills p->topology from the pod's spec; p->labels must be set before. Returns NULL, or the part
 * that is not supported. For a bound pod only its anti-affinity is read, which keeps other pods
 * away. */
const char *demand_topology(const json_t *spec, struct world_pod *p, struct arena *a);

/* Reads one element of matchExpressions into *q. Returns false if it cannot be read. */
bool demand_requirement(const json_t *r, struct requirement *q, struct arena *a);
/* Reads a list of matchExpressions into *out, with room for `more` further requirements. Returns
 * false if the list cannot be read. */
bool demand_requirements(const json_t *list, size_t more, struct selector *out, struct arena *a);

#endif
