#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/* Tests: tests/unit/kube/apiserver/test_auth.c */

/* HTTP code and reason of each kind of fault: meta/v1 StatusReason, from the Kubernetes API
 * conventions. */
static const struct {
	int code;
	const char *reason;
} faults[FAULTS] = {
	[FAULT_BAD_REQUEST] = {400, "BadRequest"},
	[FAULT_UNAUTHORIZED] = {401, "Unauthorized"},
	[FAULT_FORBIDDEN] = {403, "Forbidden"},
	[FAULT_NOT_FOUND] = {404, "NotFound"},
	[FAULT_METHOD] = {405, "MethodNotAllowed"},
	[FAULT_EXISTS] = {409, "AlreadyExists"},
	[FAULT_CONFLICT] = {409, "Conflict"},
	[FAULT_EXPIRED] = {410, "Expired"},
	[FAULT_TOO_LARGE] = {413, "RequestEntityTooLarge"},
	[FAULT_MEDIA_TYPE] = {415, "UnsupportedMediaType"},
	[FAULT_INVALID] = {422, "Invalid"},
	[FAULT_TOO_MANY] = {429, "TooManyRequests"},
	[FAULT_INTERNAL] = {500, "InternalError"},
	[FAULT_TIMEOUT] = {504, "Timeout"},
};

int fault_set(struct fault *f, enum fault_kind kind, const char *fmt, ...)
{
	va_list ap;

	f->kind = kind;
	f->cause[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	return -1;
}

/* Returns s as a JSON string. Text that is not valid UTF-8, for example if it was truncated inside
 * a character, becomes "(not UTF-8)". */
static json_t *lenient_string(const char *s)
{
	json_t *j = json_string(s);

	return j ? j : json_string("(not UTF-8)");
}

/* Returns details.causes for a Status with reason Invalid; kubectl shows them instead of the
 * message. Splits a text like "spec.x: Required value" into field and message; skips a beginning
 * like `Pod "p" is invalid: `. */
static json_t *invalid_causes(const char *text)
{
	static const char head[] = " is invalid: ";
	const char *after = strstr(text, head), *colon;
	size_t len;

	text = after ? after + strlen(head) : text;
	colon = strstr(text, ": ");
	len = colon ? (size_t)(colon - text) : 0;

	if (!colon || memchr(text, ' ', len))
		return json_pack("[{s:s, s:o}]", "reason", "FieldValueInvalid", "message",
				 lenient_string(text));
	return json_pack("[{s:s, s:o, s:o}]", "reason", "FieldValueInvalid", "message",
			 lenient_string(colon + 2), "field", json_stringn(text, len));
}

json_t *status_object(const struct request *rq, const struct fault *f)
{
	json_t *details = json_object();

	if (rq->name)
		json_object_set_new(details, "name", lenient_string(rq->name));
	if (rq->r) {
		if (*rq->r->group)
			json_object_set_new(details, "group", json_string(rq->r->group));
		json_object_set_new(
			details, "kind",
			json_string(f->kind == FAULT_INVALID ? rq->r->kind : rq->r->plural));
	}
	if (f->kind == FAULT_INVALID)
		json_object_set_new(details, "causes", invalid_causes(f->text));
	if (f->cause[0])
		json_object_set_new(details, "causes",
				    json_pack("[{s:s, s:o}]", "reason", "DisruptionBudget",
					      "message", lenient_string(f->cause)));
	/* Leave out Retry-After if a PodDisruptionBudget refused an eviction: with it clients would
	 * retry inside one call instead of returning the refusal. */
	if (f->kind == FAULT_TOO_MANY && !f->cause[0])
		json_object_set_new(details, "retryAfterSeconds", json_integer(10));
	return json_pack("{s:s, s:s, s:{}, s:s, s:o, s:s, s:o, s:i}", "kind", "Status",
			 "apiVersion", "v1", "metadata", "status", "Failure", "message",
			 lenient_string(f->text), "reason", faults[f->kind].reason, "details",
			 details, "code", faults[f->kind].code);
}

/* Sends the text. Waits until the store's present state is durable, because the reply may depend on
 * any part of it. */
static void reply_json(struct request *rq, int status, const char *text)
{
	reply_text(rq, status, "application/json", text, strlen(text), store_rev(rq->a->store));
}

void reply_fault(struct request *rq)
{
	OWN_JSON j = status_object(rq, &rq->fault);
	char *text = json_text(j);

	if (rq->fault.kind == FAULT_TOO_MANY && !rq->fault.cause[0])
		httpd_reply_header(rq->q, "Retry-After", "10");
	if (rq->fault.kind == FAULT_UNAUTHORIZED)
		httpd_reply_header(rq->q, "WWW-Authenticate", "Bearer");
	reply_json(rq, faults[rq->fault.kind].code, text);
	free(text);
}

void fault_not_found(struct request *rq)
{
	const char *group = rq->r->group;

	(void)!fault_set(&rq->fault, FAULT_NOT_FOUND, "%s%s%s \"%s\" not found", rq->r->plural,
			 *group ? "." : "", group, rq->name);
	reply_fault(rq);
}

void reply_object(struct request *rq, int status, json_t *obj)
{
	char *text = json_text(obj);

	reply_json(rq, status, text);
	free(text);
}

const char created_text[] = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
			    "\"status\":\"Success\",\"code\":201}";

const char *success_text(struct request *rq, const json_t *obj)
{
	OWN_JSON j =
		json_pack("{s:s, s:s, s:{}, s:s, s:{s:s, s:s, s:s}}", "kind", "Status",
			  "apiVersion", "v1", "metadata", "status", "Success", "details", "name",
			  str_or(json_str_at(obj, "metadata", "name"), ""), "kind", rq->r->plural,
			  "uid", str_or(json_str_at(obj, "metadata", "uid"), ""));

	if (*rq->r->group)
		json_object_set_new(json_object_get(j, "details"), "group",
				    json_string(rq->r->group));

	char *text = json_text(j);
	const char *copy = arena_strdup(rq->arena, text);

	free(text);
	return copy;
}

bool name_is_true(const char *query_value)
{
	return str_eq(query_value, "true") || str_eq(query_value, "1");
}
