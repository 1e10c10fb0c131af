#include "kube/apiserver/table.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

struct table {
	const struct column *columns; /* NULL: a custom kind */
	json_t *custom;		      /* additionalPrinterColumns, or NULL */
	json_t *definitions;
	struct loop *loop;
	bool whole, none; /* which object goes with a row; neither: its metadata */
};

/* --- JSONPath --------------------------------------------------------------------------------------- */

/* A name up to . or [, with "\." for a dot; false: too long or empty. */
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

/* A text in ' or " */
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

/* ?(@.path=="value") after the [ ; finds the first element for which it holds. */
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
		if (str_eq(json_string_value(table_find(v, path)), value))
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

const json_t *table_find(const json_t *obj, const char *path)
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

/* --- columns ---------------------------------------------------------------------------------------- */

static json_t *define(const char *name, const char *type, const char *format, const char *what,
		      int priority)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:i}", "name", name, "type", type, "format",
			 str_or(format, ""), "description", str_or(what, ""), "priority", priority);
}

static const char name_what[] = "Name must be unique within a namespace.";

static json_t *define_custom(const json_t *columns)
{
	json_t *list = json_array(), *v;
	size_t i;

	json_array_append_new(list, define("Name", "string", "name", name_what, 0));
	json_array_foreach (columns, i, v)
		json_array_append_new(list, define(str_or(json_str_at(v, "name"), ""),
						   str_or(json_str_at(v, "type"), "string"),
						   json_str_at(v, "format"),
						   json_str_at(v, "description"),
						   (int)json_int_at(v, "priority")));
	if (!json_array_size(columns))
		json_array_append_new(list, define("Age", "date", NULL, NULL, 0));
	return list;
}

static json_t *define_builtin(const struct column *columns)
{
	json_t *list = json_array();

	for (const struct column *c = columns; c->name; c++)
		json_array_append_new(list, define(c->name, c->type, c->format,
						   str_eq(c->format, "name") ? name_what : NULL,
						   c->priority));
	return list;
}

struct table *table_new(const struct request *rq)
{
	const char *accept = httpd_header(rq->q, "Accept"),
		   *with = httpd_query(rq->q, "includeObject");
	struct table *t;

	if (!accept || !strstr(accept, "as=Table"))
		return NULL;
	t = mem_new(struct table);
	t->loop = rq->a->loop;
	t->whole = str_eq(with, "Object");
	t->none = str_eq(with, "None");
	if (rq->r->custom) {
		t->custom = json_incref((json_t *)rq->r->columns);
		t->definitions = define_custom(t->custom);
	} else {
		t->columns = table_columns(rq->r);
		t->definitions = define_builtin(t->columns);
	}
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	json_decref(t->custom);
	json_decref(t->definitions);
	free(t);
}

/* --- rows ------------------------------------------------------------------------------------------- */

/* What does not fit the column's type is not shown (apiextensions-apiserver's table convertor). */
static json_t *custom_cell(const json_t *column, const json_t *obj, int64_t now)
{
	const char *type = str_or(json_str_at(column, "type"), "string");
	const json_t *v = table_find(obj, str_or(json_str_at(column, "jsonPath"), ""));
	char *text;
	json_t *j;

	if (!v || json_is_null(v))
		return json_null();
	if (str_eq(type, "date"))
		return table_age(json_string_value(v), now);
	if (str_eq(type, "integer") || str_eq(type, "number") || str_eq(type, "boolean"))
		return json_is_number(v) || json_is_boolean(v) ? json_incref((json_t *)v)
							       : json_null();
	if (json_is_string(v))
		return json_incref((json_t *)v);
	text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
	j = json_string(text);
	free(text);
	return j;
}

static json_t *cell_of(const struct column *c, const json_t *obj, int64_t now)
{
	const json_t *v = c->path ? table_find(obj, c->path) : NULL;
	json_t *j = c->cell ? c->cell(obj, now) : NULL;

	if (j)
		return j;
	if (v && str_eq(c->type, "string") && !json_is_string(v))
		v = NULL;
	if (v && !(json_is_string(v) && !json_string_length(v)))
		return json_incref((json_t *)v);
	if (str_eq(c->type, "integer"))
		return json_integer(0);
	if (str_eq(c->type, "boolean"))
		return json_false();
	return c->otherwise ? json_string(c->otherwise) : json_null();
}

static json_t *row_of(const struct table *t, json_t *obj)
{
	int64_t now = loop_wall(t->loop);
	json_t *cells = json_array(), *row, *v;
	size_t i;

	if (t->columns) {
		for (const struct column *c = t->columns; c->name; c++)
			json_array_append_new(cells, cell_of(c, obj, now));
	} else {
		json_array_append(cells, json_at(obj, "metadata", "name"));
		json_array_foreach (t->custom, i, v)
			json_array_append_new(cells, custom_cell(v, obj, now));
		if (!json_array_size(t->custom))
			json_array_append_new(
				cells,
				table_age(json_str_at(obj, "metadata", "creationTimestamp"), now));
	}
	row = json_pack("{s:o}", "cells", cells);
	if (t->whole)
		json_object_set(row, "object", obj);
	else if (!t->none)
		json_object_set_new(row, "object",
				    json_pack("{s:s, s:s, s:O}", "kind", "PartialObjectMetadata",
					      "apiVersion", "meta.k8s.io/v1", "metadata",
					      object_meta(obj)));
	return row;
}

char *table_row(const struct table *t, json_t *obj)
{
	OWN_JSON row = row_of(t, obj);

	return json_text(row);
}

char *table_of(const struct table *t, json_t *obj)
{
	OWN_JSON j = json_pack("{s:s, s:s, s:{s:s}, s:O, s:[o]}", "kind", "Table", "apiVersion",
			       "meta.k8s.io/v1", "metadata", "resourceVersion",
			       str_or(json_str_at(obj, "metadata", "resourceVersion"), ""),
			       "columnDefinitions", t->definitions, "rows", row_of(t, obj));

	return json_text(j);
}

char *table_bookmark(const struct table *t, json_t *meta)
{
	OWN_JSON j = json_pack("{s:s, s:s, s:O, s:O, s:[]}", "kind", "Table", "apiVersion",
			       "meta.k8s.io/v1", "metadata", meta, "columnDefinitions",
			       t->definitions, "rows");
	OWN_JSON object = json_pack("{s:s, s:s, s:O}", "kind", "PartialObjectMetadata",
				    "apiVersion", "meta.k8s.io/v1", "metadata", meta);

	/* As kube-apiserver: the one row says nothing but the revision. */
	json_array_append_new(json_object_get(j, "rows"),
			      json_pack("{s:[], s:O}", "cells", "object", object));
	return json_text(j);
}

void table_begin(const struct table *t, struct buf *b)
{
	char *text = json_text(t->definitions);

	buf_printf(b,
		   "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\","
		   "\"columnDefinitions\":%s,\"rows\":[",
		   text);
	free(text);
}
