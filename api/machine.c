#include "base/str.h"
#include "api/tables.h"

/*
 * machine: field table and checks of the kind Machine: one physical server or cloud instance.
 * Tests: tests/unit/api/test_kinds.c
 */
static const char *const policy_names[] = {"Observe", "Manage", "Retire", NULL};
static const char *const approve_names[] = {"Wipe", "Adopt", "TrustBMC", NULL};
static const char *const exit_names[] = {"auto", "operator", NULL};
static const char *const waiting_names[] = {"Device", "Rate", "Budget", "Approval", NULL};

static const struct field bmc_trust_fields[] = {
	FIELD(machine_bmc_trust, address, "address", FIELD_STR, .required = true, .max_len = 2048,
	      .doc = "spec.bmc.address."),
	FIELD_OBJ(machine_bmc_trust, tls, "tls", object_tls_fields, .doc = "spec.bmc.tls."),
	FIELD(machine_bmc_trust, credentials, "credentials", FIELD_STR, AS_NAME,
	      .doc = "Name of the Secret whose password goes there: spec.bmc.credentialsSecretRef, or the Provider's."),
	FIELD(machine_bmc_trust, ca_digest, "caDigest", FIELD_STR, AS_DIGEST,
	      .doc = "SHA-256 of the CA's bytes; in an approval: may be left out, then it is what drover reads."),
	FIELDS_END,
};
static const struct field approval_fields[] = {
	FIELD(machine_approval, action, "action", FIELD_ENUM, .enums = approve_names,
	      .required = true,
	      .doc = "Wipe: treat what is on it as nobody's. Adopt: it serves the named claim. TrustBMC: the password may go to the BMC that is named."),
	FIELD(machine_approval, id, "id", FIELD_STR, .required = true, .max_len = 64,
	      .doc = "Acted on once; then it stands in status.approvalID."),
	FIELD(machine_approval, claim, "claim", FIELD_STR, AS_NAME, .doc = "Adopt: the NodeClaim."),
	FIELD_PTR(
		machine_approval, bmc, "bmc", bmc_trust_fields,
		.doc = "TrustBMC: address and tls of spec.bmc, and the Secret; it counts only while they are the same."),
	FIELDS_END,
};
static const struct field_rule approval_rules[] = {
	{"self.action != 'Adopt' || has(self.claim)", "action Adopt needs claim"},
	{"self.action != 'TrustBMC' || has(self.bmc)", "action TrustBMC needs bmc"},
	{NULL, NULL},
};

static const struct field identity_fields[] = {
	FIELD(machine_identity, system_uuid, "systemUUID", FIELD_STR, .max_len = 64,
	      .doc = "System UUID, as the BMC says, or dmidecode."),
	FIELD(machine_identity, serial_number, "serialNumber", FIELD_STR, .max_len = 128,
	      .doc = "Serial number, as the BMC says."),
	FIELDS_END,
};
static const struct field_rule identity_rules[] = {
	{"has(self.systemUUID) || has(self.serialNumber)", "systemUUID or serialNumber"},
	{NULL, NULL},
};

static const struct field bmc_fields[] = {
	FIELD(machine_bmc, address, "address", FIELD_STR, .required = true, AS_BMC,
	      .doc = "URL of the BMC, or of the System at it: https for Redfish, ipmi, libvirt or exec for these types of Provider."),
	FIELD_PTR(machine_bmc, credentials_secret_ref, "credentialsSecretRef",
		  object_local_secret_fields,
		  .doc = "Secret with username and password; absent: the Provider's."),
	FIELD_OBJ(machine_bmc, tls, "tls", object_tls_fields, .rules = object_tls_rules,
		  .doc = "How the BMC's certificate is known; there is no way to skip it."),
	FIELDS_END,
};
/* The first two rules repeat the pattern of `address`, because the API server reports a pattern
 * without its meaning. */
