#ifndef API_ANNOTATIONS_H
#define API_ANNOTATIONS_H

/*
 * annotations: the names that drover uses on objects besides spec and status: annotations, labels,
 * taints and finalizers. Also the names of conditions and leave reasons that several directories
 * use.
 * Tests: tests/world/test_verbs.c, tests/world/test_leave.c
 */

/* --- operator requests by annotation (controller/steps/requests.h) ---------------------------- */

/* On a Machine: asks drover to try again now. The request ends a back-off, ends a quarantine that
 * would end by itself (exit auto), and repeats a refused login once. Once drover has acted on the
 * request, status.requests.retry contains the value; a new value is a new request. */
#define REQUEST_RETRY "drover.dev/retry"
/* On a Machine: asks drover to end a hold (machine kept empty after a Drain with then: Hold), or a
 * quarantine that an operator began. Ending a hold uncordons the Node, and the Drain no longer
 * applies to the machine. A machine released from quarantine is wiped again. Once drover has acted
 * on the request, status.requests.release contains the value; a new value is a new request. */
#define REQUEST_RELEASE "drover.dev/release"
/* On a Machine: the operator confirms that the machine is off. The confirmation replaces the power
 * reading of a dead BMC. The value is status.operation.id; the confirmation applies to that
 * operation only. */
#define REQUEST_CONFIRM_OFF "drover.dev/confirm-off"
/* On a Machine: asks drover to take the machine out of use as soon as no tenant uses it. The
 * machine stays out of use until the annotation is removed (`drover release`). The value is the
 * reason. A Drain with then: Quarantine sets the annotation when its machine is free. */
#define REQUEST_QUARANTINE "drover.dev/quarantine"
/* On a NodePool or Provider: asks drover to close the circuit breaker (claims/breaker.h) and to
 * make new claims again, because the cause of the failures is gone or the breaker opened for the
 * wrong reason. The value is a time in RFC 3339; failures before this time do not count.
 *
 * On a VirtualCluster: the operator accepts that Nodes which the tenant's API server no longer
 * lists are gone (tenant/tenant.c). The value is a time in RFC 3339; the operator accepts a loss of
 * Nodes that drover first saw before this time. */
#define REQUEST_RESUME "drover.dev/resume"

/* On any object of drover: who makes a change. The verbs of the command line set it together with
 * each change. The value is the user name, a space, and the time in RFC 3339. The audit log
 * (controller/core/audit_entries.h) takes the name from changes that set the annotation. */
#define AUDIT_REQUESTED_BY "drover.dev/requested-by"

/* --- values of status.leave.reason: why a machine leaves its tenant --------------------------- */

/* The NodeClaim was deleted, or its pool or tenant was deleted. */
#define LEAVE_CLAIM_DELETED "ClaimDeleted"
/* A Drain object requests that the machine leaves (controller/drain/drains.h). */
#define LEAVE_DRAIN "Drain"
/* No pod has run on the Node for consolidateAfter. */
#define LEAVE_EMPTY "Empty"
/* All pods fit on other Nodes of the tenant (claims/underused.h). */
#define LEAVE_UNDERUSED "Underutilized"
/* The node differs from its pool's template (claims/drift.h). */
#define LEAVE_DRIFTED "Drifted"
/* The pods of a cloud instance move to an owned machine that is Ready
 * (controller/burst/homeward.h). */
#define LEAVE_MOVED_HOME "MovedHome"
/* The claim is older than expireAfter. */
#define LEAVE_EXPIRED "Expired"
/* The cloud is about to end the instance: the cloud sent an interruption notice, or the instance's
 * reservation ends. */
#define LEAVE_INTERRUPTED "Interrupted"
/* The cloud expects to interrupt the instance soon: a rebalance recommendation. The machine leaves
 * only if its pods save their work. */
#define LEAVE_AT_RISK "AtRisk"
/* A tenant with precedence waits for a machine, and the pool allows reclaiming
 * (planner/reclaim.h). */
#define LEAVE_RECLAIMED "Reclaimed"
/* The Node was not Ready for longer than deadlines.notReady. drover does not wait for its pods. */
#define LEAVE_NODE_DEAD "NodeDead"
/* The Node was missing in the tenant's cluster for longer than deadlines.notReady, so no pod can
 * run on it. */
