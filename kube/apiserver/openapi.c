#include <stdlib.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * As much of OpenAPI v3 as `kubectl apply` asks for: that PATCH of each kind
 * takes the parameter fieldValidation, so that kubectl leaves checking to the
 * server.  No schemas.
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

static void reply_group_version(struct request *rq, const char *wanted)
{
	json_t *paths = json_object();
	OWN_JSON j = json_pack("{s:s, s:{s:s, s:s}, s:o}", "openapi", "3.0.0", "info", "title",
			       "Kubernetes", "version", rq->a->version, "paths", paths);

	for (const struct resource *r = NULL; resource_next(rq->a, &r);) {
		const char *path = group_path(rq, r);

		if (str_eq(path, wanted))
			json_object_set_new(
				paths,
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

void do_openapi(struct request *rq)
{
	const char *wanted = httpd_segment(rq->q, 0);

	if (str_empty(wanted))
		reply_index(rq);
	else
		reply_group_version(rq, wanted);
}
