#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Applies JSON patches (RFC 6902). Limits what they copy and how deep they nest: by copying the
 * document into itself, a patch can double the size with each operation, or nest more deeply than
 * any reader accepts.
 */
#define MAX_OPS 10000
#define MAX_DEPTH 64

struct pointer {
	/* Copy of the pointer, split into its parts, which are unescaped (RFC 6901). */
	char *text;
	const char *part[MAX_DEPTH];
	size_t n;
};

static void unescape(char *s)
{
	char *out = s;

	for (; *s; s++) {
		if (s[0] == '~' && (s[1] == '0' || s[1] == '1'))
			*out++ = *++s == '0' ? '~' : '/';
		else
			*out++ = *s;
	}
	*out = '\0';
}

static int parse_pointer(const json_t *op, const char *member, struct arena *a, struct pointer *out,
			 struct fault *f)
{
	const char *text = json_str_at(op, member);

	*out = (struct pointer){0};
	if (!text || (*text && *text != '/'))
		return fault_set(f, FAULT_BAD_REQUEST, "JSON patch: %s: want a JSON pointer",
				 member);
	if (!*text)
		return 0;

	char *rest = arena_strdup(a, text + 1);

	for (char *part; (part = strsep(&rest, "/"));) {
		if (out->n == MAX_DEPTH)
			return fault_set(f, FAULT_INVALID, "JSON patch: %s: deeper than %d", member,
					 MAX_DEPTH);
		unescape(part);
		out->part[out->n++] = part;
	}
	return 0;
}

/* Parses an array index without leading zeros into *index. append: accepts also the index behind
 * the last element, and "-" for it. */
static bool parse_index(const json_t *array, const char *part, bool append, size_t *index)
{
	size_t size = json_array_size(array);
	int64_t n;

	if (append && str_eq(part, "-")) {
		*index = size;
		return true;
	}
	if (*part < '0' || *part > '9' || (part[0] == '0' && part[1]) ||
	    !str_to_i64(part, 0, INT32_MAX, &n))
		return false;
	*index = (size_t)n;
	return *index < size + append;
}

static json_t *step(json_t *at, const char *part)
{
	size_t i;

	if (json_is_object(at))
		return json_object_get(at, part);
	return json_is_array(at) && parse_index(at, part, false, &i) ? json_array_get(at, i) : NULL;
}

/* Returns the value at pointer p without the last `less` parts of p; NULL: no such value. */
static json_t *resolve(json_t *doc, const struct pointer *p, size_t less)
{
	json_t *at = doc;

	for (size_t i = 0; at && i + less < p->n; i++)
		at = step(at, p->part[i]);
	return at;
}

static size_t depth_of(const json_t *j)
{
	size_t deepest = 0, i;
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)j, key, v) {
		size_t d = depth_of(v);

		deepest = d > deepest ? d : deepest;
	}
	json_array_foreach (j, i, v) {
		size_t d = depth_of(v);

		deepest = d > deepest ? d : deepest;
	}
	return deepest + (json_is_object(j) || json_is_array(j));
}

static bool put(json_t **doc, const struct pointer *p, json_t *value, bool replace)
{
	if (p->n == 0) {
		json_decref(*doc);
		*doc = json_incref(value);
		return true;
	}

	json_t *parent = resolve(*doc, p, 1);
	const char *last = p->part[p->n - 1];
	size_t i;

	if (replace && !resolve(*doc, p, 0))
		return false;
	if (json_is_object(parent))
		return json_object_set(parent, last, value) == 0;
	if (!json_is_array(parent) || !parse_index(parent, last, !replace, &i))
		return false;
	return (replace ? json_array_set(parent, i, value) : json_array_insert(parent, i, value)) ==
	       0;
}

static bool take(json_t *doc, const struct pointer *p)
{
	json_t *parent = p->n ? resolve(doc, p, 1) : NULL;
	size_t i;

	if (json_is_object(parent))
		return json_object_del(parent, p->part[p->n - 1]) == 0;
	return json_is_array(parent) && parse_index(parent, p->part[p->n - 1], false, &i) &&
	       json_array_remove(parent, i) == 0;
}

