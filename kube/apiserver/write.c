#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "kube/apiserver/erase.h"

/* Writes the object and replies with it. */
static void write_and_show(struct request *rq, const char *key, json_t *obj, int64_t if_rev,
			   int status)
{
	OWN_JSON shown = NULL;

	if (!rq->dry_run) /* A dry run leaves the revision as it is. */
		object_set_rev(rq->a, obj);
	if (rq->r->renamed_event) {
		shown = json_deep_copy(obj);
		object_event_from_core(shown);
	}
	write_object(rq, rq->r, key, obj, if_rev,
		     answer_new(rq, status, shown ? json_text(shown) : NULL));
}

static void show(struct request *rq, int status, json_t *obj)
{
	if (rq->r->renamed_event)
		object_event_from_core(obj);
	reply_object(rq, status, obj);
}

/* --- create ----------------------------------------------------------------------------------- */

/* True if the object in entry has a deletionTimestamp. Searches the text first and parses only on a
 * hit, because every create calls this and few objects are being deleted. */
static bool entry_is_going(const struct store_entry *entry)
{
	struct err e;
	OWN_JSON obj = strstr(entry->value, "\"deletionTimestamp\"")
			       ? json_parse(entry->value, entry->value_len, &e)
			       : NULL;

	return object_is_going(obj);
}

static int check_room(struct request *rq, struct fault *f)
{
	struct store_entry entry;

	if (rq->r->namespaced) {
		if (!rq->ns)
			return fault_set(f, FAULT_BAD_REQUEST, "a namespace is required");
		if (!store_get(rq->a->store, arena_printf(rq->arena, "namespaces/%s", rq->ns),
			       &entry))
			return fault_set(f, FAULT_NOT_FOUND, "namespaces \"%s\" not found", rq->ns);
		if (entry_is_going(&entry))
			return fault_set(f, FAULT_FORBIDDEN,
					 "unable to create new content in namespace %s because "
					 "it is being terminated",
					 rq->ns);
	}
	if (rq->r->custom) {
		const char *key = arena_printf(
			rq->arena, "customresourcedefinitions.apiextensions.k8s.io/%s.%s",
			rq->r->plural, rq->r->group);

		if (store_get(rq->a->store, key, &entry) && entry_is_going(&entry))
			return fault_set(f, FAULT_METHOD,
					 "create not allowed while custom resource "
					 "definition is terminating");
	}
	return 0;
}

/* Adds a Warning header, as an admission plugin would: the object is stored, but no controller here
 * acts on its kind. */
static void warn_of_inert_kind(struct request *rq)
{
	const char *const *kind = rq->a->spec.inert_kinds;

	while (kind && *kind && !str_eq(*kind, rq->r->kind))
		kind++;
	if (kind && *kind && !rq->r->custom)
		httpd_reply_header(rq->q, "Warning",
				   arena_printf(rq->arena,
						"299 - \"this server runs no controller for a %s: "
						"it is stored, but no pod will be created\"",
						rq->r->kind));
}

void do_create(struct request *rq)
{
	OWN_JSON obj = request_body(rq);
	struct store_entry entry;
	const char *key;

	if (!obj || check_room(rq, &rq->fault) < 0 || object_address(rq, obj, &rq->fault) < 0 ||
	    fields_check(rq, obj) < 0 || object_create(rq, obj, &rq->fault) < 0 ||
	    rbac_check_grant(rq, obj, &rq->fault) < 0) {
		reply_fault(rq);
		return;
	}
	if (rq->r->renamed_event)
		object_event_to_core(obj);
	if (object_complete(rq, NULL, obj, &rq->fault) < 0) {
		reply_fault(rq);
		return;
	}
	rq->name = json_str_at(obj, "metadata", "name");
	key = resource_key(rq->r, rq->arena, rq->ns, rq->name);
	if (store_get(rq->a->store, key, &entry)) {
		(void)!fault_set(&rq->fault, FAULT_EXISTS, "%s%s%s \"%s\" already exists",
				 rq->r->plural, *rq->r->group ? "." : "", rq->r->group, rq->name);
		reply_fault(rq);
		return;
	}
	warn_of_inert_kind(rq);
	write_and_show(rq, key, obj, 0, 201);
}

