#ifndef API_KINDS_H
#define API_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/data/fields.h"
#include "base/data/json.h"
#include "api/common.h"
#include "wipe/evidence.h"

/*
 * kinds: the kinds of drover.dev/v1alpha1 as C structs, and everything that
 * is known about them in one table each: decoding, checks, CRD, manual.
 *
 * Names follow the JSON in snake_case.  Times are Unix milliseconds (0:
 * absent), durations milliseconds (-1: Never).  A member that is an int with an
 * enum beside it is -1 when absent.  A pointer is NULL when absent, and so is a
 * string.  Lists are {v, n}.  All of it lives in the arena that was given to
 * object_decode().
 *
 * What several kinds share is in api/common.h.
 *
 * To write: take fields_defaults() or a decoded struct, change it,
 * fields_encode() both, and send json_merge_diff().
 */
#define OBJECT_GROUP "drover.dev"
#define OBJECT_VERSION "v1alpha1"
#define OBJECT_API_VERSION OBJECT_GROUP "/" OBJECT_VERSION

/* --- NodePool ------------------------------------------------------------ */

struct node_pool_template_spec {
	struct {
		struct object_name_ref *v;
		size_t n;
	} provider_refs; /* tried in order */
	struct object_requirements requirements;
	struct object_taints taints, startup_taints;
	struct {
		struct object_image *v;
		size_t n;
	} images; /* one for each Kubernetes minor */
	struct object_name_ref *user_data_secret_ref;
	struct object_kubelet *kubelet;
	struct object_node_network network;
	struct object_checkpoint
		*checkpoint; /* NULL: nobody is told before a drain but pods that ask */
	int64_t expire_after, termination_grace_period;
};
struct node_pool_template {
	struct {
		struct labels labels, annotations;
	} metadata;
	struct node_pool_template_spec spec;
};
struct node_pool_budget {
	const char *nodes;	/* "3" or "10%" */
	struct strings reasons; /* Underutilized, Empty, Drifted; none: all */
	const char *schedule;	/* cron, UTC; with duration or not at all */
	int64_t duration;
};
struct node_pool_disruption {
	int64_t consolidate_after; /* 0: max(10 min, 2 x the measured recycle time) */
	struct {
		struct node_pool_budget *v;
		size_t n;
	} budgets;
};
struct node_pool_spec {
	struct object_label_selector virtual_cluster_selector; /* {}: all */
	int64_t weight;
	struct resources limits; /* "nodes" and any resource */
	bool paused;
	struct node_pool_template template_;
	struct node_pool_disruption disruption;
	struct object_wipe_floor wipe;
	struct {
		int64_t nodes;
	} warm;
	struct object_deadlines deadlines;
};
struct node_pool_status {
	struct resources resources;
	int64_t nodes;
	struct conditions conditions;
};
struct node_pool {
	struct object_meta meta;
	struct node_pool_spec spec;
	struct node_pool_status status;
};

/* --- NodeClaim ----------------------------------------------------------- */

struct node_claim_gang {
	const char *uid;
};
struct node_claim_spec {
	struct object_ref virtual_cluster_ref, node_pool_ref;
	struct object_ref *machine_ref; /* the plan's choice; NULL: the controller chooses */
	struct object_requirements requirements;
	struct {
		struct resources requests;
	} resources;
	struct object_image image;
	struct labels labels, annotations;
	struct object_taints taints, startup_taints;
	struct object_name_ref *user_data_secret_ref;
	struct object_kubelet *kubelet;
	struct object_node_network network;
	struct object_checkpoint *checkpoint;
	struct object_deadlines deadlines;
	struct object_wipe_floor wipe;
	struct node_claim_gang *gang;
	int64_t expire_after, termination_grace_period;
};
struct node_claim_status {
	struct object_ref *machine_ref;
	int64_t tenancy;
	const char *phase; /* a machine state, Pending, Failed or Ended; for people */
	const char *node_name, *node_uid, *provider_id;
	struct {
		int64_t p50, p90;
	} eta;
	struct conditions
		conditions; /* Launched Registered Initialized Ready Drained VolumesDetached PoweredOff Isolated */
};
struct node_claim {
	struct object_meta meta;
	struct node_claim_spec spec;
	struct node_claim_status status;
};

/* --- Machine ------------------------------------------------------------- */

