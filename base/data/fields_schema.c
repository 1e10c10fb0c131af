#include "base/data/fields.h"

#include <stdlib.h>
#include <string.h>
#include "base/money.h"
#include "base/str.h"

/*
 * Schemas follow the rules for structural schemas of apiextensions.k8s.io/v1:
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
 *
 * Each string, list and map has a size limit, because the API server estimates the cost of a CEL
 * rule from maxLength, maxItems and maxProperties and refuses expensive ones.
 * Tests: tests/unit/base/data/test_fields.c
 */
#define SCHEMA_MAX_LEN 1024
#define SCHEMA_MAX_ITEMS 256
#define SCHEMA_DURATION "([0-9]+([.][0-9]+)?(ms|s|m|h))+"
/* Pattern of a resource.Quantity without a sign. */
#define SCHEMA_QUANTITY                                                                            \
	"^([0-9]+([.][0-9]*)?|[.][0-9]+)(([KMGTPE]i)|[numkMGTPE]|([eE][+-]?[0-9]+))?$"

/* Maximum length of the text about the allowed values of a field, in bytes. */
#define ALLOWED_MAX 65536

static void set_int(json_t *o, const char *name, int64_t v)
{
	json_object_set_new(o, name, json_integer(v));
}

static void set_str(json_t *o, const char *name, const char *v)
{
	json_object_set_new(o, name, json_string(v));
}

static int64_t max_len(const struct field *f)
{
	return f->max_len ? f->max_len : SCHEMA_MAX_LEN;
}

static int64_t max_items(const struct field *f)
{
	return f->max_items ? f->max_items : SCHEMA_MAX_ITEMS;
}

static json_t *typed(const char *type)
{
	return json_pack("{ss}", "type", type);
}

static json_t *names(const char *const *enums)
{
	json_t *j = json_array();

	for (; *enums; enums++)
		if (**enums)
			json_array_append_new(j, json_string(*enums));
	return j;
}

static void add_rule(json_t *schema, const char *rule, const char *message)
{
	json_t *rules = json_object_get(schema, "x-kubernetes-validations");

	if (!rules) {
		rules = json_array();
		json_object_set_new(schema, "x-kubernetes-validations", rules);
	}
	json_array_append_new(rules, json_pack("{ssss}", "message", message, "rule", rule));
}

static json_t *int_or_string(void)
{
	return json_pack("{s[{ss}{ss}]sbsi}", "anyOf", "type", "integer", "type", "string",
			 "x-kubernetes-int-or-string", 1, "minimum", 0);
}

static json_t *text_schema(const struct field *f)
{
	json_t *s = f->number ? int_or_string() : typed("string");

	if (f->required)
		set_int(s, "minLength", 1);
	set_int(s, "maxLength", max_len(f));
	if (f->pattern)
		set_str(s, "pattern", f->pattern);
	return s;
}

static json_t *int_schema(const struct field *f)
{
	json_t *s = typed("integer");

	set_str(s, "format", "int64");
	if (f->min || f->max)
		set_int(s, "minimum", f->min);
	if (f->max > f->min && f->max != INT64_MAX)
		set_int(s, "maximum", f->max);
	return s;
}

/* Returns the schema of a duration. A CEL rule checks the duration's range, because a pattern
 * cannot. */
static json_t *duration_schema(const struct field *f)
{
	char lo[STR_TIME_SIZE], hi[STR_TIME_SIZE], rule[256], message[128];
	json_t *s = typed("string");

	set_int(s, "maxLength", FIELDS_DURATION_MAX);
	set_str(s, "pattern", f->never ? "^(" SCHEMA_DURATION "|Never)$" : "^" SCHEMA_DURATION "$");
	if (!f->min && f->max <= f->min)
		return s;
	str_duration(lo, f->min);
	str_duration(hi, f->max);
	str_format(rule, sizeof(rule), "%sduration(self) >= duration('%s')",
		   f->never ? "self == 'Never' || (" : "", lo);
	str_format(message, sizeof(message), "must be at least %s", lo);
	if (f->max > f->min) {
		str_format(rule + strlen(rule), sizeof(rule) - strlen(rule),
			   " && duration(self) <= duration('%s')", hi);
		str_format(message, sizeof(message), "must be %s to %s", lo, hi);
	}
	if (f->never) {
		str_format(rule + strlen(rule), sizeof(rule) - strlen(rule), ")");
		str_format(message + strlen(message), sizeof(message) - strlen(message),
			   " or Never");
	}
	add_rule(s, rule, message);
	return s;
}

static json_t *decimal_schema(const struct field *f)
{
	struct field text = *f;

	text.number = true;
	text.max_len = MONEY_TEXT;
	text.pattern = "^[0-9]{1,12}([.][0-9]{1,6})?$";
	return text_schema(&text);
}

