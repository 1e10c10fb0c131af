#ifndef CONTROLLER_TENANT_POD_TOPOLOGY_H
#define CONTROLLER_TENANT_POD_TOPOLOGY_H

#include "base/arena.h"
#include "base/data/json.h"
#include "planner/world.h"

/*
 * pod_topology: where a pod may be for the sake of other pods, as kube-scheduler reads it (core/v1
 * PodSpec): topologySpreadConstraints with DoNotSchedule, required podAffinity and podAntiAffinity.
 * Preferences of this kind choose no machine and are not read.
 *
 * matchLabelKeys and mismatchLabelKeys become requirements on the pod's own values. A labelSelector
 * that is absent selects no pod, an empty one all.
 * Tests: tests/unit/controller/tenant/test_projection.c
 */

/* Fills p->topology; p->labels must be there. NULL, or what in it cannot be judged. Of a pod that
 * is bound only its own anti-affinity is read: what it bans others from. */
const char *demand_topology(const json_t *spec, struct world_pod *p, struct arena *a);

/* A list of matchExpressions, with room for so many more; false: it cannot be read. */
bool demand_requirements(const json_t *list, size_t more, struct selector *out, struct arena *a);

#endif
