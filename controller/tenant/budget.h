#ifndef CONTROLLER_TENANT_BUDGET_H
#define CONTROLLER_TENANT_BUDGET_H

#include <jansson.h>
#include "controller/core/context.h"
#include "base/arena.h"
#include "base/retry.h"
#include "kube/cache.h"

/*
 * budget: what one tenant may cost the controller, so that a hostile or broken one costs the others
 * nothing.
 *
 *   a pod		labels, selectors, tolerations and constraints beyond TENANT_POD_BYTES: it is kept
 *   		without them, planned for no more ("unsupported"), and still counts on its Node
 *   all pods	beyond TENANT_PODS or TENANT_PODS_BYTES: not read.  A pod that was not read may be on
 *   		any Node: none counts as empty, and drains wait for their deadline
 *   Nodes		beyond theirs: not read, and the tenant is not usable, since an absent Node would mean that
 *   		it has gone
 *   volumes		PersistentVolumeClaims, PersistentVolumes, StorageClasses, CSINodes beyond TENANT_VOLUMES of
 *   		a kind (tenant/volumes.h): not read.  Pods that need what is not there wait, and are told
 *   devices		ResourceClaims, ResourceClaimTemplates, DeviceClasses, ResourceSlices beyond TENANT_DEVICES of a kind
 *   		(tenant/devices.h): not read.  Pods that need what is not there wait, and are told
 *   PodGroups	beyond POD_GROUPS of a kind (tenant/pod_groups.h): the same
 *   requests	ProvisioningRequests and PodTemplates beyond REQUESTS (tenant/provisioning_requests.h): not read.
 *   		Requests beyond REQUESTS_PODS in all: they wait, and their conditions say so
 *   a plan		work beyond PLAN_WORK (planner/plan.h): its pods are not placed by that plan
 *   log		lines about it beyond a few a minute are counted, not written
 *
 * What exceeds them is said in the condition WithinBudget of the VirtualCluster, which is there
 * while something does or since something did, and by an event on the pods. All on the loop thread.
 * Tests: tests/unit/controller/tenant/test_budget.c
 */
#define TENANT_POD_BYTES ((size_t)16 << 10) /* as scan_weight() counts */
#define TENANT_PODS 20000
#define TENANT_PODS_BYTES ((size_t)24 << 20) /* of projections */
#define TENANT_NODES 5000
#define TENANT_NODE_BYTES ((size_t)64 << 10)
#define TENANT_NODES_BYTES ((size_t)24 << 20)

struct tenant;

struct tenant_budget {
	/* pods kept without their labels and constraints */
	size_t large;
	/* some are not read */
	bool pods_out, nodes_out;
	/* the last plan went beyond its work */
	bool plan_out;
	/* "ns/name" of the last pod that was too large or not read */
	char example[128];
	/* events of pods that are not read */
	unsigned told;
	struct bucket log;
	size_t log_left_out;
};

void tenant_budget_init(struct tenant *t);
/* Its caches are read anew. */
void tenant_budget_reset(struct tenant *t);

/* These give whether the status has to be written (tenant/status.h). */
/* A pod in the cache changed; NULL: added, gone. */
bool tenant_budget_pod(struct tenant *t, const struct kube_entry *old,
		       const struct kube_entry *new_);
/* kube_cache_spec.on_over of the tenant's pods. */
bool tenant_budget_pods_over(struct tenant *t, const json_t *pod);
/* A plan was made; over: it left pods of this tenant aside. */
bool tenant_budget_plan(struct tenant *t, bool over);

/* May a line about it be written to the log?  Said by the next line that may: how many were not. */
bool tenant_may_log(struct tenant *t);

/* Puts the condition into cs, with room for one more.  True: something changed. */
bool tenant_budget_status(const struct tenant *t, const struct virtual_cluster *vc, struct arena *a,
			  struct conditions *cs);

#endif
