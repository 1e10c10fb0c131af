#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Applies the structural schemas of CustomResourceDefinitions (apiextensions.k8s.io/v1): prunes
 * unknown members, sets defaults, and checks types and bounds. CEL rules (x-kubernetes-validations)
 * are not evaluated.
 *
 * The recursion is bounded by the depth of the object, which json_parse() has limited.
 */

static bool is_set(const json_t *schema, const char *flag)
{
	return json_true_at(schema, flag);
}

const json_t *schema_of_member(const json_t *schema, const char *name)
{
	const json_t *known = json_object_get(json_object_get(schema, "properties"), name);
	const json_t *other = json_object_get(schema, "additionalProperties");

	return known ? known : json_is_object(other) ? other : NULL;
}

bool schema_keeps_unknown(const json_t *schema)
{
	return is_set(schema, "x-kubernetes-preserve-unknown-fields") ||
	       json_true_at(schema, "additionalProperties");
}

/* --- pruning and defaults --------------------------------------------------------------------- */

bool schema_is_server_member(const char *name)
{
	return str_eq(name, "apiVersion") || str_eq(name, "kind") || str_eq(name, "metadata");
}

static void prune(const json_t *schema, json_t *value, bool top)
{
	const char *name;
	json_t *v;
	void *next;
	size_t i;

	json_array_foreach (value, i, v)
		prune(json_object_get(schema, "items"), v, false);
	json_object_foreach_safe(value, next, name, v)
	{
		const json_t *member = schema_of_member(schema, name);

		if ((top || is_set(schema, "x-kubernetes-embedded-resource")) &&
		    schema_is_server_member(name))
			continue;
		if (!member && !schema_keeps_unknown(schema))
			json_object_del(value, name);
		else if (member && json_is_null(v) && !is_set(member, "nullable"))
			json_object_del(value, name);
		else if (member)
			prune(member, v, false);
	}
}

/* Adds the member name with the default def to object. Subtracts its size from *room, the bytes
 * that defaults may still add; false: too little room, nothing added. */
static bool add_default(json_t *object, const char *name, const json_t *def, size_t *room)
{
	size_t size = json_dumpb(def, NULL, 0, JSON_ENCODE_ANY | JSON_COMPACT) + strlen(name);

	if (size > *room)
		return false;
	*room -= size;
	json_object_set_new(object, name, json_deep_copy(def));
	return true;
}

static bool set_defaults(const json_t *schema, json_t *value, size_t *room)
{
	const char *name;
	json_t *v;
	size_t i;

	if (json_is_object(value)) {
		json_object_foreach (json_object_get(schema, "properties"), name, v) {
			const json_t *def = json_object_get(v, "default");

			if (def && !json_object_get(value, name) &&
			    !add_default(value, name, def, room))
				return false;
		}
	}
	json_array_foreach (value, i, v)
		if (!set_defaults(json_object_get(schema, "items"), v, room))
			return false;
	json_object_foreach (value, name, v)
		if (!set_defaults(schema_of_member(schema, name), v, room))
			return false;
	return true;
}

/* --- checks ----------------------------------------------------------------------------------- */

/* Limit of work for one check, about a second of CPU time, because a hostile schema or object could
 * otherwise take hours to check. The size of all defaults is limited to that of a request body for
 * the same reason. */
#define MAX_WORK ((size_t)5000000)

struct schema_check {
	struct arena *arena;
	struct fault *f;
	/* Cache of compiled patterns; NULL: no cache. */
	struct patterns *known;
	/* Work done so far: values visited, plus the cost of patterns. */
	size_t *work;
};

static int wrong(struct schema_check *c, const char *path, const char *want)
{
	return fault_set(c->f, FAULT_INVALID, "%s: Invalid value: %s", path, want);
}

