#include "kube/apiserver/table.h"

#include <stdlib.h>
#include <string.h>
#include "base/data/age.h"
#include "base/data/json_path.h"
#include "base/mem.h"
#include "base/str.h"

struct table {
	/* Columns of a built-in kind; NULL: a custom kind. */
	const struct column *columns;
	/* additionalPrinterColumns of a custom kind; NULL: none. */
	json_t *custom;
	json_t *definitions;
	struct loop *loop;
	/* Content of the member object in each row: the whole object (whole), nothing (none), or
	 * only the object's metadata (neither is set). */
	bool whole, none;
	bool renamed_event;
};

/* --- columns ---------------------------------------------------------------------------------- */

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
	t->renamed_event = rq->r->renamed_event;
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

const char *table_form(const struct table *t, struct arena *a)
{
	char *custom = t->custom ? json_text(t->custom) : mem_strdup("");
	const char *form =
		arena_printf(a, "table %d %d %d %s", t->whole, t->none, t->renamed_event, custom);

	free(custom);
	return form;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Returns the cell of a column of a custom kind; null if the value does not fit the column's type
 * (as in apiextensions-apiserver's table convertor). */
static json_t *custom_cell(const json_t *column, const json_t *obj, int64_t now)
{
	const char *type = str_or(json_str_at(column, "type"), "string");
	const json_t *v = json_path(obj, str_or(json_str_at(column, "jsonPath"), ""));
	char *text;
	json_t *j;

	if (!v || json_is_null(v))
		return json_null();
	if (str_eq(type, "date"))
		return age_json(json_string_value(v), now);
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
	const json_t *v = c->path ? json_path(obj, c->path) : NULL;
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
				age_json(json_str_at(obj, "metadata", "creationTimestamp"), now));
	}
	row = json_pack("{s:o}", "cells", cells);
	/* Convert the event only now, because the cells above are computed from the stored core/v1
	 * form. */
	if (t->whole && t->renamed_event)
		object_event_from_core(obj);
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

	/* As in kube-apiserver, a bookmark has one row, whose object contains just the revision. */
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
