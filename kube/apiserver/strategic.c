#include <string.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Applies strategic merge patches (Kubernetes "sig-api-machinery/strategic-merge-patch.md"). Such a
 * patch is a merge patch in which certain lists are sets of objects that are identified by a key,
 * and members whose names begin with $ are directives. The order in $setElementOrder is ignored.
 */

/* Lists that are merged as sets, and the member that identifies an element (patchMergeKey in
 * k8s.io/api); key NULL: a set of plain values. Any other list is replaced as a whole. */
static const struct {
	const char *list, *key;
} sets[] = {
	{"addresses", "type"},
	{"conditions", "type"},
	{"containers", "name"},
	{"env", "name"},
	{"ephemeralContainers", "name"},
	{"finalizers", NULL},
	{"hostAliases", "ip"},
	{"imagePullSecrets", "name"},
	{"initContainers", "name"},
	{"ownerReferences", "uid"},
	{"podIPs", "ip"},
	{"ports", "containerPort"},
	{"ports", "port"},
	{"resourceClaims", "name"},
	{"secrets", "name"},
	{"topologySpreadConstraints", "topologyKey"},
	{"volumeDevices", "devicePath"},
	{"volumeMounts", "mountPath"},
	{"volumes", "name"},
};
#define NSETS (sizeof(sets) / sizeof(*sets))

/* Returns the index in sets[] for the list `name`, judged by the first element of the patch: it
 * must have the set's key or $patch, or be a plain value if the set has no key. NSETS: the list is
 * no set. */
static size_t find_set(const char *name, const json_t *patch)
{
	const json_t *first = json_array_get(patch, 0);

	for (size_t i = 0; i < NSETS; i++)
		if (str_eq(sets[i].list, name) &&
		    (sets[i].key ? json_is_object(first) && (json_object_get(first, sets[i].key) ||
							     json_object_get(first, "$patch"))
				 : !json_is_object(first)))
			return i;
	return NSETS;
}

static json_t *merge_object(const json_t *doc, const json_t *patch, struct fault *f);

static bool asks(const json_t *patch, const char *directive)
{
	return str_eq(json_str_at(patch, "$patch"), directive);
}

static size_t index_of(const json_t *list, const char *key, const json_t *value)
{
	size_t i;
	json_t *v;

	json_array_foreach (list, i, v)
		if (json_equal(key ? json_object_get(v, key) : v, value))
			return i;
	return json_array_size(list);
}

static int merge_element(json_t *list, const char *key, json_t *element, struct fault *f)
{
	const json_t *value = key ? json_object_get(element, key) : element;
	size_t at;

	if (!value)
		return fault_set(f, FAULT_BAD_REQUEST,
				 "strategic merge patch: an element of the list has no %s", key);
	at = index_of(list, key, value);
	if (asks(element, "delete")) {
		json_array_remove(list, at);
		return 0;
	}
	if (!key) {
		if (at == json_array_size(list))
			json_array_append(list, element);
		return 0;
	}

	json_t *merged = merge_object(json_array_get(list, at), element, f);

	if (!merged)
		return -1;
	if (at == json_array_size(list))
		json_array_append_new(list, merged);
	else
		json_array_set_new(list, at, merged);
	return 0;
}

static json_t *merge_list(const json_t *doc, const json_t *patch, const char *key, struct fault *f)
{
	OWN_JSON list = json_is_array(doc) ? json_deep_copy(doc) : json_array();
	size_t i;
	json_t *v;

	json_array_foreach (patch, i, v)
		if (asks(v, "replace"))
			json_array_clear(list);
	json_array_foreach (patch, i, v)
		if (!asks(v, "replace") && merge_element(list, key, v, f) < 0)
			return NULL;
	return give(list);
}

static void delete_values(json_t *list, const json_t *values)
{
	size_t i;
	json_t *v;

	json_array_foreach (values, i, v)
		json_array_remove(list, index_of(list, NULL, v));
}

static void retain_keys(json_t *out, const json_t *keys)
{
	const char *name;
	json_t *v;
	void *next;

	json_object_foreach_safe(out, next, name, v)
	{
		bool kept = false;

		for (size_t i = 0; i < json_array_size(keys); i++)
			kept |= str_eq(json_string_value(json_array_get(keys, i)), name);
		if (!kept)
			json_object_del(out, name);
	}
}

/* Applies a directive of the patch to the object out; name: the directive, for example
 * "$retainKeys". */
static void follow_directive(json_t *out, const char *name, json_t *value)
{
	static const char from_list[] = "$deleteFromPrimitiveList/";

	if (str_starts(name, from_list))
		delete_values(json_object_get(out, name + strlen(from_list)), value);
	else if (str_eq(name, "$retainKeys"))
		retain_keys(out, value);
}

static int merge_member(json_t *out, const char *name, json_t *value, struct fault *f)
{
	const json_t *old = json_object_get(out, name);
	json_t *merged;

	if (json_is_null(value) || (json_is_object(value) && asks(value, "delete"))) {
		json_object_del(out, name);
		return 0;
	}
	if (json_is_object(value)) {
		merged = merge_object(old, value, f);
	} else {
		size_t set = json_is_array(value) && json_array_size(value) ? find_set(name, value)
									    : NSETS;

		merged = set < NSETS ? merge_list(old, value, sets[set].key, f)
				     : json_deep_copy(value);
	}
	if (!merged)
		return -1;
	json_object_set_new(out, name, merged);
	return 0;
}

static json_t *merge_object(const json_t *doc, const json_t *patch, struct fault *f)
{
	OWN_JSON out = json_is_object(doc) && !asks(patch, "replace") ? json_deep_copy(doc)
								      : json_object();
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)patch, name, value)
		if (*name == '$')
			follow_directive(out, name, value);
	json_object_foreach ((json_t *)patch, name, value)
		if (*name != '$' && merge_member(out, name, value, f) < 0)
			return NULL;
	return give(out);
}

json_t *strategic_apply(const json_t *doc, const json_t *patch, struct fault *f)
{
	return merge_object(doc, patch, f);
}