static size_t characters(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static bool is_whole(const json_t *v)
{
	return json_is_integer(v) ||
	       (json_is_real(v) && json_real_value(v) >= -9e15 && json_real_value(v) <= 9e15 &&
		json_real_value(v) == (double)(int64_t)json_real_value(v));
}

static bool has_type(const char *type, const json_t *v)
{
	if (str_eq(type, "object"))
		return json_is_object(v);
	if (str_eq(type, "array"))
		return json_is_array(v);
	if (str_eq(type, "string"))
		return json_is_string(v);
	if (str_eq(type, "boolean"))
		return json_is_boolean(v);
	if (str_eq(type, "integer"))
		return is_whole(v);
	return !str_eq(type, "number") || json_is_number(v);
}

/* Checks a size in characters, items or members against the schema. min, max: names of the schema's
 * members with the bounds, for example "minLength" and "maxLength". */
static int check_size(struct schema_check *c, const json_t *schema, const char *min,
		      const char *max, size_t size, const char *path)
{
	const json_t *least = json_object_get(schema, min), *most = json_object_get(schema, max);

	if (least && (json_int_t)size < json_integer_value(least))
		return wrong(c, path,
			     arena_printf(c->arena, "%s is %lld, got %zu", min,
					  (long long)json_integer_value(least), size));
	if (most && (json_int_t)size > json_integer_value(most))
		return wrong(c, path,
			     arena_printf(c->arena, "%s is %lld, got %zu", max,
					  (long long)json_integer_value(most), size));
	return 0;
}

static int check_string(struct schema_check *c, const json_t *schema, const char *s,
			const char *path)
{
	const char *pattern = json_str_at(schema, "pattern"),
		   *format = json_str_at(schema, "format");

	if (check_size(c, schema, "minLength", "maxLength", characters(s), path) < 0)
		return -1;
	if (!format_holds(format, s))
		return wrong(c, path,
			     arena_printf(c->arena, "must be of format %s%s", format,
					  str_eq(format, "date-time") ? " (RFC 3339)" : ""));
	if (!pattern)
		return 0;

	OWN(arena) a = arena_new();

	return pattern_holds(c->known, pattern, s, a, c->work)
		       ? 0
		       : wrong(c, path, arena_printf(c->arena, "should match '%.200s'", pattern));
}

/* True if n / step is an integer to double precision. Quotients above 9e15 count as integers,
 * because a double cannot represent their fraction. */
static bool is_multiple(double n, double step)
{
	double times = n / step;

	return times < -9e15 || times > 9e15 || times == (double)(int64_t)times;
}

static int check_number(struct schema_check *c, const json_t *schema, double n, const char *path)
{
	const json_t *min = json_object_get(schema, "minimum"),
		     *max = json_object_get(schema, "maximum");
	double step = json_number_value(json_object_get(schema, "multipleOf"));
	const char *format = json_str_at(schema, "format");
	bool open_min = is_set(schema, "exclusiveMinimum"),
	     open_max = is_set(schema, "exclusiveMaximum");

	if (min && (n < json_number_value(min) || (open_min && n == json_number_value(min))))
		return wrong(c, path,
			     arena_printf(c->arena, "%g: should be greater than%s %g", n,
					  open_min ? "" : " or equal to", json_number_value(min)));
	if (max && (n > json_number_value(max) || (open_max && n == json_number_value(max))))
		return wrong(c, path,
			     arena_printf(c->arena, "%g: should be less than%s %g", n,
					  open_max ? "" : " or equal to", json_number_value(max)));
	if (step > 0 && !is_multiple(n, step))
		return wrong(c, path,
			     arena_printf(c->arena, "%g: should be a multiple of %g", n, step));
	if (str_eq(format, "int32") && (n < INT32_MIN || n > INT32_MAX))
		return wrong(c, path, arena_printf(c->arena, "%g: must be of format int32", n));
	return 0;
}

static bool same_keys(const json_t *keys, const json_t *a, const json_t *b)
{
	size_t i;
	json_t *key;

	json_array_foreach (keys, i, key) {
		const json_t *x = json_object_get(a, json_string_value(key));
		const json_t *y = json_object_get(b, json_string_value(key));

		if (x && y ? !json_equal(x, y) : x != y)
			return false;
	}
	return true;
}

/* Maximum length of a list whose elements must be unique. Elements are compared pairwise, so longer
 * lists would block the loop. */
#define MAX_UNIQUE 2000

/* Refuses duplicate elements in a list of type set, and duplicate keys in a list of type map
 * (x-kubernetes-list-type). */
static int check_unique(struct schema_check *c, const json_t *schema, const json_t *list,
			const char *path)
{
	const char *type = json_str_at(schema, "x-kubernetes-list-type");
	const json_t *keys = json_object_get(schema, "x-kubernetes-list-map-keys");

	if (!str_eq(type, "set") && !(str_eq(type, "map") && keys))
		return 0;
	if (json_array_size(list) > MAX_UNIQUE)
		return fault_set(c->f, FAULT_INVALID,
				 "%s: Too many: %zu: must have at most %d items", path,
				 json_array_size(list), MAX_UNIQUE);
	for (size_t i = 0; i < json_array_size(list); i++) {
		for (size_t j = 0; j < i; j++) {
			const json_t *a = json_array_get(list, i), *b = json_array_get(list, j);

			if (keys ? same_keys(keys, a, b) : json_equal(a, b))
				return fault_set(c->f, FAULT_INVALID, "%s[%zu]: Duplicate value",
						 path, i);
		}
	}
	return 0;
}

static int check_enum(struct schema_check *c, const json_t *allowed, const json_t *v,
		      const char *path)
{
	size_t i;
	json_t *one;
	char *text;
	int rc;

	json_array_foreach (allowed, i, one)
		if (json_equal(one, v))
			return 0;
	text = json_text(allowed);
	rc = fault_set(c->f, FAULT_INVALID, "%s: Unsupported value: supported values: %s", path,
		       text);
	free(text);
	return rc;
}

static int check_value(struct schema_check *c, const json_t *schema, const json_t *v,
		       const char *path, bool top);

/* Checks an embedded Kubernetes object (x-kubernetes-embedded-resource): it must contain apiVersion
 * and kind. */
static int check_embedded(struct schema_check *c, const json_t *v, const char *path)
{
	static const char *const members[] = {"apiVersion", "kind"};
	const char *dot = *path ? "." : "";

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (str_empty(json_str_at(v, members[i])))
			return fault_set(c->f, FAULT_INVALID, "%s%s%s: Required value", path, dot,
					 members[i]);
	if (json_object_get(v, "metadata") && !json_is_object(json_object_get(v, "metadata")))
		return wrong(c, arena_printf(c->arena, "%s%smetadata", path, dot),
			     "must be of type object");
	return 0;
}

/* --- allOf, anyOf, oneOf, not ----------------------------------------------------------------- */

static bool passes(struct schema_check *c, const json_t *schema, const json_t *v, const char *path,
		   bool top)
{
	struct fault ignored;
	struct schema_check trial = {
		.arena = c->arena, .f = &ignored, .known = c->known, .work = c->work};

	return check_value(&trial, schema, v, path, top) == 0;
}

static size_t count_passing(struct schema_check *c, const json_t *list, const json_t *v,
			    const char *path, bool top)
{
	size_t n = 0, i;
	json_t *one;

	json_array_foreach (list, i, one)
		n += passes(c, one, v, path, top);
	return n;
}

static int check_junctors(struct schema_check *c, const json_t *schema, const json_t *v,
			  const char *path, bool top)
{
	const json_t *any = json_object_get(schema, "anyOf");
	const json_t *one_of = json_object_get(schema, "oneOf");
	const json_t *not = json_object_get(schema, "not");
	size_t i;
	json_t *one;

	json_array_foreach (json_object_get(schema, "allOf"), i, one)
		if (check_value(c, one, v, path, top) < 0)
			return -1;
	if (any && count_passing(c, any, v, path, top) == 0)
		return wrong(c, path, "must validate at least one schema (anyOf)");
	if (one_of && count_passing(c, one_of, v, path, top) != 1)
		return wrong(c, path, "must validate one and only one schema (oneOf)");
	if (not &&passes(c, not, v, path, top))
		return wrong(c, path, "must not validate the schema (not)");
	return 0;
}

static int check_object(struct schema_check *c, const json_t *schema, const json_t *v,
			const char *path, bool top)
{
	const json_t *required = json_object_get(schema, "required");
	const char *dot = *path ? "." : "", *name;
	json_t *member, *one;
	size_t i;

	json_array_foreach (required, i, one)
		if (!json_object_get(v, json_string_value(one)))
			return fault_set(c->f, FAULT_INVALID, "%s%s%s: Required value", path, dot,
					 json_string_value(one));
	if (check_size(c, schema, "minProperties", "maxProperties", json_object_size(v), path) < 0)
		return -1;
	if (is_set(schema, "x-kubernetes-embedded-resource") && check_embedded(c, v, path) < 0)
		return -1;
	json_object_foreach ((json_t *)v, name, member) {
		const json_t *its = schema_of_member(schema, name);

		if (its && !(top && schema_is_server_member(name)) &&
		    check_value(c, its, member, arena_printf(c->arena, "%s%s%s", path, dot, name),
				false) < 0)
			return -1;
	}
	return 0;
}

static int check_array(struct schema_check *c, const json_t *schema, const json_t *v,
		       const char *path)
{
	const json_t *items = json_object_get(schema, "items");
	size_t i;
	json_t *one;

	if (check_size(c, schema, "minItems", "maxItems", json_array_size(v), path) < 0 ||
	    check_unique(c, schema, v, path) < 0)
		return -1;
	json_array_foreach (v, i, one)
		if (check_value(c, items, one, arena_printf(c->arena, "%s[%zu]", path, i), false) <
		    0)
			return -1;
	return 0;
}

static int check_value(struct schema_check *c, const json_t *schema, const json_t *v,
		       const char *path, bool top)
{
	const char *type = json_str_at(schema, "type");
	const json_t *allowed = json_object_get(schema, "enum");

	*c->work +=
		1 + json_array_size(allowed) + json_array_size(json_object_get(schema, "required"));
	if (*c->work > MAX_WORK)
		return fault_set(c->f, FAULT_INVALID,
				 "%.200s: Too long: it takes too much to check", path);
	if (json_is_null(v) && is_set(schema, "nullable"))
		return 0;
	if (is_set(schema, "x-kubernetes-int-or-string")) {
		if (!json_is_integer(v) && !json_is_string(v))
			return wrong(c, path, "must be of type integer or string");
	} else if (type && !has_type(type, v)) {
		return wrong(c, path, arena_printf(c->arena, "must be of type %s", type));
	}
	if ((allowed && check_enum(c, allowed, v, path) < 0) ||
	    check_junctors(c, schema, v, path, top) < 0)
		return -1;
	if (json_is_string(v))
		return check_string(c, schema, json_string_value(v), path);
	if (json_is_number(v))
		return check_number(c, schema, json_number_value(v), path);
	if (json_is_array(v))
		return check_array(c, schema, v, path);
	return json_is_object(v) ? check_object(c, schema, v, path, top) : 0;
}

int schema_apply(const json_t *schema, struct patterns *known, json_t *obj, struct fault *f)
{
	OWN(arena) a = arena_new();
	size_t room = MAX_BODY, work = 0;
	struct schema_check c = {.arena = a, .f = f, .known = known, .work = &work};

	prune(schema, obj, true);
	if (!set_defaults(schema, obj, &room))
		return fault_set(f, FAULT_INVALID, "Too long: its defaults are more than %zu bytes",
				 (size_t)MAX_BODY);
	return check_value(&c, schema, obj, "", true);
}
