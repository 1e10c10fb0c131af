#ifndef API_KINDS_H
#define API_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/data/fields.h"
#include "base/data/json.h"
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

struct object_column {
	/* "Age", "date", ".metadata.creationTimestamp" */
	const char *name, *type, *path;
	/* 1: only with -o wide */
	int priority;
};
struct object_kind {
	const char *kind, *plural, *singular, *short_name;
	const char *doc;
	/* of the whole object: metadata, spec and, with has_status, status */
	const struct field *fields;
	size_t size;
	bool has_status;
	/* ended by .name NULL; Age is added */
	const struct object_column *columns;
	/* CEL on the whole object; NULL: none */
	const struct field_rule *rules;
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
	OBJECT_BURST_LEDGER,
	OBJECT_KINDS,
};
extern const struct object_kind object_kinds[OBJECT_KINDS];
/* kind, plural, singular or short name; NULL */
const struct object_kind *object_kind_find(const char *name);

/* A new struct of k->size bytes in the arena. Errors name the field, the value and what is allowed.
 * On error *out holds at least the metadata, so that a condition can be written, or is NULL when
 * not even that could be read. */
int object_decode(const struct object_kind *k, const json_t *j, struct arena *a, void **out,
		  struct err *e) __attribute__((warn_unused_result));
/* The CEL rules again, in code, for servers without CEL and objects older than a rule. */
int object_check(const struct object_kind *k, const void *object, const void *old, struct err *e)
	__attribute__((warn_unused_result));
/* of any kind */
const struct object_meta *object_meta_of(const void *object);

#endif
