#include "controller/explain/pod_remedy.h"

#include <stddef.h>

#include "base/str.h"

#define OPERATOR "ask the operator of drover: only a change of "

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
	{"PoolPaused", OPERATOR "the pool helps, or another pool that the pod fits"},
	{"TooBig", "request no more than the largest machine type that the reason names has"},
	{"RequirementsNotMet", "correct the nodeSelector or node affinity that the reason names"},
	{"TaintNotTolerated", "add a toleration for the taint that the reason names"},
	{"NoImageForVersion", OPERATOR "the pool's images helps"},
	{"NodesNotTaken", OPERATOR "the tenant or the pool helps"},
	{"NoPool", OPERATOR "the pools helps: none serves your tenant"},
	{"ConstraintNotSupported", "remove the constraint that the reason names from the pod"},
	{"RuntimeClassNotCarried", "use a RuntimeClass that the pool's images have"},
	{"NetworkProofWeak", OPERATOR "the network or of the tenant's requirements helps"},
	{"OverBudget",
	 "simplify the affinity and topology spread of your tenant's pods, which take "
	 "too long to evaluate"},
	{"VolumeNotReady", "correct the PersistentVolumeClaim that the reason names"},
	{"DeviceNotReady", "correct the ResourceClaim that the reason names, or its DeviceClass"},
	{"TenantNotReady", OPERATOR "the tenant helps: it is paused or does not answer"},
	{"LineStopped", "wait, or ask the operator of drover: machines of this kind fail for one "
			"common cause"},
	{"BackingOff", "wait: the last machines for your tenant failed, and drover tries again at "
		       "the time in the reason"},
	{"ProviderNotReady", "wait, or ask the operator of drover: the Provider of the machines "
			     "cannot be used now"},
	{"NoOffer", "wait: the cloud has no suitable instance now, and drover asks again"},
	{"NotServed", "ask the operator of drover"},
	{"GangNotWhole", "wait; a gang with a smaller minimum size may be served sooner"},
	{"HeldForGang", "wait: the machines are reserved for pods that come before this one"},
	{"GangHoldOver",
	 "wait: machines are reserved for the gang again at the time in the reason"},
	{"GangIncomplete", "create the missing pods of the gang, or lower its minimum size"},
	{"GangUnknown", "correct the annotation, PodGroup or Workload that the reason names"},
	{"BurstPolicyDecides", "wait; the pod's events BurstChosen and NoBurst show whether an "
			       "instance is launched"},
	{"RoomOnNode", "see the pod's event FailedScheduling and the taints of the Node"},
	{"Nominated", "wait: a machine is being prepared"},
};

const char *pod_remedy(const char *reason)
{
	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
		if (str_eq(remedies[i].reason, reason))
			return remedies[i].remedy;
	return NULL;
}