#define LEAVE_NODE_GONE "NodeGone"
/* The tenant was asleep for longer than sleepGrace. A sleeping tenant has no API server that could
 * evict pods. */
#define LEAVE_ASLEEP "TenantAsleep"

/* --- on pods of a tenant (docs/drain.md) ------------------------------------------------------ */

/* Names the workload of the pod, for BurstPolicy budgets of scope Workload
 * (controller/tenant/pod_workload.h). */
#define BURST_WORKLOAD "drover.dev/workload"
/* What a waiting pod declares for BurstPolicies (controller/tenant/pod_asks.h). */
#define ASKS_RUNTIME "drover.dev/expected-runtime"
#define ASKS_START_BY "drover.dev/latest-start"
#define ASKS_DATA_CLASS "drover.dev/data-class"
#define ASKS_INTERVAL "drover.dev/checkpoint-interval"
#define ASKS_DATA "drover.dev/data"
#define CHECKPOINT_WANTED "drover.dev/checkpoint"
/* set by drover: time at which drover requested the checkpoint, in RFC 3339 */
#define CHECKPOINT_REQUESTED "drover.dev/checkpoint-requested"
#define CHECKPOINT_DONE "drover.dev/checkpoint-done"

/* Number of pods of the pod's gang, and name of the gang (docs/pods.md). */
#define GANG_SIZE "drover.dev/gang-size"
#define GANG_NAME "drover.dev/gang"
/* Annotations and labels by which other schedulers (Volcano, KAI, LeaderWorkerSet) name a gang or
 * its size. */
#define GANG_VOLCANO_GROUP "scheduling.k8s.io/group-name"
#define GANG_VOLCANO_GROUP_TOO "scheduling.volcano.sh/group-name"
#define GANG_KAI_GROUP "pod-group-name"
#define GANG_LWS_SIZE "leaderworkerset.sigs.k8s.io/size"

/* Prevents drover from moving the pod in order to save its Node. The value is "true", or a duration
 * after the pod's creation, such as "2h" (docs/drain.md). */
#define KEEP_DO_NOT_DISRUPT "drover.dev/do-not-disrupt"
/* Annotations of Karpenter, Cluster Autoscaler and Kubernetes that drover reads on pods.
 * safe-to-evict is the opposite of do-not-disrupt: its value "false" keeps the pod.
 * pod-deletion-cost: among the pods of one owner, the pods with the lowest cost are deleted
 * first. */
#define KEEP_KARPENTER_DO_NOT_DISRUPT "karpenter.sh/do-not-disrupt"
#define KEEP_SAFE_TO_EVICT "cluster-autoscaler.kubernetes.io/safe-to-evict"
#define KEEP_DELETION_COST "controller.kubernetes.io/pod-deletion-cost"

/* --- on Nodes of a tenant --------------------------------------------------------------------- */

#define TENANT_LABEL_CLAIM "drover.dev/nodeclaim"
/* result of the network probe that the machine's image made before the Node joined */
#define TENANT_LABEL_PROBE "drover.dev/probe"
#define TENANT_LABEL_POOL "drover.dev/nodepool"
/* Key of a label and of a NoExecute taint. A Node of the host cluster that serves only one virtual
 * cluster carries both. */
#define TENANT_LABEL_CLUSTER "drover.dev/virtual-cluster"
/* NoSchedule taint of a Node that is not registered yet. NoExecute would be wrong:
 * kube-controller-manager's taint eviction may see a Node some milliseconds later than
 * kube-scheduler, and would delete the first pod that is bound after the taint is removed
 * (kubernetes#139992). */
#define TENANT_TAINT_UNREGISTERED "drover.dev/unregistered"
/* NoSchedule taint with the leave reason as its value. Shows that drover, not an operator, cordoned
 * the Node, so that drover may uncordon it. */
#define TENANT_TAINT_DRAINING "drover.dev/draining"

/* --- on NodeClaims ---------------------------------------------------------------------------- */

/* Set by drover on claims that it makes for waiting pods; the value is the number of these pods.
 * drover deletes such a claim if none of the pods waits any more and nothing has been written to
 * the claim's machine (controller/claims/unwanted.h). A claim without the annotation was made by a
 * user. */
#define CLAIM_FOR_PODS "drover.dev/for-pods"

