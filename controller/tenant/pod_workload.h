#ifndef CONTROLLER_TENANT_POD_WORKLOAD_H
#define CONTROLLER_TENANT_POD_WORKLOAD_H

#include "base/arena.h"
#include "base/data/json.h"

struct tenant;

/*
 * pod_workload: determines the workload to which a pod's cost is counted in budgets of scope
 * Workload. A replacement pod belongs to the same workload. The workload of a pod is the first of
 * these that the pod has:
 *
 *   annotation drover.dev/workload  its text; an admission policy of the tenant's cluster may
 *                                   guard the annotation
 *   gang                            the key of the gang
 *   controller of the pod           "Job NAMESPACE/NAME"; for a ReplicaSet of a Deployment
 *                                   "Deployment NAMESPACE/NAME"
 *
 * A pod without any of these is a workload of its own. The tenant controls all three: a user who
 * may create Jobs also chooses their names.
 * Tests: tests/unit/controller/tenant/test_projection.c
 */
#define POD_WORKLOAD_MAX 253 /* longest text in bytes; a longer annotation is truncated */

/* Returns the text of the annotation drover.dev/workload, in the arena; NULL if it is missing or
 * empty. */
const char *pod_workload_annotation(const json_t *pod, struct arena *a);
/* Returns kind, namespace and name of the pod's controller as one text in the arena; NULL if the
 * pod has no controller. */
const char *pod_workload_owner(const json_t *pod, struct arena *a);
/* Returns the workload of a pending pod, in the arena; NULL if the pod is a workload of its own.
 * gang: key of the pod's gang, or NULL. */
const char *pod_workload_of(const struct tenant *t, const char *ns, const char *name,
			    const char *gang, struct arena *a);

#endif
