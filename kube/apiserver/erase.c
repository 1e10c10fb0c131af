#include "kube/apiserver/erase.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"

/* --- namespaces and definitions that wait for their last object ------------------------------- */

static bool is_namespace(const struct resource *r)
{
	return str_eq(r->key, "namespaces/");
}

static bool namespace_is_empty(struct request *rq, const char *ns)
{
	for (const struct resource *r = NULL; resource_next(rq->a, &r);)
		if (r->namespaced && store_count(rq->a->store, resource_key(r, rq->arena, ns, "")))
			return false;
	return true;
}

bool object_is_emptied(struct request *rq, const struct resource *r, const char *name)
{
	if (is_namespace(r))
		return namespace_is_empty(rq, name);
	if (resource_is_crd(r))
		return store_count(rq->a->store, arena_printf(rq->arena, "%s/", name)) == 0;
	return true;
}

/* Removes the finalizer `kubernetes`, by which a namespace waits until its contents are deleted. */
static bool drop_kubernetes(json_t *ns)
{
	json_t *list = json_at(ns, "spec", "finalizers");

	for (size_t i = 0; i < json_array_size(list); i++)
		if (str_eq(json_string_value(json_array_get(list, i)), "kubernetes"))
			return json_array_remove(list, i) == 0;
	return false;
}

static void remove_if_emptied(struct request *rq, const struct resource *r, const char *name)
{
	const char *key = resource_key(r, rq->arena, NULL, name);
	struct store_entry entry;
	OWN_JSON holder = object_read(rq->a, key, &entry);

	if (!object_is_going(holder) || !object_is_emptied(rq, r, name))
		return;
	bool held = is_namespace(r) && drop_kubernetes(holder);

	if (object_may_go(rq->a, r, holder)) {
		write_object(rq, r, key, NULL, -1, NULL);
	} else if (held) {
		object_set_rev(rq->a, holder);
		write_object(rq, r, key, holder, -1, NULL);
	}
}

void remove_object(struct request *rq, const struct resource *r, const char *key, const json_t *obj,
		   struct answer *c)
{
	const struct resource *crds =
		resource_find(rq->a, "apiextensions.k8s.io", "v1", "customresourcedefinitions");
	/* remove_if_emptied() below may delete the CustomResourceDefinition, and free r with it:
	 * copy the definition's name first. */
	const char *definition =
		r->custom ? arena_printf(rq->arena, "%s.%s", r->plural, r->group) : NULL;
	const char *ns = r->namespaced ? json_str_at(obj, "metadata", "namespace") : NULL;

	write_object(rq, r, key, NULL, -1, c);
	if (rq->dry_run)
		return;
	if (definition)
		remove_if_emptied(rq, crds, definition);
	if (ns)
		remove_if_emptied(rq, resource_find(rq->a, "", "v1", "namespaces"), ns);
}

/* --- delete ----------------------------------------------------------------------------------- */

static void set_terminating(struct request *rq, const struct resource *r, json_t *obj)
{
	char now[STR_TIME_SIZE];
	json_t *status;

	if (!json_is_object(json_object_get(obj, "status")))
		json_object_set_new(obj, "status", json_object());
	status = json_object_get(obj, "status");
	if (is_namespace(r))
		json_object_set_new(status, "phase", json_string("Terminating"));
	else if (json_is_array(json_object_get(status, "conditions")))
		json_array_append_new(
			json_object_get(status, "conditions"),
			json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", "Terminating", "status",
				  "True", "reason", "InstanceDeletionPending", "message",
				  "CustomResource deletion is in progress", "lastTransitionTime",
				  str_time(now, loop_wall(rq->a->loop))));
}

/* Returns a copy of r in the arena, because deleting the last object of a terminating
 * CustomResourceDefinition may free r. */
static const struct resource *keep_resource(struct arena *a, const struct resource *r)
{
	struct resource *copy = arena_new_obj(a, struct resource);

	*copy = *r;
	copy->group = arena_strdup(a, r->group);
	copy->plural = arena_strdup(a, r->plural);
	copy->kind = arena_strdup(a, r->kind);
	copy->key = arena_strdup(a, r->key);
	return copy;
}

int64_t erase_grace(const struct request *rq, const json_t *obj)
{
	const json_t *grace = json_at(obj, "spec", "terminationGracePeriodSeconds");

	if (!rq->a->spec.graceful_pods || !str_eq(rq->r->key, "pods/"))
		return 0;
	return json_is_integer(grace) && json_integer_value(grace) >= 0 ? json_integer_value(grace)
									: 30;
}

