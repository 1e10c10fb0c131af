#ifndef CONTROLLER_TENANT_POD_KEEP_H
#define CONTROLLER_TENANT_POD_KEEP_H

#include "base/data/json.h"
#include "controller/tenant/tenant.h"

/*
 * pod_keep: whether a pod that is bound may be moved for the sake of its Node, and what that costs
 * its owner.
 *
 * Others' annotations say the same as ours (api/annotations.h). A duration counts from the pod's
 * creation; a text that is none keeps it for good. One without a controller stays, for nobody would
 * make it anew; one with an emptyDir on disk or a hostPath, unless cluster-autoscaler is told that
 * it is safe; one with volume claims; one whose place hangs on other pods (a required spread or
 * affinity).
 * Tests: tests/unit/controller/tenant/test_projection.c
 */
/* Fills p->alone, asks_until, world.keep, keep_until and deletion_cost; p->claims must be there. */
void pod_keep_read(const json_t *pod, struct tenant_pod *p);

#endif