static json_t *quantity_schema(void)
{
	json_t *s = int_or_string();

	set_str(s, "pattern", SCHEMA_QUANTITY);
	return s;
}

static json_t *map_schema(const struct field *f, json_t *value)
{
	json_t *s = typed("object");

	json_object_set_new(s, "additionalProperties", value);
	set_int(s, "maxProperties", max_items(f));
	return s;
}

static json_t *list_schema(const struct field *f, json_t *item)
{
	json_t *s = typed("array");

	if (f->required)
		set_int(s, "minItems", 1);
	set_int(s, "maxItems", max_items(f));
	set_str(s, "x-kubernetes-list-type", f->list_key ? "map" : "atomic");
	if (f->list_key)
		json_object_set_new(s, "x-kubernetes-list-map-keys", json_pack("[s]", f->list_key));
	json_object_set_new(s, "items", item);
	return s;
}

/* Returns the schema of a map's keys or of a list's elements. They have the limits of the row f,
 * but may be empty. */
static json_t *element_schema(const struct field *f)
{
	struct field one = *f;
	json_t *s;

	one.required = false;
	s = text_schema(&one);
	if (f->enums)
		json_object_set_new(s, "enum", names(f->enums));
	return s;
}

static json_t *type_schema(const struct field *f)
{
	json_t *s;

	switch (f->type) {
	case FIELD_STR:
		return text_schema(f);
	case FIELD_BOOL:
		return typed("boolean");
	case FIELD_I64:
		return int_schema(f);
	case FIELD_ENUM:
		s = typed("string");
		json_object_set_new(s, "enum", names(f->enums));
		return s;
	case FIELD_QUANTITY:
		return quantity_schema();
	case FIELD_DECIMAL:
		return decimal_schema(f);
	case FIELD_DURATION:
		return duration_schema(f);
	case FIELD_TIME:
		return json_pack("{ssss}", "type", "string", "format", "date-time");
	case FIELD_MAP:
		return map_schema(f, element_schema(f));
	case FIELD_RESOURCES:
		return map_schema(f, f->whole ? json_pack("{sssssi}", "type", "integer", "format",
							  "int64", "minimum", 0)
					      : quantity_schema());
	case FIELD_STRINGS:
		return list_schema(f, element_schema(f));
	case FIELD_INTS:
		return list_schema(f, int_schema(f));
	case FIELD_OBJECT:
	case FIELD_OBJECT_PTR:
		return fields_schema(f->sub);
	case FIELD_LIST:
		return list_schema(f, fields_schema(f->sub));
	case FIELD_ANY:
		return json_pack("{sb}", "x-kubernetes-preserve-unknown-fields", 1);
	}
	abort();
}

/* Adds a CEL rule that refuses the values which decoding would refuse as unsupported. An API server
 * that evaluates CEL then refuses the object at once. */
static void add_unsupported(json_t *s, const struct field *f)
{
	struct buf rule, message;

	if (f->refused)
		add_rule(s, "false", FIELDS_UNSUPPORTED);
	if (!f->only)
		return;
	buf_init(&rule, 512);
	buf_init(&message, 512);
	buf_puts(&rule, "self in [");
	for (const char *const *n = f->only; *n; n++)
		buf_printf(&rule, "%s'%s'", n == f->only ? "" : ", ", *n);
	buf_puts(&rule, "]");
	buf_puts(&message, FIELDS_UNSUPPORTED ": want ");
	fields_only(f, &message);
	add_rule(s, rule.data, message.data);
	buf_done(&rule);
	buf_done(&message);
}

static json_t *row_schema(const struct field *f)
{
	json_t *s = json_object(), *rest = type_schema(f);

	if (f->doc)
		set_str(s, "description", f->doc);
	json_object_update(s, rest);
	json_decref(rest);
	if (f->def)
		json_object_set_new(s, "default", json_loads(f->def, JSON_DECODE_ANY, NULL));
	if (f->immutable)
		add_rule(s, "self == oldSelf", "is immutable");
	for (const struct field_rule *r = f->rules; r && r->rule; r++)
		add_rule(s, r->rule, r->message);
	add_unsupported(s, f);
	return s;
}

json_t *fields_schema(const struct field *f)
{
	json_t *s = typed("object"), *properties = json_object(), *required = json_array();

	for (; f->name; f++) {
		json_object_set_new(properties, f->name, row_schema(f));
		if (f->required && !f->def)
			json_array_append_new(required, json_string(f->name));
	}
	if (json_array_size(required))
		json_object_set(s, "required", required);
	json_object_set_new(s, "properties", properties);
	json_decref(required);
	return s;
}

