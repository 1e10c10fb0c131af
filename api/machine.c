#include "base/str.h"
#include "base/market.h"
#include "api/annotations.h"
#include "api/tables.h"

/*
 * machine: field table and checks of the kind Machine: one physical server, virtual machine or
 * cloud instance.
 * Tests: tests/unit/api/test_kinds.c
 */
const char *const machine_leave_reasons[] = {LEAVE_CLAIM_DELETED, LEAVE_DRAIN,
					     LEAVE_EMPTY,	  LEAVE_UNDERUSED,
					     LEAVE_DRIFTED,	  LEAVE_MOVED_HOME,
					     LEAVE_EXPIRED,	  LEAVE_INTERRUPTED,
					     LEAVE_AT_RISK,	  LEAVE_RECLAIMED,
					     LEAVE_NODE_DEAD,	  LEAVE_NODE_GONE,
					     LEAVE_ASLEEP,	  NULL};
static const char *const policy_names[] = {"Observe", "Manage", "Retire", NULL};
static const char *const approve_names[] = {"Wipe", "Adopt", "TrustBMC", NULL};
static const char *const exit_names[] = {"auto", "operator", NULL};
static const char *const waiting_names[] = {"Device", "Rate", "Budget", "Approval", NULL};

static const struct field bmc_trust_fields[] = {
	FIELD(machine_bmc_trust, address, "address", FIELD_STR, .required = true, .max_len = 2048,
	      .doc = "Copy of spec.bmc.address. drover sends the BMC's password only while "
		     "spec.bmc.address equals this copy."),
	FIELD_OBJ(machine_bmc_trust, tls, "tls", object_tls_fields,
		  .doc = "Copy of spec.bmc.tls. drover sends the BMC's password only while "
			 "spec.bmc.tls equals this copy."),
	FIELD(machine_bmc_trust, credentials, "credentials", FIELD_STR, AS_NAME,
	      .doc = "Name of the Secret whose password may be sent to the BMC: "
		     "spec.bmc.credentialsSecretRef, or the Provider's Secret."),
	FIELD(machine_bmc_trust, ca_digest, "caDigest", FIELD_STR, AS_DIGEST,
	      .doc = "SHA-256 digest of the trusted CA certificate. May be left out in "
		     "spec.approval: drover then trusts the certificate that the Secret of "
		     "spec.bmc.tls.caSecretRef contains when drover acts on the approval."),
	FIELDS_END,
};
static const struct field approval_fields[] = {
	FIELD(machine_approval, action, "action", FIELD_ENUM, .enums = approve_names,
	      .required = true,
	      .doc = "Decision of an operator. Wipe: data on the machine may be erased. Adopt: "
		     "the machine already serves the NodeClaim in spec.approval.claim. TrustBMC: "
		     "drover may send the password to the BMC in spec.approval.bmc."),
	FIELD(machine_approval, id, "id", FIELD_STR, .required = true, .max_len = 64,
	      .doc = "ID of the approval. drover acts on each ID once, and then records it in "
		     "status.approvalID."),
	FIELD(machine_approval, claim, "claim", FIELD_STR, AS_NAME,
	      .doc = "Name of the NodeClaim that the machine serves. For action Adopt."),
	FIELD_PTR(machine_approval, bmc, "bmc", bmc_trust_fields,
		  .doc = "For action TrustBMC: copy of spec.bmc and of the name of its Secret, as "
			 "the operator approved them. drover acts on the approval only while "
			 "spec.bmc and the name of the Secret equal this copy."),
	FIELDS_END,
};
static const struct field_rule approval_rules[] = {
	{"self.action != 'Adopt' || has(self.claim)", "action Adopt requires claim"},
	{"self.action != 'TrustBMC' || has(self.bmc)", "action TrustBMC requires bmc"},
	{NULL, NULL},
};

static const struct field identity_fields[] = {
	FIELD(machine_identity, system_uuid, "systemUUID", FIELD_STR, .max_len = 64,
	      .doc = "System UUID, as reported by the BMC or dmidecode."),
	FIELD(machine_identity, serial_number, "serialNumber", FIELD_STR, .max_len = 128,
	      .doc = "Serial number of the machine, as reported by the BMC."),
	FIELDS_END,
};
static const struct field_rule identity_rules[] = {
	{"has(self.systemUUID) || has(self.serialNumber)", "want systemUUID or serialNumber"},
	{NULL, NULL},
};

static const struct field bmc_fields[] = {
	FIELD(machine_bmc, address, "address", FIELD_STR, .required = true, AS_BMC,
	      .doc = "URL of the BMC, or of the machine's System resource on the BMC. It begins "
		     "with https:// if the BMC is used over Redfish, and with ipmi://, libvirt:// "
		     "or exec:// if the Provider has the type with this name."),
	FIELD_PTR(machine_bmc, credentials_secret_ref, "credentialsSecretRef",
		  object_local_secret_fields,
		  .doc = "Secret with username and password of the BMC account. If not set, the "
			 "Provider's Secret is used."),
	FIELD_OBJ(machine_bmc, tls, "tls", object_tls_fields, .rules = object_tls_rules,
		  .doc = "How drover verifies the BMC's certificate. The verification cannot be "
			 "switched off."),
	FIELDS_END,
};
/* Rules for spec.bmc. The first two check what the pattern of `address` checks, but have an error
 * text: for a failed pattern, the API server reports only the pattern. */
static const struct field_rule bmc_rules[] = {
	{"self.address.startsWith('https://') || "
	 "self.address.matches('^http://127[.][0-9.]+([:/]|$)') || "
	 "self.address.startsWith('ipmi://') || "
	 "self.address.startsWith('libvirt://') || "
	 "self.address.startsWith('exec://')",
	 "address: want https://HOST[/redfish/v1/Systems/ID], or ipmi://, libvirt:// "
	 "or exec:// for Providers of these types"},
	{"!self.address.matches('^https?://([^/]*@|[^?#]*[?#])')",
	 "address: the URL must not contain a user, query or fragment"},
	{"!self.address.startsWith('https://') || has(self.tls)", "an https address requires tls"},
	{NULL, NULL},
};

