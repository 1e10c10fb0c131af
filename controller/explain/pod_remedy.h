#ifndef CONTROLLER_EXPLAIN_POD_REMEDY_H
#define CONTROLLER_EXPLAIN_POD_REMEDY_H

/*
 * pod_remedy: what a user of a tenant's cluster, or an operator of drover, can do about a waiting
 * pod. docs/pods.md explains the reasons.
 * Tests: tests/unit/controller/explain/test_pod_remedy.c
 */

/* Returns what helps a pod that waits for this reason (planner/plan.h, claims/pod_events.h); NULL:
 * unknown reason. */
const char *pod_remedy(const char *reason);
/* Returns what an operator of drover can do about it; NULL: unknown reason. */
const char *pod_operator_remedy(const char *reason);

/* The one who must change something before a pod that waits for a reason gets a machine. */
enum pod_helper {
	/* nobody: the pod waits for its turn, or another object needs the change */
	POD_HELPER_NONE,
	POD_HELPER_TENANT,
	POD_HELPER_OPERATOR
};
/* Returns the helper for this reason; POD_HELPER_NONE for an unknown reason. */
enum pod_helper pod_helper(const char *reason);

#endif
