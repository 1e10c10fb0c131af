#include "controller/explain/pod_remedy.h"

#include <stddef.h>

#include "base/str.h"

static const struct {
	const char *reason, *remedy;
} remedies[] = {
	{"NoCapacity", "wait; a pod that requests fewer GPUs, or that fits more pools, may be "
		       "served sooner"},
	{"QuotaExceeded", "wait until pods of your tenant end, or ask the operator of drover for a "
			  "larger quota"},
	{"LimitExceeded", "wait until machines of the pool are given back, or ask the operator of "
			  "drover for a higher limit"},
	{"TopologyNotMet", "wait, or relax the pod's topology spread or pod affinity"},
	{"EraseBelowPolicy", "wait; only machines that were wiped thoroughly enough for the pool "
			     "are used"},
	{"PoolPaused",
	 "ask the operator of drover to resume the pool, or change the pod to fit another pool"},
	{"TooBig", "request at most what the largest machine type has, which the reason names"},
	{"RequirementsNotMet", "correct the nodeSelector or node affinity that the reason names"},
	{"TaintNotTolerated", "add a toleration for the taint that the reason names"},
	{"NoImageForVersion",
	 "ask the operator of drover for an image of your Kubernetes version in the pool"},
	{"NodesNotTaken",
	 "ask the operator of drover: Nodes cannot join your cluster as it is configured"},
	{"NoPool", "ask the operator of drover for a pool: none serves your tenant"},
	{"ConstraintNotSupported", "remove the constraint that the reason names from the pod"},
	{"RuntimeClassNotCarried", "use a RuntimeClass that the pool's images have"},
	{"NetworkProofWeak",
	 "ask the operator of drover: the network cannot prove the isolation that your tenant "
	 "requires"},
	{"OverBudget",
	 "simplify the affinity and topology spread of your tenant's pods, which take "
	 "too long to evaluate"},
	{"VolumeNotReady", "correct the PersistentVolumeClaim that the reason names"},
	{"DeviceNotReady", "correct the ResourceClaim that the reason names, or its DeviceClass"},
	{"TenantNotReady",
	 "ask the operator of drover: your tenant is paused, or its API server does not answer"},
	{"LineStopped", "wait, or ask the operator of drover: machines of this kind keep failing "
			"for one common cause"},
	{"BackingOff", "wait: the last machines for your tenant failed, and drover tries again at "
		       "the time in the reason"},
	{"ProviderNotReady", "wait, or ask the operator of drover: the Provider of the machines "
			     "cannot be used now"},
	{"NoOffer", "wait: the cloud has no suitable instance now, and drover asks again"},
	{"NotServed", "ask the operator of drover: the reason is not known"},
	{"GangNotWhole", "wait; a gang with a smaller minimum size may be served sooner"},
	{"HeldForGang", "wait: the machines are reserved for a gang that is before this pod in "
			"the queue"},
	{"GangHoldOver",
	 "wait: machines are reserved for the gang again at the time in the reason"},
	{"GangIncomplete", "create the missing pods of the gang, or lower its minimum size"},
	{"GangUnknown", "correct the annotation, PodGroup or Workload that the reason names"},
	{"BurstPolicyDecides", "wait; the pod's events BurstChosen and NoBurst show whether an "
			       "instance is launched"},
	{"RoomOnNode", "see why kube-scheduler does not use the Node: the pod's event "
		       "FailedScheduling and the taints of the Node"},
	{"Nominated", "wait: a machine is being prepared"},
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
	{"NotServed", "search the leader's log for the pod: the reason is not known"},
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