static const struct field provisioning_fields[] = {
	FIELD(machine_provisioning, address, "address", FIELD_STR, .required = true, .max_len = 64,
	      .pattern = "^[0-9a-fA-F.:]+/[0-9]{1,3}$", .valid = object_is_network,
	      .want = "an address such as 10.1.0.17/24",
	      .doc = "Static address of the machine in the provisioning network, with prefix "
		     "length, such as 10.1.0.17/24."),
	FIELD(machine_provisioning, gateway, "gateway", FIELD_STR, .max_len = 64,
	      .pattern = "^[0-9a-fA-F.:]+$", .valid = object_is_address, .want = "an IP address",
	      .doc = "Address of the gateway in the provisioning network. If not set, the agent "
		     "has no default route."),
	FIELDS_END,
};

#define DRIVES_ROW(type_, doc_)                                                                    \
	FIELD_ITEMS(type_, drives, "drives", object_drive_fields, .max_items = 128,                \
		    .list_key = "wwn", .doc = (doc_))

static const struct field controller_fields[] = {
	FIELD(object_controller, id, "id", FIELD_STR, .required = true, .max_len = 16,
	      .pattern = "^[0-9a-f]{4}:[0-9a-f]{4}$", .valid = object_is_pci,
	      .doc = "PCI vendor and device ID, such as 8086:a182."),
	FIELD(object_controller, driven, "driven", FIELD_I64, .min = 0, .max = 1024,
	      .doc = "Number of these controllers that have a driver in the agent's image."),
	FIELD(object_controller, dark, "dark", FIELD_I64, .min = 0, .max = 1024,
	      .doc = "Number of these controllers without a driver in the agent's image. Drives "
		     "behind them are neither seen nor wiped."),
	FIELDS_END,
};

#define CONTROLLERS_ROW(type_, doc_)                                                               \
	FIELD_ITEMS(type_, controllers, "controllers", controller_fields, .max_items = 64,         \
		    .list_key = "id", .doc = (doc_))

static const struct field elastic_fields[] = {
	FIELD_OBJ(
		machine_elastic, claim, "claim", object_ref_fields, .required = true,
		.doc = "NodeClaim for which the instance was launched. The instance ends with this "
		       "NodeClaim."),
	FIELDS_END,
};

static const struct field spec_fields[] = {
	FIELD_PTR(
		machine_spec, elastic, "elastic", elastic_fields,
		.doc = "Set by drover for a cloud instance that drover launches and ends. Not set "
		       "for owned machines."),
	FIELD_OBJ(machine_spec, provider_ref, "providerRef", object_name_ref_fields,
		  .required = true, .doc = "Provider that manages the machine."),
	FIELD(machine_spec, instance_type, "instanceType", FIELD_STR, .max_len = 128,
	      .doc = "Name of an entry of the Provider's spec.instanceTypes."),
	FIELD(machine_spec, management_policy, "managementPolicy", FIELD_ENUM,
	      .enums = policy_names, .def = "\"Observe\"",
	      .doc = "What drover may do with the machine. Observe: only read its state. Manage: "
		     "operate it. Retire: take it out of service when it serves no tenant any more "
		     "and is wiped, or let go without a wipe (spec.waivers). \"drover retire\" "
		     "drains it first."),
	FIELD_PTR(machine_spec, approval, "approval", approval_fields, .rules = approval_rules,
		  .doc = "Permission of an operator to erase the machine, to adopt it, or to send "
			 "the password to its BMC. Written by \"drover approve\"."),
	DRIVES_ROW(machine_spec,
		   "Drives that must be present. drover writes the list at the first inspection; "
		   "afterwards only an operator changes it."),
	CONTROLLERS_ROW(
		machine_spec,
		"Storage controllers that must be present. drover writes the list at the first "
		"inspection; afterwards only an operator changes it."),
	FIELD(machine_spec, unseen_drives, "unseenDrives", FIELD_STRINGS, .max_items = 256,
	      .max_len = 160,
	      .doc = "Drives that the BMC lists but the agent does not see, and that an operator "
		     "has accounted for. The agent does not wipe these drives. Each entry is a "
		     "serial number or an ID from status.inventory.unseenDrives. Written by "
		     "\"drover approve --drives\"."),
	FIELD_ITEMS(machine_spec, waivers, "waivers", evidence_waiver_fields,
		    .max_items = EVIDENCE_WAIVERS_MAX,
		    .doc = "What administrators let go without a wipe. Written by \"drover approve "
			   "--drives\", \"drover approve --adopt\" and \"drover retire\"; the "
			   "WipeRecords of that tenancy and of the next one repeat the entries. "
			   "Entries of older tenancies may be removed."),
	FIELD_PTR(machine_spec, identity, "identity", identity_fields, .rules = identity_rules,
		  .doc = "Identity that the BMC must report at each login. If not set, drover "
			 "does not manage the machine; \"drover approve\" sets it. Never set "
			 "for cloud instances, which need none."),
	FIELD_PTR(machine_spec, bmc, "bmc", bmc_fields, .rules = bmc_rules,
		  .doc = "Access to the machine's BMC. Never set for cloud instances."),
	FIELD(machine_spec, node, "node", FIELD_STR, AS_NAME,
	      .doc = "Hostname of the node in BCM. Only with a Provider of type bcm. If not set, "
		     "the Machine's name."),
	FIELD(machine_spec, boot_mac_address, "bootMACAddress", FIELD_STR, .max_len = 17,
	      .pattern = "^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$", .valid = object_is_mac,
	      .want = "a MAC address such as b8:ce:f6:01:02:03",
	      .doc = "MAC address of the NIC in the provisioning network. If set, the agent "
		     "uses only this NIC. If not set, the agent tries all NICs."),
	FIELD_PTR(machine_spec, provisioning, "provisioning", provisioning_fields,
		  .doc = "Static network settings in the provisioning network. If not set, the "
			 "machine uses DHCP."),
	FIELDS_END,
};

