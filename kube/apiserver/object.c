#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/* Tests: tests/unit/kube/apiserver/test_write.c, tests/unit/kube/apiserver/test_remove.c */

json_t *object_meta(const json_t *obj)
{
	json_t *meta = json_object_get(obj, "metadata");

	return json_is_object(meta) ? meta : NULL;
}

static void set_str(json_t *o, const char *key, const char *value)
{
	json_object_set_new(o, key, json_string(value));
}

/* Members that only the server writes: as they were. */
static void carry(json_t *meta, const json_t *old_meta, const char *key)
{
	json_t *v = json_object_get(old_meta, key);

	if (v)
		json_object_set(meta, key, v);
	else
		json_object_del(meta, key);
}

/* --- where it stands ---------------------------------------------------------------------------- */

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
		return fault_set(
			f, FAULT_BAD_REQUEST,
			"the API version in the data (%s) does not match the expected API version (%s)",
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
		return fault_set(
			f, FAULT_BAD_REQUEST,
			"the namespace of the provided object does not match the namespace sent on the request");
	if (rq->r->namespaced)
		set_str(meta, "namespace", str_or(rq->ns, ""));
	else
		json_object_del(meta, "namespace");
	if (rq->name)
		set_str(meta, "name", rq->name);
	return 0;
}

/* --- checks of metadata ------------------------------------------------------------------------- */

static int check_strings(const json_t *meta, const char *member, bool labels, struct fault *f)
{
	const json_t *map = json_object_get(meta, member);
	const char *key;
	json_t *value;

	if (!map || json_is_null(map))
		return 0;
	if (!json_is_object(map))
		return fault_set(f, FAULT_BAD_REQUEST, "metadata.%s is not an object", member);
	json_object_foreach ((json_t *)map, key, value) {
		if (!str_is_qualified_name(key))
			return fault_set(
				f, FAULT_INVALID,
				"metadata.%s: Invalid value: \"%s\": want a qualified name", member,
				key);
		if (!json_is_string(value))
			return fault_set(f, FAULT_BAD_REQUEST, "metadata.%s: %s is not a string",
					 member, key);
		if (labels && !str_is_label_value(json_string_value(value)))
			return fault_set(
				f, FAULT_INVALID,
				"metadata.labels: Invalid value: \"%s\": want a label value",
				json_string_value(value));
	}
	return 0;
}

/* The names of RBAC: "system:node". */
static bool is_path_segment(const char *name)
{
	return *name && strlen(name) <= 253 && !strpbrk(name, "/%") && !str_eq(name, ".") &&
	       !str_eq(name, "..");
}

/* Those without a domain are Kubernetes' own. */
static bool is_finalizer(const char *s)
{
	return str_eq(s, "orphan") || str_eq(s, "foregroundDeletion") || str_eq(s, "kubernetes") ||
	       (strchr(s, '/') && str_is_qualified_name(s));
}

static int check_meta(const struct resource *r, const json_t *meta, struct fault *f)
{
	const json_t *finalizers = json_object_get(meta, "finalizers");
	const char *name = json_str_at(meta, "name");
	size_t i;
	json_t *v;

	if (r->loose_name ? !is_path_segment(str_or(name, ""))
			  : !str_is_dns_subdomain(str_or(name, "")))
		return fault_set(f, FAULT_INVALID,
				 "metadata.name: Invalid value: \"%s\": want a %s",
				 str_or(name, ""),
				 r->loose_name ? "path segment" : "lowercase RFC 1123 subdomain");
	if (check_strings(meta, "labels", true, f) < 0 ||
	    check_strings(meta, "annotations", false, f) < 0)
		return -1;
	if (finalizers && !json_is_null(finalizers) && !json_is_array(finalizers))
		return fault_set(f, FAULT_BAD_REQUEST, "metadata.finalizers is not a list");
	json_array_foreach (finalizers, i, v)
		if (!json_is_string(v))
			return fault_set(f, FAULT_BAD_REQUEST,
					 "metadata.finalizers[%zu] is not a string", i);
		else if (!is_finalizer(json_string_value(v)))
			return fault_set(
				f, FAULT_INVALID,
				"metadata.finalizers: Invalid value: \"%s\": want a domain, a slash and a name",
				json_string_value(v));
	return 0;
}

