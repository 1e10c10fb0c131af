#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "kube/apiserver/table.h"

#define MAX_FIELD_TERMS 16

/* Tests: tests/unit/kube/apiserver/test_read.c, tests/unit/kube/apiserver/test_remove.c */

static bool is_supported(const struct resource *r, const char *path)
{
	if (str_eq(path, "metadata.name") || (r->namespaced && str_eq(path, "metadata.namespace")))
		return true;
	for (const char *const *p = r->fields; p && *p; p++)
		if (str_eq(*p, path))
			return true;
	return false;
}

/* Translates a field path of events.k8s.io to core/v1. Events are stored in their core/v1 form, and
 * field selectors are matched against that form. */
static const char *core_path(const struct resource *r, const char *path, struct arena *a)
{
	if (!r->renamed_event)
		return path;
	if (str_starts(path, "regarding."))
		return arena_printf(a, "involvedObject.%s", path + strlen("regarding."));
	if (str_eq(path, "reportingController"))
		return "reportingComponent";
	return str_starts(path, "involvedObject.") ? "" : path;
}

/* Parses a term a=b, a==b or a!=b of a field selector into *out; splits term in place. */
static int parse_term(const struct resource *r, char *term, struct arena *a, struct field_term *out,
		      struct fault *fault)
{
	char *op = strchr(term, '=');

	if (!op || op == term)
		return fault_set(fault, FAULT_BAD_REQUEST,
				 "invalid field selector \"%s\": want name=value", term);
	out->equal = op[-1] != '!';
	out->value = op[1] == '=' && out->equal ? op + 2 : op + 1;
	*(out->equal ? op : op - 1) = '\0';
	out->path = core_path(r, term, a);
	if (!is_supported(r, out->path))
		return fault_set(fault, FAULT_BAD_REQUEST, "field label not supported: %s", term);
	return 0;
}

static int parse_fields(struct filter *f, const struct resource *r, const char *text,
			struct fault *fault)
{
	char *rest = arena_strdup(f->arena, text);

	f->fields = arena_calloc(f->arena, MAX_FIELD_TERMS, sizeof(*f->fields));
	for (char *term; (term = strsep(&rest, ","));) {
		if (!*term)
			continue;
		if (f->nfields == MAX_FIELD_TERMS)
			return fault_set(fault, FAULT_BAD_REQUEST,
					 "more than %d terms in the field selector",
					 MAX_FIELD_TERMS);
		if (parse_term(r, term, f->arena, &f->fields[f->nfields], fault) < 0)
			return -1;
		f->nfields++;
	}
	return 0;
}

int filter_init(struct filter *f, const struct request *rq, struct fault *fault)
{
	const char *labels = httpd_query(rq->q, "labelSelector"),
		   *fields = httpd_query(rq->q, "fieldSelector");
	const char *accept = httpd_header(rq->q, "Accept");
	struct err e;

	*f = (struct filter){.arena = arena_new()};
	f->partial = accept && strstr(accept, "as=PartialObjectMetadata");
	f->table = table_new(rq);
	f->form = f->table		 ? table_form(f->table, f->arena)
		  : f->partial		 ? "partial"
		  : rq->r->renamed_event ? "renamed"
					 : "stored";
	if (labels && selector_parse(labels, f->arena, &f->labels, &e) < 0) {
		(void)!fault_set(fault, FAULT_BAD_REQUEST, "unable to parse requirement: %s",
				 e.text);
		goto failed;
	}
	if (fields && parse_fields(f, rq->r, fields, fault) < 0)
		goto failed;
	return 0;
failed:
	filter_done(f);
	return -1;
}

void filter_done(struct filter *f)
{
	table_free(f->table);
	f->table = NULL;
	arena_free(f->arena);
	f->arena = NULL;
}

const char *filter_prefix(const struct filter *f, const struct request *rq, struct arena *a)
{
	const char *name = NULL;

	for (size_t i = 0; i < f->nfields; i++)
		if (f->fields[i].equal && str_eq(f->fields[i].path, "metadata.name"))
			name = f->fields[i].value;
	return resource_key(rq->r, a, rq->ns, rq->ns || !rq->r->namespaced ? name : NULL);
}

