#ifndef API_MACHINE_H
#define API_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"
#include "wipe/evidence.h"

/*
 * machine: the kind Machine: one physical server: BMC, identity, inventory; state, lock (status.claimRef) and journal (status.operation).
 * Field tables and checks: api/machine.c.
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
	const char *credentials; /* name of the Secret whose password goes there */
	const char *ca_digest;	 /* of what tls.ca_secret_ref held; NULL: no CA */
};
struct machine_approval {
	int action;		       /* enum machine_approve */
	const char *id;		       /* acted on once: then it stands in status.approvalID */
	const char *claim;	       /* Adopt: the NodeClaim that the machine serves */
	struct machine_bmc_trust *bmc; /* TrustBMC: spec.bmc, as the person saw it */
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
	const char *address, *gateway; /* "10.1.0.17/24", "10.1.0.1" */
};
/* Made by drover for one claim, of an elastic Provider. */
struct machine_elastic {
	struct object_ref claim;
};
struct machine_spec {
	struct machine_elastic *elastic; /* NULL: of class H or M */
	struct object_name_ref provider_ref;
	const char *instance_type;
	int management_policy; /* enum machine_policy */
	struct machine_approval *approval;
	struct object_drives drives;	       /* expected */
	struct object_controllers controllers; /* expected */
	struct strings
		unseen_drives; /* that its BMC lists and its agent does not see, by machine_unseen.id */
	struct machine_identity *identity;
	struct machine_bmc *bmc;
	const char *node; /* what the manager of its Provider calls it; NULL: its name */
	const char *boot_mac_address;
	struct machine_provisioning *provisioning; /* NULL: DHCP */
};
struct machine_error {
	const char *reason, *message;
	int64_t time;
};
/* How far the agent's order is; written at most every 5 s. */
struct machine_progress {
	const char *phase;
	int64_t done_bytes, total_bytes, bytes_per_second;
	int64_t expected_end; /* 0: not known */
};
/* The journal: written before the act, completed with what was observed. */
struct machine_operation {
	const char *id, *step, *class_; /* idempotent, probe-first, once */
	int64_t attempt, fence, boot_number;
	const char *handle; /* what a backend gave for a call that is under way */
	int64_t started, deadline;
	int waiting_for; /* enum machine_waiting */
	int64_t next_attempt;
	struct machine_error last_error;
	struct machine_progress *progress; /* NULL: nothing to tell */
};
/* What packets said of where it is. */
struct machine_probe {
	const char *order; /* id of the agent's order, or UID of the claim whose Node told it */
	int64_t time;
	const char *message; /* why it proves no more; NULL: it does */
	const char *leak;    /* an address of another segment that answered; NULL: none */
	bool api_server;     /* its image reached its tenant's API server before it joined */
};
struct machine_agent {
	const char *boot_id, *public_key;
	bool probes;	/* it knows the order probe */
	bool dismissed; /* its orders are all done */
	const char *
		system_uuid; /* letter for letter, as its kernel reads DMI; proved by the inspection */
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
	const char *firmware_version; /* of the BMC when it was asked; NULL: it reports none */
	const char *message;	      /* its answer */
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
		*image, /* the claim's, image by its digest: for stopping the line (claims/stop_line.h) */
		*tenant;
	const char *template_; /* what it was promised, by name (rules/promise.h) */
};
/* Why it leaves its tenant, and what comes after the wipe: from serving until free, quarantined or
 * retired (steps/leave_reason.h). */