/* --- create ------------------------------------------------------------------------------------- */

static void set_uid(struct loop *l, json_t *meta)
{
	unsigned char b[16];
	char text[37], hex[33];

	loop_random_bytes(l, b, sizeof(b));
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* RFC 9562: version 4, variant 10 */
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	str_hex(hex, b, sizeof(b));
	snprintf(text, sizeof(text), "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16,
		 hex + 20);
	set_str(meta, "uid", text);
}

#define NAME_TRIES 8 /* as in kube-apiserver (KEP-4420) */

/* One that nobody has, or after some tries one that somebody has. */
static void generate_name(const struct request *rq, json_t *meta)
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789"; /* no vowels: no words */
	const char *base = json_str_at(meta, "generateName"), *name, *key;
	char suffix[6] = "";
	struct store_entry entry;
	int tries = 0;

	if (str_empty(base) || !str_empty(json_str_at(meta, "name")))
		return;
	do {
		for (int i = 0; i < 5; i++)
			suffix[i] = letters[loop_random_below(rq->a->loop, sizeof(letters) - 1)];
		name = arena_printf(rq->arena, "%.58s%s", base, suffix);
		key = resource_key(rq->r, rq->arena, rq->ns, name);
	} while (++tries < NAME_TRIES && store_get(rq->a->store, key, &entry));
	set_str(meta, "name", name);
}

int object_create(struct request *rq, json_t *obj, struct fault *f)
{
	struct loop *l = rq->a->loop;
	char time[STR_TIME_SIZE];
	json_t *meta = object_meta(obj);
	static const char *const server_only[] = {
		"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds",
		"selfLink",	   "generation",	"managedFields",
	};

	if (!str_empty(json_str_at(meta, "resourceVersion")))
		return fault_set(f, FAULT_BAD_REQUEST,
				 "resourceVersion should not be set on objects to be created");
	generate_name(rq, meta);
	if (str_empty(json_str_at(meta, "name")))
		return fault_set(f, FAULT_INVALID,
				 "metadata.name: Required value: name or generateName is required");
	if (check_meta(rq->r, meta, f) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(server_only) / sizeof(*server_only); i++)
		json_object_del(meta, server_only[i]);
	set_uid(l, meta);
	set_str(meta, "creationTimestamp", str_time(time, loop_wall(l)));
	if (rq->r->has_generation)
		json_object_set_new(meta, "generation", json_integer(1));
	if (rq->r->has_status && (rq->r->custom || (rq->a->spec.checks && rq->r->has_generation)))
		json_object_del(obj, "status");
	rq->name = json_str_at(meta, "name");
	if (rbac_check_grant(rq, obj, f) < 0)
		return -1;
	if (kind_adjust(rq, obj, true, f) < 0)
		return -1;
	if (!rq->a->spec.checks || !rq->q)
		return 0;
	object_fill(rq->r, obj, true);
	return checks_object(rq, obj, f);
}

/* --- update ------------------------------------------------------------------------------------- */

static bool same_member(const json_t *a, const json_t *b, const char *key)
{
	const json_t *x = json_object_get(a, key), *y = json_object_get(b, key);

	return x && y ? json_equal(x, y) : x == y;
}

/* Everything that raises metadata.generation: all but metadata and status. */
static bool same_wish(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)a, key, v)
		if (!str_eq(key, "metadata") && !str_eq(key, "status") && !same_member(a, b, key))
			return false;
	json_object_foreach ((json_t *)b, key, v)
		if (!str_eq(key, "metadata") && !str_eq(key, "status") && !json_object_get(a, key))
			return false;
	return true;
}

static int check_unchanged(const struct request *rq, const json_t *old_meta, json_t *meta,
			   struct fault *f)
{
	const char *uid = json_str_at(meta, "uid"), *rev = json_str_at(meta, "resourceVersion");
	const char *name = json_str_at(old_meta, "name");

