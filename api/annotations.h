#ifndef API_ANNOTATIONS_H
#define API_ANNOTATIONS_H

/*
 * annotations: the names that drover uses on objects besides spec and status: annotations, labels,
 * taints and finalizers. Also names of conditions and of leave reasons that several directories
 * use.
 * Tests: tests/world/test_verbs.c, tests/world/test_leave.c
 */

/* --- operator requests by annotation (controller/steps/requests.h) ---------------------------- */

/* On a Machine: try again now. Ends a back-off and a quarantine of exit auto, and tries a refused
 * login once more. Acted on when status.requests.retry equals the value. */
#define REQUEST_RETRY "drover.dev/retry"
/* On a Machine: end a hold, or a quarantine that an operator began. Ending a hold uncordons the
 * Node, and the Drain that holds it no longer applies. A quarantined machine is wiped again. Acted
 * on when status.requests.release equals the value. */
#define REQUEST_RELEASE "drover.dev/release"
/* On a Machine: the operator has seen that the machine is off. Replaces the power reading of a dead
 * BMC. The value is status.operation.id; the confirmation applies to that operation only. */
#define REQUEST_CONFIRM_OFF "drover.dev/confirm-off"
/* On a Machine: take the machine out of use as soon as no tenant uses it, until the annotation is
 * removed (`drover release`). The value is the reason. A Drain with then: Quarantine sets the
 * annotation when its machine is free. */
#define REQUEST_QUARANTINE "drover.dev/quarantine"
/* On a NodePool or Provider: close the circuit breaker, because its cause is gone or it opened for
 * the wrong reason; new claims are made again (claims/stop_line.h). The value is a time in RFC
 * 3339; failures before it do not count. */
/* On a VirtualCluster: accept that Nodes which its API server no longer lists are gone
 * (tenant/tenant.c). The value is a time in RFC 3339; a list that was first seen before it is
 * accepted. */
#define REQUEST_RESUME "drover.dev/resume"

/* --- values of status.leave.reason: why a machine leaves its tenant --------------------------- */

/* The NodeClaim was deleted, also because its pool or tenant was. */
#define LEAVE_CLAIM_DELETED "ClaimDeleted"
/* A Drain object requests it (controller/drain/drains.h). */
#define LEAVE_DRAIN "Drain"
/* No pod has run on the Node for consolidateAfter. */
#define LEAVE_EMPTY "Empty"
/* All pods fit on other Nodes of the tenant (claims/underused.h). */
#define LEAVE_UNDERUSED "Underutilized"
/* The node differs from its pool's template (claims/drift.h). */
#define LEAVE_DRIFTED "Drifted"
/* The claim is older than expireAfter. */
#define LEAVE_EXPIRED "Expired"
/* The cloud is about to end the instance: it sent a notice, or the reservation ends. */
#define LEAVE_INTERRUPTED "Interrupted"
/* A tenant with precedence waits for a machine, and the pool allows reclaiming
 * (planner/reclaim.h). */
#define LEAVE_RECLAIMED "Reclaimed"
/* The Node was not Ready for longer than deadlines.notReady. drover does not wait for its pods. */
#define LEAVE_NODE_DEAD "NodeDead"
/* The Node was missing in the tenant's cluster for longer than deadlines.notReady, so no pod can
 * run on it. */
#define LEAVE_NODE_GONE "NodeGone"
/* The tenant was asleep for longer than sleepGrace. Its API server cannot be asked to evict
 * pods. */
#define LEAVE_ASLEEP "TenantAsleep"

/* --- on pods of a tenant (docs/drain.md) ------------------------------------------------------ */

/* Workload of the pod, for budgets of scope Workload (controller/tenant/pod_workload.h). */
#define BURST_WORKLOAD "drover.dev/workload"
#define CHECKPOINT_WANTED "drover.dev/checkpoint"
#define CHECKPOINT_REQUESTED "drover.dev/checkpoint-requested" /* RFC 3339, by drover */
#define CHECKPOINT_DONE "drover.dev/checkpoint-done"

