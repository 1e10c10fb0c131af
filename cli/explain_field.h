#ifndef CLI_EXPLAIN_FIELD_H
#define CLI_EXPLAIN_FIELD_H

#include "api/kinds.h"
#include "base/arena.h"
#include "base/data/json.h"

/*
 * explain_field: finds a field of drover's objects by its path, such as
 * nodepool.spec.disruption.budgets, and describes it from the field tables in api/. Needs no
 * cluster.
 *
 * A path begins with an object type in any form that target_kind() knows (nodepool, pool, NodePool,
 * nodepools.drover.dev). Names are compared regardless of case; "[]" or "[0]" after the name of a
 * list is ignored.
 */
struct explain_field {
	const struct object_kind *kind;
	/* the row of the field; NULL: the path names the whole object */
	const struct field *row;
	/* path with the names as the API spells them, such as "nodepool.spec.limits" */
	const char *path;
	/* first name in the path that does not exist; NULL: all names exist. row and path then
	 * belong to the name before it. */
	const char *unknown;
};

/* Finds the field at `path`. False: path does not begin with an object type. The result is valid as
 * long as the arena. */
bool explain_field_find(const char *path, struct arena *a, struct explain_field *out);
/* Returns the rows of the fields below f; an empty table if there are none. The caller must skip
 * each row for which explain_field_shown() returns false. */
const struct field *explain_field_below(const struct explain_field *f);
/* False for metadata, whose fields are those of all Kubernetes objects. */
bool explain_field_shown(const struct field *row);
/* Returns {field, kind, apiVersion, type, default, allowed, meaning, rules, fields}, owned by the
 * caller. fields: list of {name, type, default, allowed, meaning, rules} of the fields below f.
 * Members without a value are left out. */
json_t *explain_field_json(const struct explain_field *f);

#endif
