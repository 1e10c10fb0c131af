#include "base/str.h"
#include "kube/apiserver/messages.h"

/*
 * Functions on an object's metadata that several files need: location, deletion, and the two API
 * forms of an event. Separate from object.c, which depends on the rules of particular kinds.
 * Tests: tests/unit/kube/apiserver/test_write.c, tests/unit/kube/apiserver/test_remove.c
 */

json_t *object_meta(const json_t *obj)
{
	json_t *meta = json_object_get(obj, "metadata");

	return json_is_object(meta) ? meta : NULL;
}

static void set_str(json_t *o, const char *key, const char *value)
{
	json_object_set_new(o, key, json_string(value));
}

/* --- location --------------------------------------------------------------------------------- */

int object_address(const struct request *rq, json_t *obj, struct fault *f)
{
	const char *api_version = resource_api_version(rq->r, rq->arena);
	const char *given_version, *given_kind, *name, *ns;
	json_t *meta;

	if (!json_is_object(obj))
		return fault_set(f, FAULT_BAD_REQUEST, "the body is not an object");
	given_version = json_str_at(obj, "apiVersion");
	given_kind = json_str_at(obj, "kind");
	if (given_version && !str_eq(given_version, api_version))
		return fault_set(f, FAULT_BAD_REQUEST,
				 "the API version in the data (%s) does not match the "
				 "expected API version (%s)",
				 given_version, api_version);
	if (given_kind && !str_eq(given_kind, rq->r->kind))
		return fault_set(f, FAULT_BAD_REQUEST,
				 "the kind in the data (%s) does not match the expected kind (%s)",
				 given_kind, rq->r->kind);
	set_str(obj, "apiVersion", api_version);
	set_str(obj, "kind", rq->r->kind);
	if (!json_object_get(obj, "metadata"))
		json_object_set_new(obj, "metadata", json_object());
	meta = object_meta(obj);
	if (!meta)
		return fault_set(f, FAULT_BAD_REQUEST, "metadata is not an object");
	name = json_str_at(meta, "name");
	ns = json_str_at(meta, "namespace");
	if (rq->name && !str_empty(name) && !str_eq(name, rq->name))
		return fault_set(
			f, FAULT_BAD_REQUEST,
			"the name of the object (%s) does not match the name on the URL (%s)", name,
			rq->name);
	if (rq->ns && !str_empty(ns) && !str_eq(ns, rq->ns))
		return fault_set(f, FAULT_BAD_REQUEST,
				 "the namespace of the provided object does not match the "
				 "namespace sent on the request");
	if (rq->r->namespaced)
		set_str(meta, "namespace", str_or(rq->ns, ""));
	else
		json_object_del(meta, "namespace");
	if (rq->name)
		set_str(meta, "name", rq->name);
	return 0;
}

/* --- delete ----------------------------------------------------------------------------------- */

bool object_is_going(const json_t *obj)
{
	return json_is_string(json_at(obj, "metadata", "deletionTimestamp"));
}

bool object_may_go(const struct apiserver *a, const struct resource *r, const json_t *obj)
{
	const char *phase = json_str_at(obj, "status", "phase");

	if (json_array_size(json_at(obj, "metadata", "finalizers")) ||
	    (str_eq(r->key, "namespaces/") && json_array_size(json_at(obj, "spec", "finalizers"))))
		return false;
	if (!a->spec.graceful_pods || !str_eq(r->key, "pods/"))
		return true;
	if (str_empty(json_str_at(obj, "spec", "nodeName")) || str_eq(phase, "Succeeded") ||
	    str_eq(phase, "Failed"))
		return true;

	const json_t *grace = json_at(obj, "metadata", "deletionGracePeriodSeconds");

	return grace && json_integer_value(grace) == 0;
}

void object_mark_deleted(const struct apiserver *a, const struct resource *r, json_t *obj,
			 int64_t grace_s)
{
	char time[STR_TIME_SIZE];
	json_t *meta = object_meta(obj);

	if (!object_is_going(obj)) {
		set_str(meta, "deletionTimestamp",
			str_time(time, loop_wall(a->loop) + grace_s * 1000));
		if (r->has_generation)
			json_object_set_new(meta, "generation",
					    json_integer(json_int_at(meta, "generation") + 1));
	}
	json_object_set_new(meta, "deletionGracePeriodSeconds", json_integer(grace_s));
}

/* --- the two forms of an event ---------------------------------------------------------------- */

/* Names of the same members in core/v1 and in events.k8s.io (Kubernetes pkg/apis/events/v1). */
static const struct {
	const char *core, *renamed;
} event_members[] = {
	{"involvedObject", "regarding"},
	{"message", "note"},
	{"source", "deprecatedSource"},
	{"firstTimestamp", "deprecatedFirstTimestamp"},
	{"lastTimestamp", "deprecatedLastTimestamp"},
	{"count", "deprecatedCount"},
	{"reportingComponent", "reportingController"},
};

static void rename_members(json_t *obj, bool to_core, const char *api_version)
{
	for (size_t i = 0; i < sizeof(event_members) / sizeof(*event_members); i++) {
		const char *core = event_members[i].core, *renamed = event_members[i].renamed;
		const char *from = to_core ? renamed : core;
		json_t *v = json_object_get(obj, from);

		if (!v)
			continue;
		json_object_set(obj, to_core ? core : renamed, v);
		json_object_del(obj, from);
	}
	set_str(obj, "apiVersion", api_version);
}

void object_event_to_core(json_t *obj)
{
	rename_members(obj, true, "v1");
}

void object_event_from_core(json_t *obj)
{
	rename_members(obj, false, "events.k8s.io/v1");
	message_normalize(message_find("events.v1.Event"), obj);
}