	if (!str_empty(uid) && !str_eq(uid, json_str_at(old_meta, "uid")))
		return fault_set(
			f, FAULT_CONFLICT,
			"Operation cannot be fulfilled on %s \"%s\": Precondition failed: UID in precondition: %s, UID in object meta: %s",
			rq->r->plural, name, uid, json_str_at(old_meta, "uid"));
	if (!str_empty(rev) && !str_eq(rev, json_str_at(old_meta, "resourceVersion")))
		return fault_set(
			f, FAULT_CONFLICT,
			"Operation cannot be fulfilled on %s \"%s\": the object has been modified; please apply your changes to the latest version and try again",
			rq->r->plural, name);
	if (str_empty(rev) && rq->r->must_say_rev)
		return fault_set(
			f, FAULT_INVALID,
			"metadata.resourceVersion: Invalid value: 0: must be specified for an update");
	return 0;
}

static bool has_member(const json_t *list, const json_t *value)
{
	size_t i;
	json_t *v;

	json_array_foreach (list, i, v)
		if (json_equal(v, value))
			return true;
	return false;
}

static int check_finalizers(const json_t *old_meta, const json_t *meta, struct fault *f)
{
	size_t i;
	json_t *v;

	json_array_foreach (json_object_get(meta, "finalizers"), i, v)
		if (!has_member(json_object_get(old_meta, "finalizers"), v))
			return fault_set(
				f, FAULT_INVALID,
				"metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers %s",
				json_string_value(v));
	return 0;
}

/* Which half of the object the request may change. */
static void separate(const struct request *rq, const json_t *old, json_t *obj)
{
	if (!rq->r->has_status)
		return;
	if (!str_eq(rq->sub, "status")) {
		carry(obj, old, "status");
		/* A namespace's spec is its finalizers, and has a path of its own. */
		if (rq->a->spec.controllers && str_eq(rq->r->key, "namespaces/") &&
		    !str_eq(rq->sub, "finalize"))
			carry(obj, old, "spec");
		return;
	}
	if (!rq->r->custom) {
		carry(obj, old, "spec");
		return;
	}

	json_t *status = json_incref(json_object_get(obj, "status"));
	OWN_JSON rest = json_deep_copy(old);

	json_object_clear(obj);
	json_object_update(obj, rest);
	if (status)
		json_object_set(obj, "status", status);
	else
		json_object_del(obj, "status");
	json_decref(status);
}

/* A status is checked for types alone, in strict.c. */
static int check_update(const struct request *rq, const json_t *old, json_t *obj, struct fault *f)
{
	if (!rq->a->spec.checks || str_eq(rq->sub, "status"))
		return 0;
	object_fill(rq->r, obj, false);
	return checks_object(rq, obj, f) < 0 ? -1 : checks_change(rq, old, obj, f);
}

int object_update(struct request *rq, const json_t *old, json_t *obj, struct fault *f)
{
	static const char *const server_only[] = {
		"uid",
		"creationTimestamp",
		"deletionTimestamp",
		"deletionGracePeriodSeconds",
		"generation",
		"resourceVersion",
		"selfLink",
		"generateName",
	};
	const json_t *old_meta = object_meta(old);
	json_t *meta = object_meta(obj);

	if (check_unchanged(rq, old_meta, meta, f) < 0 || check_meta(rq->r, meta, f) < 0)
		return -1;
	separate(rq, old, obj);
	meta = object_meta(obj);
	if (object_is_going(old) && check_finalizers(old_meta, meta, f) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(server_only) / sizeof(*server_only); i++)
		carry(meta, old_meta, server_only[i]);
	json_object_del(meta, "managedFields");
	if (rbac_check_grant(rq, obj, f) < 0 || kind_adjust(rq, obj, false, f) < 0)
		return -1;
	if (check_update(rq, old, obj, f) < 0)
		return -1;
	if (rq->r->has_generation && !same_wish(old, obj))
		json_object_set_new(meta, "generation",
				    json_integer(json_int_at(old_meta, "generation") + 1));
	return 0;
}

/* --- delete ------------------------------------------------------------------------------------- */

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

/* --- the two forms of an event ------------------------------------------------------------------ */

/* Conversion in Kubernetes pkg/apis/events/v1. */
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
}
