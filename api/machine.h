#ifndef API_MACHINE_H
#define API_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"
#include "wipe/evidence.h"

/*
 * machine: the kind Machine: one physical server, virtual machine or cloud instance: its BMC,
 * identity and inventory, its state, its lock (status.claimRef) and its journal (status.operation).
 * Field tables and checks: api/machine.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

enum machine_policy { MACHINE_OBSERVE, MACHINE_MANAGE, MACHINE_RETIRE };
enum machine_approve { APPROVE_WIPE, APPROVE_ADOPT, APPROVE_TRUST_BMC };
enum machine_exit { EXIT_AUTO, EXIT_OPERATOR };
enum machine_waiting { WAITING_DEVICE, WAITING_RATE, WAITING_BUDGET, WAITING_APPROVAL };
/* The BMC to which a password may be sent, and how the BMC is verified. */
struct machine_bmc_trust {
	const char *address;
	struct object_tls tls;
	/* name of the Secret whose password may be sent to the BMC */
	const char *credentials;
	/* digest of the CA certificate in tls.ca_secret_ref; NULL: no CA */
	const char *ca_digest;
};
struct machine_approval {
	/* enum machine_approve */
	int action;
	/* each ID is acted on once, and is then recorded in status.approvalID */
	const char *id;
	/* for Adopt: the NodeClaim that the machine serves */
	const char *claim;
	/* for TrustBMC: spec.bmc as the operator saw it */
	struct machine_bmc_trust *bmc;
};
struct machine_identity {
	const char *system_uuid, *serial_number;
};
struct machine_bmc {
	const char *address;
	struct object_secret_ref *credentials_secret_ref;
	struct object_tls tls;
};
struct machine_provisioning {
	/* such as "10.1.0.17/24" and "10.1.0.1" */
	const char *address, *gateway;
};
/* Set for a machine that drover launches for one claim at an elastic Provider. */
struct machine_elastic {
	struct object_ref claim;
};
struct machine_spec {
	/* NULL: an owned machine (class H or M) */
	struct machine_elastic *elastic;
	struct object_name_ref provider_ref;
	const char *instance_type;
	/* enum machine_policy */
	int management_policy;
	struct machine_approval *approval;
	/* expected drives */
	struct object_drives drives;
	/* expected storage controllers */
	struct object_controllers controllers;
	/* drives (machine_unseen.id) that the BMC lists, the agent does not see and the operator
	 * has accounted for */
	struct strings unseen_drives;
	struct machine_identity *identity;
	struct machine_bmc *bmc;
	/* hostname at the Provider's manager (BCM); NULL: the Machine's name */
	const char *node;
	const char *boot_mac_address;
	/* NULL: DHCP */
	struct machine_provisioning *provisioning;
};
struct machine_error {
	const char *reason, *message;
	int64_t time;
};
/* Progress of the agent's order; written at most every 5 s. */
struct machine_progress {
	const char *phase;
	int64_t done_bytes, total_bytes, bytes_per_second;
	/* 0: unknown */
	int64_t expected_end;
};
/* The journal: written before an act, completed with what was observed afterwards. */
struct machine_operation {
	/* class_: idempotent, probe-first or once */
	const char *id, *step, *class_;
	int64_t attempt, fence, boot_number;
	/* handle that the backend returned for a call in progress */
	const char *handle;
	int64_t started, deadline;
	/* enum machine_waiting */
	int waiting_for;
	int64_t next_attempt;
	struct machine_error last_error;
	/* NULL: no progress reported */
	struct machine_progress *progress;
};
/* Result of a network probe by the machine itself. */
struct machine_probe {
	/* ID of the agent's order, or UID of the claim whose Node reported the result */
	const char *order;
	int64_t time;
	/* why the probe proves nothing more; NULL: every address answered as expected */
	const char *message;
	/* address of another segment that answered; NULL: none */
	const char *leak;
	/* true: the machine's image reached its tenant's API server before it joined */
	bool api_server;
};
struct machine_agent {
	const char *boot_id, *public_key;
	/* true: the agent supports the order probe */
	bool probes;
	/* true: the agent has finished its orders */
	bool dismissed;
	/* exactly as the agent's kernel reads it from DMI; the inspection compared it with the
	 * expected identity */
	const char *system_uuid;
	int64_t observed_time;
};
struct machine_nic {
	const char *mac, *name, *driver;
};
/* A drive that the BMC lists and the agent does not see (controller/rules/listed.h). */
struct machine_unseen {
	const char *id, *model, *slot, *volume;
	int64_t bytes;
};
/* Set for a BMC that does not list its drives (life/listing.h). */
struct machine_unlisted {
	/* firmware version of the BMC when it was asked; NULL: it reports none */
	const char *firmware_version;
	/* answer of the BMC */
	const char *message;
	int64_t observed_time;
};
struct machine_inventory {
	int64_t gpus, cpus, memory_bytes;
	struct object_drives drives;
	struct object_controllers controllers;
	struct {
		struct machine_unseen *v;
		size_t n;
	} unseen_drives;
	struct {
		struct machine_nic *v;
		size_t n;
	} nics;
	int64_t observed_time;
};
struct machine_failure {
	int64_t time;
	const char *step, *reason, *message, *claim;
	/* NodePool of the claim */
	const char *pool;
	/* Image of the claim, by digest: claims/stop_line.h counts failures by it */
	const char *image;
	/* VirtualCluster of the claim */
	const char *tenant;
	/* hash of the template from which the claim was made (promise_name() in rules/promise.h) */
	const char *template_;
};
/* Why a serving machine leaves its tenant, and what happens after the wipe. Set until the machine
 * is free, quarantined or retired (steps/leave_reason.h). */
