#ifndef API_ANNOTATIONS_H
#define API_ANNOTATIONS_H

/*
 * annotations: the names that drover gives to what is on objects beside spec and status:
 * annotations, labels, taints, finalizers; and the condition and reason names that more than one
 * room reads.
 * Tests: tests/world/test_verbs.c, tests/world/test_leave.c
 */

/* --- what a person asks for, by annotation (controller/steps/requests.h) ---------------------- */

/* On a Machine. Try again now: back-off and quarantine of exit auto end, a refused login is tried
 * once more. Done when status.requests.retry is the value. */
#define REQUEST_RETRY "drover.dev/retry"
/* On a Machine. End a hold: the Node is uncordoned, and a Drain that holds it is let go of; or let
 * a machine that a person put in quarantine go on (it is wiped again). Done when
 * status.requests.release is the value. */
#define REQUEST_RELEASE "drover.dev/release"
/* On a Machine.  A person saw that it is off: stands in for reads of a dead BMC.  The value is
 * status.operation.id, so that it counts for this operation alone. */
#define REQUEST_CONFIRM_OFF "drover.dev/confirm-off"
/* On a Machine. Out of use as soon as no tenant is on it, with the value as the reason, until it is
 * removed (`drover release`). A Drain with then: Quarantine writes it when its machine is free. */
#define REQUEST_QUARANTINE "drover.dev/quarantine"
/* On a NodePool or Provider. The line stopped for the wrong reason or the cause is gone: claims go
 * on (claims/stop_line.h). The value is the time, RFC 3339: failures before it do not count. */
/* On a VirtualCluster. The Nodes that its API does not list any more are gone (tenant/tenant.c): a
 * list that was first seen before that time is believed. */
#define REQUEST_RESUME "drover.dev/resume"

/* --- why a machine leaves its tenant: status.leave.reason ------------------------------------- */

/* The claim, or its pool or tenant: those delete their claims. */
#define LEAVE_CLAIM_DELETED "ClaimDeleted"
/* A Drain object (controller/drain/drains.h). */
#define LEAVE_DRAIN "Drain"
/* Nothing ran on it for consolidateAfter. */
#define LEAVE_EMPTY "Empty"
/* All its pods have room on other Nodes of its tenant (claims/underused.h). */
#define LEAVE_UNDERUSED "Underutilized"
/* It is not any more what its pool's template says (claims/drift.h). */
#define LEAVE_DRIFTED "Drifted"
/* Older than expireAfter. */
#define LEAVE_EXPIRED "Expired"
/* Its cloud ends the instance soon: it said so, or its reservation ends. */
#define LEAVE_INTERRUPTED "Interrupted"
/* A tenant that comes before it waits, and the pool allows it (planner/reclaim.h). */
#define LEAVE_RECLAIMED "Reclaimed"
/* Not Ready for longer than deadlines.notReady: no pods are waited for. */
#define LEAVE_NODE_DEAD "NodeDead"
/* Its Node was gone from its tenant's cluster for longer than deadlines.notReady: nothing can run
 * on it any more. */
#define LEAVE_NODE_GONE "NodeGone"
/* Its tenant slept for longer than sleepGrace: there is nobody to ask. */
#define LEAVE_ASLEEP "TenantAsleep"

/* --- on pods of a tenant (docs/drain.md) ------------------------------------------------------ */

/* Workload of the pod, for budgets of scope Workload (controller/tenant/pod_workload.h). */
#define BURST_WORKLOAD "drover.dev/workload"
#define CHECKPOINT_WANTED "drover.dev/checkpoint"
#define CHECKPOINT_REQUESTED "drover.dev/checkpoint-requested" /* RFC 3339, by drover */
#define CHECKPOINT_DONE "drover.dev/checkpoint-done"

/* How many pods are of use together alone, and which these are (docs/pods.md). */
#define GANG_SIZE "drover.dev/gang-size"
#define GANG_NAME "drover.dev/gang"
/* Others' names for the same. */
#define GANG_VOLCANO_GROUP "scheduling.k8s.io/group-name"
#define GANG_VOLCANO_GROUP_TOO "scheduling.volcano.sh/group-name"
#define GANG_KAI_GROUP "pod-group-name"
#define GANG_LWS_SIZE "leaderworkerset.sigs.k8s.io/size"

/* A pod is not moved for the sake of its Node: "true", or a duration such as "2h" from its creation
 * on (docs/drain.md). */
#define KEEP_DO_NOT_DISRUPT "drover.dev/do-not-disrupt"
/* Others' names for the same, and for the opposite; and what ending it costs, beside others of its
 * owner. */
#define KEEP_KARPENTER_DO_NOT_DISRUPT "karpenter.sh/do-not-disrupt"
#define KEEP_SAFE_TO_EVICT "cluster-autoscaler.kubernetes.io/safe-to-evict"
#define KEEP_DELETION_COST "controller.kubernetes.io/pod-deletion-cost"

/* --- on Nodes of a tenant --------------------------------------------------------------------- */

#define TENANT_LABEL_CLAIM "drover.dev/nodeclaim"
#define TENANT_LABEL_PROBE "drover.dev/probe" /* what its image asked before it joined */
#define TENANT_LABEL_POOL "drover.dev/nodepool"
/* Label, and NoExecute taint, of a Node of the host cluster that is for one virtual cluster
 * alone. */
#define TENANT_LABEL_CLUSTER "drover.dev/virtual-cluster"
/* NoSchedule, and not NoExecute: kube-controller-manager's taint eviction may see a Node some
 * milliseconds later than kube-scheduler, and would delete the first pod that is bound once the
 * taint is off (kubernetes#139992). */
#define TENANT_TAINT_UNREGISTERED "drover.dev/unregistered"
/* NoSchedule, with the reason as its value: drover cordoned the Node, and may uncordon it. */
#define TENANT_TAINT_DRAINING "drover.dev/draining"

/* --- on NodeClaims ---------------------------------------------------------------------------- */

/* By drover, on the claims that it makes for pods that wait: for how many. Such a claim is
 * withdrawn when none of them waits any more and nothing was written for it
 * (controller/claims/unwanted.h); one without it is a person's. */
#define CLAIM_FOR_PODS "drover.dev/for-pods"

/* By drover, on a claim that it makes before the claim of that name is given back
 * (controller/claims/stand_ins.h). */
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
/* The ConfigMap in drover's namespace with the public evidence keys, for auditors. Nothing is ever
 * taken from it. */
#define KEYS_PUBLISHED "drover-evidence-keys"
/* The Secrets that drover itself needs (controller/core/keys.h), and the Lease of whoever leads, in
 * the same namespace. */
#define KEYS_BOOT "drover-boot-key"
#define KEYS_EVIDENCE "drover-evidence-key"
#define KEYS_AGENT_CA "drover-agent-ca"
#define CONTROLLER_LEASE "drover-controller"

/* Condition of a NodePool or Provider: its claims failed for one common cause, so no new claim is
 * created (controller/claims/stop_line.h). */
#define STOP_LINE_CONDITION "LineStopped"

#endif