static const struct field_rule bmc_rules[] = {
	{"self.address.startsWith('https://') || self.address.matches('^http://127[.][0-9.]+([:/]|$)') || self.address.startsWith('ipmi://') || self.address.startsWith('libvirt://') || self.address.startsWith('exec://')",
	 "address: want https://HOST[/redfish/v1/Systems/ID]; ipmi://, libvirt:// or exec:// for these types of Provider"},
	{"!self.address.matches('^https?://([^/]*@|[^?#]*[?#])')",
	 "address: want no user, query or fragment in the URL"},
	{"!self.address.startsWith('https://') || has(self.tls)", "an https address needs tls"},
	{NULL, NULL},
};

static const struct field provisioning_fields[] = {
	FIELD(machine_provisioning, address, "address", FIELD_STR, .required = true, .max_len = 64,
	      .pattern = "^[0-9a-fA-F.:]+/[0-9]{1,3}$", .valid = object_is_network,
	      .want = "an address such as 10.1.0.17/24",
	      .doc = "The machine's own address in the provisioning network."),
	FIELD(machine_provisioning, gateway, "gateway", FIELD_STR, .max_len = 64,
	      .pattern = "^[0-9a-fA-F.:]+$", .valid = object_is_address, .want = "an IP address",
	      .doc = "Its gateway there."),
	FIELDS_END,
};

#define DRIVES_ROW(type_, doc_)                                                                    \
	FIELD_ITEMS(type_, drives, "drives", object_drive_fields, .max_items = 128,                \
		    .list_key = "wwn", .doc = (doc_))

static const struct field controller_fields[] = {
	FIELD(object_controller, id, "id", FIELD_STR, .required = true, .max_len = 16,
	      .pattern = "^[0-9a-f]{4}:[0-9a-f]{4}$", .valid = object_is_pci,
	      .doc = "PCI vendor and device."),
	FIELD(object_controller, driven, "driven", FIELD_I64, .min = 0, .max = 1024,
	      .doc = "How many have a driver in the agent's image."),
	FIELD(object_controller, dark, "dark", FIELD_I64, .min = 0, .max = 1024,
	      .doc = "How many have none: drives behind them are neither seen nor wiped."),
	FIELDS_END,
};

#define CONTROLLERS_ROW(type_, doc_)                                                               \
	FIELD_ITEMS(type_, controllers, "controllers", controller_fields, .max_items = 64,         \
		    .list_key = "id", .doc = (doc_))

static const struct field elastic_fields[] = {
	FIELD_OBJ(machine_elastic, claim, "claim", object_ref_fields, .required = true,
		  .doc = "The NodeClaim that it was made for, and goes with."),
	FIELDS_END,
};

static const struct field spec_fields[] = {
	FIELD_PTR(machine_spec, elastic, "elastic", elastic_fields,
		  .doc = "Of an instance that drover launches and ends; written by drover."),
	FIELD_OBJ(machine_spec, provider_ref, "providerRef", object_name_ref_fields,
		  .required = true, .doc = "The Provider that it belongs to."),
	FIELD(machine_spec, instance_type, "instanceType", FIELD_STR, .max_len = 128,
	      .doc = "Name of one of the Provider's instance types."),
	FIELD(machine_spec, management_policy, "managementPolicy", FIELD_ENUM,
	      .enums = policy_names, .def = "\"Observe\"",
	      .doc = "Observe only reads; Manage acts; Retire takes it out for good."),
	FIELD_PTR(
		machine_spec, approval, "approval", approval_fields, .rules = approval_rules,
		.doc = "What a person decided about a machine that drover would not touch; written by drover approve."),
	DRIVES_ROW(
		machine_spec,
		"Drives that must be there; written at the first inspection, then only by a person."),
	CONTROLLERS_ROW(
		machine_spec,
		"Storage controllers that must be there; written at the first inspection, then only by a person."),
	FIELD(machine_spec, unseen_drives, "unseenDrives", FIELD_STRINGS, .max_items = 256,
	      .max_len = 160,
	      .doc = "Drives that its BMC lists and its agent does not see, for which a person accounts: they are not wiped. Serial numbers, or what status.inventory.unseenDrives says; written by drover approve --drives."),
	FIELD_PTR(machine_spec, identity, "identity", identity_fields, .rules = identity_rules,
		  .doc = "Checked at each BMC login; without it nothing is managed."),
	FIELD_PTR(machine_spec, bmc, "bmc", bmc_fields, .rules = bmc_rules,
		  .doc = "How its BMC is reached."),
	FIELD(machine_spec, node, "node", FIELD_STR, AS_NAME,
	      .doc = "With a Provider of type bcm: its hostname in BCM; absent: the Machine's name."),
	FIELD(machine_spec, boot_mac_address, "bootMACAddress", FIELD_STR, .max_len = 17,
	      .pattern = "^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$", .valid = object_is_mac,
	      .want = "a MAC address such as b8:ce:f6:01:02:03",
	      .doc = "NIC in the provisioning network."),
	FIELD_PTR(machine_spec, provisioning, "provisioning", provisioning_fields,
		  .doc = "Its address in the provisioning network; absent: DHCP."),
	FIELDS_END,
};

