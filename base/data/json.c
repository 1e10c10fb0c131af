#include "base/data/json.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* Maximum depth of nesting. jansson's own limit (2048) is compiled in, and too high for the stack,
 * because jansson's parser and its dump functions recurse. */
#define JSON_DEPTH_MAX 64

/* Sets the error: the text exceeds a limit at offset `at`, which the error shows as line and
 * column. limit: largest allowed number. what: noun for the counted values. */
static int place_error(const char *data, size_t at, size_t limit, const char *what, struct err *e)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < at; i++) {
		column++;
		if (data[i] == '\n') {
			line++;
			column = 1;
		}
	}
	return err_set(e, ERR_PROTOCOL, 0, "line %zu, column %zu: JSON of more than %zu %s", line,
		       column, limit, what);
}

/* Checks depth and number of values by counting brackets and commas outside of strings. Does not
 * report an unterminated string, because jansson's parser does. */
static int check_bounds(const char *data, size_t len, size_t most, struct err *e)
{
	bool in_string = false;
	size_t depth = 0, values = 1;

	for (size_t i = 0; i < len; i++) {
		char c = data[i];

		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			if (++depth > JSON_DEPTH_MAX)
				return place_error(data, i, JSON_DEPTH_MAX, "levels", e);
			values++;
		} else if (c == ',') {
			values++;
		} else if ((c == '}' || c == ']') && depth) {
			depth--;
		}
		/* mutant: json-values */
		if (values > most)
			return place_error(data, i, most, "values", e);
	}
	return 0;
}

json_t *json_parse(const char *data, size_t len, struct err *e)
{
	return json_parse_most(data, len, JSON_VALUES_MAX, e);
}

json_t *json_parse_most(const char *data, size_t len, size_t values, struct err *e)
{
	static const char mark[] = {'\xef', '\xbb', '\xbf'};
	json_error_t je;
	json_t *j;

	if (len >= sizeof(mark) && memcmp(data, mark, sizeof(mark)) == 0) {
		data += sizeof(mark);
		len -= sizeof(mark);
	}
	if (check_bounds(data, len, values, e) < 0)
		return NULL;
	j = json_loadb(data, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &je);
	if (!j)
		err_note(e, ERR_PROTOCOL, 0, "line %d, column %d: %s", je.line, je.column, je.text);
	return j;
}

static char *dump(const json_t *j, size_t flags)
{
	char *text = json_dumps(j, flags | JSON_COMPACT | JSON_ENCODE_ANY);

	/* json_dumps() fails only for cycles and without memory; a parsed value contains no
	 * cycle. */
	assert(text);
	return text;
}

char *json_text(const json_t *j)
{
	return dump(j, 0);
}

char *json_text_sorted(const json_t *j)
{
	return dump(j, JSON_SORT_KEYS);
}

json_t *json_at_(const json_t *j, ...)
{
	const json_t *at = j;
	const char *name;
	va_list ap;

	va_start(ap, j);
	while (at && (name = va_arg(ap, const char *)))
		at = json_object_get(at, name);
	va_end(ap);
	return (json_t *)at;
}

json_t *json_merge_diff(const json_t *from, const json_t *to)
{
	const char *key;
	json_t *value, *patch;

	if (!json_is_object(from) || !json_is_object(to))
		return json_deep_copy(to);
	patch = json_object();
	json_object_foreach ((json_t *)to, key, value) {
		const json_t *old = json_object_get(from, key);

		if (json_is_null(value) || (old && json_equal(old, value)))
			continue;
		json_object_set_new(patch, key, json_merge_diff(old, value));
	}
	json_object_foreach ((json_t *)from, key, value) {
		const json_t *new = json_object_get(to, key);

		if (!json_is_null(value) && (!new || json_is_null(new)))
			json_object_set_new(patch, key, json_null());
	}
	return patch;
}

json_t *json_merge_apply(const json_t *to, const json_t *patch)
{
	const char *key;
	json_t *value, *out;

	if (!json_is_object(patch))
		return json_deep_copy(patch);
	out = json_is_object(to) ? json_deep_copy(to) : json_object();
	json_object_foreach ((json_t *)patch, key, value) {
		if (json_is_null(value))
			json_object_del(out, key);
		else
			json_object_set_new(out, key,
					    json_merge_apply(json_object_get(out, key), value));
	}
	return out;
}

bool json_has_str(const json_t *array, const char *text)
{
	size_t i;
	json_t *x;

	json_array_foreach (array, i, x)
		if (str_eq(json_string_value(x), text))
			return true;
	return false;
}

void json_sort(json_t **list, int (*compare)(const void *a, const void *b))
{
	size_t n = json_array_size(*list);
	json_t **v = mem_calloc(n + 1, sizeof(*v)), *sorted = json_array();

	for (size_t i = 0; i < n; i++)
		v[i] = json_array_get(*list, i);
	qsort(v, n, sizeof(*v), compare);
	for (size_t i = 0; i < n; i++)
		json_array_append(sorted, v[i]);
	free(v);
	json_decref(*list);
	*list = sorted;
}