bool filter_is_empty(const struct filter *f)
{
	return f->labels.n == 0 && f->nfields == 0;
}

bool filter_encodes(const struct filter *f, const struct resource *r)
{
	return f->partial || f->table || r->renamed_event;
}

bool filter_parses(const struct filter *f, const struct resource *r)
{
	return !filter_is_empty(f) || filter_encodes(f, r);
}

static bool match_labels(const struct filter *f, const json_t *obj)
{
	const json_t *map = json_at(obj, "metadata", "labels");
	struct labels l = {.v = mem_calloc(json_object_size(map) + 1, sizeof(*l.v))};
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)map, key, value)
		if (json_is_string(value))
			l.v[l.n++] = (struct label){key, json_string_value(value)};
	labels_sort(&l);

	bool matches = selector_matches(&f->labels, &l);

	free(l.v);
	return matches;
}

static bool match_field(const struct field_term *t, const json_t *obj)
{
	char path[128];
	const json_t *v = obj;
	const char *value = "";

	if (!str_copy(path, sizeof(path), t->path))
		return false;
	for (char *rest = path, *part; v && (part = strsep(&rest, "."));)
		v = json_object_get(v, part);
	if (json_is_string(v))
		value = json_string_value(v);
	else if (json_is_boolean(v))
		value = json_is_true(v) ? "true" : "false";
	else if (str_eq(t->path, "spec.unschedulable"))
		value = "false";
	return str_eq(value, t->value) == t->equal;
}

bool filter_matches(const struct filter *f, const json_t *obj)
{
	for (size_t i = 0; i < f->nfields; i++)
		if (!match_field(&f->fields[i], obj))
			return false;
	return f->labels.n == 0 || match_labels(f, obj);
}

char *filter_text(const struct filter *f, const struct resource *r, json_t *j)
{
	if (f->table)
		return table_of(f->table, j);
	if (!f->partial) {
		if (r->renamed_event)
			object_event_from_core(j);
		return json_text(j);
	}

	OWN_JSON partial = json_pack("{s:s, s:s, s:O}", "kind", "PartialObjectMetadata",
				     "apiVersion", "meta.k8s.io/v1", "metadata", object_meta(j));

	return json_text(partial);
}

/* --- LabelSelector ---------------------------------------------------------------------------- */

#define MAX_VALUES 64

static bool matches_expression(const json_t *x, const struct labels *labels)
{
	struct requirement r = {.key = str_or(json_str_at(x, "key"), "")};
	const json_t *values = json_at(x, "values");
	const char *v[MAX_VALUES];

	if (!selector_op_parse(str_or(json_str_at(x, "operator"), ""), &r.op))
		return false;
	for (size_t i = 0; i < json_array_size(values) && i < MAX_VALUES; i++)
		v[r.nvalues++] = str_or(json_string_value(json_array_get(values, i)), "");
	r.values = v;
	return requirement_matches(&r, labels);
}

static bool matches_all(const json_t *selector, const struct labels *labels)
{
	const char *key;
	json_t *v;
	size_t i;

	json_object_foreach (json_at(selector, "matchLabels"), key, v)
		if (!str_eq(labels_get(labels, key), json_string_value(v)))
			return false;
	json_array_foreach (json_at(selector, "matchExpressions"), i, v)
		if (!matches_expression(v, labels))
			return false;
	return true;
}

bool selector_object_matches(const json_t *selector, const json_t *map)
{
	struct labels labels = {.v = mem_calloc(json_object_size(map) + 1, sizeof(*labels.v))};
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)map, key, v)
		labels.v[labels.n++] = (struct label){key, str_or(json_string_value(v), "")};
	labels_sort(&labels);

	bool matches = json_is_object(selector) && matches_all(selector, &labels);

	free(labels.v);
	return matches;
}