void apiserver_create(struct apiserver *a, const char *group, const char *plural, json_t *obj)
{
	struct request rq = {.a = a, .arena = arena_new()};
	const char *key;
	struct store_entry entry;

	rq.r = resource_find(a, group, "v1", plural);
	rq.ns = json_str_at(obj, "metadata", "namespace");
	key = resource_key(rq.r, rq.arena, rq.ns, json_str_at(obj, "metadata", "name"));
	if (!store_get(a->store, key, &entry) && object_create(&rq, obj, &rq.fault) == 0 &&
	    object_complete(&rq, NULL, obj, &rq.fault) == 0) {
		object_set_rev(a, obj);
		write_object(&rq, rq.r, key, obj, 0, NULL);
	}
	arena_free(rq.arena);
}

/* --- update and patch ------------------------------------------------------------------------- */

/* Replaces the object old by obj, the object that the request asks for, after all checks; sends the
 * reply. */
static void replace(struct request *rq, const char *key, const struct store_entry *entry,
		    const json_t *old, json_t *obj)
{
	int64_t rev = (int64_t)entry->rev;

	if (object_address(rq, obj, &rq->fault) < 0 || fields_check(rq, obj) < 0) {
		reply_fault(rq);
		return;
	}
	if (rq->r->renamed_event)
		object_event_to_core(obj);
	if (object_update(rq, old, obj, &rq->fault) < 0 ||
	    rbac_check_grant(rq, obj, &rq->fault) < 0 ||
	    object_complete(rq, old, obj, &rq->fault) < 0) {
		reply_fault(rq);
		return;
	}
	if (object_is_going(obj) && object_may_go(rq->a, rq->r, obj) &&
	    object_is_emptied(rq, rq->r, rq->name)) {
		object_set_rev(rq->a, obj);
		remove_object(rq, rq->r, key, obj, answer_new(rq, 200, json_text(obj)));
	} else if (json_equal(old, obj)) {
		show(rq, 200, obj); /* The request changed nothing: reply without a new revision. */
	} else {
		write_and_show(rq, key, obj, rev, 200);
	}
}

void do_update(struct request *rq)
{
	const char *key = resource_key(rq->r, rq->arena, rq->ns, rq->name);
	struct store_entry entry;
	OWN_JSON obj = request_body(rq);
	OWN_JSON old = object_read(rq->a, key, &entry);

	if (!obj)
		reply_fault(rq);
	else if (!old)
		fault_not_found(rq);
	else
		replace(rq, key, &entry, old, obj);
}

/* Returns the patched object, or NULL with the fault set. */
static json_t *patched(struct request *rq, const json_t *old, const json_t *patch)
{
	OWN_JSON base = json_deep_copy(old);

	if (rq->r->renamed_event)
		object_event_from_core(base);
	if (body_has_type(rq, "application/json-patch+json"))
		return jsonpatch_apply(patch, &base, &rq->fault) < 0 ? NULL : give(base);
	if (json_is_object(patch))
		return body_has_type(rq, "application/strategic-merge-patch+json")
			       ? strategic_apply(base, patch, &rq->fault)
			       : json_merge_apply(base, patch);
	(void)!fault_set(&rq->fault, FAULT_BAD_REQUEST, "the patch is not an object");
	return NULL;
}

/* Refuses an object that a patch made larger than a request body may be. Without this limit
 * repeated patches could make an object grow without end. */
static int check_size(struct request *rq, const struct store_entry *old, const json_t *obj)
{
	size_t patch, size;

	(void)httpd_body(rq->q, &patch);
	/* Skip the measurement if no result can be too large: only a JSON patch can copy existing
	 * data, and the result of any other patch is at most as large as old object and patch
	 * together. */
	if (!body_has_type(rq, "application/json-patch+json") && old->value_len + patch <= MAX_BODY)
		return 0;
	size = json_dumpb(obj, NULL, 0, JSON_COMPACT);
	/* Accept a large object if it is not larger than the old one, so that a patch can always
	 * make an object smaller. */
	return size <= MAX_BODY || size <= old->value_len
		       ? 0
		       : fault_set(&rq->fault, FAULT_TOO_LARGE,
				   "Request entity too large: limit is %zu", MAX_BODY);
}

/* Sets the present resourceVersion in a patched object that has none, because a patch without a
 * resourceVersion applies to whatever revision is present. */
