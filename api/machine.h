#ifndef API_MACHINE_H
#define API_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"
#include "wipe/evidence.h"

/*
 * machine: the kind Machine: one physical server: BMC, identity, inventory; state, lock
 * (status.claimRef) and journal (status.operation). Field tables and checks: api/machine.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

enum machine_policy { MACHINE_OBSERVE, MACHINE_MANAGE, MACHINE_RETIRE };
enum machine_approve { APPROVE_WIPE, APPROVE_ADOPT, APPROVE_TRUST_BMC };
enum machine_exit { EXIT_AUTO, EXIT_OPERATOR };
enum machine_waiting { WAITING_DEVICE, WAITING_RATE, WAITING_BUDGET, WAITING_APPROVAL };
/* Where its BMC's password goes, and by what that BMC is known. */
struct machine_bmc_trust {
	const char *address;
	struct object_tls tls;
	/* name of the Secret whose password goes there */
	const char *credentials;
	/* of what tls.ca_secret_ref held; NULL: no CA */
	const char *ca_digest;
};
struct machine_approval {
	/* enum machine_approve */
	int action;
	/* acted on once: then it stands in status.approvalID */
	const char *id;
	/* Adopt: the NodeClaim that the machine serves */
	const char *claim;
	/* TrustBMC: spec.bmc, as the person saw it */
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
	/* "10.1.0.17/24", "10.1.0.1" */
	const char *address, *gateway;
};
/* Made by drover for one claim, of an elastic Provider. */
struct machine_elastic {
	struct object_ref claim;
};
struct machine_spec {
	/* NULL: of class H or M */
	struct machine_elastic *elastic;
	struct object_name_ref provider_ref;
	const char *instance_type;
	/* enum machine_policy */
	int management_policy;
	struct machine_approval *approval;
	/* expected */
	struct object_drives drives;
	/* expected */
	struct object_controllers controllers;
	/* that its BMC lists and its agent does not see, by machine_unseen.id */
	struct strings unseen_drives;
	struct machine_identity *identity;
	struct machine_bmc *bmc;
	/* what the manager of its Provider calls it; NULL: its name */
	const char *node;
	const char *boot_mac_address;
	/* NULL: DHCP */
	struct machine_provisioning *provisioning;
};
struct machine_error {
	const char *reason, *message;
	int64_t time;
};
/* How far the agent's order is; written at most every 5 s. */
struct machine_progress {
	const char *phase;
	int64_t done_bytes, total_bytes, bytes_per_second;
	/* 0: not known */
	int64_t expected_end;
};
/* The journal: written before the act, completed with what was observed. */
struct machine_operation {
	/* idempotent, probe-first, once */
	const char *id, *step, *class_;
	int64_t attempt, fence, boot_number;
	/* what a backend gave for a call that is under way */
	const char *handle;
	int64_t started, deadline;
	/* enum machine_waiting */
	int waiting_for;
	int64_t next_attempt;
	struct machine_error last_error;
	/* NULL: nothing to tell */
	struct machine_progress *progress;
};
/* What packets said of where it is. */
struct machine_probe {
	/* id of the agent's order, or UID of the claim whose Node told it */
	const char *order;
	int64_t time;
	/* why it proves no more; NULL: it does */
	const char *message;
	/* an address of another segment that answered; NULL: none */
	const char *leak;
	/* its image reached its tenant's API server before it joined */
	bool api_server;
};
struct machine_agent {
	const char *boot_id, *public_key;
	/* it knows the order probe */
	bool probes;
	/* its orders are all done */
	bool dismissed;
	/* letter for letter, as its kernel reads DMI; proved by the inspection */
	const char *system_uuid;
	int64_t observed_time;
};
struct machine_nic {
	const char *mac, *name, *driver;
};
/* A drive that its BMC lists and its agent does not see (controller/rules/listed.h). */
struct machine_unseen {
	const char *id, *model, *slot, *volume;
	int64_t bytes;
};
/* A BMC that does not list its drives (life/listing.h). */
struct machine_unlisted {
	/* of the BMC when it was asked; NULL: it reports none */
	const char *firmware_version;
	/* its answer */
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
	const char *pool,
		/* the claim's, image by its digest: for stopping the line (claims/stop_line.h) */
		*image, *tenant;
	/* what it was promised, by name (rules/promise.h) */
	const char *template_;
};
/* Why it leaves its tenant, and what comes after the wipe: from serving until free, quarantined or
 * retired (steps/leave_reason.h). */
struct machine_leave {
	/* LEAVE_* of steps/leave_reason.h */
	const char *reason;
	/* the Drain that asked; NULL: none */
	const char *drain;
	/* enum drain_then */
	int then;
	/* the Drain that wants this `then`; NULL: `drain` */
	const char *then_by;
	/* when pods are not waited for any more; 0: never */
	int64_t deadline;
	/* the Drain that escalates then; NULL: it is that of `drain`, or of the claim */
	const char *deadline_by;
	int64_t pods_left;
	/* "pdb team-x/web", "checkpoint ns/pod", ...; NULL: nothing */
	const char *blocked_by;
};
/* Nothing is placed on it and it is not given back. */
struct machine_hold {
	/* the Drain with then: Hold; NULL: a person cordoned its Node */
	const char *drain;
	int64_t since;
	/* that the Drain left behind when the hold began */
	int64_t pods_left;
	/* what kept the first of them */
	const char *blocked_by;
};
/* An install that its Provider's manager does: from before it is asked for until the manager has
 * its node back. */
