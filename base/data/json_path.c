#include "base/data/json_path.h"

#include <string.h>
#include "base/str.h"

/* Reads a member name, which ends before '.', '[' or the end of the path; "\." stands for a dot in
 * the name. False: the name is empty or too long. */
static bool read_name(const char **p, char *out, size_t size)
{
	size_t n = 0;

	for (; **p && **p != '.' && **p != '['; ++*p) {
		if (**p == '\\' && (*p)[1])
			++*p;
		if (n + 1 >= size)
			return false;
		out[n++] = **p;
	}
	out[n] = '\0';
	return n > 0;
}

/* Reads a text in single or double quotes. */
static bool read_quoted(const char **p, char *out, size_t size)
{
	char quote = **p;
	const char *end = quote == '\'' || quote == '"' ? strchr(*p + 1, quote) : NULL;

	if (!end || (size_t)(end - *p) > size)
		return false;
	memcpy(out, *p + 1, (size_t)(end - *p - 1));
	out[end - *p - 1] = '\0';
	*p = end + 1;
	return true;
}

/* Reads a filter ?(@.path=="value")] at *p and returns the first element of list that matches;
 * NULL: none. */
static const json_t *find_where(const json_t *list, const char **p)
{
	const char *end = strstr(*p, ")]"), *equal = strstr(*p, "==");
	char path[128], value[128];
	size_t i, len = 0;
	json_t *v;

	if (!str_starts(*p, "?(@") || !end || !equal || equal > end)
		return NULL;
	len = (size_t)(equal - (*p + 3));
	if (len >= sizeof(path))
		return NULL;
	memcpy(path, *p + 3, len);
	for (path[len] = '\0'; len && path[len - 1] == ' ';)
		path[--len] = '\0';
	equal += 2;
	equal += strspn(equal, " ");
	if (!read_quoted(&equal, value, sizeof(value)))
		return NULL;
	*p = end + 2;
	json_array_foreach (list, i, v)
		if (str_eq(json_string_value(json_path(v, path)), value))
			return v;
	return NULL;
}

static const json_t *find_index(const json_t *at, const char **p)
{
	char name[256];
	int64_t i = 0;
	size_t len;

	if (**p == '?')
		return find_where(at, p);
	if (**p == '\'' || **p == '"') {
		if (!read_quoted(p, name, sizeof(name)) || **p != ']')
			return NULL;
		++*p;
		return json_object_get(at, name);
	}
	len = strcspn(*p, "]");
	if (len >= sizeof(name) || (*p)[len] != ']')
		return NULL;
	memcpy(name, *p, len);
	name[len] = '\0';
	*p += len + 1;
	if (!str_eq(name, "*") && !str_to_i64(name, 0, INT32_MAX, &i))
		return NULL;
	return json_array_get(at, (size_t)i);
}

const json_t *json_path(const json_t *obj, const char *path)
{
	const json_t *at = obj;
	char name[256];

	while (at && *path) {
		if (*path == '[') {
			path++;
			at = find_index(at, &path);
			continue;
		}
		path += *path == '.';
		if (*path == '[')
			continue;
		if (!read_name(&path, name, sizeof(name)))
			return NULL;
		at = json_object_get(at, name);
	}
	return at;
}
