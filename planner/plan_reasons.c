/*
 * plan_reasons: the names of plan reasons, which operators see and programs evaluate.
 * Tests: tests/unit/planner/test_plan.c
 */
#include "planner/plan.h"

const char *const plan_reason_names[] = {
	[PLAN_NO_POOL] = "NoPool",
	[PLAN_POOL_PAUSED] = "PoolPaused",
	[PLAN_POOL_LIMIT] = "LimitExceeded",
	[PLAN_NO_IMAGE] = "NoImageForVersion",
	[PLAN_NOT_TAKEN] = "NodesNotTaken",
	[PLAN_REQUIREMENTS] = "RequirementsNotMet",
	[PLAN_TAINT] = "TaintNotTolerated",
	[PLAN_RUNTIME_CLASS] = "RuntimeClassNotCarried",
	[PLAN_PROOF] = "NetworkProofWeak",
	[PLAN_TOO_BIG] = "TooBig",
	[PLAN_NO_MACHINE] = "NoCapacity",
	[PLAN_ERASE_BELOW_POLICY] = "EraseBelowPolicy",
	[PLAN_QUOTA] = "QuotaExceeded",
	[PLAN_TENANT] = "TenantNotReady",
	[PLAN_UNSUPPORTED] = "ConstraintNotSupported",
	[PLAN_TOPOLOGY] = "TopologyNotMet",
	[PLAN_OVER_BUDGET] = "OverBudget",
	[PLAN_VOLUME] = "VolumeNotReady",
	[PLAN_DEVICE] = "DeviceNotReady",
	[PLAN_GANG] = "GangNotWhole",
	[PLAN_GANG_SHORT] = "GangIncomplete",
	[PLAN_GANG_UNKNOWN] = "GangUnknown",
	[PLAN_GANG_OVER] = "GangHoldOver",
	[PLAN_HELD] = "HeldForGang",
	[PLAN_BY_POLICY] = "BurstPolicyDecides",
	[PLAN_STOPPED] = "LineStopped",
	[PLAN_BACK_OFF] = "BackingOff",
	[PLAN_PROVIDER] = "ProviderNotReady",
	[PLAN_NO_OFFER] = "NoOffer",
	[PLAN_DENIED] = "ClaimDenied",
	[PLAN_REASONS] = NULL,
};
