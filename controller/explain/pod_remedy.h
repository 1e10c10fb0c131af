#ifndef CONTROLLER_EXPLAIN_POD_REMEDY_H
#define CONTROLLER_EXPLAIN_POD_REMEDY_H

/*
 * pod_remedy: what a user of a tenant's cluster can do about a waiting pod. docs/pods.md explains
 * the reasons.
 * Tests: tests/unit/controller/explain/test_pod_remedy.c
 */

/* Returns what helps a pod that waits for this reason (planner/plan.h, claims/pod_events.h); NULL:
 * unknown reason. */
const char *pod_remedy(const char *reason);

#endif