enum machine_policy { MACHINE_OBSERVE, MACHINE_MANAGE, MACHINE_RETIRE };
enum machine_approve { APPROVE_WIPE, APPROVE_ADOPT };
enum machine_exit { EXIT_AUTO, EXIT_OPERATOR };
enum machine_waiting { WAITING_DEVICE, WAITING_RATE, WAITING_BUDGET, WAITING_APPROVAL };
struct machine_approval {
	int action;	   /* enum machine_approve */
	const char *id;	   /* acted on once: then it stands in status.approvalID */
	const char *claim; /* Adopt: the NodeClaim that the machine serves */
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
struct machine_spec {
	struct object_name_ref provider_ref;
	const char *instance_type;
	int management_policy; /* enum machine_policy */
	struct machine_approval *approval;
	struct object_drives drives; /* expected */
	struct machine_identity *identity;
	struct machine_bmc *bmc;
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
struct machine_agent {
	const char *boot_id, *public_key;
	const char *
		system_uuid; /* letter for letter, as its kernel reads DMI; proved by the inspection */
	int64_t observed_time;
};
struct machine_nic {
	const char *mac, *name, *driver;
};
struct machine_inventory {
	int64_t gpus, cpus, memory_bytes;
	struct object_drives drives;
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
};
/* Why it leaves its tenant, and what comes after the wipe: from serving until free, quarantined or
 * retired (steps/leave_reason.h). */
struct machine_leave {
	const char *reason; /* LEAVE_* of steps/leave_reason.h */
	const char *drain;  /* the Drain that asked; NULL: none */
	int then;	    /* enum drain_then */
	int64_t deadline;   /* when pods are not waited for any more; 0: never */
	int64_t pods_left;
	const char *blocked_by; /* "pdb team-x/web", "checkpoint ns/pod", ...; NULL: nothing */
};
/* Nothing is placed on it and it is not given back. */
struct machine_hold {
	const char *drain; /* the Drain with then: Hold; NULL: a person cordoned its Node */
	int64_t since;
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
	const char *state; /* api/machine_states.def */
	int64_t state_since;
	int64_t tenancy;
	bool clean;
	struct object_ref *claim_ref;	  /* the lock, compare-and-swap */
	struct machine_identity identity; /* as the BMC last said */
	struct {
		const char *record;
		int64_t tenancy;
	} last_wipe;
	struct machine_attempt *wipe_attempt; /* NULL: none without a record */
	struct {
		const char *state; /* "On", "Off", "Unknown" */
		int64_t observed_time;
		const char
			*confirmed_by; /* the operation for which a person saw it off; NULL: none */
		const char
			*doubted; /* the operation in which it was heard after the BMC said Off */
		const char
			*http_boot; /* "operation/boot" of the agent that it was switched on for by
					* HTTP; NULL: none, or it was seen off since */
	} power;
	struct {
		const char *segment, *proof; /* "tenant/team-a"; Strong, Weak, None */
		int64_t observed_time;
	} network;
	struct {
		const char *session_uri, *secret_version, *refused_secret_version,
			*fingerprint; /* pinned at first use */
		const char *
			kept_address; /* digest of an HTTP boot address of ours that it does not let go */
	} bmc;
	struct machine_operation *operation;
	struct object_ref
		tenant; /* the virtual cluster that is served, or was last; name NULL: none yet */
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

/* --- Provider (struct provider is the driver in providers/) --------------- */

enum provider_object_type {
	PROVIDER_TYPE_REDFISH,
	PROVIDER_TYPE_IPMI,
	PROVIDER_TYPE_LIBVIRT,
	PROVIDER_TYPE_BCM,
	PROVIDER_TYPE_EC2,
	PROVIDER_TYPE_EXEC
};
extern const char *const provider_object_type_names[];
enum provider_object_fabric { FABRIC_NONE, FABRIC_EXEC, FABRIC_NETRIS };
extern const char *const provider_object_fabric_names[];
struct provider_object_exec {
	struct strings command;
};
struct provider_object_network {
	int type; /* enum provider_object_fabric */
	struct provider_object_exec *exec;
	struct {
		const char *quarantine, *provisioning;
	} segments;
};
struct provider_object_limits {
	int64_t requests_per_second, concurrent_operations, power_on_per_minute;
	struct {
		const char *key;
		int64_t concurrent;
	} per_domain;
};
struct provider_object_pci {
	const char *id; /* "10de:2330" */
	int64_t count;
};
struct provider_object_instance_type {
	const char *name;
	struct {
		struct {
			struct provider_object_pci *v;
			size_t n;
		} pci;
	} match;
	struct resources capacity;
	struct labels labels;
	struct {
		const char *model;
		int64_t min_bytes, max_bytes;
	} root_device;
	int64_t minimum_off_time;
};
struct provider_object_wipe {
	struct object_wipe_floor floor; /* in place: wipe.minimumLevel, wipe.minimumTrust */
	int64_t deadline;
};
struct provider_object_spec {
	int type; /* enum provider_object_type; immutable */
	bool paused;
	struct object_secret_ref *credentials_secret_ref;
	struct {
		struct strings methods; /* UefiHttp, VirtualMedia */
		const char *media_url;
	} boot;
	struct {
		const char *endpoint;
	} agent;
	struct provider_object_network network;
	struct provider_object_limits limits;
	struct {
		struct provider_object_instance_type *v;
		size_t n;
	} instance_types;
	struct provider_object_wipe wipe;
};
struct provider_object_status {
	struct resources machines; /* how many in each state */
	struct conditions conditions;
};
struct provider_object {
	struct object_meta meta;
	struct provider_object_spec spec;
	struct provider_object_status status;
};

/* --- VirtualCluster ------------------------------------------------------ */

struct virtual_cluster_debt {
	const char *node_name, *node_uid, *token_id;
	int64_t since;
};
enum control_plane_kind { CONTROL_PLANE_STATEFUL_SET, CONTROL_PLANE_DEPLOYMENT };
extern const char *const control_plane_kind_names[];
struct virtual_cluster_control_plane {
	int kind; /* enum control_plane_kind */
	const char *namespace, *name;
};
struct virtual_cluster_spec {
	struct object_secret_ref kubeconfig_secret_ref;
	struct virtual_cluster_control_plane
		*control_plane; /* in the host cluster; NULL: nobody can say whether it sleeps */
	const char *server, *join_endpoint;
	struct resources quota;
	int64_t weight, priority;
	struct {
		const char *segment;
	} network;
	int64_t sleep_grace; /* ms; -1: never */
	bool paused;
};
struct virtual_cluster_status {
	const char *cluster_uid, *version;
	int64_t last_contact_time, asleep_since;
	const char *asleep_object; /* "UID/GENERATION" of its control plane then */
	struct resources allocated;
	struct {
		struct virtual_cluster_debt *v;
		size_t n;
	} debts;
	struct conditions conditions; /* KubeconfigAccepted Permitted Reachable Ready Asleep */
};
struct virtual_cluster {
	struct object_meta meta;
	struct virtual_cluster_spec spec;
	struct virtual_cluster_status status;
};

/* --- Drain --------------------------------------------------------------- */

enum drain_on_deadline { DRAIN_ESCALATE, DRAIN_STOP };
enum drain_gangs { DRAIN_WHOLE, DRAIN_SPLIT };
enum drain_then { DRAIN_RELEASE, DRAIN_HOLD, DRAIN_QUARANTINE, DRAIN_RETIRE };
extern const char *const drain_then_names[];
enum drain_phase { DRAIN_PENDING, DRAIN_DRAINING, DRAIN_SUCCEEDED, DRAIN_PARTIAL, DRAIN_CANCELLED };
struct drain_spec {
	const char *reason;
	struct object_label_selector *machine_selector; /* exactly one of these three */
	struct strings machine_names, node_claim_names;
	int64_t not_before, deadline;
	int on_deadline; /* enum drain_on_deadline */
	int64_t concurrent;
	int gangs; /* enum drain_gangs */
	int then;  /* enum drain_then */
	bool cancelled;
	int64_t ttl_seconds_after_finished;
};
struct drain_target {
	const char *machine, *claim, *phase; /* drain/drains.h */
	int64_t pods_left;
	const char *blocked_by;
};
struct drain_status {
	int phase; /* enum drain_phase */
	int64_t start_time, completion_time;
	struct {
		struct drain_target *v;
		size_t n;
	} targets; /* resolved once, at the start */
	struct conditions conditions;
};
struct drain {
	struct object_meta meta;
	struct drain_spec spec;
	struct drain_status status;
};

/* --- WipeRecord ---------------------------------------------------------- */

struct wipe_record_spec {
	struct evidence evidence; /* in place: spec.machine, spec.tenancy, ... */
	const char *envelope;	  /* DSSE; the truth */
};
struct wipe_record { /* no status: a record never changes */
	struct object_meta meta;
	struct wipe_record_spec spec;
};

/* --- BurstPolicy --------------------------------------------------------- */

struct burst_policy_status {
	struct conditions conditions;
};
struct burst_policy {
	struct object_meta meta;
	struct burst_policy_status status;
};

/* --- all of them --------------------------------------------------------- */

struct object_column {
	const char *name, *type, *path; /* "Age", "date", ".metadata.creationTimestamp" */
	int priority;			/* 1: only with -o wide */
};
struct object_kind {
	const char *kind, *plural, *singular, *short_name;
	const char *doc;
	const struct field
		*fields; /* of the whole object: metadata, spec and, with has_status, status */
	size_t size;
	bool has_status;
	const struct object_column *columns; /* ended by .name NULL; Age is added */
	const struct field_rule *rules;	     /* CEL on the whole object; NULL: none */
	/* Rules that cross fields.  old is what it was before, NULL when unknown or new. */
	int (*check)(const void *object, const void *old, struct err *e);
};
enum object_kind_id {
	OBJECT_NODE_POOL,
	OBJECT_NODE_CLAIM,
	OBJECT_MACHINE,
	OBJECT_PROVIDER,
	OBJECT_VIRTUAL_CLUSTER,
	OBJECT_DRAIN,
	OBJECT_WIPE_RECORD,
	OBJECT_BURST_POLICY,
	OBJECT_KINDS,
};
extern const struct object_kind object_kinds[OBJECT_KINDS];
const struct object_kind *object_kind_find(
	const char *name); /* kind, plural, singular or short name; NULL */

/* A new struct of k->size bytes in the arena.  Errors name the field, the value and what is allowed.
 * On error *out holds at least the metadata, so that a condition can be written, or is NULL
 * when not even that could be read. */
int object_decode(const struct object_kind *k, const json_t *j, struct arena *a, void **out,
		  struct err *e) __attribute__((warn_unused_result));
/* The CEL rules again, in code, for servers without CEL and objects older than a rule. */
int object_check(const struct object_kind *k, const void *object, const void *old, struct err *e)
	__attribute__((warn_unused_result));
const struct object_meta *object_meta_of(const void *object); /* of any kind */

#endif
