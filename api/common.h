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
 * common: structs that several kinds contain. api/kinds.h describes the conventions.
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
/* Returns the condition of that type, or NULL if it is absent. */
const struct condition *condition_get(const struct conditions *c, const char *type);
bool condition_is_true(const struct conditions *c, const char *type);
/* Adds or replaces the condition of want->type. Its strings, and a longer list, are allocated in
 * the arena. last_transition_time is set to now only if the status changes. Returns true if
 * anything but observed_generation changed. */
bool condition_set(struct conditions *c, struct arena *a, const struct condition *want,
		   int64_t now);

struct object_name_ref {
	const char *name;
};
struct object_ref {
	const char *name, *uid;
};
struct object_secret_ref {
	/* namespace NULL: the namespace of drover */
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
/* In the order of enum selector_op. */
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
	/* operators In, NotIn, Exists and DoesNotExist only */
	struct object_requirements match_expressions;
};
/* Checks that a requirement has values if its operator needs them, and none otherwise. -1: the
 * error names the field. s may be NULL. */
int object_selector_check(const struct object_label_selector *s, const char *path, struct err *e);
/* Converts a label selector to the form that base/data/selector.h matches. NULL and {} become a
 * selector without requirements, which matches everything. */
struct selector object_selector(const struct object_label_selector *s, struct arena *a);

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
	/* names in BCM, for machines that BCM installs */
	const char *category, *software_image;
};
/* Checks which members must be set together. -1: the error names the field. */
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
	/* longest time in ms that a serving Node may be NotReady before its machine is taken back;
	 * -1: no limit */
	int64_t not_ready;
};
/* Service that drover calls before it evicts pods. drover waits until the service reports
 * completion or timeout passes. */
struct object_checkpoint {
	/* https URL */
	const char *url;
	/* Secret in drover's namespace, key ca.crt; NULL: the system's CAs */
	struct object_secret_ref *ca_secret_ref;
	/* longest wait in ms */
	int64_t timeout;
};
/* Lowest result that the machine's last wipe must have reached. */
struct object_wipe_floor {
	struct {
		/* enum wipe_level: WIPE_CLEAR or WIPE_PURGE */
		int flash, hdd;
	} minimum_level;
	/* enum wipe_trust */
	int minimum_trust;
	/* names from statement_part_names */
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
/* Number of storage controllers with one PCI ID. */
struct object_controller {
	/* PCI vendor and device ID, such as "8086:a182" */
	const char *id;
	/* number of controllers that have a driver in the agent's image */
	int64_t driven;
	/* number of controllers without a driver; drives behind them are invisible to the agent */
	int64_t dark;
};
struct object_controllers {
	struct object_controller *v;
	size_t n;
};

#endif
