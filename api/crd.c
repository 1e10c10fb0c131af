/*
 * crd: prints CustomResourceDefinitions and the reference page from the field tables. Used by
 * `drover crds` and a test, not by the controller.
 */
#include "api/crd.h"

#include <string.h>
#include "base/data/json.h"
#include "base/str.h"
#include "base/data/yaml.h"

/* Returns the schema of a whole object. Fields of metadata are left out, because the API server
 * defines them. apiVersion and kind come first, as is customary. */
static json_t *object_schema(const struct object_kind *k)
{
	OWN_JSON all = fields_schema(k->fields);
	json_t *s = json_pack("{ssss}", "type", "object", "description", k->doc);
	json_t *properties = json_pack("{s{ss}s{ss}s{ss}}", "apiVersion", "type", "string", "kind",
				       "type", "string", "metadata", "type", "object");
	json_t *rules = json_array();

	json_object_set_new(s, "required", json_pack("[s]", "spec"));
	json_object_set_new(s, "properties", properties);
	json_object_set(properties, "spec", json_at(all, "properties", "spec"));
	if (k->has_status)
		json_object_set(properties, "status", json_at(all, "properties", "status"));
	for (const struct field_rule *r = k->rules; r && r->rule; r++)
		json_array_append_new(rules,
				      json_pack("{ssss}", "message", r->message, "rule", r->rule));
	if (json_array_size(rules))
		json_object_set(s, "x-kubernetes-validations", rules);
	json_decref(rules);
	return s;
}

static json_t *column(const char *name, const char *type, const char *path, int priority)
{
	json_t *j = json_pack("{ssssss}", "name", name, "type", type, "jsonPath", path);

	if (priority)
		json_object_set_new(j, "priority", json_integer(priority));
	return j;
}

static json_t *columns(const struct object_kind *k)
{
	json_t *j = json_array();

	for (const struct object_column *c = k->columns; c->name; c++)
		json_array_append_new(j, column(c->name, c->type, c->path, c->priority));
	json_array_append_new(j, column("Age", "date", ".metadata.creationTimestamp", 0));
	return j;
}

static json_t *crd(const struct object_kind *k)
{
	json_t *version = json_pack("{sssbsb}", "name", OBJECT_VERSION, "served", 1, "storage", 1);
	char name[128], list[64];

	str_format(name, sizeof(name), "%s.%s", k->plural, OBJECT_GROUP);
	str_format(list, sizeof(list), "%sList", k->kind);
	if (k->has_status)
		json_object_set_new(version, "subresources", json_pack("{s{}}", "status"));
	json_object_set_new(version, "additionalPrinterColumns", columns(k));
	json_object_set_new(version, "schema",
			    json_pack("{so}", "openAPIV3Schema", object_schema(k)));
	return json_pack("{ssss s{ss s{ss}} s{ss ss s{ss ss ss ss s[s] s[s]} s[o]}}", "apiVersion",
			 "apiextensions.k8s.io/v1", "kind", "CustomResourceDefinition", "metadata",
			 "name", name, "labels", "app.kubernetes.io/name", "drover", "spec",
			 "group", OBJECT_GROUP, "scope", "Cluster", "names", "kind", k->kind,
			 "listKind", list, "plural", k->plural, "singular", k->singular,
			 "shortNames", k->short_name, "categories", "drover", "versions", version);
}

void crd_write(const struct object_kind *k, struct buf *out)
{
	OWN_JSON j = crd(k);

	yaml_print(j, out);
}

void crds_write(struct buf *out)
{
	for (const struct object_kind *k = object_kinds; k < object_kinds + OBJECT_KINDS; k++) {
		if (k != object_kinds)
			buf_puts(out, "---\n");
		crd_write(k, out);
	}
}

static void write_rules(const struct field_rule *r, const char *path, struct buf *out)
{
	for (; r && r->rule; r++)
		buf_printf(out, "- `%s`: %s\n", path, r->message);
}

/* Prints the rules of the field table f and of all tables below it, with the path of each field. */
static void write_all_rules(const struct field *f, const char *prefix, struct buf *out)
{
	for (; f->name; f++) {
		char path[512];

		str_format(path, sizeof(path), "%s%s%s%s", prefix, *prefix ? "." : "", f->name,
			   f->type == FIELD_LIST ? "[]" : "");
		write_rules(f->rules, path, out);
		if (f->sub)
			write_all_rules(f->sub, path, out);
	}
}

void crds_reference(struct buf *out)
{
	buf_puts(out, "# Objects of " OBJECT_API_VERSION
		      "\n\nGenerated from the tables in `api/*.c`; do not edit.\n\nAll kinds are "
		      "cluster-scoped and in the category `drover`. Unless the schema "
		      "sets\nanother limit, a text has at most 1024 bytes and a list at most 256 "
		      "entries.\nDurations are written as `90s`, `30m` or `1h30m`, times as "
		      "`2026-12-01T10:20:00Z`,\nquantities as in Kubernetes.\n");
	for (const struct object_kind *k = object_kinds; k < object_kinds + OBJECT_KINDS; k++) {
		buf_printf(out, "\n## %s\n\n%s\n\nPlural `%s`, short name `%s`.\n\n", k->kind,
			   k->doc, k->plural, k->short_name);
		buf_puts(out,
			 "| Field | Type | Default | Allowed | Meaning |\n|---|---|---|---|---|\n");
		for (const struct field *f = k->fields; f->name; f++)
			if (strcmp(f->name, "metadata") != 0)
				fields_reference(f->sub, f->name, out);
		buf_puts(out, "\nRules:\n\n");
		write_rules(k->rules, "metadata", out);
		write_all_rules(k->fields, "", out);
	}
}
