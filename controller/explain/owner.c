#include "controller/explain/owner.h"

#include "api/machine_states.h"
#include "api/reasons.h"
#include "base/str.h"
#include "controller/explain/answer.h"
#include "controller/explain/pod_remedy.h"
#include "controller/explain/waits.h"

static const char drover[] = "drover", device[] = "device", network[] = "network",
		  provider[] = "provider", tenant[] = "tenant", operator_[] = "operator";

static const char *const of_reason[REASONS] = {
	[REASON_NotApproved] = operator_,
	[REASON_Observed] = operator_,
	[REASON_Paused] = operator_,
	[REASON_IdentityMismatch] = operator_,
	[REASON_IdentityNotTold] = device,
	[REASON_DuplicateIdentity] = operator_,
	[REASON_PowerStateUnexpected] = operator_,
	[REASON_DefinitionTerminating] = operator_,
	[REASON_ProviderNotReady] = operator_,
	[REASON_SecretNotFound] = operator_,
	[REASON_ClaimReplaced] = operator_,
	[REASON_ClaimUnreadable] = operator_,
	[REASON_BmcAuthFailed] = operator_,
	[REASON_BmcNotTrusted] = operator_,
	[REASON_BmcPasswordChange] = operator_,
	[REASON_BmcAddressInvalid] = operator_,
	[REASON_BmcUnreachable] = device,
	[REASON_BmcSlow] = device,
	[REASON_BmcBusy] = device,
	[REASON_BmcProtocolError] = device,
	[REASON_BmcUnsupported] = device,
	[REASON_PowerNotConfirmed] = device,
	[REASON_NetworkNotConfirmed] = network,
	[REASON_NetworkProofWeak] = network,
	[REASON_NetworkLeak] = network,
	[REASON_HardwareFault] = device,
	[REASON_APIServerNotReached] = network,
	[REASON_BootOverrideNotCleared] = device,
	[REASON_MediaNotMounted] = device,
	[REASON_AgentSilent] = device,
	[REASON_AgentVersionMismatch] = operator_,
	[REASON_NotWarm] = device,
	[REASON_AgentRebooted] = device,
	[REASON_SecondCaller] = operator_,
	[REASON_InventoryMismatch] = device,
	[REASON_DriveUnknown] = device,
	[REASON_StorageNotDriven] = device,
	[REASON_StorageHidden] = device,
	[REASON_DriveMissing] = device,
	[REASON_DriveFailed] = device,
	[REASON_ReadOnly] = device,
	[REASON_NamespaceHidden] = device,
	[REASON_SectorsHidden] = device,
	[REASON_CanaryLost] = device,
	[REASON_DriveLocked] = device,
	[REASON_DriveZoned] = device,
	[REASON_NotWiped] = device,
	[REASON_WipeRequired] = operator_,
	[REASON_EraseUnverified] = device,
	[REASON_WipeRevoked] = device,
	[REASON_EraseBelowPolicy] = operator_,
	[REASON_EvidenceKeyMissing] = operator_,
	[REASON_RecordNotKept] = operator_,
	[REASON_OrderInvalid] = operator_,
	[REASON_StaleFence] = drover,
	[REASON_ImageMismatch] = operator_,
	[REASON_InstallFailed] = provider,
	[REASON_InstallStalled] = provider,
	[REASON_InstallNotBegun] = provider,
	[REASON_InstallHeld] = operator_,
	[REASON_InstallUnclear] = provider,
	[REASON_ManagerRefused] = provider,
	[REASON_ManagerConflict] = provider,
	[REASON_ManagerUnreachable] = provider,
	[REASON_CloudUnreachable] = provider,
	[REASON_NoOffer] = provider,
	[REASON_InstanceGone] = provider,
	[REASON_ConfigInvalid] = operator_,
	[REASON_TenantCAInvalid] = tenant,
	[REASON_TenantGone] = drover,
	[REASON_TenantUnreachable] = tenant,
	[REASON_NodesNotTaken] = tenant,
	[REASON_JoinTimeout] = device,
	[REASON_BootstrapTokenRefused] = tenant,
	[REASON_NoNodeByScript] = device,
	[REASON_NodeNotFound] = device,
	[REASON_NodeIdentityMismatch] = operator_,
	[REASON_NodeNotReady] = device,
	[REASON_StartupTaintsExist] = tenant,
	[REASON_ResourceNotRegistered] = tenant,
	[REASON_HealthGateFailed] = device,
	[REASON_NodeDead] = device,
	[REASON_NodeNotMarked] = tenant,
	[REASON_FailsRepeatedly] = device,
	[REASON_LineStopped] = operator_,
	[REASON_CheckpointPending] = tenant,
	[REASON_PowerOnPaced] = drover,
	[REASON_CallsPaced] = drover,
	[REASON_EvictionBlocked] = tenant,
	[REASON_VolumesAttached] = tenant,
	[REASON_QuarantinedByOperator] = operator_,
	[REASON_ClaimNotFound] = operator_,
	[REASON_ApprovalPending] = operator_,
	[REASON_WebhookFailed] = operator_,
	[REASON_ClaimDenied] = operator_,
	[REASON_DeadlineExceeded] = device,
};