static const struct field instance_fields[] = {
	FIELD(machine_instance, token, "token", FIELD_STR, .max_len = 64,
	      .doc = "Idempotency token of the launch request. A repeated request with the same "
		     "token launches nothing new. Empty: no launch has been requested."),
	FIELD(machine_instance, attempt, "attempt", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Serial number of the launch attempt, from 1. Each attempt has its own "
		     "token, and may use another zone, market or price."),
	FIELD(machine_instance, region, "region", FIELD_STR, .max_len = 128,
	      .doc = "Region of the instance."),
	FIELD(machine_instance, zone, "zone", FIELD_STR, .max_len = 128,
	      .doc = "Zone of the instance. Not set if the cloud has no zones."),
	FIELD(machine_instance, type, "type", FIELD_STR, .max_len = 128,
	      .doc = "Instance type, as the cloud names it."),
	FIELD(machine_instance, market, "market", FIELD_ENUM, .enums = market_names,
	      .doc = "Market in which the instance is bought."),
	FIELD(machine_instance, micros_per_hour, "microsPerHour", FIELD_I64, .min = 0,
	      .max = INT64_MAX,
	      .doc = "Price of the instance for one hour at the launch, in "
		     "millionths of status.instance.currency."),
	FIELD(machine_instance, currency, "currency", FIELD_STR, .max_len = 3,
	      .doc = "Currency of status.instance.microsPerHour, an ISO 4217 code."),
	FIELD(machine_instance, refused_time, "refusedTime", FIELD_TIME,
	      .doc = "Time at which the cloud refused the launch request with the token in "
		     "status.instance.token. Not set if the request was not refused."),
	FIELD(machine_instance, refusal, "refusal", FIELD_STR,
	      .doc = "Error message of the cloud for the refused launch request."),
	FIELD(machine_instance, id, "id", FIELD_STR, .max_len = 128,
	      .doc = "Instance ID, as the cloud names it."),
	FIELD(machine_instance, provider_id, "providerID", FIELD_STR, .max_len = 2048,
	      .doc = "Provider ID of the Node, as the cloud's own controller would set it."),
	FIELD(machine_instance, interrupted, "interrupted", FIELD_BOOL,
	      .doc = "True: the instance began to leave its tenant while pods were on its Node. "
		     "Set only for instances that a BurstPolicy decided on."),
	FIELD(machine_instance, moved, "moved", FIELD_BOOL,
	      .doc = "True: the instance began to leave its tenant because its pods move to an "
		     "owned machine (docs/burst.md)."),
	FIELDS_END,
};

static const struct field attempt_previous_fields[] = {
	FIELD_IN(machine_attempt, previous, name, "name", FIELD_STR, .max_len = 253,
		 .doc = "Name of the previous WipeRecord of this machine."),
	FIELD_IN(machine_attempt, previous, digest, "digest", FIELD_STR, .max_len = 128,
		 .doc = "SHA-256 digest of the previous WipeRecord's envelope."),
	FIELDS_END,
};

static const struct field reached_fields[] = {
	FIELD(machine_reached, wwn, "wwn", FIELD_STR, .required = true, .max_len = 256,
	      .doc = "World-wide name of the drive."),
	FIELD(machine_reached, technique, "technique", FIELD_STR, .max_len = 64,
	      .doc = "Erase method that was started last."),
	FIELD(machine_reached, erased_bytes, "erasedBytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Number of bytes that the erase method has erased so far, if the drive "
		     "reports it."),
	FIELDS_END,
};

static const struct field attempt_fields[] = {
	FIELD(machine_attempt, record, "record", FIELD_STR, .required = true, .max_len = 253,
	      .doc = "Name of the WipeRecord that this attempt will create."),
	FIELD(machine_attempt, attempt, "attempt", FIELD_I64, .min = 1, .max = 1000000,
	      .required = true,
	      .doc = "Serial number of the attempt within the tenancy (use of "
		     "the machine by one tenant), from 1."),
	FIELD_OBJ(machine_attempt, previous, "previous", attempt_previous_fields,
		  .doc = "Newest WipeRecord of the machine when the attempt began."),
	FIELD(machine_attempt, nonce_digest, "nonceDigest", FIELD_STR, .max_len = 128,
	      .doc = "SHA-256 digest of the nonce from which the canaries (test blocks written "
		     "before the wipe) are derived."),
	FIELD(machine_attempt, policy_digest, "policyDigest", FIELD_STR, .max_len = 128,
	      .doc = "SHA-256 digest of the wipe policy that applies to the attempt."),
	FIELD(machine_attempt, start_time, "startTime", FIELD_TIME,
	      .doc = "Time at which the attempt began."),
	FIELD_ITEMS(
		machine_attempt, devices, "devices", reached_fields, .max_items = 256,
		.doc = "Progress of each drive in the agent's last report. This report does not "
		       "prove that a drive is wiped."),
	FIELDS_END,
};

