#ifndef API_COMMON_H
#define API_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/data/fields.h"
#include "base/data/selector.h"
#include "wipe/evidence.h"

/*
 * common: structs that several kinds contain. api/kinds.h describes the conventions for members.
 * Tests: tests/unit/api/test_kinds.c
 */
struct object_owner {
	const char *api_version, *kind, *name, *uid;
	bool controller, block_owner_deletion;
};
struct object_meta {
	const char *name, *namespace, *uid, *resource_version;
	int64_t generation;
	int64_t creation_timestamp, deletion_timestamp;
	struct labels labels, annotations;
	struct strings finalizers;
	struct {
		struct object_owner *v;
		size_t n;
	} owner_references;
	/* Program that wrote the object last, apart from its status, and when (kube_last_writer()).
	 * NULL and 0: not known. object_decode() does not set them. */
	const char *writer;
	int64_t written;
};
extern const struct field object_meta_fields[];

enum condition_status { CONDITION_FALSE, CONDITION_TRUE, CONDITION_UNKNOWN };
extern const char *const condition_status_names[];
struct condition {
	const char *type;
	/* enum condition_status */
	int status;
	const char *reason, *message;
	int64_t observed_generation;
	int64_t last_transition_time;
};
struct conditions {
	struct condition *v;
	size_t n;
};
extern const struct field condition_fields[];
/* Returns the condition of this type, or NULL if c has none. */
const struct condition *condition_get(const struct conditions *c, const char *type);
bool condition_is_true(const struct conditions *c, const char *type);
/* Adds *want to the list, or replaces the condition of the same type. The strings, and a longer
 * list, are allocated in the arena. Sets last_transition_time to `now` only if the status changes.
 * Returns true if anything but observed_generation changed. */
bool condition_set(struct conditions *c, struct arena *a, const struct condition *want,
		   int64_t now);

/* Condition of objects that make no progress until an operator acts, in the sense of kstatus (Flux,
 * kpt), which reads it as Failed. */
#define CONDITION_STALLED "Stalled"
/* Sets the condition Stalled: True, with reason and message of *because. because NULL: not stalled;
 * the condition becomes False, or stays absent. Returns true if anything but observed_generation
 * changed. */
bool condition_set_stalled(struct conditions *c, struct arena *a, const struct condition *because,
			   int64_t generation, int64_t now);

struct object_name_ref {
	const char *name;
};
struct object_ref {
	const char *name, *uid;
};
struct object_secret_ref {
	/* namespace NULL: drover's own namespace */
	const char *namespace, *name, *key;
};
enum object_effect { EFFECT_NO_SCHEDULE, EFFECT_PREFER_NO_SCHEDULE, EFFECT_NO_EXECUTE };
extern const char *const object_effect_names[];
struct object_taint {
	const char *key, *value;
	/* enum object_effect */
	int effect;
};
struct object_taints {
	struct object_taint *v;
	size_t n;
};
/* Operators of a requirement, in the order of enum selector_op (base/data/selector.h). */
enum object_operator {
	OPERATOR_IN,
	OPERATOR_NOT_IN,
	OPERATOR_EXISTS,
	OPERATOR_DOES_NOT_EXIST,
	OPERATOR_GT,
	OPERATOR_LT,
	OPERATOR_GTE,
	OPERATOR_LTE,
};
extern const char *const object_operator_names[];
struct object_requirement {
	const char *key;
	/* enum object_operator */
	int operator;
	struct strings values;
};
struct object_requirements {
	struct object_requirement *v;
	size_t n;
};
struct object_label_selector {
	struct labels match_labels;
	/* only the operators In, NotIn, Exists and DoesNotExist are allowed */
	struct object_requirements match_expressions;
};
/* Checks that each requirement of s has values if its operator needs them, and no values otherwise.
 * -1: *e names the field; the name begins with path, the path of the selector. s may be NULL. */
int object_selector_check(const struct object_label_selector *s, const char *path, struct err *e);
/* Converts a label selector to the form that base/data/selector.h matches. NULL and an empty
 * selector ({}) match everything. */
struct selector object_selector(const struct object_label_selector *s, struct arena *a);

/* Network between instances; the order is that of enum burst_link (planner/burst/burst.h). */
enum object_interconnect { INTERCONNECT_NONE, INTERCONNECT_INFINIBAND, INTERCONNECT_EFA };
extern const char *const object_interconnect_names[];

enum object_image_format { IMAGE_RAW, IMAGE_RAW_ZSTD };
extern const char *const object_image_format_names[];
struct object_image {
	/* minor version, such as "1.36" */
	const char *kubernetes_version;
	const char *url;
	/* enum object_image_format */
	int format;
	/* digest of the downloaded bytes: "sha256:" followed by 64 hex digits */
	const char *digest;
	/* category and software image in BCM (NVIDIA Base Command Manager); only for machines that
	 * BCM installs */
	const char *category, *software_image;
};
/* Checks that url and digest are set together, that url or category is set, and that software_image
 * is set only with category. -1: *e names the field; the name begins with path, the path of the
 * image. */
int object_image_check(const struct object_image *i, const char *path, struct err *e);
struct object_kubelet {
	int64_t max_pods;
	struct resources system_reserved, kube_reserved;
};
enum object_isolation { ISOLATION_REQUIRED, ISOLATION_NOT_REQUIRED };
extern const char *const object_isolation_names[];
struct object_node_network {
	/* enum object_isolation */
	int isolation;
};
struct object_deadlines {
	int64_t imaging, booting, joining, gating;
	/* longest time in ms for which a serving Node may be NotReady before drover takes its
	 * machine back; -1: no limit */
	int64_t not_ready;
};
/* A service that drover calls before it evicts pods, so that work can be saved. drover waits until
 * the service reports completion or timeout passes. */
struct object_checkpoint {
	/* https URL */
	const char *url;
	/* Secret in drover's namespace with the CA certificate (key ca.crt) that signed the
	 * service's certificate; NULL: the system's CAs */
	struct object_secret_ref *ca_secret_ref;
	/* longest wait for the service in ms */
	int64_t timeout;
};
/* Requirements for the last wipe of a machine before it may be used. */
struct object_wipe_floor {
	struct {
		/* enum wipe_level: lowest accepted level for flash drives (flash) and for rotating
		 * drives (hdd); WIPE_CLEAR or WIPE_PURGE */
		int flash, hdd;
	} minimum_level;
	/* enum wipe_trust: lowest accepted trust in the agent that wiped */
	int minimum_trust;
	/* parts that the wipe must have covered: names from statement_part_names */
	struct strings must_cover;
};
struct object_tls {
	/* digest of the server certificate: "sha256:" followed by 64 hex digits */
	const char *fingerprint;
	struct object_secret_ref *ca_secret_ref;
	bool trust_on_first_use;
};
struct object_drive {
	const char *wwn, *model, *serial_number, *type, *slot;
	int64_t bytes;
};
struct object_drives {
	struct object_drive *v;
	size_t n;
};
/* Storage controllers of one PCI ID: how many have a driver and how many have none. */
struct object_controller {
	/* PCI vendor and device ID, such as "8086:a182" */
	const char *id;
	/* number of controllers that have a driver in the agent's image */
	int64_t driven;
	/* number of controllers without a driver; the agent cannot see the drives behind them */
	int64_t dark;
};
struct object_controllers {
	struct object_controller *v;
	size_t n;
};

#endif
