#ifndef API_MACHINE_H
#define API_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"
#include "api/machine_states.h"
#include "wipe/evidence.h"

/*
 * machine: the kind Machine: one physical server, virtual machine or cloud instance. The object has
 * the machine's BMC, identity and inventory, its state, its lock (status.claimRef) and its journal
 * (status.operation). Field tables and checks: api/machine.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

enum machine_policy { MACHINE_OBSERVE, MACHINE_MANAGE, MACHINE_RETIRE };
enum machine_approve { APPROVE_WIPE, APPROVE_ADOPT, APPROVE_TRUST_BMC };
enum machine_exit { EXIT_AUTO, EXIT_OPERATOR };
enum machine_waiting { WAITING_DEVICE, WAITING_RATE, WAITING_BUDGET, WAITING_APPROVAL };
/* The BMC to which drover may send the password, and how drover verifies the BMC. */
struct machine_bmc_trust {
	const char *address;
	struct object_tls tls;
	/* name of the Secret with the password for the BMC */
	const char *credentials;
	/* digest of the CA certificate in tls.ca_secret_ref; NULL: no CA */
	const char *ca_digest;
};
struct machine_approval {
	/* enum machine_approve */
	int action;
	/* ID of the approval; drover acts on each ID once and then stores it in
	 * status.approvalID */
	const char *id;
	/* for Adopt: the NodeClaim that the machine serves */
	const char *claim;
	/* for TrustBMC: spec.bmc as it was when the operator approved it */
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
	/* address with prefix, such as "10.1.0.17/24", and address of the gateway, such as
	 * "10.1.0.1" */
	const char *address, *gateway;
};
/* Set for a machine that drover launches for one claim at an elastic Provider. */
struct machine_elastic {
	struct object_ref claim;
};
struct machine_spec {
	/* set for an instance launched for a claim; NULL: an owned machine (class H or M in
	 * machine_states.def) */
	struct machine_elastic *elastic;
	struct object_name_ref provider_ref;
	const char *instance_type;
	/* enum machine_policy */
	int management_policy;
	struct machine_approval *approval;
	/* drives that drover expects to find in an inspection of the machine */
	struct object_drives drives;
	/* storage controllers that drover expects to find in an inspection of the machine */
	struct object_controllers controllers;
	/* IDs of drives (machine_unseen.id) that the BMC lists and the agent does not see, which
	 * the operator has accounted for */
	struct strings unseen_drives;
	/* decisions of administrators that a wipe is not needed, oldest first */
	struct {
		struct evidence_waiver *v;
		size_t n;
	} waivers;
	struct machine_identity *identity;
	struct machine_bmc *bmc;
	/* hostname of the machine in the Provider's manager (BCM); NULL: the Machine's name */
	const char *node;
	const char *boot_mac_address;
	/* network settings of the agent; NULL: DHCP */
	struct machine_provisioning *provisioning;
};
struct machine_error {
	const char *reason, *message;
	int64_t time;
};
/* Progress of the order that the agent carries out; written at most every 5 s. */
struct machine_progress {
	const char *phase;
	int64_t done_bytes, total_bytes, bytes_per_second;
	/* expected end of the phase, wall ms; 0: unknown */
	int64_t expected_end;
};
/* The journal of the machine. drover writes an act (a request that changes something) to the
 * journal before it sends the request, and adds what it observed afterwards. */
