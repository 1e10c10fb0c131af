#ifndef API_TABLES_H
#define API_TABLES_H

#include "api/kinds.h"
#include "base/money.h"
#include "base/schedule.h"
#include "base/str.h"

/*
 * tables: macros and functions for the field tables of the kinds in api/. Not included outside
 * api/.
 */

/* Patterns must be valid as RE2 and as POSIX ERE: the API server (CRD schema) and the controller
 * must refuse the same texts. */
#define NAME_PATTERN "^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
#define AS_NAME                                                                                    \
	.max_len = 253, .pattern = NAME_PATTERN, .valid = str_is_dns_subdomain, .want = "a DNS name"
#define AS_LABEL                                                                                   \
	.max_len = 63, .pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", .valid = str_is_dns_label,    \
	.want = "a DNS label"
#define AS_QUALIFIED                                                                               \
	.max_len = 317,                                                                            \
	.pattern = "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$", \
	.valid = str_is_qualified_name, .want = "a name such as example.com/key"
#define AS_DIGEST                                                                                  \
	.max_len = 71, .pattern = "^sha256:[0-9a-f]{64}$", .valid = object_is_digest,              \
	.want = "sha256: followed by 64 hexadecimal digits"
/* Addresses that machines probe. The pattern only limits the characters; object_probes_check()
 * checks the rest. */
#define AS_PROBES                                                                                  \
	.max_items = 64, .max_len = 64, .pattern = "^[][0-9a-fA-F.:]+$", .valid = object_is_probe, \
	.want = "an address such as 10.20.0.1 or 10.20.0.10:6443"
#define AS_HTTPS                                                                                   \
	.max_len = 2048, .pattern = "^https://[^[:space:]]+$", .valid = object_is_https,           \
	.want = "an https URL"
/* URL of a BMC or of one of its Systems. Plain HTTP is allowed only for loopback addresses, which
 * simulated BMCs use. */
#define AS_BMC                                                                                     \
	.max_len = 2048,                                                                           \
	.pattern = "^((https://[^/?#@[:space:]]+|http://127[.][0-9.]+(:[0-9]+)?)"                  \
		   "(/[^?#[:space:]]*)?|"                                                          \
		   "(ipmi|libvirt|exec)://[^[:space:]]+)$",                                        \
	.valid = object_is_bmc,                                                                    \
	.want = "https://HOST[/redfish/v1/Systems/ID] without user or query, ipmi://, "            \
		"libvirt:// or exec://"
#define AS_HTTP                                                                                    \
	.max_len = 2048, .pattern = "^https?://[^[:space:]]+$", .valid = object_is_http,           \
	.want = "an http or https URL"
#define AS_MONEY .want = "an amount such as \"6.50\""
#define AS_FRACTION .max = MONEY_UNIT, .want = "a fraction from 0 to 1 such as \"0.25\""
#define AS_FRACTION_TEXT                                                                           \
	.number = true, .max_len = 24, .pattern = "^[0-9]{1,12}([.][0-9]{1,6})?$",                 \
	.valid = money_is_amount, .want = "a fraction from 0 to 1 such as \"0.25\""
#define AS_CURRENCY                                                                                \
	.max_len = 3, .pattern = "^[A-Z]{3}$", .valid = object_is_currency,                        \
	.want = "an ISO 4217 currency code such as EUR"
#define AS_CRON                                                                                    \
	.max_len = 100, .check = schedule_check, .rules = object_schedule_rules,                   \
	.want = "five cron fields or a macro such as @daily"

/* IMAGE_RULES: CEL rule for one image of a pool. self_: CEL expression for the image.
 * IMAGE_RULES_SAY: error message of the rule. */
#define IMAGE_RULES(self_)                                                                         \
	"has(" self_ ".url) == has(" self_ ".digest) && (has(" self_ ".url) || has(" self_         \
	".category)) && (!has(" self_ ".softwareImage) || has(" self_ ".category))"
#define IMAGE_RULES_SAY "want url and digest, or category; softwareImage requires category"

bool object_is_digest(const char *s);
bool object_is_mac(const char *s);
bool object_is_pci(const char *s);
bool object_is_http(const char *s);
bool object_is_https(const char *s);
bool object_is_bmc(const char *s);
bool object_is_gate(const char *s);
/* True if s is not empty and contains only characters of an IP address (hexadecimal digits, dots
 * and colons). */
