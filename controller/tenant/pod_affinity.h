#ifndef CONTROLLER_TENANT_POD_AFFINITY_H
#define CONTROLLER_TENANT_POD_AFFINITY_H

#include "base/arena.h"
#include "base/data/json.h"
#include "planner/world.h"

/*
 * pod_affinity: reads which Nodes a pod accepts by its own node affinity and tolerations, as
 * kube-scheduler does (core/v1 PodSpec).
 *
 * The terms of required node affinity are alternatives. kube-scheduler ignores a term that is empty
 * or that it cannot read: a field other than metadata.name, an unknown operator, a wrong number of
 * values, a value that is no label value, or a Gt or Lt value that is no integer. Here such a term
 * becomes a term that matches no Node, and the other terms count.
 *
 * A preferred term that kube-scheduler cannot read prevents it from binding the pod as soon as two
 * Nodes are possible. drover reports such a pod as unsupported.
 * Tests: tests/unit/controller/tenant/test_pod_affinity.c
 */

/* Fills p->affinity and p->preferences from the pod's spec. Returns NULL, or a text that names the
 * part which is not supported. */
const char *pod_affinity_read(const json_t *spec, struct world_pod *p, struct arena *a);

/* Fills p->tolerations from the pod's spec; p->node must be set before. For a bound pod,
 * tolerations of taints node.kubernetes.io/... are left out: Nodes with these taints are not Ready,
 * and drover moves no pod to such a Node. */
void pod_tolerations_read(const json_t *spec, struct world_pod *p, struct arena *a);

#endif