static const struct field last_wipe_fields[] = {
	FIELD_IN(machine_status, last_wipe, record, "record", FIELD_STR, .max_len = 253,
		 .doc = "Name of the WipeRecord."),
	FIELD_IN(machine_status, last_wipe, tenancy, "tenancy", FIELD_I64, .min = 0,
		 .max = INT64_MAX,
		 .doc = "Serial number of the tenancy (use of the machine by one tenant, see "
			"status.tenancy) whose data this wipe erased."),
	FIELD_IN(machine_status, last_wipe, operation, "operation", FIELD_STR, .max_len = 64,
		 .doc = "ID of the operation that wiped the machine. From this ID and "
			"status.lastWipe.bootNumber drover derives the nonce of the wipe, with "
			"which drover checks the drives again before the next use."),
	FIELD_IN(machine_status, last_wipe, boot_number, "bootNumber", FIELD_I64, .min = 0,
		 .max = INT64_MAX,
		 .doc = "Serial number of the agent's boot within the "
			"operation in status.lastWipe.operation."),
	FIELDS_END,
};

static const struct field power_fields[] = {
	FIELD_IN(machine_status, power, state, "state", FIELD_STR, .max_len = 16,
		 .doc = "Power state: On, Off, Changing or Unknown."),
	FIELD_IN(machine_status, power, observed_time, "observedTime", FIELD_TIME,
		 .doc = "Time at which drover read status.power.state."),
	FIELD_IN(machine_status, power, confirmed_by, "confirmedBy", FIELD_STR, .max_len = 253,
		 .doc = "ID of the operation in which an operator confirmed that the machine is "
			"off (drover confirm-off)."),
	FIELD_IN(machine_status, power, doubted, "doubted", FIELD_STR, .max_len = 253,
		 .doc = "ID of the operation in which the machine was active on the network after "
			"its BMC had reported Off. While the field is set, drover does not accept "
			"Off from the BMC: an operator must confirm it (drover confirm-off), or "
			"the BMC must first report another state."),
	FIELD_IN(machine_status, power, agent_boot, "agentBoot", FIELD_STR, .max_len = 253,
		 .doc = "Boot for which drover saw the machine off and then switched it on, as "
			"OPERATION/BOOT/KEYS: ID of the operation, boot number, and ID of "
			"drover's keys. Only the agent of this boot may connect."),
	FIELD_IN(machine_status, power, http_boot, "httpBoot", FIELD_STR, .max_len = 253,
		 .doc = "HTTP boot of the agent for which drover last switched the machine on, as "
			"OPERATION/BOOT: ID of the operation and boot number. Removed when drover "
			"next sees that the machine is off."),
	FIELDS_END,
};

static const struct field probe_fields[] = {
	FIELD(machine_probe, order, "order", FIELD_STR, .max_len = 253,
	      .doc = "What triggered the probe: ID of the agent's order, or UID of the NodeClaim "
		     "whose Node reported the result."),
	FIELD(machine_probe, time, "time", FIELD_TIME,
	      .doc = "Time at which the result was received."),
	FIELD(machine_probe, message, "message", FIELD_STR, .max_len = 512,
	      .doc = "Why the probe is no proof that the machine's ports are in this segment. Not "
		     "set if it is a proof: each address of this segment answered, and no address "
		     "of another segment answered."),
	FIELD(machine_probe, api_server, "apiServer", FIELD_BOOL,
	      .doc = "Whether the machine's image reached the tenant's API server before the "
		     "machine joined."),
	FIELD(machine_probe, leak, "leak", FIELD_STR, .max_len = 64,
	      .doc = "Address that answered although only machines in another segment should "
		     "reach it. Not set if no such address answered."),
	FIELDS_END,
};

static const struct field network_fields[] = {
	FIELD_IN(machine_status, network, segment, "segment", FIELD_STR, .max_len = 253,
		 .doc = "Segment of the machine's ports: quarantine, provisioning or tenant/NAME."),
	FIELD_IN(machine_status, network, proof, "proof", FIELD_STR, .max_len = 16,
		 .doc = "Strength of the proof that the ports are in this segment: Strong, Weak or "
			"None (docs/network.md)."),
	FIELD_IN(machine_status, network, observed_time, "observedTime", FIELD_TIME,
		 .doc = "Time at which the segment was last read, or proved by a probe."),
	FIELD_IN(machine_status, network, probe, "probe", FIELD_OBJECT_PTR, .sub = probe_fields,
		 .size = sizeof(struct machine_probe),
		 .doc = "Result of the last network probe by the machine itself in this segment."),
	FIELDS_END,
};

static const struct field error_fields[] = {
	FIELD(machine_error, reason, "reason", FIELD_STR, .max_len = 128,
	      .doc = "Reason code, one of those in docs/reasons.md."),
	FIELD(machine_error, message, "message", FIELD_STR,
	      .doc = "Human-readable details of the error."),
	FIELD(machine_error, time, "time", FIELD_TIME, .doc = "Time at which the error occurred."),
	FIELDS_END,
};

static const struct field progress_fields[] = {
	FIELD(machine_progress, phase, "phase", FIELD_STR, .max_len = 64,
	      .doc = "What the agent is doing, such as canaries, overwrite or image."),
	FIELD(machine_progress, done_bytes, "doneBytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Number of bytes processed so far, over all drives."),
	FIELD(machine_progress, total_bytes, "totalBytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Number of bytes to process in total, over all drives. 0: unknown."),
	FIELD(machine_progress, bytes_per_second, "bytesPerSecond", FIELD_I64, .min = 0,
	      .max = INT64_MAX, .doc = "Data rate in bytes per second, over all drives."),
	FIELD(machine_progress, expected_end, "expectedEnd", FIELD_TIME,
	      .doc = "Time at which the agent is expected to finish at the rate in "
		     "bytesPerSecond. Not set if unknown."),
	FIELDS_END,
};

