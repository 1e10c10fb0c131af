#ifndef API_KINDS_H
#define API_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/data/fields.h"
#include "base/data/json.h"
#include "api/auditsegment.h"
#include "api/burstledger.h"
#include "api/burstpolicy.h"
#include "api/common.h"
#include "api/drain.h"
#include "api/machine.h"
#include "api/nodeclaim.h"
#include "api/nodepool.h"
#include "api/provider.h"
#include "api/virtualcluster.h"
#include "api/wiperecord.h"
#include "wipe/evidence.h"

/*
 * kinds: the kinds of drover.dev/v1alpha1 as C structs, and a table with everything about each
 * kind: decoding, checks, CRD and reference page.
 *
 * Names of members are the JSON names in snake_case. Times are Unix milliseconds (0: absent),
 * durations milliseconds (-1: Never). An int whose comment names an enum is -1 when absent.
 * Pointers and strings are NULL when absent. Lists are {v, n}: array and number of elements. All
 * memory belongs to the arena passed to object_decode().
 *
 * api/common.h has the structs that several kinds share.
 *
 * To write an object, take fields_defaults() or a decoded struct and change a copy of it. Encode
 * both with fields_encode() and send the difference, which json_merge_diff() returns.
 */
#define OBJECT_GROUP "drover.dev"
#define OBJECT_VERSION "v1alpha1"
#define OBJECT_API_VERSION OBJECT_GROUP "/" OBJECT_VERSION

struct object_column {
	/* column of `kubectl get`, such as "Age", "date", ".metadata.creationTimestamp" */
	const char *name, *type, *path;
	/* 1: shown only with -o wide */
	int priority;
};
struct object_kind {
	const char *kind, *plural, *singular, *short_name;
	const char *doc;
	/* fields of the whole object: metadata, spec and, if has_status, status */
	const struct field *fields;
	size_t size;
	bool has_status;
	/* columns of `kubectl get`, ended by an entry with name NULL; the column Age is added after
	 * these */
	const struct object_column *columns;
	/* CEL rules for the whole object; NULL: none */
	const struct field_rule *rules;
	/* Checks the rules that involve several fields. -1: *e names the field. old: the object
	 * before the change, NULL if the object is new or its earlier state is unknown. */
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
	OBJECT_BURST_LEDGER,
	OBJECT_AUDIT_SEGMENT,
	OBJECT_KINDS,
};
extern const struct object_kind object_kinds[OBJECT_KINDS];
/* Returns the kind whose kind name, plural, singular or short name is `name`; NULL: no kind has
 * this name. */
const struct object_kind *object_kind_find(const char *name);

/* Decodes j into a new struct of k->size bytes in the arena. -1: *e names the field, the value and
 * the allowed values; *out still holds the metadata, so that the caller can write a condition, or
 * is NULL if the metadata could not be decoded either. */
int object_decode(const struct object_kind *k, const json_t *j, struct arena *a, void **out,
		  struct err *e) __attribute__((warn_unused_result));
/* Checks the rules that involve several fields (k->check). API servers check most of these rules by
 * CEL. The check in C also covers API servers without CEL, and objects that are older than a rule.
 * old may be NULL. -1: *e names the field. */
int object_check(const struct object_kind *k, const void *object, const void *old, struct err *e)
	__attribute__((warn_unused_result));
/* Returns the metadata of an object of any kind. */
const struct object_meta *object_meta_of(const void *object);

#endif