/* Number of pods of the pod's gang, and name of the gang (docs/pods.md). */
#define GANG_SIZE "drover.dev/gang-size"
#define GANG_NAME "drover.dev/gang"
/* Names that other schedulers use for a gang and its size. */
#define GANG_VOLCANO_GROUP "scheduling.k8s.io/group-name"
#define GANG_VOLCANO_GROUP_TOO "scheduling.volcano.sh/group-name"
#define GANG_KAI_GROUP "pod-group-name"
#define GANG_LWS_SIZE "leaderworkerset.sigs.k8s.io/size"

/* Prevents that the pod is moved to save its Node: "true", or a duration such as "2h" after the
 * pod's creation (docs/drain.md). */
#define KEEP_DO_NOT_DISRUPT "drover.dev/do-not-disrupt"
/* Names that other autoscalers use: the same, its opposite, and the cost of deleting the pod
 * relative to others of its owner. */
#define KEEP_KARPENTER_DO_NOT_DISRUPT "karpenter.sh/do-not-disrupt"
#define KEEP_SAFE_TO_EVICT "cluster-autoscaler.kubernetes.io/safe-to-evict"
#define KEEP_DELETION_COST "controller.kubernetes.io/pod-deletion-cost"

/* --- on Nodes of a tenant --------------------------------------------------------------------- */

#define TENANT_LABEL_CLAIM "drover.dev/nodeclaim"
#define TENANT_LABEL_PROBE "drover.dev/probe" /* what its image asked before it joined */
#define TENANT_LABEL_POOL "drover.dev/nodepool"
/* Label, and NoExecute taint, of a Node of the host cluster that serves only one virtual
 * cluster. */
#define TENANT_LABEL_CLUSTER "drover.dev/virtual-cluster"
/* NoSchedule taint of a Node that is not registered yet. NoExecute would be wrong:
 * kube-controller-manager's taint eviction may see a Node some milliseconds later than
 * kube-scheduler, and would delete the first pod that is bound after the taint is removed
 * (kubernetes#139992). */
#define TENANT_TAINT_UNREGISTERED "drover.dev/unregistered"
/* NoSchedule taint with the leave reason as its value. Marks that drover cordoned the Node and may
 * uncordon it. */
#define TENANT_TAINT_DRAINING "drover.dev/draining"

/* --- on NodeClaims ---------------------------------------------------------------------------- */

/* Set by drover on claims that it makes for waiting pods; the value is their number. Such a claim
 * is withdrawn if none of the pods waits any more and nothing has been written to its machine
 * (controller/claims/unwanted.h). A claim without the annotation was made by a user. */
#define CLAIM_FOR_PODS "drover.dev/for-pods"

/* Set by drover on a claim that replaces another claim: its value is the name of that claim, which
 * is given back once this one is Ready (controller/claims/stand_ins.h). */
#define CLAIM_REPLACES "drover.dev/replaces"

/* --- finalizers ------------------------------------------------------------------------------- */

#define FINALIZER_CLAIM "drover.dev/termination"
#define FINALIZER_MACHINE "drover.dev/machine"
#define FINALIZER_MADE "drover.dev/made" /* on a Machine that drover defined at its provider */
#define FINALIZER_PROVIDER "drover.dev/provider"
#define FINALIZER_VIRTUAL_CLUSTER "drover.dev/virtual-cluster"
#define FINALIZER_WIPE_RECORD "drover.dev/export"

/* --- conditions, and objects of drover's own -------------------------------------------------- */

#define TENANT_SLEEP_CONDITION "Asleep"
#define TENANT_BUDGET_CONDITION "WithinBudget"
#define TENANT_NODES_CONDITION "TakesNodes"
#define TENANT_WAY_CONDITION "APIServerWay"
/* Name of the ConfigMap in drover's namespace that publishes the public evidence keys for auditors.
 * drover itself never reads keys from it. */
#define KEYS_PUBLISHED "drover-evidence-keys"
/* Names of the Secrets that drover itself needs (controller/core/keys.h), and of the leader's
 * Lease, all in drover's namespace. */
#define KEYS_BOOT "drover-boot-key"
#define KEYS_EVIDENCE "drover-evidence-key"
#define KEYS_AGENT_CA "drover-agent-ca"
#define CONTROLLER_LEASE "drover-controller"

/* Condition of a NodePool or Provider: its circuit breaker is open. Its claims failed for one
 * common cause, so no new claim is made (controller/claims/stop_line.h). */
#define STOP_LINE_CONDITION "LineStopped"

#endif