static const struct field operation_fields[] = {
	FIELD(machine_operation, id, "id", FIELD_STR, .max_len = 64,
	      .doc = "ID of the operation, used in the journal, in orders to the agent and in "
		     "WipeRecords."),
	FIELD(machine_operation, step, "step", FIELD_STR, .max_len = 64,
	      .doc = "Act that drover performs now or performed last in this state, such as "
		     "switching the machine off. Not set before the first act."),
	FIELD(machine_operation, class_, "class", FIELD_STR, .max_len = 16,
	      .doc = "How drover continues the step after a crash. idempotent: drover repeats "
		     "the step. probe-first: drover first reads whether the step took effect. "
		     "once: drover never repeats the step."),
	FIELD(machine_operation, attempt, "attempt", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Serial number of the attempt of this step, from 1."),
	FIELD(machine_operation, fence, "fence", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Fencing number of the leader that started the step. Each new leader has a "
		     "higher number; the agent and the fabric refuse requests with a lower "
		     "number."),
	FIELD(machine_operation, boot_number, "bootNumber", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Serial number of the agent's boot within this operation, from 1."),
	FIELD(machine_operation, handle, "handle", FIELD_STR,
	      .doc = "Handle by which the backend (BMC, BCM or program) identifies a call in "
		     "progress."),
	FIELD(machine_operation, started, "started", FIELD_TIME,
	      .doc = "Time at which the current attempt of the step began."),
	FIELD(machine_operation, deadline, "deadline", FIELD_TIME,
	      .doc = "Time by which the machine must have left the state in status.state. "
		     "Afterwards drover moves it to another state, or only reports it as "
		     "overdue (docs/states.md). Not set: no limit."),
	FIELD(machine_operation, waiting_for, "waitingFor", FIELD_ENUM, .enums = waiting_names,
	      .doc = "What the step waits for. Device: the device or another system. Rate: a rate "
		     "limit of drover; this wait extends the deadline. Budget: a "
		     "PodDisruptionBudget. Approval: a decision of an operator."),
	FIELD(machine_operation, next_attempt, "nextAttempt", FIELD_TIME,
	      .doc = "Time at which the step is tried next."),
	FIELD_OBJ(machine_operation, last_error, "lastError", error_fields,
		  .doc = "Error of the last attempt."),
	FIELD_PTR(machine_operation, progress, "progress", progress_fields,
		  .doc = "Progress of the agent."),
	FIELDS_END,
};

static const struct field agent_fields[] = {
	FIELD(machine_agent, boot_id, "bootID", FIELD_STR, .max_len = 64,
	      .doc = "Boot ID of the agent's kernel."),
	FIELD(machine_agent, public_key, "publicKey", FIELD_STR, .max_len = 256,
	      .doc = "Public key with which the agent's reports are verified."),
	FIELD(machine_agent, probes, "probes", FIELD_BOOL,
	      .doc = "Whether the agent supports network probes."),
	FIELD(machine_agent, dismissed, "dismissed", FIELD_BOOL,
	      .doc = "Whether the agent has finished its orders. Later messages from it are "
		     "ignored."),
	FIELD(machine_agent, system_uuid, "systemUUID", FIELD_STR, .max_len = 64,
	      .doc = "System UUID that the agent read. The Node must report the same UUID."),
	FIELD(machine_agent, observed_time, "observedTime", FIELD_TIME,
	      .doc = "Time of the agent's last message."),
	FIELDS_END,
};

static const struct field nic_fields[] = {
	FIELD(machine_nic, mac, "mac", FIELD_STR, .max_len = 64, .doc = "MAC address of the NIC."),
	FIELD(machine_nic, name, "name", FIELD_STR, .max_len = 32,
	      .doc = "Interface name in the agent's kernel."),
	FIELD(machine_nic, driver, "driver", FIELD_STR, .max_len = 32,
	      .doc = "Kernel driver of the NIC."),
	FIELDS_END,
};

static const struct field unseen_fields[] = {
	FIELD(machine_unseen, id, "id", FIELD_STR, .required = true, .max_len = 160,
	      .doc = "ID of the drive: its serial number, or its WWN or EUI. If the BMC reports "
		     "neither, MODEL#N for the Nth drive of a model."),
	FIELD(machine_unseen, model, "model", FIELD_STR, .max_len = 256,
	      .doc = "Model, as reported by the BMC."),
	FIELD(machine_unseen, slot, "slot", FIELD_STR, .max_len = 256,
	      .doc = "Slot, as reported by the BMC."),
	FIELD(machine_unseen, volume, "volume", FIELD_STR, .max_len = 256,
	      .doc = "Virtual disk that the drive is part of, as reported by the BMC."),
	FIELD(machine_unseen, bytes, "bytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Capacity in bytes, as reported by the BMC."),
	FIELDS_END,
};

static const struct field inventory_fields[] = {
	FIELD(machine_inventory, gpus, "gpus", FIELD_I64, .min = 0, .max = 1024,
	      .doc = "Number of GPUs."),
	FIELD(machine_inventory, cpus, "cpus", FIELD_I64, .min = 0, .max = 65536,
	      .doc = "Number of logical CPUs."),
	FIELD(machine_inventory, memory_bytes, "memoryBytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Size of the memory in bytes."),
	DRIVES_ROW(machine_inventory, "Drives that the agent saw."),
	CONTROLLERS_ROW(machine_inventory, "Storage controllers that the agent saw."),
	FIELD_ITEMS(machine_inventory, unseen_drives, "unseenDrives", unseen_fields,
		    .max_items = 256, .list_key = "id",
		    .doc = "Drives that the BMC lists and the agent did not see."),
	FIELD_ITEMS(machine_inventory, nics, "nics", nic_fields, .max_items = 64,
		    .doc = "Network interfaces that the agent saw."),
	FIELD(machine_inventory, observed_time, "observedTime", FIELD_TIME,
	      .doc = "Time of the agent's inspection."),
	FIELDS_END,
};

static const struct field failure_fields[] = {
	FIELD(machine_failure, time, "time", FIELD_TIME, .doc = "Time of the failure."),
	FIELD(machine_failure, step, "step", FIELD_STR, .max_len = 64,
	      .doc = "State of the machine (as in status.state) in which the failure happened."),
	FIELD(machine_failure, reason, "reason", FIELD_STR, .max_len = 128,
	      .doc = "Reason code, one of those in docs/reasons.md."),
	FIELD(machine_failure, message, "message", FIELD_STR,
	      .doc = "Human-readable details of the failure."),
	FIELD(machine_failure, claim, "claim", FIELD_STR, .max_len = 253,
	      .doc = "Name of the NodeClaim that the machine served."),
	FIELD(machine_failure, pool, "pool", FIELD_STR, .max_len = 253,
	      .doc = "NodePool of the NodeClaim in the field claim."),
	FIELD(machine_failure, image, "image", FIELD_STR, .max_len = 128,
	      .doc = "Image of the NodeClaim in the field claim: the image's digest, or its BCM "
		     "category if it has no digest."),
	FIELD(machine_failure, tenant, "tenant", FIELD_STR, .max_len = 253,
	      .doc = "VirtualCluster of the NodeClaim in the field claim."),
	FIELD(machine_failure, template_, "template", FIELD_STR, .max_len = 16,
	      .doc = "Hash of the pool template of the NodeClaim in the field claim. While "
		     "NodeClaims with the same template fail, drover replaces no further Nodes to "
		     "apply this template."),
	FIELDS_END,
};

static const struct field quarantine_fields[] = {
	FIELD(machine_quarantine, reason, "reason", FIELD_STR, .max_len = 128,
	      .doc = "Reason code, one of those in docs/reasons.md."),
	FIELD(machine_quarantine, message, "message", FIELD_STR,
	      .doc = "Human-readable details of the reason."),
	FIELD(machine_quarantine, exit, "exit", FIELD_ENUM, .enums = exit_names,
	      .doc = "How the machine leaves quarantine. auto: drover tries again by itself. "
		     "operator: an operator must decide."),
	FIELD(machine_quarantine, since, "since", FIELD_TIME,
	      .doc = "Time at which the machine was quarantined."),
	FIELD(machine_quarantine, next_attempt, "nextAttempt", FIELD_TIME,
	      .doc = "Time of the next automatic attempt."),
	FIELD(machine_quarantine, attempts, "attempts", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Number of times that drover itself took the machine out of quarantine to try "
		     "again. Each attempt doubles the wait before the next attempt, up to 6h. The "
		     "number is 0 again after a successful wipe, `drover release` or `drover "
		     "approve --wipe`."),
	FIELDS_END,
};

static const struct field hold_fields[] = {
	FIELD(machine_hold, drain, "drain", FIELD_STR, .max_len = 253,
	      .doc = "Name of the Drain that holds the machine. Not set if an operator cordoned "
		     "the Node."),
	FIELD(machine_hold, since, "since", FIELD_TIME, .doc = "Time at which the hold began."),
	FIELD(machine_hold, pods_left, "podsLeft", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Number of pods that had not left when the Drain's hold began."),
	FIELD(machine_hold, blocked_by, "blockedBy", FIELD_STR,
	      .doc = "What prevented the first of the pods in status.hold.podsLeft from leaving."),
	FIELDS_END,
};

static const char *const install_phase_names[] = {"Installing", "Installed", "Configuring",
						  "Restarting", NULL};
static const struct field install_fields[] = {
	FIELD(machine_install, handle, "handle", FIELD_STR, .required = true, .max_len = 128,
	      .doc = "ID of the operation that requested the installation. The node in BCM "
		     "carries the same ID."),
	FIELD(machine_install, category, "category", FIELD_STR, .max_len = 63,
	      .doc = "BCM category in which the node is installed."),
	FIELD(machine_install, phase, "phase", FIELD_ENUM, .enums = install_phase_names,
	      .def = "\"Installing\"",
	      .doc = "Phase of the installation. Installing: BCM installs the node. Installed: BCM "
		     "reports the node as up. Configuring: the agent writes the config drive. "
		     "Restarting: the machine is switched off to boot again, because no head node "
		     "answered its first boot."),
	FIELD(machine_install, text, "text", FIELD_STR, .doc = "Last status text reported by BCM."),
	FIELD(machine_install, changed_time, "changedTime", FIELD_TIME,
	      .doc = "Time at which status.install.text last changed."),
	FIELD(machine_install, back_time, "backTime", FIELD_TIME,
	      .doc = "Time at which BCM answered again after an outage during which the machine "
		     "was on."),
	FIELD(machine_install, restart_time, "restartTime", FIELD_TIME,
	      .doc = "Time at which drover switched the machine off to boot it again, at most once "
		     "per installation."),
	FIELDS_END,
};

static const struct field leave_fields[] = {
	FIELD(machine_leave, reason, "reason", FIELD_STR, .required = true, .max_len = 64,
	      .doc = "Reason for which the machine leaves its tenant, one of those in "
		     "docs/drain.md."),
	FIELD(machine_leave, drain, "drain", FIELD_STR, .max_len = 253,
	      .doc = "Name of the Drain because of which the machine leaves. Not set if no Drain "
		     "requested it."),
	FIELD(machine_leave, then, "then", FIELD_ENUM, .enums = drain_then_names,
	      .def = "\"Release\"",
	      .doc = "What happens after the drain. Release: the machine is wiped and becomes "
		     "free. Hold: it stays with its tenant. Quarantine, Retire: it is wiped and "
		     "then taken out of use. A cloud instance is terminated instead, and not "
		     "wiped."),
	FIELD(machine_leave, then_by, "thenBy", FIELD_STR, .max_len = 253,
	      .doc = "Name of the Drain that determines status.leave.then. Not set if the Drain in "
		     "status.leave.drain determines it."),
	FIELD(machine_leave, deadline, "deadline", FIELD_TIME,
	      .doc = "Time after which drover no longer waits for pods to leave. Not set: drover "
		     "waits without limit."),
	FIELD(machine_leave, deadline_by, "deadlineBy", FIELD_STR, .max_len = 253,
	      .doc = "Name of a further Drain (with spec.onDeadline Escalate) whose deadline is in "
		     "status.leave.deadline because it is the earliest. Not set if the deadline "
		     "comes from the Drain in status.leave.drain or from the NodeClaim."),
	FIELD(machine_leave, pods_left, "podsLeft", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Number of pods that are still on the Node."),
	FIELD(machine_leave, blocked_by, "blockedBy", FIELD_STR,
	      .doc = "What keeps the first of the remaining pods on the Node, such as \"pdb "
		     "team-x/web\", a checkpoint, or attached volumes. docs/drain.md lists the "
		     "texts."),
	FIELDS_END,
};

static const struct field requests_fields[] = {
	FIELD_IN(machine_status, requests, retry, "retry", FIELD_STR, .max_len = 253,
		 .doc = "Value of the annotation drover.dev/retry that was acted on last."),
	FIELD_IN(machine_status, requests, release, "release", FIELD_STR, .max_len = 253,
		 .doc = "Value of the annotation drover.dev/release that was acted on last."),
	FIELDS_END,
};

static const struct field_rule tenancy_rules[] = {
	{"self >= oldSelf", "tenancy must not decrease"},
	{NULL, NULL},
};

static const struct field status_fields[] = {
	FIELD(machine_status, state, "state", FIELD_STR, .max_len = 32,
	      .doc = "State of the machine in its life cycle, one of those in docs/states.md."),
	FIELD(machine_status, state_since, "stateSince", FIELD_TIME,
	      .doc = "Time at which the machine entered the state in status.state."),
	FIELD(machine_status, tenancy, "tenancy", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .rules = tenancy_rules,
	      .doc = "Serial number of the current tenancy. A tenancy begins when a tenant gets "
		     "the machine and ends with the wipe after the tenant has left. drover "
		     "increases the number before it writes anything of a new tenant to the "
		     "machine. The number never decreases."),
	FIELD(machine_status, clean, "clean", FIELD_BOOL,
	      .doc = "Whether the machine has been wiped since its last tenant, with proof that "
		     "the wipe succeeded."),
	FIELD_OBJ(machine_status, identity, "identity", identity_fields,
		  .doc = "Identity that the BMC reported at the last login. \"drover approve\" "
			 "copies it to spec.identity."),
	FIELD_PTR(machine_status, claim_ref, "claimRef", object_ref_fields,
		  .doc = "NodeClaim that owns the machine. The field is a lock, so that at most "
			 "one NodeClaim owns the machine."),
	FIELD_OBJ(machine_status, last_wipe, "lastWipe", last_wipe_fields,
		  .doc = "Newest WipeRecord of a successful wipe. Removed if drover revokes the "
			 "record, because a drive that it names no longer reads as wiped."),
	FIELD_PTR(machine_status, wipe_attempt, "wipeAttempt", attempt_fields,
		  .doc = "Wipe attempt that has begun and has no WipeRecord yet."),
	FIELD_PTR(
		machine_status, instance, "instance", instance_fields,
		.doc = "Cloud instance that was launched, or is being launched, for this Machine."),
	FIELD_PTR(machine_status, install, "install", install_fields,
		  .doc = "Installation of the claim's image by BCM. Removed after the wipe, once "
			 "drover has restored the node's previous settings in BCM."),
	FIELD_OBJ(machine_status, power, "power", power_fields,
		  .doc = "Power state last reported by the BMC."),
	FIELD_OBJ(machine_status, network, "network", network_fields,
		  .doc = "Network segment of the machine's switch ports, and the proof that the "
			 "ports are in this segment."),
	FIELD_OBJ(machine_status, bmc, "bmc", machine_bmc_status_fields,
		  .doc = "What drover has learned about the BMC."),
	FIELD_PTR(machine_status, trusted_bmc, "trustedBMC", bmc_trust_fields,
		  .doc = "BMC to which the password may be sent: address, TLS settings, Secret and "
			 "CA. drover copies these values from spec.bmc when it first sees "
			 "spec.bmc; each later change needs an operator's approval."),
	FIELD_PTR(machine_status, operation, "operation", operation_fields,
		  .doc = "Journal of the operation in progress. drover records each act here "
			 "before it performs the act, so that a new leader can continue."),
	FIELD_OBJ(machine_status, tenant, "tenant", object_ref_fields,
		  .doc = "VirtualCluster that the machine serves or served last."),
	FIELD(machine_status, pool, "pool", FIELD_STR, .max_len = 253,
	      .doc = "NodePool of the NodeClaim through which the VirtualCluster in status.tenant "
		     "got the machine. The time of the wipe is charged to this pool."),
	FIELD_PTR(machine_status, warm_for, "warmFor", object_ref_fields,
		  .doc = "NodePool for which the machine is kept powered on while it is free."),
	FIELD_PTR(machine_status, agent, "agent", agent_fields,
		  .doc = "Session of the agent that runs, or last ran, on the machine."),
	FIELD_PTR(machine_status, inventory, "inventory", inventory_fields,
		  .doc = "Hardware that the agent found at the last inspection."),
	FIELD_ITEMS(machine_status, failures, "failures", failure_fields, .max_items = 20,
		    .doc = "Failures of the machine, the newest 20."),
	FIELD_PTR(machine_status, quarantine, "quarantine", quarantine_fields,
		  .doc = "Why the machine is quarantined, and how it leaves quarantine. Also set "
			 "while drover tries to end the quarantine, until a wipe succeeds."),
	FIELD_PTR(machine_status, leave, "leave", leave_fields,
		  .doc = "Why the machine leaves its tenant, and what happens to it afterwards. "
			 "Set until the machine is free, quarantined or retired."),
	FIELD_PTR(machine_status, hold, "hold", hold_fields,
		  .doc = "Set while the machine is held: its Node stays cordoned in the tenant's "
			 "cluster, no pods are scheduled to the Node, and drover does not release "
			 "the machine."),
	FIELD_OBJ(machine_status, requests, "requests", requests_fields,
		  .doc = "Annotation values (retry, release) that drover has already acted on."),
	FIELD(machine_status, approval_id, "approvalID", FIELD_STR, .max_len = 64,
	      .doc = "ID of the approval (spec.approval.id) that was acted on last."),
	FIELD(machine_status, boot_id, "bootID", FIELD_STR, .max_len = 64,
	      .doc = "Boot ID of the newest Node that ran on the machine."),
	CONDITIONS_ROW(
		machine_status,
		"Conditions: Ready (serving, or free and ready to be claimed); "
		"Reachable (the BMC answers); Managed (drover may act on the "
		"machine); BootProtected (others cannot read the boot medium or "
		"pose as the agent); Healthy (no sensor reports a critical "
		"value); Stalled (quarantined until an operator acts); Valid (drover can use "
		"spec; absent until drover first "
		"refuses spec)."),
	FIELDS_END,
};

static const struct field_rule spec_rules[] = {
	{"!has(self.elastic) || !(has(self.bmc) || has(self.identity) || has(self.node))",
	 "elastic must not be set together with bmc, identity or node"},
	{"has(self.elastic) == has(oldSelf.elastic)", "elastic is immutable"},
	{NULL, NULL},
};
const struct field machine_fields[] = {
	META_ROW(machine),
	FIELD_OBJ(machine, spec, "spec", spec_fields, .required = true, .rules = spec_rules,
		  .doc = "Desired state of the Machine."),
	FIELD_OBJ(machine, status, "status", status_fields,
		  .doc = "Observed state of the Machine."),
	FIELDS_END,
};

const struct object_column machine_columns[] = {
	{"State", "string", ".status.state", 0},
	{"Since", "date", ".status.stateSince", 0},
	{"Claim", "string", ".status.claimRef.name", 0},
	{"Power", "string", ".status.power.state", 0},
	{"Waiting", "string", ".status.operation.waitingFor", 0},
	{"Error", "string", ".status.operation.lastError.reason", 0},
	{"Valid", "string", ".status.conditions[?(@.type==\"Valid\")].status", 0},
	{"Type", "string", ".spec.instanceType", 1},
	{"Provider", "string", ".spec.providerRef.name", 1},
	{"Network", "string", ".status.network.segment", 1},
	{"WarmFor", "string", ".status.warmFor.name", 1},
	{"Tenancy", "integer", ".status.tenancy", 1},
	{NULL, NULL, NULL, 0},
};

int machine_check(const void *object, const void *old, struct err *e)
{
	const struct machine *m = object, *o = old;
	const struct machine_spec *s = &m->spec;

	if (object_name_check(&m->meta, 63, e) < 0)
		return -1;
	/* An owned machine must not become elastic, because drover never proves an elastic machine
	 * off, isolated or wiped. */
	if (s->elastic && (s->bmc || s->identity || s->node))
		return err_set(e, ERR_INVALID, 0,
			       "spec.elastic: must not be set together with bmc, identity or node");
	if (o && !o->spec.elastic != !s->elastic)
		return err_set(e, ERR_INVALID, 0, "spec.elastic: is immutable");
	if (s->approval && s->approval->action == APPROVE_ADOPT && !s->approval->claim)
		return err_set(e, ERR_INVALID, 0, "spec.approval.claim: required for action Adopt");
	if (s->approval && s->approval->action == APPROVE_TRUST_BMC && !s->approval->bmc)
		return err_set(e, ERR_INVALID, 0,
			       "spec.approval.bmc: required for action TrustBMC");
	if (s->identity && !s->identity->system_uuid && !s->identity->serial_number)
		return err_set(e, ERR_INVALID, 0, "spec.identity: want systemUUID or serialNumber");
	if (s->bmc && object_tls_check(&s->bmc->tls, str_starts(s->bmc->address, "https://"),
				       "spec.bmc.tls", e) < 0)
		return -1;
	if (o && m->status.tenancy < o->status.tenancy)
		return err_set(e, ERR_INVALID, 0,
			       "status.tenancy: must not decrease, was %jd, got %jd",
			       (intmax_t)o->status.tenancy, (intmax_t)m->status.tenancy);
	return 0;
}

bool machine_is_in(const struct machine *m, enum machine_state s)
{
	return str_eq(m->status.state, machine_state_info[s].name);
}

bool machine_is_awaited(const struct machine *m)
{
	enum machine_state s = machine_state_find(m->status.state);

	return m->status.claim_ref && s >= MACHINE_CLAIMED && s < MACHINE_SERVING;
}

bool machine_is_unwiped(const struct machine *m)
{
	const struct machine_status *s = &m->status;
	const bool unused = !s->last_wipe.tenancy && str_eq(str_or(s->state, "known"), "known");

	if (m->spec.elastic || !s->tenancy || unused || str_eq(s->state, "retired") ||
	    s->last_wipe.tenancy == s->tenancy)
		return false;
	for (size_t i = 0; i < m->spec.waivers.n; i++)
		if (m->spec.waivers.v[i].what == WAIVED_RETIREMENT &&
		    m->spec.waivers.v[i].tenancy >= s->tenancy)
			return false;
	return true;
}
