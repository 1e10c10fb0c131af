#include "controller/explain/pod_remedy.h"

#include <stddef.h>

#include "base/str.h"

static const struct {
	const char *reason, *remedy;
} remedies[] = {
	{"NoCapacity", "wait; a pod that requests fewer GPUs, or that fits more pools, may be "
		       "served sooner"},
	{"QuotaExceeded", "wait until pods of your tenant end, or ask drover's administrator for a "
			  "larger quota"},
	{"LimitExceeded", "wait until machines of the pool are given back, or ask drover's "
			  "administrator for a higher limit"},
	{"TopologyNotMet", "wait, or relax the pod's topology spread or pod affinity"},
	{"EraseBelowPolicy", "wait; drover uses only machines that were wiped as thoroughly as the "
			     "pool requires"},
	{"PoolPaused",
	 "ask drover's administrator to resume the pool, or change the pod to fit another pool"},
	{"TooBig", "request at most what the largest machine type has, which the message names"},
	{"RequirementsNotMet", "correct the nodeSelector or node affinity that the message names"},
	{"TaintNotTolerated", "add a toleration for the taint that the message names"},
	{"NoImageForVersion",
	 "ask drover's administrator for an image of your Kubernetes version in the pool"},
	{"NodesNotTaken",
	 "ask drover's administrator: Nodes cannot join your cluster as it is configured"},
	{"NoPool", "ask drover's administrator for a pool: none serves your tenant"},
	{"ConstraintNotSupported", "remove the constraint that the message names from the pod"},
	{"RuntimeClassNotCarried", "use a RuntimeClass that the pool's images have"},
	{"NetworkProofWeak",
	 "ask drover's administrator: the network cannot prove the isolation that your tenant "
	 "requires"},
	{"OverBudget",
	 "simplify the affinity and topology spread of your tenant's pods, which take "
	 "too long to evaluate"},
	{"VolumeNotReady", "correct the PersistentVolumeClaim that the message names"},
	{"DeviceNotReady", "correct the ResourceClaim that the message names, or its DeviceClass"},
	{"TenantNotReady",
	 "ask drover's administrator: your tenant is paused, or its API server does not answer"},
	{"LineStopped", "wait, or ask drover's administrator: machines of this kind keep failing "
			"for one common cause"},
	{"BackingOff", "wait: the last machines for your tenant failed; the message names the time "
		       "at which drover tries again"},
	{"ProviderNotReady", "wait, or ask drover's administrator: the Provider of the machines "
			     "cannot be used now"},
	{"NoOffer", "wait: the cloud has no suitable instance now; drover asks the cloud again"},
	{"ApprovalPending", "wait, or ask drover's administrator, who has to approve the claim "
			    "that the message names"},
	{"ClaimDenied", "ask drover's administrator: the message names who denied the machine and "
			"why, and when drover plans the pod anew"},
	{"NotServed", "ask drover's administrator: drover reports no reason"},
	{"GangNotWhole", "wait; a gang with a smaller minimum size may be served sooner"},
	{"HeldForGang", "wait: the machines are reserved for a gang that is before this pod in "
			"the queue"},
	{"GangHoldOver",
	 "wait: the message names the time at which drover reserves machines for the gang again"},
	{"GangIncomplete", "create the missing pods of the gang, or lower its minimum size"},
	{"GangUnknown", "correct the annotation, PodGroup or Workload that the message names"},
	{"BurstPolicyDecides", "wait; the pod's events BurstChosen and NoBurst show whether an "
			       "instance is launched"},
	{"RoomOnNode", "find out why kube-scheduler does not use the Node: see the pod's event "
		       "FailedScheduling and the taints of the Node"},
	{"Nominated", "wait: drover is preparing a machine"},
};

const char *pod_remedy(const char *reason)
{
	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
		if (str_eq(remedies[i].reason, reason))
			return remedies[i].remedy;
	return NULL;
}

/* What an operator can do, for reasons that only a change by an operator ends */
static const struct {
	const char *reason, *remedy;
} operators[] = {
	{"NoImageForVersion",
	 "add an image of the tenant's Kubernetes version to spec.template.spec.images of the "
	 "pool"},
	{"NodesNotTaken", "correct the tenant or the pool: the message says why Nodes cannot join"},
	{"NoPool",
	 "create a NodePool for the tenant, or correct spec.virtualClusterSelector of an existing "
	 "one"},
	{"NetworkProofWeak",
	 "use a network whose isolation can be proved, or let the tenant require less"},
	{"NotServed", "search the leader's log for the pod: drover reports no reason"},
};

/* Returns the remedy in operators[]; NULL: it does not list the reason. */
static const char *of_operator(const char *reason)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (str_eq(operators[i].reason, reason))
			return operators[i].remedy;
	return NULL;
}

const char *pod_operator_remedy(const char *reason)
{
	const char *remedy = of_operator(reason);

	return remedy ? remedy : pod_remedy(reason);
}

enum pod_helper pod_helper(const char *reason)
{
	static const char *const tenant[] = {"TooBig",
					     "RequirementsNotMet",
					     "TaintNotTolerated",
					     "OverBudget",
					     "ConstraintNotSupported",
					     "RuntimeClassNotCarried",
					     "VolumeNotReady",
					     "DeviceNotReady",
					     "GangIncomplete",
					     "GangUnknown",
					     "RoomOnNode"};

	if (of_operator(reason))
		return POD_HELPER_OPERATOR;
	for (size_t i = 0; i < sizeof(tenant) / sizeof(tenant[0]); i++)
		if (str_eq(tenant[i], reason))
			return POD_HELPER_TENANT;
	return POD_HELPER_NONE;
}