static const struct field instance_fields[] = {
	FIELD(machine_instance, token, "token", FIELD_STR, .max_len = 64,
	      .doc = "With it the instance was asked for: the same again launches nothing new; empty: nothing is asked for."),
	FIELD(machine_instance, attempt, "attempt", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Counts offers that were tried, from 1."),
	FIELD(machine_instance, region, "region", FIELD_STR, .max_len = 128, .doc = "Where."),
	FIELD(machine_instance, zone, "zone", FIELD_STR, .max_len = 128,
	      .doc = "Where in the region; absent: the cloud has no zones."),
	FIELD(machine_instance, type, "type", FIELD_STR, .max_len = 128,
	      .doc = "Instance type, as the cloud names it."),
	FIELD(machine_instance, market, "market", FIELD_STR, .max_len = 16,
	      .doc = "OnDemand, Spot or Reserved."),
	FIELD(machine_instance, micros_per_hour, "microsPerHour", FIELD_I64, .min = 0,
	      .max = INT64_MAX, .doc = "Price at the launch, in millionths of the currency."),
	FIELD(machine_instance, currency, "currency", FIELD_STR, .max_len = 3, .doc = "ISO 4217."),
	FIELD(machine_instance, refused_time, "refusedTime", FIELD_TIME,
	      .doc = "When the cloud refused this token."),
	FIELD(machine_instance, refusal, "refusal", FIELD_STR, .doc = "In its words."),
	FIELD(machine_instance, id, "id", FIELD_STR, .max_len = 128,
	      .doc = "The instance, as the cloud names it."),
	FIELD(machine_instance, provider_id, "providerID", FIELD_STR, .max_len = 2048,
	      .doc = "As the cloud's own controller would name its Node."),
	FIELDS_END,
};

static const struct field attempt_previous_fields[] = {
	FIELD_IN(machine_attempt, previous, name, "name", FIELD_STR, .max_len = 253,
		 .doc = "Name of the WipeRecord before."),
	FIELD_IN(machine_attempt, previous, digest, "digest", FIELD_STR, .max_len = 128,
		 .doc = "SHA-256 of its envelope."),
	FIELDS_END,
};

static const struct field reached_fields[] = {
	FIELD(machine_reached, wwn, "wwn", FIELD_STR, .required = true, .max_len = 256,
	      .doc = "The drive."),
	FIELD(machine_reached, technique, "technique", FIELD_STR, .max_len = 64,
	      .doc = "The last that was begun."),
	FIELD(machine_reached, erased_bytes, "erasedBytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "How far that was, where it tells."),
	FIELDS_END,
};

static const struct field attempt_fields[] = {
	FIELD(machine_attempt, record, "record", FIELD_STR, .required = true, .max_len = 253,
	      .doc = "Name that its WipeRecord will have."),
	FIELD(machine_attempt, attempt, "attempt", FIELD_I64, .min = 1, .max = 1000000,
	      .required = true, .doc = "Counts the attempts for one tenancy, from 1."),
	FIELD_OBJ(machine_attempt, previous, "previous", attempt_previous_fields,
		  .doc = "The machine's newest record when it began."),
	FIELD(machine_attempt, nonce_digest, "nonceDigest", FIELD_STR, .max_len = 128,
	      .doc = "SHA-256 of the nonce."),
	FIELD(machine_attempt, policy_digest, "policyDigest", FIELD_STR, .max_len = 128,
	      .doc = "SHA-256 of the wipe policy that was in force."),
	FIELD(machine_attempt, start_time, "startTime", FIELD_TIME, .doc = "When it began."),
	FIELD_ITEMS(machine_attempt, devices, "devices", reached_fields, .max_items = 256,
		    .doc = "How far each drive was when the agent was heard last.  No proof."),
	FIELDS_END,
};

static const struct field last_wipe_fields[] = {
	FIELD_IN(machine_status, last_wipe, record, "record", FIELD_STR, .max_len = 253,
		 .doc = "Name of the WipeRecord."),
	FIELD_IN(machine_status, last_wipe, tenancy, "tenancy", FIELD_I64, .min = 0,
		 .max = INT64_MAX, .doc = "The tenancy that it ended."),
	FIELD_IN(machine_status, last_wipe, operation, "operation", FIELD_STR, .max_len = 64,
		 .doc = "The operation that wiped: the drives are looked at again by its nonce."),
	FIELD_IN(machine_status, last_wipe, boot_number, "bootNumber", FIELD_I64, .min = 0,
		 .max = INT64_MAX, .doc = "The boot of the agent under it."),
	FIELDS_END,
};

static const struct field power_fields[] = {
	FIELD_IN(machine_status, power, state, "state", FIELD_STR, .max_len = 16,
		 .doc = "On, Off, Changing or Unknown."),
	FIELD_IN(machine_status, power, observed_time, "observedTime", FIELD_TIME,
		 .doc = "When it was read."),
	FIELD_IN(machine_status, power, confirmed_by, "confirmedBy", FIELD_STR, .max_len = 253,
		 .doc = "The operation for which a person saw it off (drover confirm-off)."),
	FIELD_IN(machine_status, power, doubted, "doubted", FIELD_STR, .max_len = 253,
		 .doc = "The operation in which it was heard after its BMC had said Off."),
	FIELD_IN(
		machine_status, power, agent_boot, "agentBoot", FIELD_STR, .max_len = 253,
		.doc = "Operation and boot of the agent that it was seen off for before it was switched on, and the keys that its medium was made with."),
	FIELD_IN(
		machine_status, power, http_boot, "httpBoot", FIELD_STR, .max_len = 253,
		.doc = "Operation and boot of the agent that it was switched on for by HTTP boot; absent when that is over."),
	FIELDS_END,
};

static const struct field probe_fields[] = {
	FIELD(machine_probe, order, "order", FIELD_STR, .max_len = 253,
	      .doc = "What it was asked by: the order of its agent, or the claim of its Node."),
	FIELD(machine_probe, time, "time", FIELD_TIME, .doc = "When it answered."),
	FIELD(machine_probe, message, "message", FIELD_STR, .max_len = 512,
	      .doc = "Why it proves no more; absent: all was as it has to be."),
	FIELD(machine_probe, api_server, "apiServer", FIELD_BOOL,
	      .doc = "Before it joined, its image reached its tenant's API server."),
	FIELD(machine_probe, leak, "leak", FIELD_STR, .max_len = 64,
	      .doc = "An address of another segment that answered."),
	FIELDS_END,
};

static const struct field network_fields[] = {
	FIELD_IN(machine_status, network, segment, "segment", FIELD_STR, .max_len = 253,
		 .doc = "quarantine, provisioning or tenant/NAME."),
	FIELD_IN(machine_status, network, proof, "proof", FIELD_STR, .max_len = 16,
		 .doc = "Strong, Weak or None."),
	FIELD_IN(machine_status, network, observed_time, "observedTime", FIELD_TIME,
		 .doc = "When it was read."),
	FIELD_IN(machine_status, network, probe, "probe", FIELD_OBJECT_PTR, .sub = probe_fields,
		 .size = sizeof(struct machine_probe),
		 .doc = "What was asked from the machine itself there."),
	FIELDS_END,
};

static const struct field error_fields[] = {
	FIELD(machine_error, reason, "reason", FIELD_STR, .max_len = 128,
	      .doc = "One of a closed list."),
	FIELD(machine_error, message, "message", FIELD_STR, .doc = "For people."),
	FIELD(machine_error, time, "time", FIELD_TIME, .doc = "When it happened."),
	FIELDS_END,
};

static const struct field progress_fields[] = {
	FIELD(machine_progress, phase, "phase", FIELD_STR, .max_len = 64,
	      .doc = "What the agent does: canaries, overwrite, image ..."),
	FIELD(machine_progress, done_bytes, "doneBytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Done, over all drives."),
	FIELD(machine_progress, total_bytes, "totalBytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "To do in all; 0: not known."),
	FIELD(machine_progress, bytes_per_second, "bytesPerSecond", FIELD_I64, .min = 0,
	      .max = INT64_MAX, .doc = "Rate, over all drives."),
	FIELD(machine_progress, expected_end, "expectedEnd", FIELD_TIME,
	      .doc = "When it will be done at that rate."),
	FIELDS_END,
};

static const struct field operation_fields[] = {
	FIELD(machine_operation, id, "id", FIELD_STR, .max_len = 64, .doc = "Its id, everywhere."),
	FIELD(machine_operation, step, "step", FIELD_STR, .max_len = 64,
	      .doc = "What is being done."),
	FIELD(machine_operation, class_, "class", FIELD_STR, .max_len = 16,
	      .doc = "idempotent, probe-first or once: how it goes on after a crash."),
	FIELD(machine_operation, attempt, "attempt", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Counts from 1."),
	FIELD(machine_operation, fence, "fence", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Rises with each new leader; lower ones are refused."),
	FIELD(machine_operation, boot_number, "bootNumber", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Which boot of the agent in this operation."),
	FIELD(machine_operation, handle, "handle", FIELD_STR,
	      .doc = "What the backend gave for a call that is under way."),
	FIELD(machine_operation, started, "started", FIELD_TIME, .doc = "When it began."),
	FIELD(machine_operation, deadline, "deadline", FIELD_TIME, .doc = "When it is given up."),
	FIELD(machine_operation, waiting_for, "waitingFor", FIELD_ENUM, .enums = waiting_names,
	      .doc = "The device, or drover itself: then the deadline is moved."),
	FIELD(machine_operation, next_attempt, "nextAttempt", FIELD_TIME,
	      .doc = "When it is tried again."),
	FIELD_OBJ(machine_operation, last_error, "lastError", error_fields,
		  .doc = "Why it was not done the last time."),
	FIELD_PTR(machine_operation, progress, "progress", progress_fields,
		  .doc = "How far the agent is."),
	FIELDS_END,
};

static const struct field agent_fields[] = {
	FIELD(machine_agent, boot_id, "bootID", FIELD_STR, .max_len = 64,
	      .doc = "Boot id of the agent's kernel."),
	FIELD(machine_agent, public_key, "publicKey", FIELD_STR, .max_len = 256,
	      .doc = "Key that it signs with."),
	FIELD(machine_agent, probes, "probes", FIELD_BOOL,
	      .doc = "It can ask which addresses answer."),
	FIELD(machine_agent, dismissed, "dismissed", FIELD_BOOL,
	      .doc = "Its orders are done: nothing of it is listened to any more."),
	FIELD(machine_agent, system_uuid, "systemUUID", FIELD_STR, .max_len = 64,
	      .doc = "System UUID as it reads it: its Node has to say the same."),
	FIELD(machine_agent, observed_time, "observedTime", FIELD_TIME,
	      .doc = "When it was heard last."),
	FIELDS_END,
};

static const struct field nic_fields[] = {
	FIELD(machine_nic, mac, "mac", FIELD_STR, .max_len = 64, .doc = "MAC address."),
	FIELD(machine_nic, name, "name", FIELD_STR, .max_len = 32,
	      .doc = "Name in the agent's kernel."),
	FIELD(machine_nic, driver, "driver", FIELD_STR, .max_len = 32, .doc = "Its driver."),
	FIELDS_END,
};

static const struct field unseen_fields[] = {
	FIELD(machine_unseen, id, "id", FIELD_STR, .required = true, .max_len = 160,
	      .doc = "Serial number or durable name, or MODEL#N for the Nth of a model without."),
	FIELD(machine_unseen, model, "model", FIELD_STR, .max_len = 256, .doc = "As the BMC says."),
	FIELD(machine_unseen, slot, "slot", FIELD_STR, .max_len = 256, .doc = "As the BMC says."),
	FIELD(machine_unseen, volume, "volume", FIELD_STR, .max_len = 256,
	      .doc = "Virtual disk that it is a part of."),
	FIELD(machine_unseen, bytes, "bytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "As the BMC says."),
	FIELDS_END,
};

static const struct field inventory_fields[] = {
	FIELD(machine_inventory, gpus, "gpus", FIELD_I64, .min = 0, .max = 1024,
	      .doc = "How many GPUs."),
	FIELD(machine_inventory, cpus, "cpus", FIELD_I64, .min = 0, .max = 65536,
	      .doc = "How many logical CPUs."),
	FIELD(machine_inventory, memory_bytes, "memoryBytes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "RAM."),
	DRIVES_ROW(machine_inventory, "Drives that were seen."),
	CONTROLLERS_ROW(machine_inventory, "Storage controllers that were seen."),
	FIELD_ITEMS(machine_inventory, unseen_drives, "unseenDrives", unseen_fields,
		    .max_items = 256, .list_key = "id",
		    .doc = "Drives that its BMC lists and the agent did not see."),
	FIELD_ITEMS(machine_inventory, nics, "nics", nic_fields, .max_items = 64,
		    .doc = "NICs that were seen."),
	FIELD(machine_inventory, observed_time, "observedTime", FIELD_TIME,
	      .doc = "When the agent looked."),
	FIELDS_END,
};

static const struct field failure_fields[] = {
	FIELD(machine_failure, time, "time", FIELD_TIME, .doc = "When."),
	FIELD(machine_failure, step, "step", FIELD_STR, .max_len = 64, .doc = "In which step."),
	FIELD(machine_failure, reason, "reason", FIELD_STR, .max_len = 128,
	      .doc = "One of a closed list."),
	FIELD(machine_failure, message, "message", FIELD_STR, .doc = "For people."),
	FIELD(machine_failure, claim, "claim", FIELD_STR, .max_len = 253,
	      .doc = "The claim that it served then."),
	FIELD(machine_failure, pool, "pool", FIELD_STR, .max_len = 253, .doc = "Its pool."),
	FIELD(machine_failure, image, "image", FIELD_STR, .max_len = 128,
	      .doc = "Its image, by digest."),
	FIELD(machine_failure, tenant, "tenant", FIELD_STR, .max_len = 253,
	      .doc = "Its VirtualCluster."),
	FIELD(machine_failure, template_, "template", FIELD_STR, .max_len = 16,
	      .doc = "Of what its pool's template said then, the name: for drift."),
	FIELDS_END,
};

static const struct field quarantine_fields[] = {
	FIELD(machine_quarantine, reason, "reason", FIELD_STR, .max_len = 128,
	      .doc = "One of a closed list."),
	FIELD(machine_quarantine, message, "message", FIELD_STR, .doc = "For people."),
	FIELD(machine_quarantine, exit, "exit", FIELD_ENUM, .enums = exit_names,
	      .doc = "auto: tried again by itself. operator: a person has to decide."),
	FIELD(machine_quarantine, since, "since", FIELD_TIME, .doc = "Since when."),
	FIELD(machine_quarantine, next_attempt, "nextAttempt", FIELD_TIME,
	      .doc = "When it is tried again."),
	FIELD(machine_quarantine, attempts, "attempts", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "How often it was."),
	FIELDS_END,
};

static const struct field hold_fields[] = {
	FIELD(machine_hold, drain, "drain", FIELD_STR, .max_len = 253,
	      .doc = "The Drain that holds it; absent: a person cordoned its Node."),
	FIELD(machine_hold, since, "since", FIELD_TIME, .doc = "Since when."),
	FIELD(machine_hold, pods_left, "podsLeft", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Pods that had not left when the Drain's hold began."),
	FIELD(machine_hold, blocked_by, "blockedBy", FIELD_STR,
	      .doc = "What kept the first of them."),
	FIELDS_END,
};

static const char *const install_phase_names[] = {"Installing", "Installed", "Configuring",
						  "Restarting", NULL};
static const struct field install_fields[] = {
	FIELD(machine_install, handle, "handle", FIELD_STR, .required = true, .max_len = 128,
	      .doc = "The operation that asked for it, and that the node carries in BCM."),
	FIELD(machine_install, category, "category", FIELD_STR, .max_len = 63,
	      .doc = "The category that it is installed in."),
	FIELD(machine_install, phase, "phase", FIELD_ENUM, .enums = install_phase_names,
	      .def = "\"Installing\"",
	      .doc = "Configuring: done, and the agent writes the config drive; Restarting: switched off, since its boot met no head node, to boot once more."),
	FIELD(machine_install, text, "text", FIELD_STR, .doc = "What BCM said last."),
	FIELD(machine_install, changed_time, "changedTime", FIELD_TIME,
	      .doc = "When that was another one."),
	FIELD(machine_install, back_time, "backTime", FIELD_TIME,
	      .doc = "When BCM answered again after it was away while the machine was on."),
	FIELD(machine_install, restart_time, "restartTime", FIELD_TIME,
	      .doc = "When it was switched off for that, once for each install."),
	FIELDS_END,
};

static const struct field leave_fields[] = {
	FIELD(machine_leave, reason, "reason", FIELD_STR, .required = true, .max_len = 64,
	      .doc = "Why it leaves its tenant."),
	FIELD(machine_leave, drain, "drain", FIELD_STR, .max_len = 253,
	      .doc = "The Drain that asked."),
	FIELD(machine_leave, then, "then", FIELD_ENUM, .enums = drain_then_names,
	      .def = "\"Release\"", .doc = "What comes after the wipe."),
	FIELD(machine_leave, then_by, "thenBy", FIELD_STR, .max_len = 253,
	      .doc = "The Drain that wants what then says, if another than drain."),
	FIELD(machine_leave, deadline, "deadline", FIELD_TIME,
	      .doc = "When its pods are not waited for any more."),
	FIELD(machine_leave, deadline_by, "deadlineBy", FIELD_STR, .max_len = 253,
	      .doc = "The Drain whose deadline it is, if another than drain: it escalates, and acts from then on."),
	FIELD(machine_leave, pods_left, "podsLeft", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Pods that have not left."),
	FIELD(machine_leave, blocked_by, "blockedBy", FIELD_STR,
	      .doc = "What keeps the first of them."),
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
	{"self >= oldSelf", "tenancy never falls"},
	{NULL, NULL},
};

static const struct field status_fields[] = {
	FIELD(machine_status, state, "state", FIELD_STR, .max_len = 32,
	      .doc = "Where it is in its life."),
	FIELD(machine_status, state_since, "stateSince", FIELD_TIME, .doc = "Since when."),
	FIELD(machine_status, tenancy, "tenancy", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .rules = tenancy_rules,
	      .doc = "Counts tenants; rises before the first byte of one, never falls."),
	FIELD(machine_status, clean, "clean", FIELD_BOOL,
	      .doc = "Wiped since the last tenant, and proved."),
	FIELD_OBJ(
		machine_status, identity, "identity", identity_fields,
		.doc = "What the BMC said at the last login; `drover approve` copies it to spec.identity."),
	FIELD_PTR(machine_status, claim_ref, "claimRef", object_ref_fields,
		  .doc = "The claim that holds it: the lock."),
	FIELD_OBJ(machine_status, last_wipe, "lastWipe", last_wipe_fields,
		  .doc = "The newest record that passed."),
	FIELD_PTR(machine_status, wipe_attempt, "wipeAttempt", attempt_fields,
		  .doc = "A wipe that was begun and has no WipeRecord yet."),
	FIELD_PTR(machine_status, instance, "instance", instance_fields,
		  .doc = "What was launched for it, or is being."),
	FIELD_PTR(machine_status, install, "install", install_fields,
		  .doc = "What BCM installs or has installed; it ends when BCM has the node back."),
	FIELD_OBJ(machine_status, power, "power", power_fields, .doc = "What the BMC said last."),
	FIELD_OBJ(machine_status, network, "network", network_fields,
		  .doc = "Where its network is."),
	FIELD_OBJ(machine_status, bmc, "bmc", machine_bmc_status_fields,
		  .doc = "What is remembered about its BMC."),
	FIELD_PTR(
		machine_status, trusted_bmc, "trustedBMC", bmc_trust_fields,
		.doc = "The BMC that the password may go to, whose password, and by what CA: of spec.bmc when that was first seen, or as approved since."),
	FIELD_PTR(machine_status, operation, "operation", operation_fields, .doc = "The journal."),
	FIELD_OBJ(machine_status, tenant, "tenant", object_ref_fields,
		  .doc = "The virtual cluster that it serves or served last."),
	FIELD(machine_status, pool, "pool", FIELD_STR, .max_len = 253,
	      .doc = "The NodePool by which it came to that virtual cluster: whose bill its wipe is on."),
	FIELD_PTR(machine_status, warm_for, "warmFor", object_ref_fields,
		  .doc = "The pool that keeps it on while it is free."),
	FIELD_PTR(machine_status, agent, "agent", agent_fields, .doc = "The agent's session."),
	FIELD_PTR(machine_status, inventory, "inventory", inventory_fields,
		  .doc = "What the agent saw."),
	FIELD_ITEMS(machine_status, failures, "failures", failure_fields, .max_items = 20,
		    .doc = "The newest 20."),
	FIELD_PTR(machine_status, quarantine, "quarantine", quarantine_fields,
		  .doc = "Why it is in quarantine."),
	FIELD_PTR(machine_status, leave, "leave", leave_fields,
		  .doc = "Why it leaves its tenant, and what comes after the wipe."),
	FIELD_PTR(machine_status, hold, "hold", hold_fields,
		  .doc = "No placing and no giving back."),
	FIELD_OBJ(machine_status, requests, "requests", requests_fields,
		  .doc = "Requests by annotation that were acted on."),
	FIELD(machine_status, approval_id, "approvalID", FIELD_STR, .max_len = 64,
	      .doc = "The approval acted on last."),
	FIELD(machine_status, boot_id, "bootID", FIELD_STR, .max_len = 64,
	      .doc = "Boot id of its newest Node."),
	CONDITIONS_ROW(machine_status, "Ready, Reachable, Managed, BootProtected, Healthy."),
	FIELDS_END,
};

static const struct field_rule spec_rules[] = {
	{"!has(self.elastic) || !(has(self.bmc) || has(self.identity) || has(self.node))",
	 "elastic stands not beside bmc, identity or node"},
	{"has(self.elastic) == has(oldSelf.elastic)", "elastic is immutable"},
	{NULL, NULL},
};
const struct field machine_fields[] = {
	META_ROW(machine),
	FIELD_OBJ(machine, spec, "spec", spec_fields, .required = true, .rules = spec_rules,
		  .doc = "What is wanted."),
	FIELD_OBJ(machine, status, "status", status_fields, .doc = "What is."),
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
	/* What is launched is neither proved off nor cut nor wiped: no machine of one's own may
	 * become that. */
	if (s->elastic && (s->bmc || s->identity || s->node))
		return err_set(e, ERR_INVALID, 0, "spec.elastic: not beside bmc, identity or node");
	if (o && !o->spec.elastic != !s->elastic)
		return err_set(e, ERR_INVALID, 0, "spec.elastic: is immutable");
	if (s->approval && s->approval->action == APPROVE_ADOPT && !s->approval->claim)
		return err_set(e, ERR_INVALID, 0, "spec.approval.claim: required by action Adopt");
	if (s->approval && s->approval->action == APPROVE_TRUST_BMC && !s->approval->bmc)
		return err_set(e, ERR_INVALID, 0, "spec.approval.bmc: required by action TrustBMC");
	if (s->identity && !s->identity->system_uuid && !s->identity->serial_number)
		return err_set(e, ERR_INVALID, 0, "spec.identity: want systemUUID or serialNumber");
	if (s->bmc && object_tls_check(&s->bmc->tls, str_starts(s->bmc->address, "https://"),
				       "spec.bmc.tls", e) < 0)
		return -1;
	if (o && m->status.tenancy < o->status.tenancy)
		return err_set(e, ERR_INVALID, 0, "status.tenancy: never falls, was %jd, got %jd",
			       (intmax_t)o->status.tenancy, (intmax_t)m->status.tenancy);
	return 0;
}
