#include <stdio.h>
#include <string.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Applies the rules for an object that is written, in two steps: first the rules for metadata,
 * which are the same for all kinds, then the rules of the kind. Between the two steps write.c
 * checks whether the user may grant the rights in the object.
 * Tests: tests/unit/kube/apiserver/test_write.c, tests/unit/kube/apiserver/test_checks.c
 */

/* Sets the metadata member `key`, which only the server may change, back to its value in old_meta;
 * removes the member if old_meta lacks it. */
static void carry(json_t *meta, const json_t *old_meta, const char *key)
{
	json_t *v = json_object_get(old_meta, key);

	if (v)
		json_object_set(meta, key, v);
	else
		json_object_del(meta, key);
}

/* --- checks of metadata ----------------------------------------------------------------------- */

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

/* True for names that RBAC objects may have, for example "system:node". */
static bool is_path_segment(const char *name)
{
	return *name && strlen(name) <= 253 && !strpbrk(name, "/%") && !str_eq(name, ".") &&
	       !str_eq(name, "..");
}

/* True for a valid finalizer. Finalizers without a domain are those of Kubernetes itself. */
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
			return fault_set(f, FAULT_INVALID,
					 "metadata.finalizers: Invalid value: \"%s\": want a "
					 "domain, a slash and a name",
					 json_string_value(v));
	return 0;
}

/* --- create ----------------------------------------------------------------------------------- */

static void set_uid(struct loop *l, json_t *meta)
{
	unsigned char b[16];
	char text[37], hex[33];

	loop_random_bytes(l, b, sizeof(b));
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* RFC 9562: version 4, variant 10. */
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	str_hex(hex, b, sizeof(b));
	snprintf(text, sizeof(text), "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16,
		 hex + 20);
	json_object_set_new(meta, "uid", json_string(text));
}

#define NAME_TRIES 8 /* As in kube-apiserver (KEP-4420). */

/* Sets a generated name that no object has yet. If all of NAME_TRIES names exist already, keeps the
 * last of them; the create is then refused. */
static void generate_name(const struct request *rq, json_t *meta)
{
	/* The letters contain no vowels, so that generated names contain no words. */
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
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
	json_object_set_new(meta, "name", json_string(name));
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
	json_object_set_new(meta, "creationTimestamp", json_string(str_time(time, loop_wall(l))));
	if (rq->r->has_generation)
		json_object_set_new(meta, "generation", json_integer(1));
	if (rq->r->has_status && (rq->r->custom || (rq->a->spec.checks && rq->r->has_generation)))
		json_object_del(obj, "status");
	rq->name = json_str_at(meta, "name");
	return 0;
}

/* --- update ----------------------------------------------------------------------------------- */

static int check_unchanged(const struct request *rq, const json_t *old_meta, json_t *meta,
			   struct fault *f)
{
	const char *uid = json_str_at(meta, "uid"), *rev = json_str_at(meta, "resourceVersion");
	const char *name = json_str_at(old_meta, "name");

	if (!str_empty(uid) && !str_eq(uid, json_str_at(old_meta, "uid")))
		return fault_set(f, FAULT_CONFLICT,
				 "Operation cannot be fulfilled on %s \"%s\": Precondition "
				 "failed: UID in precondition: %s, UID in object meta: %s",
				 rq->r->plural, name, uid, json_str_at(old_meta, "uid"));
	if (!str_empty(rev) && !str_eq(rev, json_str_at(old_meta, "resourceVersion")))
		return fault_set(
			f, FAULT_CONFLICT,
			"Operation cannot be fulfilled on %s \"%s\": the object has been modified; "
			"please apply your changes to the latest version and try again",
			rq->r->plural, name);
	if (str_empty(rev) && rq->r->must_say_rev)
		return fault_set(f, FAULT_INVALID,
				 "metadata.resourceVersion: Invalid value: 0: must be "
				 "specified for an update");
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
				"metadata.finalizers: Forbidden: no new finalizers can be added if "
				"the object is being deleted, found new finalizers %s",
				json_string_value(v));
	return 0;
}

/* Restores the part of the object that the request may not change: a request to /status changes
 * only status, any other request everything else. */
static void separate(const struct request *rq, const json_t *old, json_t *obj)
{
	if (!rq->r->has_status)
		return;
	if (!str_eq(rq->sub, "status")) {
		carry(obj, old, "status");
		/* Keep a namespace's spec, because it contains the finalizers, which only the
		 * subresource finalize may change. */
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
	return 0;
}

/* --- rules of a kind -------------------------------------------------------------------------- */

static bool same_member(const json_t *a, const json_t *b, const char *key)
{
	const json_t *x = json_object_get(a, key), *y = json_object_get(b, key);

	return x && y ? json_equal(x, y) : x == y;
}

/* True if all members except metadata and status are equal. Only a change of these other members
 * increases metadata.generation. */
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

/* True if the object must be validated. For an update of status only types are checked (strict.c).
 * A new object that the server itself creates is not validated. */
static bool is_checked(const struct request *rq, const json_t *old)
{
	return rq->a->spec.checks && (old ? !str_eq(rq->sub, "status") : rq->q != NULL);
}

int object_complete(struct request *rq, const json_t *old, json_t *obj, struct fault *f)
{
	if (rq->a->spec.checks)
		object_drop_zeros(rq->r, obj);
	if (kind_adjust(rq, obj, !old, f) < 0)
		return -1;
	if (rq->a->spec.checks && (old || rq->q))
		object_fill(rq->r, obj, !old);
	if (is_checked(rq, old) &&
	    (checks_object(rq, obj, f) < 0 || (old && checks_change(rq, old, obj, f) < 0)))
		return -1;
	if (rq->a->spec.checks)
		object_add_zeros(rq->r, obj);
	if (old && rq->r->has_generation && !same_wish(old, obj))
		json_object_set_new(object_meta(obj), "generation",
				    json_integer(json_int_at(old, "metadata", "generation") + 1));
	return 0;
}