struct machine_leave {
	/* one of LEAVE_* (api/annotations.h) */
	const char *reason;
	/* Drain that requested it; NULL: none */
	const char *drain;
	/* enum drain_then */
	int then;
	/* Drain that determines then; NULL: the one in drain */
	const char *then_by;
	/* wall ms after which drover no longer waits for pods; 0: no limit */
	int64_t deadline;
	/* Drain that escalates at deadline; NULL: the deadline is that of drain, or of the claim */
	const char *deadline_by;
	int64_t pods_left;
	/* such as "pdb team-x/web" or "checkpoint ns/pod"; NULL: nothing */
	const char *blocked_by;
};
/* While set, no pods are placed on the machine, and it is not given back. */
struct machine_hold {
	/* Drain with then: Hold; NULL: an operator cordoned the Node */
	const char *drain;
	int64_t since;
	/* pods that had not left when the hold began */
	int64_t pods_left;
	/* what prevented the first of these pods from leaving */
	const char *blocked_by;
};
/* Phase of an installation by the Provider's manager (BCM). Set from before the request until the
 * manager has its node back. */
enum machine_install_phase {
	INSTALL_RUNNING,
	INSTALL_DONE,
	INSTALL_CONFIGURING,
	/* switched off, to boot again */
	INSTALL_RESTARTING
};
struct machine_install {
	const char *handle, *category;
	/* enum machine_install_phase */
	int phase;
	/* last status text of the manager */
	const char *text;
	/* when text last changed */
	int64_t changed_time;
	/* when the manager answered again after an outage while the machine was on; 0: no outage */
	int64_t back_time;
	/* when the machine was switched off to boot again after the outage; 0: not done */
	int64_t restart_time;
};
/* The instance that an elastic Provider launches; written before the launch request. */
struct machine_instance {
	/* idempotency token of the launch request; empty: no request */
	const char *token;
	/* number of the offer, counted from 1; each offer has its own token */
	int64_t attempt;
	const char *region, *zone, *type, *market;
	int64_t micros_per_hour;
	const char *currency;
	/* when the cloud refused this token; 0: not refused */
	int64_t refused_time;
	const char *refusal;
	/* as the cloud names them; empty: unknown yet */
	const char *id, *provider_id;
};
/* Progress of one drive in the agent's last report; proves nothing. */
struct machine_reached {
	const char *wwn, *technique;
	int64_t erased_bytes;
};
/* A wipe attempt in progress: written before the agent gets the order, removed when the WipeRecord
 * exists. */
