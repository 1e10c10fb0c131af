/*
 * resources: the kinds of drover as resources of the Kubernetes API. Separate from kinds.c, because
 * programs that only decode objects need no Kubernetes client.
 */
#include "api/resources.h"

#define RESOURCE(kind_, plural_)                                                                   \
	{                                                                                          \
		OBJECT_GROUP, OBJECT_VERSION, plural_, kind_, false                                \
	}
const struct kube_resource object_resources[OBJECT_KINDS] = {
	[OBJECT_NODE_POOL] = RESOURCE("NodePool", "nodepools"),
	[OBJECT_NODE_CLAIM] = RESOURCE("NodeClaim", "nodeclaims"),
	[OBJECT_MACHINE] = RESOURCE("Machine", "machines"),
	[OBJECT_PROVIDER] = RESOURCE("Provider", "providers"),
	[OBJECT_VIRTUAL_CLUSTER] = RESOURCE("VirtualCluster", "virtualclusters"),
	[OBJECT_DRAIN] = RESOURCE("Drain", "drains"),
	[OBJECT_WIPE_RECORD] = RESOURCE("WipeRecord", "wiperecords"),
	[OBJECT_BURST_POLICY] = RESOURCE("BurstPolicy", "burstpolicies"),
	[OBJECT_BURST_LEDGER] = RESOURCE("BurstLedger", "burstledgers"),
	[OBJECT_AUDIT_SEGMENT] = RESOURCE("AuditSegment", "auditsegments"),
};
