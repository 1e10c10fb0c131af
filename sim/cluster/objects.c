#include "sim/cluster/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/data/selector.h"
#include "base/http/http.h"
#include "base/str.h"

#define PATH_MAX_BYTES 4096

const struct sim_kind sim_kind_pod = {"/api/v1", "pods", "v1", "Pod"};
const struct sim_kind sim_kind_replica_set = {"/apis/apps/v1", "replicasets", "apps/v1",
					      "ReplicaSet"};
const struct sim_kind sim_kind_deployment = {"/apis/apps/v1", "deployments", "apps/v1",
					     "Deployment"};
const struct sim_kind sim_kind_job = {"/apis/batch/v1", "jobs", "batch/v1", "Job"};

/* --- paths ------------------------------------------------------------------------------------ */

char *sim_object_path(const struct sim_kind *k, const char *ns, const char *name, const char *sub)
{
	struct buf b;

	/* Escapes names, because this code must not rely on DNS names: only the server checks
	 * names. */
	buf_init(&b, PATH_MAX_BYTES);
	buf_printf(&b, "%s/namespaces/", k->base);
	http_escape(&b, str_or(ns, ""));
	buf_printf(&b, "/%s", k->plural);
	if (name) {
		buf_puts(&b, "/");
		http_escape(&b, name);
	}
	if (sub)
		buf_printf(&b, "/%s", sub);
	return buf_steal(&b);
}

char *sim_object_path_of(const struct sim_kind *k, const json_t *obj, const char *sub)
{
	return sim_object_path(k, sim_object_ns(obj), sim_object_name(obj), sub);
}

/* --- metadata and conditions ------------------------------------------------------------------ */

const char *sim_object_name(const json_t *obj)
{
	return str_or(json_str_at(obj, "metadata", "name"), "");
}

const char *sim_object_ns(const json_t *obj)
{
	return str_or(json_str_at(obj, "metadata", "namespace"), "");
}

const char *sim_object_uid(const json_t *obj)
{
	return str_or(json_str_at(obj, "metadata", "uid"), "");
}

bool sim_object_is_going(const json_t *obj)
{
	return json_str_at(obj, "metadata", "deletionTimestamp") != NULL;
}

json_t *sim_object_condition(const json_t *obj, const char *type)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(obj, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), type))
			return c;
	return NULL;
}

bool sim_object_is(const json_t *obj, const char *condition)
{
	return str_eq(json_str_at(sim_object_condition(obj, condition), "status"), "True");
}

int64_t sim_object_time(const json_t *text)
{
	int64_t ms;

	return json_is_string(text) && str_to_time(json_string_value(text), &ms) ? ms : 0;
}

bool sim_pod_is_over(const json_t *pod)
{
	const char *phase = json_str_at(pod, "status", "phase");

	return str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
}

/* --- labels ----------------------------------------------------------------------------------- */

struct labels sim_object_labels(json_t *map, struct arena *a)
{
	struct labels l = {.v = arena_calloc(a, json_object_size(map) + 1, sizeof(*l.v))};
	const char *key;
	json_t *v;

	json_object_foreach (map, key, v)
		l.v[l.n++] = (struct label){key, str_or(json_string_value(v), "")};
	labels_sort(&l);
	return l;
}

bool sim_expression_matches(const json_t *x, const struct labels *l, struct arena *a)
{
	json_t *values = json_at(x, "values"), *v;
	struct requirement r = {
		.key = json_str_at(x, "key"),
		.values = arena_calloc(a, json_array_size(values) + 1, sizeof(*r.values))};
	size_t i;

	json_array_foreach (values, i, v)
		r.values[r.nvalues++] = str_or(json_string_value(v), "");
	return r.key && selector_op_parse(json_str_at(x, "operator"), &r.op) &&
	       requirement_matches(&r, l);
}

bool sim_selector_matches(const json_t *selector, const json_t *obj)
{
	OWN(arena) a = arena_new();
	struct labels l = sim_object_labels(json_at(obj, "metadata", "labels"), a);
	json_t *equal = json_at(selector, "matchLabels"), *more, *v;
	const char *key;
	size_t i;

	more = json_at(selector, "matchExpressions");
	json_object_foreach (equal, key, v)
		if (!str_eq(labels_get(&l, key), json_string_value(v)))
			return false;
	json_array_foreach (more, i, v)
		if (!sim_expression_matches(v, &l, a))
			return false;
	return json_object_size(equal) || json_array_size(more);
}

/* --- owners ----------------------------------------------------------------------------------- */

json_t *sim_object_controller(const json_t *obj)
{
	json_t *ref;
	size_t i;

	json_array_foreach (json_at(obj, "metadata", "ownerReferences"), i, ref)
		if (json_true_at(ref, "controller"))
			return ref;
	return NULL;
}

json_t *sim_object_owner_ref(const struct sim_kind *k, const json_t *owner)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:b}", "apiVersion", k->version, "kind",
			 k->kind, "name", sim_object_name(owner), "uid", sim_object_uid(owner),
			 "controller", 1, "blockOwnerDeletion", 1);
}
