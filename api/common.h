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
 * common: what several kinds have in them.  api/kinds.h has
 * the conventions.
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
/* NULL: absent */
const struct condition *condition_get(const struct conditions *c, const char *type);
bool condition_is_true(const struct conditions *c, const char *type);
/* Strings and a longer list go into the arena; last_transition_time moves only with status.
 * True if anything but observed_generation changed. */
bool condition_set(struct conditions *c, struct arena *a, const struct condition *want,
		   int64_t now);

struct object_name_ref {
	const char *name;
};
struct object_ref {
	const char *name, *uid;
};
struct object_secret_ref {
	/* namespace NULL: drover's own */
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
	/* In NotIn Exists DoesNotExist */
	struct object_requirements match_expressions;
};
/* Values where the operator wants them and none where it does not; -1 names the field. s: may be
 * NULL. */
int object_selector_check(const struct object_label_selector *s, const char *path, struct err *e);
/* The form that base/data/selector.h matches; no requirements for {} and NULL: matches
 * everything. */
struct selector object_selector(const struct object_label_selector *s, struct arena *a);

enum object_image_format { IMAGE_RAW, IMAGE_RAW_ZSTD };
extern const char *const object_image_format_names[];
struct object_image {
	/* "1.36" */
	const char *kubernetes_version;
	const char *url;
	/* enum object_image_format */
	int format;
	/* "sha256:" and 64 hex digits, of the bytes served */
	const char *digest;
	/* of machines that BCM installs, by name */
	const char *category, *software_image;
};
/* -1 names what of it belongs together and is not. */
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
	/* of a serving Node, until its machine is taken back; -1: never */
	int64_t not_ready;
};
/* Told before pods are evicted, and waited for until it says done or the time is over. */
struct object_checkpoint {
	/* https */
	const char *url;
	/* drover's namespace, key ca.crt; NULL: the system's CAs */
	struct object_secret_ref *ca_secret_ref;
	/* ms */
	int64_t timeout;
};
/* What the last wipe must have reached, at least. */
struct object_wipe_floor {
	struct {
		/* enum wipe_level: WIPE_CLEAR or WIPE_PURGE */
		int flash, hdd;
	} minimum_level;
	/* enum wipe_trust */
	int minimum_trust;
	/* of statement_part_names */
	struct strings must_cover;
};
struct object_tls {
	/* "sha256:" and 64 hex digits, of the certificate */
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
/* Storage controllers of one PCI vendor and device. */
struct object_controller {
	/* 8086:a182 */
	const char *id;
	/* how many have a driver in the agent's image */
	int64_t driven;
	/* how many have none: what is behind them nobody sees */
	int64_t dark;
};
struct object_controllers {
	struct object_controller *v;
	size_t n;
};

#endif