/* Set by drover on a claim that replaces another claim. The value is the name of the replaced
 * claim, which drover deletes once the new claim is Ready (controller/claims/replacements.h). */
#define CLAIM_REPLACES "drover.dev/replaces"

/* --- finalizers ------------------------------------------------------------------------------- */

#define FINALIZER_CLAIM "drover.dev/termination"
#define FINALIZER_MACHINE "drover.dev/machine"
/* on a Machine that drover itself created at its Provider (libvirt) */
#define FINALIZER_PROVISIONED "drover.dev/made"
#define FINALIZER_PROVIDER "drover.dev/provider"
#define FINALIZER_VIRTUAL_CLUSTER "drover.dev/virtual-cluster"
#define FINALIZER_WIPE_RECORD "drover.dev/export"

/* --- conditions, and names of Secrets, ConfigMaps and the Lease of drover --------------------- */

/* Condition of a NodeClaim (controller/claims/approval_status.h). */
#define APPROVED_CONDITION "Approved"
#define TENANT_SLEEP_CONDITION "Asleep"
#define TENANT_BUDGET_CONDITION "WithinBudget"
#define TENANT_NODES_CONDITION "TakesNodes"
#define TENANT_API_PATH_CONDITION "APIServerWay"
#define TENANT_DAEMON_SETS_CONDITION "DaemonSetsRead"
/* Name of the ConfigMap in drover's namespace that publishes the public evidence keys for auditors.
 * drover itself never reads keys from it. */
#define KEYS_PUBLISHED "drover-evidence-keys"
/* Names of Secrets that drover itself needs (controller/core/keys.h), and of the leader's Lease.
 * All are in drover's namespace. */
#define KEYS_BOOT "drover-boot-key"
#define KEYS_EVIDENCE "drover-evidence-key"
#define KEYS_AGENT_CA "drover-agent-ca"
#define CONTROLLER_LEASE "drover-controller"
/* On that Lease, written by the leader with each renewal: the newest segment of the audit log, as
 * AUDIT_NEWEST_FORMAT (api/auditsegment.h). */
#define AUDIT_NEWEST "drover.dev/audit-newest"
/* On that Lease, written by the leader with each renewal: since when and why the leader cannot
 * write the file of the audit log (--audit-log), as "TIME TEXT". Not set: it can. */
#define AUDIT_FILE_FAILS "drover.dev/audit-file-fails"
/* Name of the Deployment in deploy/controller.yaml, and of its container. */
#define CONTROLLER_DEPLOYMENT "drover"

/* EndpointSlice that leads a Service without selector to the leader
 * (controller/core/leader_service.h): name of the Service in deploy/, suffix of the slice's name
 * after the Service's name, and the labels that name the Service and the writer of the slice. */
#define LEADER_SERVICE "drover"
#define LEADER_SLICE_SUFFIX "-leader"
#define LEADER_SLICE_SERVICE_LABEL "kubernetes.io/service-name"
#define LEADER_SLICE_WRITER_LABEL "endpointslice.kubernetes.io/managed-by"
#define LEADER_SLICE_WRITER "drover.dev"

/* Audience of tokens for the leader's view (controller/view/view.h). VIEW_TOKEN_HEADER: header in
 * which a client sends its token through the API server's service proxy, which removes the header
 * Authorization. */
#define VIEW_AUDIENCE "drover.dev/view"
#define VIEW_TOKEN_HEADER "X-Drover-Authorization"
/* Name of the Service of the view, of the ServiceAccount whose tokens readers use, and of the
 * ConfigMap with the CA of the view (ca.crt) and, if it is known, its URL (endpoint). All are in
 * drover's namespace. */
#define VIEW_NAME "drover-view"

/* ConfigMap in a tenant's cluster in which the leader lists the tenant's waiting pods
 * (controller/view/tenant_list.h): namespace, name, and key of the JSON text. */
#define TENANT_LIST_NS "drover-system"
#define TENANT_LIST_NAME "drover-queue"
#define TENANT_LIST_KEY "queue.json"

/* Condition of a NodePool or Provider. True: its circuit breaker is open, because claims failed for
 * one common cause. While it is open, no new claim is made (controller/claims/breaker.h). */
#define BREAKER_CONDITION "LineStopped"

#endif