void erase_under(struct request *rq, const struct resource *r, const char *prefix,
		 const struct wish *wish, const struct filter *only)
{
	const char **keys = object_keys(rq->a, prefix, rq->arena);
	struct store_entry entry;

	r = keep_resource(rq->arena, r);
	for (const char **key = keys; *key; key++) {
		OWN_JSON obj = object_read(rq->a, *key, &entry);
		struct wish own = *wish;

		if (!obj || (only && !filter_matches(only, obj)))
			continue;
		if (own.grace_s < 0)
			own.grace_s = erase_grace(rq, obj);
		erase_object(rq, r, *key, obj, &own, NULL);
	}
}

static void delete_contents(struct request *rq, const struct resource *r, const char *name)
{
	const struct resource **in = NULL;
	size_t n = 0, cap = 0;

	for (const struct resource *it = NULL; resource_next(rq->a, &it);) {
		mem_grow(in, n, cap);
		if (is_namespace(r) ? it->namespaced
				    : str_eq(it->key, arena_printf(rq->arena, "%s/", name)))
			in[n++] = keep_resource(rq->arena, it);
	}
	for (size_t i = 0; i < n; i++)
		erase_under(rq, in[i],
			    resource_key(in[i], rq->arena, is_namespace(r) ? name : NULL, ""),
			    &(struct wish){.policy = POLICY_BACKGROUND}, NULL);
	free(in);
}

void object_empty(struct request *rq, const struct resource *r, const char *name)
{
	delete_contents(rq, r, name);
	remove_if_emptied(rq, r, name);
}

static bool set_finalizer(json_t *obj, const char *name, bool wanted)
{
	json_t *meta = object_meta(obj), *list = json_object_get(meta, "finalizers");

	for (size_t i = 0; i < json_array_size(list); i++) {
		if (!str_eq(json_string_value(json_array_get(list, i)), name))
			continue;
		if (!wanted)
			json_array_remove(list, i);
		return !wanted;
	}
	if (!wanted)
		return false;
	if (!json_is_array(list)) {
		list = json_array();
		json_object_set_new(meta, "finalizers", list);
	}
	json_array_append_new(list, json_string(name));
	return true;
}

/* Sets the finalizer of the policy on the object and removes that of any other policy, so the last
 * request wins. Returns true if that changed the object. POLICY_DEFAULT changes nothing. */
static bool set_policy(json_t *obj, enum policy policy)
{
	bool changed;

	if (policy == POLICY_DEFAULT)
		return false;
	changed = set_finalizer(obj, FINALIZER_FOREGROUND, policy == POLICY_FOREGROUND);
	return set_finalizer(obj, FINALIZER_ORPHAN, policy == POLICY_ORPHAN) || changed;
}

void erase_object(struct request *rq, const struct resource *r, const char *key, json_t *obj,
		  const struct wish *wish,
		  struct answer *(*answer)(struct request *rq, const json_t *obj))
{
	const char *name = arena_strdup(rq->arena, json_str_at(obj, "metadata", "name"));
	bool marked = object_is_going(obj) &&
		      json_int_at(obj, "metadata", "deletionGracePeriodSeconds") <= wish->grace_s;
	bool holder = is_namespace(r) || resource_is_crd(r);
	bool finalized = rq->a->collector && set_policy(obj, wish->policy);

	if (!marked) {
		object_mark_deleted(rq->a, r, obj, wish->grace_s);
		if (holder)
			set_terminating(rq, r, obj);
	}
	if (object_may_go(rq->a, r, obj) && (!holder || object_is_emptied(rq, r, name))) {
		remove_object(rq, r, key, obj, answer ? answer(rq, obj) : NULL);
		return;
	}
	if (!marked || finalized) {
		object_set_rev(rq->a, obj);
		write_object(rq, r, key, obj, -1, answer ? answer(rq, obj) : NULL);
	} else if (answer) {
		reply_object(rq, 200, obj);
	}
	if (holder && !rq->dry_run && !rq->a->collector)
		object_empty(rq, r, name);
}

void object_delete(struct request *rq, const char *key, json_t *obj, enum policy policy)
{
	struct wish wish = {.grace_s = erase_grace(rq, obj), .policy = policy};

	erase_object(rq, rq->r, key, obj, &wish, NULL);
}
