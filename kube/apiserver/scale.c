#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/str.h"
#include "kube/apiserver/server.h"

/* Serves the subresource scale: reads and writes the number of replicas of any scalable kind as an
 * autoscaling/v1 Scale. */

#define MAX_SELECTOR ((size_t)4 << 10)

/* Returns the value at a path such as ".spec.replicas"; NULL: absent. */
static const json_t *at_path(const json_t *obj, const char *path, struct arena *a)
{
	char *rest = path ? arena_strdup(a, path) : NULL;

	for (char *part; obj && rest && (part = strsep(&rest, "."));)
		if (*part)
			obj = json_object_get(obj, part);
	return path ? obj : NULL;
}

static int set_at_path(json_t *obj, const char *path, json_t *value, struct arena *a)
{
	char *rest = arena_strdup(a, path), *part = strsep(&rest, ".");

	while (rest) {
		json_t *next;

		if (*part) {
			next = json_object_get(obj, part);
			if (!next)
				json_object_set_new(obj, part, json_object());
			obj = json_object_get(obj, part);
		}
		part = strsep(&rest, ".");
	}
	/* json_object_set() returns an error if obj is not an object: no check is needed. */
	return json_object_set(obj, part, value);
}

/* --- selectors as text ------------------------------------------------------------------------ */

static void add_expression(struct buf *b, const json_t *x)
{
	const char *key = str_or(json_str_at(x, "key"), ""), *op = json_str_at(x, "operator");
	const json_t *values = json_object_get(x, "values");
	const char *sep = b->len ? "," : "";
	size_t i;
	json_t *v;

	if (str_eq(op, "Exists")) {
		buf_printf(b, "%s%s", sep, key);
	} else if (str_eq(op, "DoesNotExist")) {
		buf_printf(b, "%s!%s", sep, key);
	} else {
		buf_printf(b, "%s%s %s (", sep, key, str_eq(op, "In") ? "in" : "notin");
		json_array_foreach (values, i, v)
			buf_printf(b, "%s%s", i ? "," : "", str_or(json_string_value(v), ""));
		buf_puts(b, ")");
	}
}

/* Returns the selector as text for the Scale's status. A custom kind stores its selector as text
 * already; in other kinds it is a LabelSelector object. */
static json_t *selector_text(const json_t *selector)
{
	struct buf b;
	const char *key;
	json_t *v, *text;
	size_t i;

	if (json_is_string(selector))
		return json_deep_copy(selector);
	buf_init(&b, MAX_SELECTOR);
	json_object_foreach (json_at(selector, "matchLabels"), key, v)
		buf_printf(&b, "%s%s=%s", b.len ? "," : "", key, str_or(json_string_value(v), ""));
	json_array_foreach (json_at(selector, "matchExpressions"), i, v)
		add_expression(&b, v);
	text = json_string(b.data);
	buf_done(&b);
	return text;
}

/* --- conversion between object and Scale ------------------------------------------------------ */

static json_t *scale_of(struct request *rq, const json_t *obj)
{
	static const char *const members[] = {"name", "namespace", "uid", "resourceVersion",
					      "creationTimestamp"};
	const struct resource *r = rq->r;
	const json_t *wish = at_path(obj, r->scale_spec, rq->arena);
	const json_t *have = at_path(obj, r->scale_status, rq->arena);
	const json_t *selector = at_path(obj, r->scale_selector, rq->arena);
	json_t *meta = json_object();
	json_t *spec = json_object();
	json_t *status = json_pack("{s:I}", "replicas", json_integer_value(have));

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (json_at(obj, "metadata", members[i]))
			json_object_set(meta, members[i], json_at(obj, "metadata", members[i]));
	if (json_integer_value(wish))
		json_object_set(spec, "replicas", (json_t *)wish);
	if (selector)
		json_object_set_new(status, "selector", selector_text(selector));
	return json_pack("{s:s, s:s, s:o, s:o, s:o}", "kind", "Scale", "apiVersion",
			 "autoscaling/v1", "metadata", meta, "spec", spec, "status", status);
}