struct machine_leave {
	const char *reason;  /* LEAVE_* of steps/leave_reason.h */
	const char *drain;   /* the Drain that asked; NULL: none */
	int then;	     /* enum drain_then */
	const char *then_by; /* the Drain that wants this `then`; NULL: `drain` */
	int64_t deadline;    /* when pods are not waited for any more; 0: never */
	const char *
		deadline_by; /* the Drain that escalates then; NULL: it is that of `drain`, or of the claim */
	int64_t pods_left;
	const char *blocked_by; /* "pdb team-x/web", "checkpoint ns/pod", ...; NULL: nothing */
};
/* Nothing is placed on it and it is not given back. */
struct machine_hold {
	const char *drain; /* the Drain with then: Hold; NULL: a person cordoned its Node */
	int64_t since;
	int64_t pods_left;	/* that the Drain left behind when the hold began */
	const char *blocked_by; /* what kept the first of them */
};
/* An install that its Provider's manager does: from before it is asked for until the manager has its node back. */
enum machine_install_phase {
	INSTALL_RUNNING,
	INSTALL_DONE,
	INSTALL_CONFIGURING,
	INSTALL_RESTARTING /* switched off, to boot once more */
};
struct machine_install {
	const char *handle, *category;
	int phase;	      /* enum machine_install_phase */
	const char *text;     /* as the manager says */
	int64_t changed_time; /* of the text */
	int64_t back_time; /* the manager was away while it was on, and answered again; 0: it was not */
	int64_t restart_time; /* it was begun to be switched off and on for that; 0: it was not */
};
/* What an elastic Provider launched for it: written before it is asked for. */
struct machine_instance {
	const char *token; /* that it was asked for with; empty: nothing is */
	int64_t attempt;   /* counts offers, from 1: each has a token of its own */
	const char *region, *zone, *type, *market;
	int64_t micros_per_hour;
	const char *currency;
	int64_t refused_time; /* the cloud refused this token; 0: it did not */
	const char *refusal;
	const char *id, *provider_id; /* as the cloud names it; empty: not known yet */
};
/* A wipe that was begun: written before the agent is told, gone when its record stands. */
struct machine_reached { /* what the agent said last; no proof */
	const char *wwn, *technique;
	int64_t erased_bytes;
};
struct machine_attempt {
	const char *record; /* its WipeRecord's name */
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
	int exit; /* enum machine_exit */
	int64_t since, next_attempt, attempts;
};
struct machine_status {
	int64_t observed_generation;
	const char *state; /* api/machine_states.def */
	int64_t state_since;
	int64_t tenancy;
	bool clean;
	struct object_ref *claim_ref;	  /* the lock, compare-and-swap */
	struct machine_identity identity; /* as the BMC last said */
	struct {
		const char *record;
		int64_t tenancy;
		const char *operation; /* with boot_number what its nonce is derived from */
		int64_t boot_number;
	} last_wipe;
	struct machine_attempt *wipe_attempt; /* NULL: none without a record */
	struct machine_instance *instance;    /* NULL: not elastic, or nothing was asked for */
	struct machine_install *install;      /* NULL: its manager was asked for nothing */
	struct {
		const char *state; /* "On", "Off", "Unknown" */
		int64_t observed_time;
		const char
			*confirmed_by; /* the operation for which a person saw it off; NULL: none */
		const char
			*doubted; /* the operation in which it was heard after the BMC said Off */
		const char *
			agent_boot; /* "operation/boot/keys" of the agent that it was seen off for, before it
					 * was switched on; NULL: none */
		const char
			*http_boot; /* "operation/boot" of the agent that it was switched on for by
					* HTTP; NULL: none, or it was seen off since */
	} power;
	struct {
		const char *segment, *proof; /* "tenant/team-a"; Strong, Weak, None */
		int64_t observed_time;
		struct machine_probe *probe; /* NULL: nothing was asked from there */
	} network;
	struct {
		const char *session_uri, *secret_version, *refused_secret_version,
			*fingerprint;	/* pinned at first use */
		const char *media_over; /* "HTTPS": it refused a medium over plain HTTP */
		const char *
			kept_address; /* digest of an HTTP boot address of ours that it does not let go */
		/* what is known of it (life/bmc_facts.h) */
		const char *vendor, *product, *firmware_version, *redfish_version;
		struct strings quirks; /* ids of redfish/quirks.def */
		const char *media;     /* HTTP, HTTPS, Disabled, None */
		const char *media_slot;
		const char *login;  /* Session, Basic */
		int64_t latency_ms; /* 0: not known */
		int64_t trip_calls; /* 0: not known */
		struct machine_unlisted
			*drives_not_listed; /* NULL: it lists them, as far as known */
	} bmc;
	struct machine_bmc_trust
		*trusted_bmc; /* the only one that the password goes to; NULL: none was seen yet */
	struct machine_operation *operation;
	struct object_ref
		tenant;	  /* the virtual cluster that is served, or was last; name NULL: none yet */
	const char *pool; /* NodePool of the claim by which it is, or was, that tenant's */
	struct object_ref *warm_for;
	struct machine_agent *agent;
	struct machine_inventory *inventory;
	struct {
		struct machine_failure *v;
		size_t n;
	} failures; /* newest 20 */
	struct machine_quarantine *quarantine;
	struct machine_leave *leave; /* NULL: nothing makes it leave */
	struct machine_hold *hold;   /* NULL: none */
	struct {
		const char *retry, *release;
	} requests; /* values of the annotations acted on last (steps/requests.h) */
	const char *approval_id;
	const char *boot_id; /* of the Node that serves or served last */
	struct conditions conditions;
};
struct machine {
	struct object_meta meta;
	struct machine_spec spec;
	struct machine_status status;
};

#endif
