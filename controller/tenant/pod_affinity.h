#ifndef CONTROLLER_TENANT_POD_AFFINITY_H
#define CONTROLLER_TENANT_POD_AFFINITY_H

#include "base/arena.h"
#include "base/data/json.h"
#include "planner/world.h"

/*
 * pod_affinity: which Nodes a pod admits for its own sake, as kube-scheduler reads core/v1 PodSpec:
 * node affinity and tolerations.
 *
 * The terms of required node affinity are alternatives. kube-scheduler ignores a term that is empty
 * or that it cannot read: a field other than metadata.name, an unknown operator, a wrong number of
 * values, a value that is no label value, or a Gt or Lt value that is no integer. Such a term
 * becomes a term without requirements, which matches no Node, and the other terms are judged.
 *
 * A preference that kube-scheduler cannot read keeps the pod from being bound, as soon as two Nodes
 * admit the pod.
 * Tests: tests/unit/controller/tenant/test_pod_affinity.c
 */

/* Fills p->affinity and p->preferences. Returns NULL, or a text that names what cannot be
 * judged. */
const char *pod_affinity_read(const json_t *spec, struct world_pod *p, struct arena *a);

/* Fills p->tolerations; p->node must be set. A bound pod gets no tolerations of node.kubernetes.io/
 * taints: Nodes with these taints are not Ready, and no pod is moved to one. */
void pod_tolerations_read(const json_t *spec, struct world_pod *p, struct arena *a);

#endif