struct machine_operation {
	/* class_: how the step continues after a crash: "idempotent" (repeated), "probe-first" (its
	 * effect is read first) or "once" (never repeated) */
	const char *id, *step, *class_;
	int64_t attempt, fence, boot_number;
	/* handle that the backend returned for a call in progress */
	const char *handle;
	int64_t started, deadline;
	/* enum machine_waiting */
	int waiting_for;
	int64_t next_attempt;
	struct machine_error last_error;
	/* progress of the agent; NULL: none reported */
	struct machine_progress *progress;
};
/* Result of a network probe by the machine itself. */
struct machine_probe {
	/* ID of the agent's order, or UID of the claim whose Node reported the result */
	const char *order;
	int64_t time;
	/* why the probe does not prove the segment; NULL: each probed address that should answer
	 * answered, and each that should not was silent */
	const char *message;
	/* address of another segment that answered although it must not; NULL: none */
	const char *leak;
	/* true: the machine's image reached the tenant's API server before the Node joined */
	bool api_server;
};
struct machine_agent {
	const char *boot_id, *public_key;
	/* true: the agent supports the order "probe" */
	bool probes;
	/* true: the agent has finished its orders; drover ignores later messages from it */
	bool dismissed;
	/* system UUID from DMI, exactly as the agent's kernel reads it; the inspection compared it
	 * with the expected identity */
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
/* Answer of a BMC that does not list its drives (life/listing.h). */
struct machine_unlisted {
	/* firmware version of the BMC when it was asked; NULL: not reported */
	const char *firmware_version;
	/* error that the BMC returned */
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
	/* Image of the claim, by digest: claims/breaker.h counts failures by it */
	const char *image;
	/* VirtualCluster of the claim */
	const char *tenant;
	/* hash of the template from which the claim was made, as promise_name() computes it
	 * (controller/rules/promise.h) */
	const char *template_;
};
/* All values of status.leave.reason (LEAVE_* of api/annotations.h), NULL-terminated */
extern const char *const machine_leave_reasons[];
/* Why a serving machine leaves its tenant, and what happens after the wipe. Present until the
 * machine is free, quarantined or retired (steps/leave_reason.h). */
struct machine_leave {
	/* one of LEAVE_* (api/annotations.h) */
	const char *reason;
	/* name of the Drain that requested that the machine leaves; NULL: none */
	const char *drain;
	/* enum drain_then: what happens to the machine after the wipe */
	int then;
	/* name of the Drain that determines `then`; NULL: the Drain in `drain` */
	const char *then_by;
	/* wall ms after which drover no longer waits for pods; 0: no limit */
	int64_t deadline;
	/* name of the Drain with onDeadline: Escalate whose deadline is in `deadline`; NULL: the
	 * deadline comes from the Drain in `drain`, or from the claim */
	const char *deadline_by;
	int64_t pods_left;
	/* what prevents a pod from leaving, such as "pdb team-x/web" or "checkpoint ns/pod"; NULL:
	 * nothing */
	const char *blocked_by;
};
/* Present while the machine is held (kept empty by a Drain with then: Hold, or because an operator
 * cordoned its Node): no pods are placed on it, and it is not given back. */
struct machine_hold {
	/* name of the Drain with then: Hold; NULL: an operator cordoned the Node */
	const char *drain;
	int64_t since;
	/* number of pods that had not left when the hold began */
	int64_t pods_left;
	/* what prevented the first of the remaining pods from leaving, as in
	 * machine_leave.blocked_by */
	const char *blocked_by;
};
/* Phase of an installation by the Provider's manager (BCM). status.install has a phase from before
 * the request until the node in BCM is back in its original state. */
enum machine_install_phase {
	INSTALL_RUNNING,
	INSTALL_DONE,
	INSTALL_CONFIGURING,
	/* the machine was switched off so that it boots again */
	INSTALL_RESTARTING
};
struct machine_install {
	const char *handle, *category;
	/* enum machine_install_phase */
	int phase;
	/* last status text of the manager */
	const char *text;
	/* wall ms at which text last changed */
	int64_t changed_time;
	/* wall ms at which the manager answered again after an outage during which the machine was
	 * on; 0: no outage */
	int64_t back_time;
	/* wall ms at which the machine was switched off to boot again after the outage; 0: not
	 * done */
	int64_t restart_time;
};
/* The instance that an elastic Provider launches; written before the launch request. */
struct machine_instance {
	/* token that makes the launch request idempotent; empty: no request yet */
	const char *token;
	/* number of the tried offer, counted from 1; each offer has a token of its own */
	int64_t attempt;
	const char *region, *zone, *type;
	/* enum market; -1: no launch yet */
	int market;
	int64_t micros_per_hour;
	const char *currency;
	/* wall ms at which the cloud refused the launch with this token; 0: not refused */
	int64_t refused_time;
	const char *refusal;
	/* id: the cloud's ID of the instance. provider_id: spec.providerID that its Node will have.
	 * Both are empty until they are known. */
	const char *id, *provider_id;
	/* interrupted: the instance left its tenant while pods were on its Node. moved: it left
	 * because its pods were moved to an owned machine; then interrupted is false. */
	bool interrupted, moved;
};
/* Progress of one drive, from the agent's last report. It is information only and never counts as
 * proof. */
struct machine_reached {
	const char *wwn, *technique;
	int64_t erased_bytes;
};
/* A wipe attempt in progress: written before the agent gets the order, removed when the attempt's
 * WipeRecord exists. */
struct machine_attempt {
	/* name of the WipeRecord that the attempt will create */
	const char *record;
	int64_t attempt;
	/* newest WipeRecord before this attempt; name empty: none */
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
	/* claim that owns the machine. The field is a lock: only compare-and-swap may set it. */
	struct object_ref *claim_ref;
	/* identity that the BMC reported last */
	struct machine_identity identity;
	struct {
		const char *record;
		int64_t tenancy;
		/* id of the operation and number of the boot in which the machine was wiped. Both
		 * determine the nonce of the wipe. */
		const char *operation;
		int64_t boot_number;
	} last_wipe;
	/* wipe attempt in progress; NULL: none */
	struct machine_attempt *wipe_attempt;
	/* instance of an elastic machine; NULL: the machine is not elastic, or no launch was
	 * requested */
	struct machine_instance *instance;
	/* installation by the Provider's manager; NULL: none was requested */
	struct machine_install *install;
	struct {
		/* "On", "Off", "Changing" or "Unknown" */
		const char *state;
		int64_t observed_time;
		/* operation for which an operator confirmed that the machine is off; NULL: none */
		const char *confirmed_by;
		/* operation in which the machine showed life after the BMC had reported Off (the
		 * Lease of its Node was renewed, or its agent sent a message); NULL: none */
		const char *doubted;
		/* "OPERATION/BOOT/KEYS" of an agent boot for which the machine was switched on
		 * after it was observed off; NULL: none */
		const char *agent_boot;
		/* "OPERATION/BOOT" of an agent boot by HTTP for which the machine was switched on;
		 * NULL: none, or the machine was observed off since */
		const char *http_boot;
	} power;
	struct {
		/* segment: where the machine's ports are, such as "tenant/team-a". proof: how well
		 * that is proved: Strong, Weak or None. */
		const char *segment, *proof;
		int64_t observed_time;
		/* result of the last network probe; NULL: not probed */
		struct machine_probe *probe;
	} network;
	struct {
		/* fingerprint: digest of the BMC's certificate, pinned at first use */
		const char *session_uri, *secret_version, *refused_secret_version, *fingerprint;
		/* "HTTPS": the BMC refused a boot medium over plain HTTP, so drover now serves boot
		 * media to it over TLS; NULL: no such refusal */
		const char *media_over;
		/* digest of an HTTP boot URL that drover set and the BMC does not remove */
		const char *kept_address;
		/* what drover has learned about the BMC (life/bmc_facts.h) */
		const char *vendor, *product, *firmware_version, *redfish_version;
		/* IDs from redfish/quirks.def */
		struct strings quirks;
		/* how the BMC loads virtual media: "HTTP", "HTTPS", "Disabled" or "None" */
		const char *media;
		const char *media_slot;
		/* login method: "Session" or "Basic" */
		const char *login;
		/* smoothed response time of the BMC; 0: unknown */
		int64_t latency_ms;
		/* number of BMC requests in the machine's last cycle from state free to the next
		 * state free; 0: unknown */
		int64_t trip_calls;
		/* why the BMC does not list its drives; NULL: it lists them, as far as is known */
		struct machine_unlisted *drives_not_listed;
	} bmc;
	/* the only BMC to which drover sends the password; NULL: none yet */
	struct machine_bmc_trust *trusted_bmc;
	struct machine_operation *operation;
	/* VirtualCluster that the machine serves or served last; name NULL: none yet */
	struct object_ref tenant;
	/* NodePool of the claim through which the machine came to the tenant in `tenant` */
	const char *pool;
	struct object_ref *warm_for;
	struct machine_agent *agent;
	struct machine_inventory *inventory;
	/* failures, at most the newest 20 */
	struct {
		struct machine_failure *v;
		size_t n;
	} failures;
	struct machine_quarantine *quarantine;
	/* why the machine leaves its tenant; NULL: it does not leave */
	struct machine_leave *leave;
	/* why the machine is held; NULL: it is not held */
	struct machine_hold *hold;
	/* values of the annotations drover.dev/retry and drover.dev/release on which drover acted
	 * last (steps/requests.h) */
	struct {
		const char *retry, *release;
	} requests;
	const char *approval_id;
	/* boot ID that the machine's present or last Node reported */
	const char *boot_id;
	struct conditions conditions;
};
struct machine {
	struct object_meta meta;
	struct machine_spec spec;
	struct machine_status status;
};

/* True if the Machine is in this state. */
bool machine_is_in(const struct machine *m, enum machine_state s);
/* True if a claim waits for the machine: drover prepares it for the claim, and it does not serve
 * yet. */
bool machine_is_awaited(const struct machine *m);
/* True if the drives may hold data of the machine's last tenancy: status.lastWipe proves no wipe
 * after that tenancy, and no entry Retirement of spec.waivers lets the machine go without one.
 * False for a machine that drover has not used yet (state known, never wiped), for a retired
 * machine, which was let go already, and for an elastic one, which drover never wipes. */
bool machine_is_unwiped(const struct machine *m);

/* What status and events report about a cloud instance that was terminated */
#define MACHINE_RELEASED "released to the cloud, not wiped by drover"

#endif
