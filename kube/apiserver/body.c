#include <string.h>
#include "base/data/yaml.h"
#include "base/str.h"
#include "kube/apiserver/messages.h"
#include "kube/apiserver/server.h"

/*
 * Reads the body of a request: JSON, YAML, or protobuf of built-in kinds. Separate from write.c,
 * because requests for tokens and reviews, whose objects are not stored, have bodies too.
 * Tests: tests/unit/kube/apiserver/test_write.c, tests/unit/kube/apiserver/test_protobuf.c
 */

bool body_has_type(const struct request *rq, const char *type)
{
	const char *given = httpd_header(rq->q, "Content-Type");

	return given && str_starts(given, type) && strchr("; \t", given[strlen(type)]);
}

/* True if the body is JSON or YAML by its content type, patch types included. A body without a
 * content type counts as JSON. */
static bool is_readable(const struct request *rq)
{
	const char *type = httpd_header(rq->q, "Content-Type");

	return str_empty(type) || body_has_type(rq, "application/json") ||
	       body_has_type(rq, "application/yaml") || strstr(type, "-patch+json");
}

json_t *request_body(struct request *rq)
{
	size_t len;
	const char *body = httpd_body(rq->q, &len);
	struct err e;
	json_t *j;

	if (body_has_type(rq, "application/vnd.kubernetes.protobuf"))
		return protobuf_decode(body, len, &rq->fault);
	if (!is_readable(rq)) {
		(void)!fault_set(&rq->fault, FAULT_MEDIA_TYPE,
				 "the body of the request was in an unknown format - accepted "
				 "media types include: application/json, application/yaml");
		return NULL;
	}
	j = body_has_type(rq, "application/yaml") ? yaml_parse(body, len, &e)
						  : json_parse(body, len, &e);
	if (!j)
		(void)!fault_set(&rq->fault, FAULT_BAD_REQUEST, "the body cannot be read: %s",
				 e.text);
	return j;
}