enum machine_install_phase {
	INSTALL_RUNNING,
	INSTALL_DONE,
	INSTALL_CONFIGURING,
	/* switched off, to boot once more */
	INSTALL_RESTARTING
};
struct machine_install {
	const char *handle, *category;
	/* enum machine_install_phase */
	int phase;
	/* as the manager says */
	const char *text;
	/* of the text */
	int64_t changed_time;
	/* the manager was away while it was on, and answered again; 0: it was not */
	int64_t back_time;
	/* it was begun to be switched off and on for that; 0: it was not */
	int64_t restart_time;
};
/* What an elastic Provider launched for it: written before it is asked for. */
struct machine_instance {
	/* that it was asked for with; empty: nothing is */
	const char *token;
	/* counts offers, from 1: each has a token of its own */
	int64_t attempt;
	const char *region, *zone, *type, *market;
	int64_t micros_per_hour;
	const char *currency;
	/* the cloud refused this token; 0: it did not */
	int64_t refused_time;
	const char *refusal;
	/* as the cloud names it; empty: not known yet */
	const char *id, *provider_id;
};
/* A wipe that was begun: written before the agent is told, gone when its record stands. */
/* what the agent said last; no proof */
struct machine_reached {
	const char *wwn, *technique;
	int64_t erased_bytes;
};
struct machine_attempt {
	/* its WipeRecord's name */
	const char *record;
	int64_t attempt;
	struct {
		const char *name, *digest;
	} previous; /* the record before; empty: none */
	const char *nonce_digest, *policy_digest;
	int64_t start_time;
	struct {
		struct machine_reached *v;
		size_t n;
	} devices; /* how far each drive is */
};
struct machine_quarantine {
	const char *reason, *message;
	/* enum machine_exit */
	int exit;
	int64_t since, next_attempt, attempts;
};
struct machine_status {
	int64_t observed_generation;
	/* api/machine_states.def */
	const char *state;
	int64_t state_since;
	int64_t tenancy;
	bool clean;
	/* the lock, compare-and-swap */
	struct object_ref *claim_ref;
	/* as the BMC last said */
	struct machine_identity identity;
	struct {
		const char *record;
		int64_t tenancy;
		/* with boot_number what its nonce is derived from */
		const char *operation;
		int64_t boot_number;
	} last_wipe;
	/* NULL: none without a record */
	struct machine_attempt *wipe_attempt;
	/* NULL: not elastic, or nothing was asked for */
	struct machine_instance *instance;
	/* NULL: its manager was asked for nothing */
	struct machine_install *install;
	struct {
		/* "On", "Off", "Unknown" */
		const char *state;
		int64_t observed_time;
		/* the operation for which a person saw it off; NULL: none */
		const char *confirmed_by;
		/* the operation in which it was heard after the BMC said Off */
		const char *doubted;
		/* "operation/boot/keys" of the agent that it was seen off for, before it was
		 * switched on; NULL: none */
		const char *agent_boot;
		/* "operation/boot" of the agent that it was switched on for by HTTP; NULL: none, or
		 * it was seen off since */
		const char *http_boot;
	} power;
	struct {
		/* "tenant/team-a"; Strong, Weak, None */
		const char *segment, *proof;
		int64_t observed_time;
		/* NULL: nothing was asked from there */
		struct machine_probe *probe;
	} network;
	struct {
		/* pinned at first use */
		const char *session_uri, *secret_version, *refused_secret_version, *fingerprint;
		/* "HTTPS": it refused a medium over plain HTTP */
		const char *media_over;
		/* digest of an HTTP boot address of ours that it does not let go */
		const char *kept_address;
		/* what is known of it (life/bmc_facts.h) */
		const char *vendor, *product, *firmware_version, *redfish_version;
		/* ids of redfish/quirks.def */
		struct strings quirks;
		/* HTTP, HTTPS, Disabled, None */
		const char *media;
		const char *media_slot;
		/* Session, Basic */
		const char *login;
		/* 0: not known */
		int64_t latency_ms;
		/* 0: not known */
		int64_t trip_calls;
		/* NULL: it lists them, as far as known */
		struct machine_unlisted *drives_not_listed;
	} bmc;
	/* the only one that the password goes to; NULL: none was seen yet */
	struct machine_bmc_trust *trusted_bmc;
	struct machine_operation *operation;
	/* the virtual cluster that is served, or was last; name NULL: none yet */
	struct object_ref tenant;
	/* NodePool of the claim by which it is, or was, that tenant's */
	const char *pool;
	struct object_ref *warm_for;
	struct machine_agent *agent;
	struct machine_inventory *inventory;
	struct {
		struct machine_failure *v;
		size_t n;
	} failures; /* newest 20 */
	struct machine_quarantine *quarantine;
	/* NULL: nothing makes it leave */
	struct machine_leave *leave;
	/* NULL: none */
	struct machine_hold *hold;
	struct {
		const char *retry, *release;
	} requests; /* values of the annotations acted on last (steps/requests.h) */
	const char *approval_id;
	/* of the Node that serves or served last */
	const char *boot_id;
	struct conditions conditions;
};
struct machine {
	struct object_meta meta;
	struct machine_spec spec;
	struct machine_status status;
};

#endif
