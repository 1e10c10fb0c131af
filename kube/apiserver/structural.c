#include <string.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Checks whether a schema is structural (apiextensions.k8s.io/v1: "Specifying a structural
 * schema"): the type of each value is specified exactly once, outside of allOf, anyOf, oneOf and
 * not. Inside these four a schema may only restrict values.
 * Tests: tests/unit/kube/apiserver/test_schema.c
 */
static const char *const junctors[] = {"allOf", "anyOf", "oneOf"};

struct walk {
	struct arena *arena;
	struct fault *f;
};

static int wrong(struct walk *w, const char *path, const char *text)
{
	return fault_set(w->f, FAULT_INVALID,
			 "CustomResourceDefinition.apiextensions.k8s.io is invalid: %.300s: %s",
			 path, text);
}

static bool flag(const json_t *schema, const char *name)
{
	return json_true_at(schema, name);
}

static const char *join(struct walk *w, const char *path, const char *name)
{
	return arena_printf(w->arena, "%s.%.100s", path, name);
}

/* Checks a schema inside allOf, anyOf, oneOf or not: it must not define types, only restrict
 * values. */
static int check_narrowing(struct walk *w, const json_t *schema, const char *path)
{
	static const char *const forbidden[] = {"description", "default", "additionalProperties",
						"nullable",    "title",	  "x-kubernetes-list-type"};
	const char *name;
	json_t *v;

	for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++)
		if (json_object_get(schema, forbidden[i]))
			return wrong(w, join(w, path, forbidden[i]),
				     "Forbidden: must be undefined to be structural");
	json_object_foreach (json_object_get(schema, "properties"), name, v)
		if (check_narrowing(w, v, join(w, join(w, path, "properties"), name)) < 0)
			return -1;
	return json_object_get(schema, "items")
		       ? check_narrowing(w, json_object_get(schema, "items"),
					 join(w, path, "items"))
		       : 0;
}

static int check_junctors(struct walk *w, const json_t *schema, const char *path)
{
	size_t k;
	json_t *one;

	for (size_t i = 0; i < sizeof(junctors) / sizeof(*junctors); i++)
		json_array_foreach (json_object_get(schema, junctors[i]), k, one)
			if (check_narrowing(
				    w, one,
				    arena_printf(w->arena, "%s.%s[%zu]", path, junctors[i], k)) < 0)
				return -1;
	one = json_object_get(schema, "not");
	return one ? check_narrowing(w, one, join(w, path, "not")) : 0;
}

static int check_list(struct walk *w, const json_t *schema, const char *path)
{
	const char *type = json_str_at(schema, "x-kubernetes-list-type");
	const json_t *keys = json_object_get(schema, "x-kubernetes-list-map-keys");
	size_t i;
	json_t *key;

	if (!json_is_object(json_object_get(schema, "items")))
		return wrong(w, join(w, path, "items"), "Required value: must be specified");
	if (str_eq(type, "map") != (json_array_size(keys) > 0))
		return wrong(w, join(w, path, "x-kubernetes-list-map-keys"),
			     "must be given for x-kubernetes-list-type map, and only for it");
	json_array_foreach (keys, i, key)
		if (!json_at(schema, "items", "properties", str_or(json_string_value(key), "")))
			return wrong(w, join(w, path, "x-kubernetes-list-map-keys"),
				     "Invalid value: entries must all be names of item properties");
	return 0;
}

static int check_default(struct walk *w, const json_t *schema, const char *path)
{
	const json_t *value = json_object_get(schema, "default");
	struct fault f;

	if (!value)
		return 0;

	OWN_JSON wrap =
		json_pack("{s:s, s:{s:O}}", "type", "object", "properties", "default", schema);
	OWN_JSON obj = json_pack("{s:o}", "default", json_deep_copy(value));

	return schema_apply(wrap, NULL, obj, &f) < 0 ? wrong(w, join(w, path, "default"), f.text)
						     : 0;
}

static int check_node(struct walk *w, const json_t *schema, const char *path)
{
	static const char *const types[] = {"object",  "array",	  "string",
					    "boolean", "integer", "number"};
	const char *type = json_str_at(schema, "type"), *name;
	const json_t *more = json_object_get(schema, "additionalProperties");
	bool known = false;
	json_t *v;

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		known = known || str_eq(type, types[i]);
	if (type && !known)
		return wrong(w, join(w, path, "type"), "Unsupported value");
	if (!type && !flag(schema, "x-kubernetes-int-or-string") &&
	    !flag(schema, "x-kubernetes-preserve-unknown-fields"))
		return wrong(w, join(w, path, "type"),
			     "Required value: must not be empty for specified object fields");
	if (json_object_get(schema, "$ref") || flag(schema, "uniqueItems"))
		return wrong(w, path, "Forbidden: $ref and uniqueItems are not supported");
	if (json_object_get(schema, "properties") && more)
		return wrong(w, join(w, path, "additionalProperties"),
			     "Forbidden: additionalProperties and properties are mutual exclusive");
	if (str_eq(type, "array") && check_list(w, schema, path) < 0)
		return -1;
	if (check_junctors(w, schema, path) < 0 || check_default(w, schema, path) < 0)
		return -1;
	json_object_foreach (json_object_get(schema, "properties"), name, v)
		if (check_node(w, v, join(w, join(w, path, "properties"), name)) < 0)
			return -1;
	if (json_is_object(more) && check_node(w, more, join(w, path, "additionalProperties")) < 0)
		return -1;
	v = json_object_get(schema, "items");
	return v ? check_node(w, v, join(w, path, "items")) : 0;
}

int structural_check(const json_t *crd, struct arena *a, struct fault *f)
{
	struct walk w = {.arena = a, .f = f};
	size_t i;
	json_t *version;

	json_array_foreach (json_at(crd, "spec", "versions"), i, version) {
		const json_t *schema = json_at(version, "schema", "openAPIV3Schema");
		const char *path = arena_printf(a, "spec.versions[%zu].schema.openAPIV3Schema", i);

		if (!json_is_object(schema))
			return wrong(&w, path, "Required value: schemas are required");
		if (!str_eq(json_str_at(schema, "type"), "object"))
			return wrong(&w, join(&w, path, "type"),
				     "Invalid value: must be object at the root");
		if (check_node(&w, schema, path) < 0)
			return -1;
	}
	return json_true_at(crd, "spec", "preserveUnknownFields")
		       ? wrong(&w, "spec.preserveUnknownFields",
			       "Invalid value: true: must be false in order to use defaults")
		       : 0;
}
