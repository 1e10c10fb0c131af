#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "kube/apiserver/messages.h"

/*
 * Converts the table of messages (messages.def) to schemas of an OpenAPI document, with the
 * descriptions from descriptions.def.
 * Tests: tests/unit/kube/apiserver/test_discovery.c
 */

static const struct description {
	const char *of, *text;
} descriptions[] = {
#define DESCRIPTION(of, text) {of, text},
#include "kube/apiserver/descriptions.def"
};

static int compare(const void *of, const void *d)
{
	return strcmp(of, ((const struct description *)d)->of);
}

static const char *find_description(const char *of)
{
	const struct description *d =
		bsearch(of, descriptions, sizeof(descriptions) / sizeof(*descriptions),
			sizeof(*descriptions), compare);

	return d ? d->text : NULL;
}

static void describe(json_t *schema, const char *text)
{
	if (text)
		json_object_set_new(schema, "description", json_string(text));
}

static void describe_field(json_t *schema, const struct message *m, const struct message_field *f,
			   struct arena *a)
{
	const char *own = find_description(arena_printf(a, "%s.%s", m->name, f->name));

	describe(schema, own ? own : find_description(arena_printf(a, "*.%s", f->name)));
}

const char *message_component(const char *name, struct arena *a)
{
	return str_starts(name, "meta.") ? arena_printf(a, "io.k8s.apimachinery.pkg.apis.%s", name)
					 : arena_printf(a, "io.k8s.api.%s", name);
}

static json_t *plain(const struct message_field *f, struct arena *a)
{
	switch (f->type) {
	case MESSAGE_BYTES:
		return json_pack("{s:s, s:s}", "type", "string", "format", "byte");
	case MESSAGE_BOOL:
		return json_pack("{s:s}", "type", "boolean");
	case MESSAGE_INT:
		return json_pack("{s:s, s:s}", "type", "integer", "format", "int64");
	case MESSAGE_STRINGS:
		return json_pack("{s:s, s:{s:s}}", "type", "array", "items", "type", "string");
	case MESSAGE_TIME:
	case MESSAGE_MICRO_TIME:
		return json_pack("{s:s, s:s}", "type", "string", "format", "date-time");
	case MESSAGE_INT_OR_STRING:
		return json_pack("{s:s, s:s}", "type", "string", "format", "int-or-string");
	case MESSAGE_ANY:
		return json_pack("{s:s}", "type", "object");
	case MESSAGE_MESSAGE:
		return json_pack(
			"{s:[{s:s}]}", "allOf", "$ref",
			arena_printf(a, "#/components/schemas/%s", message_component(f->of, a)));
	case MESSAGE_STRING:
	case MESSAGE_QUANTITY:
		break;
	}
	return json_pack("{s:s}", "type", "string");
}

static void add_properties(const struct message *m, json_t *properties, json_t *components,
			   struct arena *a)
{
	struct message_field f;

	for (const char *at = NULL; message_next(m, &at, &f);) {
		const struct message *of = f.type == MESSAGE_MESSAGE ? message_find(f.of) : NULL;
		json_t *schema;

		if (f.is_inline && of) {
			add_properties(of, properties, components, a);
			continue;
		}
		if (of)
			messages_add_schemas(of, components, a);
		schema = f.list	 ? json_pack("{s:s, s:o}", "type", "array", "items", plain(&f, a))
			 : f.map ? json_pack("{s:s, s:o}", "type", "object", "additionalProperties",
					     plain(&f, a))
				 : plain(&f, a);
		describe_field(schema, m, &f, a);
		json_object_set_new(properties, f.name, schema);
	}
}

/* Does nothing if components already contains the name, so that messages which contain themselves
 * do not recurse forever. */
void messages_add_schemas(const struct message *m, json_t *components, struct arena *a)
{
	const char *name = message_component(m->name, a);
	json_t *properties = json_object();

	if (json_object_get(components, name)) {
		json_decref(properties);
		return;
	}
	json_object_set_new(components, name,
			    json_pack("{s:s, s:o}", "type", "object", "properties", properties));
	describe(json_object_get(components, name), find_description(m->name));
	add_properties(m, properties, components, a);
}