/* --- the reference page ---------------------------------------------------------------------- */

static const char *type_name(const struct field *f)
{
	static const char *const type_names[] = {
		[FIELD_STR] = "text",
		[FIELD_BOOL] = "boolean",
		[FIELD_I64] = "integer",
		[FIELD_ENUM] = "enum",
		[FIELD_QUANTITY] = "quantity",
		[FIELD_DURATION] = "duration",
		[FIELD_TIME] = "time",
		[FIELD_DECIMAL] = "decimal",
		[FIELD_MAP] = "map",
		[FIELD_RESOURCES] = "resources",
		[FIELD_STRINGS] = "list of text",
		[FIELD_OBJECT] = "object",
		[FIELD_OBJECT_PTR] = "object",
		[FIELD_LIST] = "list",
		[FIELD_ANY] = "any",
		[FIELD_INTS] = "list of integers",
	};

	return f->type == FIELD_RESOURCES && f->whole ? "counts" : type_names[f->type];
}

static void put_cell(const char *s, struct buf *out)
{
	for (; s && *s; s++)
		buf_printf(out, *s == '|' ? "\\%c" : "%c", *s);
}

/* Writes which values are allowed. quote: text before and after each literal value. */
static void put_allowed(const struct field *f, const char *quote, struct buf *out)
{
	char lo[STR_TIME_SIZE], hi[STR_TIME_SIZE];
	const char *sep = "";

	if (f->required) {
		buf_puts(out, "required");
		sep = "; ";
	}
	if (f->immutable) {
		buf_printf(out, "%simmutable", sep);
		sep = "; ";
	}
	if (f->refused) {
		buf_printf(out, "%s" FIELDS_UNSUPPORTED, sep);
	} else if (f->enums || f->only) {
		buf_puts(out, sep);
		sep = "";
		for (const char *const *n = f->only ? f->only : f->enums; *n; n++)
			if (**n) {
				buf_printf(out, "%s%s%s%s", sep, quote, *n, quote);
				sep = ", ";
			}
	} else if (f->want) {
		buf_printf(out, "%s%s", sep, f->want);
	} else if (f->type == FIELD_I64 && f->max > f->min && f->max != INT64_MAX) {
		buf_printf(out, "%s%jd to %jd", sep, (intmax_t)f->min, (intmax_t)f->max);
	} else if (f->type == FIELD_I64 && (f->min || f->max)) {
		buf_printf(out, "%sat least %jd", sep, (intmax_t)f->min);
	} else if (f->type == FIELD_DURATION && f->max > f->min) {
		buf_printf(out, "%s%s to %s", sep, str_duration(lo, f->min),
			   str_duration(hi, f->max));
	} else if (f->type == FIELD_DURATION && f->min) {
		buf_printf(out, "%sat least %s", sep, str_duration(lo, f->min));
	} else if (f->never) {
		buf_printf(out, "%sa duration", sep);
	}
	if (f->never)
		buf_printf(out, " or %sNever%s", quote, quote);
}

json_t *fields_describe(const struct field *f)
{
	json_t *o = json_pack("{s:s}", "type", type_name(f)), *rules = json_array();
	struct buf b;

	buf_init(&b, ALLOWED_MAX);
	put_allowed(f, "", &b);
	if (f->def)
		set_str(o, "default", f->def);
	if (b.len)
		set_str(o, "allowed", b.data);
	if (f->doc)
		set_str(o, "meaning", f->doc);
	buf_done(&b);
	for (const struct field_rule *r = f->rules; r && r->rule; r++)
		json_array_append_new(rules, json_string(r->message));
	if (json_array_size(rules))
		json_object_set(o, "rules", rules);
	json_decref(rules);
	return o;
}

static void put_allowed_cell(const struct field *f, struct buf *out)
{
	struct buf b;

	buf_init(&b, ALLOWED_MAX);
	put_allowed(f, "`", &b);
	put_cell(b.data, out);
	buf_done(&b);
}

void fields_reference(const struct field *f, const char *prefix, struct buf *out)
{
	for (; f->name; f++) {
		char path[512];

		str_format(path, sizeof(path), "%s%s%s%s", prefix, *prefix ? "." : "", f->name,
			   f->type == FIELD_LIST ? "[]" : "");
		buf_printf(out, "| `%s` | %s | ", path, type_name(f));
		if (f->def) {
			buf_puts(out, "`");
			put_cell(f->def, out);
			buf_puts(out, "`");
		}
		buf_puts(out, " | ");
		put_allowed_cell(f, out);
		buf_puts(out, " | ");
		put_cell(f->doc, out);
		buf_puts(out, " |\n");
		if (f->sub && !f->refused)
			fields_reference(f->sub, path, out);
	}
}
