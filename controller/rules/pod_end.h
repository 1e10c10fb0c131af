#ifndef CONTROLLER_RULES_POD_END_H
#define CONTROLLER_RULES_POD_END_H

#include "api/kinds.h"

/*
 * pod_end: decides how a pod on a machine ended, for metrics. Pure functions.
 *
 * A pod that was disrupted never counts as succeeded or failed by itself. POD_END_UNKNOWN is the
 * result if the facts fit several ends.
 * Tests: tests/unit/controller/rules/test_pod_end.c
 */
enum pod_end {
	POD_END_SUCCEEDED,
	POD_END_FAILED,
	/* evicted or deleted by drover, or on a machine that drover stopped */
	POD_END_BY_DROVER,
	/* evicted by another client, by a taint, or by the kubelet */
	POD_END_EVICTED,
	/* evicted by kube-scheduler for a pod of higher priority */
	POD_END_PREEMPTED,
	/* lost with its Node or instance */
	POD_END_NODE_LOST,
	/* deleted by a client other than drover before it ended */
	POD_END_DELETED,
	POD_END_UNKNOWN,
	POD_ENDS
};
/* Names of enum pod_end, by value: succeeded, failed, evicted_by_drover, ... */
extern const char *const pod_end_names[];

/* Reason of a pod's condition DisruptionTarget, if the condition is True
 * (https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions). */
enum pod_disruption {
	/* The condition is not True */
	POD_NOT_DISRUPTED,
	POD_EVICTED_BY_API,
	POD_DELETED_BY_TAINT,
	/* The Node no longer exists */
	POD_DELETED_BY_GC,
	POD_PREEMPTED,
	/* Node pressure, or shutdown of the Node */
	POD_ENDED_BY_KUBELET,
	/* Any other reason */
	POD_DISRUPTED
};
enum pod_disruption pod_disruption_of(const char *reason);

/* State of the machine on which a pod is. */
enum pod_machine {
	/* The machine serves, or is about to */
	POD_MACHINE_STAYS,
	/* drover empties the machine; pods still run on it */
	POD_MACHINE_DRAINS,
	/* drover has stopped the machine, or is about to */
	POD_MACHINE_STOPS,
	/* The machine leaves because its Node or instance was lost */
	POD_MACHINE_LOST,
	/* The Machine does not exist, or no longer belongs to the pod's Node */
	POD_MACHINE_UNKNOWN
};
/* Returns the state of m for pods on the Node `node`, whose name is also that of the claim. m NULL:
 * there is no such Machine. */
enum pod_machine pod_machine_of(const struct machine *m, const char *node);

struct pod_end_facts {
	/* ended: the pod's phase is final; succeeded: that phase is Succeeded. ended false: the pod
	 * is gone, and no final phase was seen. */
	bool ended, succeeded;
	/* deleted: a deletion of the pod began; first: it began before the pod had a final phase,
	 * as far as was seen */
	bool deleted, first;
	/* True: this process saw the pod before its deletion began */
	bool known_before;
	/* True: drover evicted or deleted the pod, and its request was not refused */
	bool by_drover;
	enum pod_disruption disruption;
	enum pod_machine machine;
	/* True: the pod's Node exists and is Ready */
	bool node_ready;
};
enum pod_end pod_end_of(const struct pod_end_facts *f);

#endif