static void fill_rev(const json_t *old, json_t *obj)
{
	json_t *meta = object_meta(obj);

	if (meta && str_empty(json_str_at(meta, "resourceVersion")))
		json_object_set(meta, "resourceVersion",
				json_at(old, "metadata", "resourceVersion"));
}

void do_patch(struct request *rq)
{
	const char *key = resource_key(rq->r, rq->arena, rq->ns, rq->name);
	struct store_entry entry;

	if (body_has_type(rq, "application/apply-patch+yaml")) {
		(void)!fault_set(&rq->fault, FAULT_MEDIA_TYPE,
				 "this server has no server-side apply: apply on the client's "
				 "side, or send a merge patch");
		reply_fault(rq);
		return;
	}
	if (!body_has_type(rq, "application/json-patch+json") &&
	    !body_has_type(rq, "application/merge-patch+json") &&
	    !(body_has_type(rq, "application/strategic-merge-patch+json") && !rq->r->custom)) {
		(void)!fault_set(
			&rq->fault, FAULT_MEDIA_TYPE,
			"the body of the request was in an unknown format - accepted media types "
			"include: application/json-patch+json, application/merge-patch+json%s",
			rq->r->custom ? "" : ", application/strategic-merge-patch+json");
		reply_fault(rq);
		return;
	}

	OWN_JSON patch = request_body(rq);
	OWN_JSON old = object_read(rq->a, key, &entry);

	if (!patch) {
		reply_fault(rq);
		return;
	}
	if (!old) {
		fault_not_found(rq);
		return;
	}

	OWN_JSON obj = patched(rq, old, patch);

	if (!obj || check_size(rq, &entry, obj) < 0) {
		reply_fault(rq);
		return;
	}
	fill_rev(old, obj);
	replace(rq, key, &entry, old, obj);
}

/* --- binding ---------------------------------------------------------------------------------- */

static void add_scheduled(struct request *rq, json_t *pod)
{
	char now[STR_TIME_SIZE];
	json_t *status, *conditions, *v;
	size_t i;

	if (!json_is_object(json_object_get(pod, "status")))
		json_object_set_new(pod, "status", json_object());
	status = json_object_get(pod, "status");
	if (!json_is_array(json_object_get(status, "conditions")))
		json_object_set_new(status, "conditions", json_array());
	conditions = json_object_get(status, "conditions");
	json_array_foreach (conditions, i, v) {
		if (str_eq(json_str_at(v, "type"), "PodScheduled")) {
			json_array_remove(conditions, i);
			break;
		}
	}
	json_array_append_new(conditions,
			      json_pack("{s:s, s:s, s:n, s:s}", "type", "PodScheduled", "status",
					"True", "lastProbeTime", "lastTransitionTime",
					str_time(now, loop_wall(rq->a->loop))));
}

void do_binding(struct request *rq)
{
	const char *key = resource_key(rq->r, rq->arena, rq->ns, rq->name), *node;
	struct store_entry entry;
	OWN_JSON binding = request_body(rq);
	OWN_JSON pod = object_read(rq->a, key, &entry);

	if (!binding) {
		reply_fault(rq);
		return;
	}
	if (!pod) {
		fault_not_found(rq);
		return;
	}
	node = json_str_at(binding, "target", "name");
	if (str_empty(node) || !json_is_object(json_object_get(pod, "spec"))) {
		(void)!fault_set(&rq->fault, FAULT_INVALID, "target.name: Required value");
		reply_fault(rq);
		return;
	}
	if (object_is_going(pod) || !str_empty(json_str_at(pod, "spec", "nodeName"))) {
		(void)!fault_set(
			&rq->fault, FAULT_CONFLICT,
			"Operation cannot be fulfilled on pods/binding \"%s\": pod %s is %s",
			rq->name, rq->name,
			object_is_going(pod) ? "being deleted" : "already assigned to a node");
		reply_fault(rq);
		return;
	}
	json_object_set_new(json_object_get(pod, "spec"), "nodeName", json_string(node));
	add_scheduled(rq, pod);
	object_set_rev(rq->a, pod);
	write_object(rq, rq->r, key, pod, (int64_t)entry.rev,
		     answer_new(rq, 201, mem_strdup(created_text)));
}