/* owners of reasons of VirtualClusters */
struct owned {
	const char *text, *owner;
};
static const struct owned of_tenant[] = {
	{"Unreachable", tenant},
	{"NotPermitted", tenant},
	{"Asleep", tenant},
	{"NodesLost", tenant},
	{"ClusterChanged", tenant},
	{"NoPrivateNodes", tenant},
	{"KubeconfigRefused", operator_},
	{"KubeconfigAbsent", operator_},
	{"NoJoinEndpoint", operator_},
	{"Syncing", drover},
};
#define OWNER_IN(list, text) find_in(list, sizeof(list) / sizeof((list)[0]), text)

static const char *find_in(const struct owned *list, size_t n, const char *text)
{
	for (size_t i = 0; text && i < n; i++)
		if (str_eq(list[i].text, text))
			return list[i].owner;
	return NULL;
}

const char *owner_of_reason(const char *reason)
{
	const enum reason r = reason_find(reason);
	const char *owner = r == REASON_NONE ? OWNER_IN(of_tenant, reason) : of_reason[r];

	if (owner || str_empty(reason) || !pod_remedy(reason))
		return owner;
	switch (pod_helper(reason)) {
	case POD_HELPER_TENANT:
		return tenant;
	case POD_HELPER_OPERATOR:
		return operator_;
	case POD_HELPER_NONE:
		break;
	}
	return drover;
}

static const json_t *failed_condition(const json_t *answer)
{
	static const char *const types[] = {"Valid", "Ready", "Reachable", "Healthy"};
	const json_t *c = NULL;

	for (size_t k = 0; !c && k < sizeof(types) / sizeof(types[0]); k++)
		c = answer_false_condition(answer, types[k]);
	return c;
}

const json_t *owner_problem(const json_t *answer)
{
	static const char *const keys[] = {"quarantine", "lastError", "lineStopped", "approval",
					   "now"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (json_object_get(answer, keys[i]))
			return json_object_get(answer, keys[i]);
	return failed_condition(answer);
}

/* Returns the owner of a machine that is slow, or on its way without a problem, by its state; NULL:
 * the state waits for nothing. */
static const char *of_state(const json_t *answer)
{
	const enum machine_state s = machine_state_find(str_or(json_str_at(answer, "state"), ""));

	if (s == MACHINE_STATE_NONE || s == MACHINE_FREE || s == MACHINE_SERVING ||
	    s == MACHINE_RETIRED || s == MACHINE_GONE)
		return NULL;
	if (!json_true_at(answer, "slow"))
		return drover;
	return s == MACHINE_ATTACHING || s == MACHINE_ISOLATING ? network : device;
}

const char *owner_find(const json_t *answer)
{
	const char *kind = json_str_at(answer, "kind"), *state = json_str_at(answer, "state"),
		   *owner = owner_of_reason(json_str_at(owner_problem(answer), "reason"));
	const struct wait_info *wait;

	if (str_eq(state, "Paused"))
		return operator_;
	if (str_eq(state, "Asleep"))
		return tenant;
	if (owner)
		return owner;
	wait = wait_find(json_str_at(answer, "waitingFor"));
	if (wait)
		return wait->owner;
	/* The reason is not in the lists: all causes of these kinds are in their configuration. */
	if (owner_problem(answer))
		return str_eq(kind, "Provider") && json_object_get(answer, "lastError") ? provider
											: operator_;
	if (json_object_get(answer, "hold"))
		return operator_;
	if (json_object_get(answer, "node"))
		return device;
	if (json_object_get(answer, "waitingFor"))
		return drover;
	return str_eq(kind, "Machine") ? of_state(answer) : NULL;
}
