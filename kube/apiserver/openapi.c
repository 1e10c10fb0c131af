#include <string.h>
#include "base/str.h"
#include "kube/apiserver/messages.h"

/*
 * Serves OpenAPI v3 documents. PATCH of each kind has the parameter fieldValidation, from which
 * kubectl learns that the server checks fields. The schemas for `kubectl explain` describe a custom
 * kind as its CustomResourceDefinition does, and a built-in kind by its fields and types, with one
 * line of text for common fields. A PATCH lists no content types: with them `kubectl apply` would
 * read merge keys from the schemas, which contain none.
 * Tests: tests/unit/kube/apiserver/test_discovery.c
 */

static const char *group_path(struct request *rq, const struct resource *r)
{
	return *r->group ? arena_printf(rq->arena, "apis/%s/%s", r->group, r->version)
			 : arena_printf(rq->arena, "api/%s", r->version);
}

static void reply_index(struct request *rq)
{
	json_t *paths = json_object();
	OWN_JSON j = json_pack("{s:o}", "paths", paths);

	for (const struct resource *r = NULL; resource_next(rq->a, &r);) {
		const char *path = group_path(rq, r);

		json_object_set_new(paths, path,
				    json_pack("{s:s+}", "serverRelativeURL", "/openapi/v3/", path));
	}
	reply_object(rq, 200, j);
}

static json_t *operation(const struct resource *r)
{
	return json_pack("{s:{s:[{s:s, s:s, s:{s:s}}], s:{s:{s:s}}, s:{s:s, s:s, s:s}}}", "patch",
			 "parameters", "name", "fieldValidation", "in", "query", "schema", "type",
			 "string", "responses", "200", "description", "OK",
			 "x-kubernetes-group-version-kind", "group", r->group, "version",
			 r->version, "kind", r->kind);
}

static const char object_meta_name[] = "meta.v1.ObjectMeta";

static json_t *custom_schema(const struct resource *r, json_t *components, struct arena *a)
{
	json_t *schema =
		       r->schema ? json_deep_copy(r->schema) : json_pack("{s:s}", "type", "object"),
	       *properties = json_object_get(schema, "properties");

	messages_add_schemas(message_find(object_meta_name), components, a);
	if (json_object_get(properties, "metadata"))
		json_object_set_new(json_object_get(properties, "metadata"), "allOf",
				    json_pack("[{s:s+}]", "$ref", "#/components/schemas/",
					      message_component(object_meta_name, a)));
	return schema;
}

/* Returns the OpenAPI name of a custom kind, for example "dev.drover.v1alpha1.NodePool". */
static const char *custom_name(const struct resource *r, struct arena *a)
{
	const char *name = r->version;
	char *rest = arena_strdup(a, r->group);

	for (char *label; (label = strsep(&rest, "."));)
		name = arena_printf(a, "%s.%s", label, name);
	return arena_printf(a, "%s.%s", name, r->kind);
}

static void add_schema(const struct resource *r, json_t *components, struct arena *a)
{
	const struct message *m = r->custom ? NULL : message_of_kind(r->group, r->version, r->kind);
	const char *name = m ? message_component(m->name, a) : custom_name(r, a);
	json_t *schema, *properties;

	if (m)
		messages_add_schemas(m, components, a);
	else
		json_object_set_new(components, name, custom_schema(r, components, a));
	schema = json_object_get(components, name);
	properties = json_object_get(schema, "properties");
	if (m) {
		json_object_set_new(
			properties, "apiVersion",
			json_pack("{s:s, s:s}", "type", "string", "description",
				  "API group and version of the object, such as apps/v1."));
		json_object_set_new(properties, "kind",
				    json_pack("{s:s, s:s}", "type", "string", "description",
					      "Kind of the object, such as Pod."));
	}
	json_object_set_new(schema, "x-kubernetes-group-version-kind",
			    json_pack("[{s:s, s:s, s:s}]", "group", r->group, "version", r->version,
				      "kind", r->kind));
}

static void reply_group_version(struct request *rq, const char *wanted)
{
	json_t *paths = json_object(), *components = json_object();
	OWN_JSON j = json_pack("{s:s, s:{s:s, s:s}, s:o, s:{s:o}}", "openapi", "3.0.0", "info",
			       "title", "Kubernetes", "version", rq->a->version, "paths", paths,
			       "components", "schemas", components);

	for (const struct resource *r = NULL; resource_next(rq->a, &r);) {
		const char *path = group_path(rq, r);

		if (!str_eq(path, wanted))
			continue;
		add_schema(r, components, rq->arena);
		json_object_set_new(paths,
				    arena_printf(rq->arena, "/%s/%s%s/{name}", path,
						 r->namespaced ? "namespaces/{namespace}/" : "",
						 r->plural),
				    operation(r));
	}
	if (json_object_size(paths)) {
		reply_object(rq, 200, j);
		return;
	}
	(void)!fault_set(&rq->fault, FAULT_NOT_FOUND,
			 "the server could not find the requested resource");
	reply_fault(rq);
}

/*
 * Replies with an empty OpenAPI v2 document. kubectl before 1.27 requests the document in protobuf,
 * as gnostic's openapi.v2.Document (swagger = 1, info = 2 with title = 1 and version = 2), and
 * refuses to apply without it. kubectl does not check objects of a kind that the document lacks;
 * the server checks them.
 */
void do_openapi_v2(struct request *rq)
{
	static const char json[] = "{\"swagger\":\"2.0\",\"info\":{\"title\":\"Kubernetes\","
				   "\"version\":\"1\"},\"paths\":{}}";
	static const char protobuf[] = "\x0a\x03"
				       "2.0\x12\x0f\x0a\x0aKubernetes\x12\x01"
				       "1";
	/* Clients request the type with an "@", and the reply names it with a "." as in
	 * kube-apiserver, because Go's parser of content types refuses the "@". */
	static const char asked[] = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
			  type[] = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
	const char *accept = httpd_header(rq->q, "Accept");

	if (accept && (strstr(accept, asked) || strstr(accept, type)))
		httpd_reply(rq->q, 200, type, protobuf, sizeof(protobuf) - 1);
	else
		httpd_reply(rq->q, 200, "application/json", json, sizeof(json) - 1);
}

void do_openapi(struct request *rq)
{
	const char *wanted = httpd_segment(rq->q, 0);

	if (str_empty(wanted))
		reply_index(rq);
	else
		reply_group_version(rq, wanted);
}
