#ifndef CONTROLLER_TENANT_BUDGET_H
#define CONTROLLER_TENANT_BUDGET_H

#include <jansson.h>
#include "controller/core/context.h"
#include "base/arena.h"
#include "base/retry.h"
#include "kube/cache.h"

/*
 * budget: limits what one tenant may cost the controller, so that a hostile or broken tenant does
 * not affect the others.
 *
 *   a pod      labels, selectors, tolerations and constraints beyond TENANT_POD_BYTES: the pod
 *              is stored without them, no longer planned ("unsupported"), and still counts on
 *              its Node
 *   all pods   beyond TENANT_PODS or TENANT_PODS_BYTES: not read.  A pod that was not read may
 *              be on any Node: no Node counts as empty, and drains wait for their deadline
 *   Nodes      beyond TENANT_NODES or TENANT_NODES_BYTES: not read, and the tenant is not
 *              usable, since an absent Node would count as deleted
 *   volumes    PersistentVolumeClaims, PersistentVolumes, StorageClasses, CSINodes beyond
 *              TENANT_VOLUMES of a kind (tenant/volumes.h): not read.  Pods that need a
 *              missing object wait and get an event
 *   devices    ResourceClaims, ResourceClaimTemplates, DeviceClasses, ResourceSlices beyond
 *              TENANT_DEVICES of a kind (tenant/devices.h): not read.  Pods that need a
 *              missing object wait and get an event
 *   DaemonSets beyond DAEMON_SETS (tenant/daemon_sets.h): not read.  New machines have room for
 *              their pods only once these were measured on a Node
 *   PodGroups  beyond POD_GROUPS of a kind (tenant/pod_groups.h): as for devices
 *   requests   ProvisioningRequests and PodTemplates beyond REQUESTS
 *              (tenant/provisioning_requests.h): not read.  Requests for more than
 *              REQUESTS_PODS pods in total: they wait, with the reason in their conditions
 *   a plan     work beyond PLAN_WORK (planner/plan.h): that plan does not place the tenant's
 *              remaining pods
 *   events     events on waiting pods beyond 10 per second, or 200 at once: sent later, with what
 *              is true then
 *   log        messages about the tenant beyond a few per minute are counted, not written
 *
 * The condition WithinBudget of the VirtualCluster reports an exceeded limit; the condition appears
 * when a limit is first exceeded and stays. Pods that are not read get an event. All on the loop
 * thread.
 * Tests: tests/unit/controller/tenant/test_budget.c
 */
#define TENANT_POD_BYTES ((size_t)16 << 10) /* size as counted by scan_weight() */
#define TENANT_PODS 20000
/* total size of the projected pods (the members that drover reads) */
#define TENANT_PODS_BYTES ((size_t)24 << 20)
#define TENANT_NODES 5000
#define TENANT_NODE_BYTES ((size_t)64 << 10)
#define TENANT_NODES_BYTES ((size_t)24 << 20)

struct tenant;

struct tenant_budget {
	/* number of cached pods that are stored without their labels and constraints because they
	 * are too large */
	size_t large;
	/* pods_out: some pods are not read; nodes_out: some Nodes are not read */
	bool pods_out, nodes_out;
	/* True: the last plan exceeded the tenant's share of planning work */
	bool plan_out;
	/* "ns/name" of the last pod that was too large or was not read */
	char example[128];
	/* number of events sent about pods that are not read; at most EVENTS_MAX (budget.c) */
	unsigned told;
	struct bucket log, events;
	size_t log_left_out;
};

void tenant_budget_init(struct tenant *t);
/* Clears the counts and flags; call before the caches are read again. */
void tenant_budget_reset(struct tenant *t);

/* The next three functions return true if the tenant's status has to be written
 * (tenant/status.h). */
/* Reports a change of a cached pod. old NULL: added; new_ NULL: deleted. */
bool tenant_budget_pod(struct tenant *t, const struct kube_entry *old,
		       const struct kube_entry *new_);
/* Records whether the tenant has more pods than the limit. Called as kube_cache_spec.on_over of the
 * cache of the tenant's pods. pod: a pod that is not read because of the limit; NULL: all pods are
 * read again. */
bool tenant_budget_pods_over(struct tenant *t, const json_t *pod);
/* Records the result of a plan. over: true if pods of this tenant were not placed because the
 * tenant's work exceeded PLAN_WORK. */
bool tenant_budget_plan(struct tenant *t, bool over);

/* True if a message about the tenant may be logged now; otherwise counts the message as suppressed.
 * The next permitted call first logs the number of suppressed messages. */
bool tenant_may_log(struct tenant *t);

/* True if an event on a waiting pod may be sent now; the event counts as sent. */
bool tenant_may_event(struct tenant *t);

/* Sets the condition WithinBudget in cs; the array cs->v must have room for one more condition.
 * Returns true if cs has changed. */
bool tenant_budget_status(const struct tenant *t, const struct virtual_cluster *vc, struct arena *a,
			  struct conditions *cs);

#endif