static bool is_inside(const struct pointer *inner, const struct pointer *outer)
{
	if (inner->n <= outer->n)
		return false;
	for (size_t i = 0; i < outer->n; i++)
		if (!str_eq(inner->part[i], outer->part[i]))
			return false;
	return true;
}

/* Returns a copy of the operation's value. For copy and move this is the value at the pointer
 * `from`, and its size is subtracted from *budget; for the other verbs it is the member `value`.
 * NULL with the fault set. */
static json_t *value_of(const json_t *op, const char *verb, json_t *doc, const struct pointer *from,
			size_t *budget, struct fault *f)
{
	bool found = str_eq(verb, "copy") || str_eq(verb, "move");
	json_t *v = found ? resolve(doc, from, 0) : json_object_get(op, "value");

	if (!v) {
		(void)!fault_set(f, found ? FAULT_INVALID : FAULT_BAD_REQUEST,
				 "JSON patch: %s: no value", verb);
		return NULL;
	}
	if (found) {
		size_t size = json_dumpb(v, NULL, 0, JSON_ENCODE_ANY | JSON_COMPACT);

		if (size > *budget) {
			(void)!fault_set(f, FAULT_INVALID, "JSON patch: copies too much");
			return NULL;
		}
		*budget -= size;
	}
	return json_deep_copy(v);
}

static int apply_one(const json_t *op, json_t **doc, struct arena *a, size_t *budget,
		     struct fault *f)
{
	const char *verb = str_or(json_str_at(op, "op"), "");
	struct pointer path, from = {0};
	bool ok;

	if (parse_pointer(op, "path", a, &path, f) < 0)
		return -1;
	if ((str_eq(verb, "copy") || str_eq(verb, "move")) &&
	    parse_pointer(op, "from", a, &from, f) < 0)
		return -1;
	if (str_eq(verb, "remove")) {
		if (!take(*doc, &path))
			return fault_set(f, FAULT_INVALID, "JSON patch: remove: nothing at %s",
					 json_str_at(op, "path"));
		return 0;
	}
	if (!str_eq(verb, "add") && !str_eq(verb, "replace") && !str_eq(verb, "test") &&
	    !str_eq(verb, "copy") && !str_eq(verb, "move"))
		return fault_set(f, FAULT_BAD_REQUEST, "JSON patch: unknown operation \"%s\"",
				 verb);

	OWN_JSON value = value_of(op, verb, *doc, &from, budget, f);

	if (!value)
		return -1;
	if (str_eq(verb, "test")) {
		ok = json_equal(resolve(*doc, &path, 0), value);
	} else if (path.n + depth_of(value) > MAX_DEPTH) {
		return fault_set(f, FAULT_INVALID, "JSON patch: deeper than %d", MAX_DEPTH);
	} else if (str_eq(verb, "move")) {
		ok = !is_inside(&path, &from) && take(*doc, &from) && put(doc, &path, value, false);
	} else {
		ok = put(doc, &path, value, str_eq(verb, "replace"));
	}
	if (!ok)
		return fault_set(f, FAULT_INVALID, "JSON patch: %s at %s failed", verb,
				 json_str_at(op, "path"));
	return 0;
}

int jsonpatch_apply(const json_t *patch, json_t **doc, struct fault *f)
{
	size_t budget = MAX_BODY, i;
	json_t *op;

	if (!json_is_array(patch))
		return fault_set(f, FAULT_BAD_REQUEST, "JSON patch: want a list");
	if (json_array_size(patch) > MAX_OPS)
		return fault_set(f, FAULT_BAD_REQUEST, "JSON patch: more than %d operations",
				 MAX_OPS);

	OWN(arena) a = arena_new();

	json_array_foreach (patch, i, op)
		if (apply_one(op, doc, a, &budget, f) < 0)
			return -1;
	return 0;
}