bool object_is_address(const char *s);
/* True if s is the characters of an IP address, a slash and one to three digits. */
bool object_is_network(const char *s);
/* True if s is not empty and contains only characters of an IP address and brackets. */
bool object_is_probe(const char *s);
bool object_is_host_port(const char *s);
/* True if s is three capital letters. */
bool object_is_currency(const char *s);

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

extern const struct field object_name_ref_fields[], object_ref_fields[],
	object_local_secret_fields[], object_taint_fields[], object_requirement_fields[],
	object_selector_fields[], object_image_fields[], object_kubelet_fields[],
	object_node_network_fields[], object_deadlines_fields[], object_minimum_level_fields[],
	object_wipe_floor_fields[], object_tls_fields[], object_drive_fields[],
	object_checkpoint_fields[], provider_object_ec2_fields[], provider_object_type_fields[],
	machine_bmc_status_fields[];
extern const struct field_rule object_requirement_rules[], object_tls_rules[],
	object_schedule_rules[], provider_object_ec2_rules[];
extern const char *const object_minimum_level_names[];

/* Field tables and kubectl columns of each kind, for the whole object. */
extern const struct field node_pool_fields[], node_claim_fields[], machine_fields[],
	provider_object_fields[], virtual_cluster_fields[], drain_fields[], wipe_record_fields[],
	burst_policy_fields[], burst_ledger_fields[], audit_segment_fields[];
extern const struct object_column node_pool_columns[], node_claim_columns[], machine_columns[],
	provider_object_columns[], virtual_cluster_columns[], drain_columns[],
	wipe_record_columns[], burst_policy_columns[], burst_ledger_columns[],
	audit_segment_columns[];

/* NAME_check checks the rules of one kind that involve several fields (object_kind.check). old: the
 * object before the change, or NULL. -1: *e names the field. */
int node_pool_check(const void *object, const void *old, struct err *e);
int node_claim_check(const void *object, const void *old, struct err *e);
int machine_check(const void *object, const void *old, struct err *e);
int provider_object_check(const void *object, const void *old, struct err *e);
int virtual_cluster_check(const void *object, const void *old, struct err *e);
int drain_check(const void *object, const void *old, struct err *e);
int wipe_record_check(const void *object, const void *old, struct err *e);
int burst_policy_check(const void *object, const void *old, struct err *e);
int burst_ledger_check(const void *object, const void *old, struct err *e);
int audit_segment_check(const void *object, const void *old, struct err *e);

/* Checks that each requirement has the values that its operator needs. path: path of the list, for
 * the error, such as "spec.template.spec.requirements". -1: *e names the field. */
int object_requirements_check(const struct object_requirements *r, const char *path, struct err *e);
int object_tls_check(const struct object_tls *t, bool needed, const char *path, struct err *e);
int provider_object_ec2_check(const struct provider_object_spec *s, struct err *e);
int provider_object_types_check(const struct provider_object_spec *s, struct err *e);
/* Checks that each text is one IP address, with or without a port. field: path of the list, for the
 * error. -1: *e names the text. */
int object_probes_check(const struct strings *s, const char *field, struct err *e);
/* Checks that the name of the object is a DNS label of at most max bytes. */
int object_name_check(const struct object_meta *m, size_t max, struct err *e);
/* Checks that a and b encode to the same JSON. Returns 0, or -1 with ERR_INVALID: the field at
 * `path` is immutable. */
int object_same(const struct field *f, const void *a, const void *b, const char *path,
		struct err *e);

/* Row of the metadata of a kind. meta must be the first member of the struct, because
 * object_meta_of() and object_decode() use the object's address as that of its metadata. */
#define META_ROW(type_) FIELD_OBJ(type_, meta, "metadata", object_meta_fields, .required = true)
/* Rows of observedGeneration and conditions. observedGeneration applies to the whole status, as
 * kstatus reads it: after a change of spec, clients wait for its new value. */
#define CONDITIONS_ROW(type_, doc_)                                                                \
	FIELD(type_, observed_generation, "observedGeneration", FIELD_I64, .min = 0,               \
	      .max = INT64_MAX,                                                                    \
	      .doc = "Value of metadata.generation for which drover last "                         \
		     "updated status."),                                                           \
		FIELD_ITEMS(type_, conditions, "conditions", condition_fields, .max_items = 32,    \
			    .list_key = "type", .doc = (doc_))

#endif