struct machine_attempt {
	/* name of the WipeRecord that the attempt will create */
	const char *record;
	int64_t attempt;
	/* previous WipeRecord; empty: none */
	struct {
		const char *name, *digest;
	} previous;
	const char *nonce_digest, *policy_digest;
	int64_t start_time;
	/* progress of each drive */
	struct {
		struct machine_reached *v;
		size_t n;
	} devices;
};
struct machine_quarantine {
	const char *reason, *message;
	/* enum machine_exit */
	int exit;
	int64_t since, next_attempt, attempts;
};
struct machine_status {
	int64_t observed_generation;
	/* name from api/machine_states.def */
	const char *state;
	int64_t state_since;
	int64_t tenancy;
	bool clean;
	/* claim that owns the machine: a lock, set by compare-and-swap */
	struct object_ref *claim_ref;
	/* as the BMC last reported */
	struct machine_identity identity;
	struct {
		const char *record;
		int64_t tenancy;
		/* the nonce of the wipe is derived from operation and boot_number */
		const char *operation;
		int64_t boot_number;
	} last_wipe;
	/* NULL: no attempt without a WipeRecord */
	struct machine_attempt *wipe_attempt;
	/* NULL: not elastic, or no launch requested */
	struct machine_instance *instance;
	/* NULL: no installation requested */
	struct machine_install *install;
	struct {
		/* "On", "Off", "Changing" or "Unknown" */
		const char *state;
		int64_t observed_time;
		/* operation for which an operator confirmed that the machine is off; NULL: none */
		const char *confirmed_by;
		/* operation in which the machine was heard after the BMC had reported Off */
		const char *doubted;
		/* "OPERATION/BOOT/KEYS" of the agent for whose boot the machine was seen off and
		 * then switched on; NULL: none */
		const char *agent_boot;
		/* "OPERATION/BOOT" of the agent for whose HTTP boot the machine was switched on;
		 * NULL: none, or the machine was seen off since */
		const char *http_boot;
	} power;
	struct {
		/* segment: such as "tenant/team-a"; proof: Strong, Weak or None */
		const char *segment, *proof;
		int64_t observed_time;
		/* NULL: not probed */
		struct machine_probe *probe;
	} network;
	struct {
		/* fingerprint: pinned at first use */
		const char *session_uri, *secret_version, *refused_secret_version, *fingerprint;
		/* "HTTPS": the BMC refused a medium over plain HTTP */
		const char *media_over;
		/* digest of an HTTP boot URL of drover that the BMC does not remove */
		const char *kept_address;
		/* what is known about the BMC (life/bmc_facts.h) */
		const char *vendor, *product, *firmware_version, *redfish_version;
		/* IDs from redfish/quirks.def */
		struct strings quirks;
		/* "HTTP", "HTTPS", "Disabled" or "None" */
		const char *media;
		const char *media_slot;
		/* "Session" or "Basic" */
		const char *login;
		/* 0: unknown */
		int64_t latency_ms;
		/* 0: unknown */
		int64_t trip_calls;
		/* NULL: the BMC lists its drives, as far as known */
		struct machine_unlisted *drives_not_listed;
	} bmc;
	/* the only BMC to which the password may be sent; NULL: none seen yet */
	struct machine_bmc_trust *trusted_bmc;
	struct machine_operation *operation;
	/* VirtualCluster that the machine serves or served last; name NULL: none yet */
	struct object_ref tenant;
	/* NodePool of the claim through which the machine came to that tenant */
	const char *pool;
	struct object_ref *warm_for;
	struct machine_agent *agent;
	struct machine_inventory *inventory;
	/* the newest 20 */
	struct {
		struct machine_failure *v;
		size_t n;
	} failures;
	struct machine_quarantine *quarantine;
	/* NULL: the machine is not leaving */
	struct machine_leave *leave;
	/* NULL: no hold */
	struct machine_hold *hold;
	/* values of the annotations that were acted on last (steps/requests.h) */
	struct {
		const char *retry, *release;
	} requests;
	const char *approval_id;
	/* boot ID of the Node that serves or served last */
	const char *boot_id;
	struct conditions conditions;
};
struct machine {
	struct object_meta meta;
	struct machine_spec spec;
	struct machine_status status;
};

#endif