static int wished(const json_t *scale, json_int_t *replicas, struct fault *f)
{
	const json_t *n = json_at(scale, "spec", "replicas");

	if (!json_is_object(scale))
		return fault_set(f, FAULT_BAD_REQUEST, "the body is not an object");
	if (json_object_get(scale, "kind") && !str_eq(json_str_at(scale, "kind"), "Scale"))
		return fault_set(
			f, FAULT_BAD_REQUEST,
			"the kind in the data (%s) does not match the expected kind (Scale)",
			str_or(json_str_at(scale, "kind"), ""));
	if (n && !json_is_null(n) && !json_is_integer(n))
		return fault_set(f, FAULT_BAD_REQUEST, "spec.replicas is not a whole number");
	*replicas = json_integer_value(n);
	if (*replicas < 0 || *replicas > INT32_MAX)
		return fault_set(
			f, FAULT_INVALID,
			"spec.replicas: Invalid value: %lld: must be greater than or equal to 0",
			(long long)*replicas);
	return 0;
}

/* Returns the Scale that the request asks for: the body of a PUT, or the present Scale patched with
 * the body. NULL with the fault set. */
static json_t *asked_scale(struct request *rq, const json_t *obj)
{
	OWN_JSON body = request_body(rq);
	OWN_JSON scale = scale_of(rq, obj);

	if (!body)
		return NULL;
	if (str_eq(httpd_method(rq->q), "PUT"))
		return json_incref(body);
	if (json_is_array(body))
		return jsonpatch_apply(body, &scale, &rq->fault) < 0 ? NULL : json_incref(scale);
	return json_merge_apply(scale, body);
}

static int rescale(struct request *rq, const json_t *old, json_t *obj)
{
	OWN_JSON scale = asked_scale(rq, old);
	const char *rev = json_str_at(scale, "metadata", "resourceVersion");
	json_int_t replicas = 0;

	if (!scale || wished(scale, &replicas, &rq->fault) < 0)
		return -1;
	if (json_str_at(scale, "metadata", "name") &&
	    !str_eq(json_str_at(scale, "metadata", "name"), rq->name))
		return fault_set(&rq->fault, FAULT_BAD_REQUEST,
				 "the name of the object does not match the name on the URL");

	OWN_JSON n = json_integer(replicas);

	if (!str_empty(rev))
		json_object_set(object_meta(obj), "resourceVersion",
				json_at(scale, "metadata", "resourceVersion"));
	if (set_at_path(obj, rq->r->scale_spec, n, rq->arena) < 0)
		return fault_set(&rq->fault, FAULT_INVALID, "%s cannot be set", rq->r->scale_spec);
	return object_update(rq, old, obj, &rq->fault) < 0
		       ? -1
		       : object_complete(rq, old, obj, &rq->fault);
}

void do_scale(struct request *rq)
{
	const char *key = resource_key(rq->r, rq->arena, rq->ns, rq->name);
	const char *method = httpd_method(rq->q);
	struct store_entry entry;
	OWN_JSON old = object_read(rq->a, key, &entry);
	OWN_JSON obj = json_deep_copy(old);
	int64_t rev = (int64_t)entry.rev;

	if (!old) {
		fault_not_found(rq);
		return;
	}
	if (str_eq(method, "GET") || str_eq(method, "HEAD")) {
		OWN_JSON scale = scale_of(rq, old);

		reply_object(rq, 200, scale);
		return;
	}
	if (!str_eq(method, "PUT") && !str_eq(method, "PATCH"))
		(void)!fault_set(&rq->fault, FAULT_METHOD,
				 "the server does not allow this method on the requested resource");
	if (rq->fault.text[0] || rescale(rq, old, obj) < 0) {
		reply_fault(rq);
		return;
	}
	if (!json_equal(old, obj))
		object_set_rev(rq->a, obj);

	OWN_JSON scale = scale_of(rq, obj);

	if (json_equal(old, obj))
		reply_object(rq, 200, scale);
	else
		write_object(rq, rq->r, key, obj, rev, answer_new(rq, 200, json_text(scale)));
}
